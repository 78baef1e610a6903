#include "embedded/embedded.h"

#include "base/http_code.h"
#include "base/json.h"
#include "base/log.h"
#include "embedded/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ID_BYTES = 4, PATH_TEXT = 4096 };
static const msec quiet_time = SECONDS(2);

void embedded_wake(struct embedded *em)
{
	em->woken = true;
	if (em->timer)
		loop_timer_set(em->timer, 0);
}

static void on_wake(void *cookie)
{
	embedded_wake(cookie);
}

static void on_sight(void *cookie, const struct observer_sight *s)
{
	struct embedded *em = cookie;
	struct log_field fields[SIGHT_FIELDS];

	events_see(em->events, s, loop_now(em->loop), clock_now(&clock_wall));
	if (s->type == SIGHT_ANSWER && s->code >= HTTP_BAD_REQUEST && s->code != HTTP_NOT_FOUND &&
	    s->code != HTTP_CONFLICT)
		log_warn(fields, sight_fields(s, fields), "%.*s", STR_F(s->message));
}

/* From a time of the wall's to a delay. */
static msec until(msec at)
{
	return at == NEVER ? NEVER : MAX(at - clock_now(&clock_wall), 0);
}

/* After much work there is memory that is free and still ours: once it is quiet it goes back. */
static void on_quiet(void *cookie)
{
	(void)cookie;
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static void step_cluster(void *cookie)
{
	struct embedded *em = cookie;
	msec next;

	em->woken = false;
	next = em->stopping ? NEVER : until(operator_step(em->op));
	next = MIN(next, until(store_step(em->store)));
	next = MIN(next, until(runner_step(em->runner)));
	next = MIN(next, embedded_send_events(em));
	/* What one of them did may have woken another that had its turn before: then the timer is set already. */
	if (next != NEVER && !em->woken)
		loop_timer_set(em->timer, next);
	if (em->quiet)
		loop_timer_set(em->quiet, quiet_time);
}

/* The cluster's name for ever, as long as its folder is there: what is left on the machine is marked with it. */
static bool read_id(struct embedded *em, const char *folder, struct err *e)
{
	char path[PATH_TEXT];
	unsigned char raw[ID_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/id", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	memset(em->id, 0, sizeof(em->id));
	if (read(fd, em->id, ID_BYTES * 2) != ID_BYTES * 2) {
		if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
			BUG("no random numbers");
		snprintf(em->id, sizeof(em->id), "%02x%02x%02x%02x", raw[0], raw[1], raw[2], raw[3]);
		if (pwrite(fd, em->id, ID_BYTES * 2, 0) != ID_BYTES * 2) {
			close(fd);
			return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
		}
	}
	close(fd);
	return true;
}

static bool open_store(struct embedded *em, const struct embedded_config *c, struct err *e)
{
	char path[PATH_TEXT];
	struct store_config config = { .clock = &clock_wall, .wake = on_wake, .cookie = em };

	snprintf(path, sizeof(path), "%s/store.db", c->folder);
	if (getrandom(&config.seed, sizeof(config.seed), 0) != sizeof(config.seed))
		BUG("no random numbers");
	config.path = c->keep ? path : NULL;
	em->store = store_open(&config, e);
	return em->store && embedded_define_kinds(em, em->kinds, e);
}

static bool open_operator(struct embedded *em, struct err *e)
{
	struct operator_config config = operator_config_default;
	size_t n = kinds_count(em->kinds);
	struct store_kind *kinds = arena_array(&em->arena, struct store_kind, n);

	for (size_t i = 0; i < n; i++) {
		const struct kind *k = kinds_at(em->kinds, i);

		kinds[i] = (struct store_kind){ k->id, k->group, k->version, k->plural };
	}
	em->cluster = store_cluster_new(
		&(struct store_cluster_config){ .store = em->store, .wake = on_wake, .cookie = em }, e);
	if (!em->cluster || !store_cluster_set_kinds(em->cluster, kinds, n, e))
		return false;
	em->events = events_new(em->kinds, em->node);
	config.plan = plan_config_default;
	config.plan.status_interval = 50; /* a write costs next to nothing here, and people look on */
	config.nodes = false;
	config.observer = (struct observer){ on_sight, em };
	em->op = operator_new(em->cluster, em->kinds, &clock_wall, &config);
	return true;
}

static bool open_runner(struct embedded *em, const struct embedded_config *c, struct err *e)
{
	struct runner_config config = {
		.loop = em->loop,
		.store = em->store,
		.kinds = em->kinds,
		.clock = &clock_wall,
		.folder = em->folder,
		.node = em->node,
		.net = em->net,
		.world = &em->world,
		.tied = !c->keep,
		.keep_folders = c->keep_folders,
		.machine = c->machine->amount,
		.without_gpus = c->without_gpus,
		.gpus = c->machine->gpus,
		.rootfs = c->rootfs,
		.n_rootfs = c->n_rootfs,
		.volumes = c->volumes,
		.n_volumes = c->n_volumes,
		.env = c->env,
		.cwd = c->cwd,
		.backoff = c->backoff,
		.wake = on_wake,
		.cookie = em,
	};

	em->changed = c->changed;
	em->changed_cookie = c->cookie;
	config.changed = em->changed ? embedded_pod_changed : NULL;
	em->runner = runner_new(&config, e);
	return em->runner != NULL;
}

void embedded_pod_changed(void *cookie, struct str ns, struct str name, struct str uid)
{
	struct embedded *em = cookie;

	em->changed(em->changed_cookie, ns, name, uid);
}

static struct str node_name(struct arena *a)
{
	char name[256];

	if (gethostname(name, sizeof(name) - 1) || !*name)
		return STR("localhost");
	name[sizeof(name) - 1] = 0;
	for (char *p = name; *p; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	return arena_str(a, str_c(name));
}

/* Each pod takes some descriptors for a moment, and one as long as it lives. */
static void raise_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

struct embedded *embedded_open(const struct embedded_config *c, struct err *e)
{
	struct embedded *em = xcalloc(1, sizeof(*em));

	raise_limit();
	em->loop = c->loop;
	em->kinds = c->kinds;
	em->keep = c->keep;
	em->folder = arena_str(&em->arena, str_c(c->folder)).p;
	em->node = node_name(&em->arena);
	if (read_id(em, c->folder, e) &&
	    net_enter(&em->world, c->folder, c->network, c->keep ? NET_OUTLIVES_US : NET_DIES_WITH_US, e) &&
	    net_open(&em->net, &em->world, c->folder, str_c(em->id), e) && open_store(em, c, e) &&
	    open_operator(em, e) && open_runner(em, c, e)) {
		em->timer = loop_timer_new(em->loop, step_cluster, em);
		em->quiet = em->keep ? loop_timer_new(em->loop, on_quiet, em) : NULL;
		embedded_wake(em);
		return em;
	}
	/* What was there before stays for the next try, what is new goes. */
	embedded_close(em, !em->world.adopted);
	return NULL;
}

static void close_operator(struct embedded *em)
{
	operator_free(em->op);
	events_free(em->events);
	if (em->cluster)
		store_cluster_free(em->cluster);
	em->op = NULL;
	em->events = NULL;
	em->cluster = NULL;
}

bool embedded_set_kinds(struct embedded *em, struct kinds *kinds, struct err *e)
{
	struct kinds *old = em->kinds;
	struct err again = ERR_INIT;
	bool ok;

	if (em->stopping)
		return err_set(e, ERR_INVALID, "it is stopping");
	if (!embedded_define_kinds(em, kinds, e)) {
		embedded_define_kinds(em, old, &again);
		err_release(&again);
		return false;
	}
	close_operator(em);
	em->kinds = kinds;
	ok = open_operator(em, e);
	if (!ok) {
		close_operator(em);
		em->kinds = old;
		if (!open_operator(em, &again))
			BUG("what could be opened once: %s", err_msg(&again));
	}
	runner_set_kinds(em->runner, em->kinds);
	embedded_wake(em);
	return ok;
}

struct store *embedded_store(struct embedded *em)
{
	return em->store;
}

const struct net_world *embedded_world(const struct embedded *em)
{
	return &em->world;
}

struct str embedded_node(const struct embedded *em)
{
	return em->node;
}

void embedded_pod_folder(const struct embedded *em, struct str uid, struct buf *ret)
{
	buf_printf(ret, "%s/pods/%.*s", em->folder, STR_F(uid));
}

bool embedded_kept_logs(const struct embedded *em, struct str ns, struct str name, int before, struct buf *ret)
{
	return runner_kept_logs(em->folder, ns, name, before, ret);
}

size_t embedded_living(const struct embedded *em)
{
	return runner_living(em->runner);
}

void embedded_stop(struct embedded *em, int64_t grace)
{
	em->stopping = true;
	runner_stop(em->runner, grace);
	embedded_wake(em);
}

void embedded_close(struct embedded *em, bool wholly)
{
	struct err e = ERR_INIT;

	if (!em)
		return;
	if (em->timer)
		loop_timer_free(em->timer);
	if (em->quiet)
		loop_timer_free(em->quiet);
	em->timer = em->quiet = NULL;
	runner_free(em->runner);
	close_operator(em);
	if (em->store)
		store_close(em->store);
	net_close(em->net);
	if ((wholly || !em->keep) && *em->id && !net_clean(em->folder, str_c(em->id), &e))
		log_warn(NO_FIELDS, "the network was not removed: %s", err_msg(&e));
	err_release(&e);
	arena_release(&em->arena);
	free(em);
}
