#include "logs/archive.h"

#include "logs/archive_end.h"
#include "logs/archive_source.h"
#include "logs/pods.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const msec prune_every = SECONDS(60); /* or when a sixteenth of the limit was written */

struct archive {
	struct cli_session *session;
	const struct archive_options *o;
	const struct job_found *job; /* NULL: all */
	struct archive_sources sources;
	struct log_pods pods;
	uint64_t list; /* which one it is */
	bool some_left_out;
	msec pruned_at;
	uint64_t pruned_written;
	struct loop_timer *timer;
	struct arena arena;
	int lock;
};

/* --- pods --- */

static void take_container(void *cookie, const struct log_pod *p, const struct log_container *c)
{
	struct archive *a = cookie;
	struct archive_name name = { .ns = p->ns,
		                     .kind = p->kind,
		                     .job = p->job,
		                     .uid = p->job_uid,
		                     .role = p->role,
		                     .container = c->name,
		                     .index = p->index,
		                     .generation = p->generation };
	struct buf key = BUF_INIT(1024);
	struct archive_source *s;

	if (a->o->container && !str_eqc(c->name, a->o->container))
		return;
	buf_printf(&key, "%.*s/%.*s", STR_F(p->uid), STR_F(c->name));
	s = map_get(&a->sources.by_key, buf_str(&key));
	if (!s && (c->running || c->ended)) {
		s = source_new(&a->sources, buf_str(&key), p->uid, p->name, &name);
		if (!s && !a->some_left_out) {
			a->some_left_out = true;
			cli_fail(a->session->cli, CLI_FAILED, "pods whose labels cannot be file names are skipped");
		}
	}
	if (s) {
		source_told(s, c->running, c->restarts);
		s->seen = a->list;
	}
	buf_release(&key);
}

static void pod_gone(void *cookie, yyjson_val *pod)
{
	struct archive *a = cookie;
	struct str uid = json_str(json_at(pod, "metadata", "uid", NULL));

	/* What it said last counts. */
	log_pods_take(&a->pods, pod);
	for (struct archive_source *s = a->sources.first, *later; s; s = later) {
		later = s->next;
		if (str_eq(s->uid, uid))
			source_pod_gone(s);
	}
}

/* What was in neither this list nor the events since the last one is gone. */
static void pods_listed(void *cookie)
{
	struct archive *a = cookie;

	for (struct archive_source *s = a->sources.first, *later; s; s = later) {
		later = s->next;
		if (s->seen < a->list)
			source_pod_gone(s);
	}
	a->list++;
}

/* --- limits --- */

static bool is_active(void *cookie, struct str path)
{
	const struct archive_sources *all = cookie;

	for (const struct archive_source *s = all->first; s; s = s->next)
		if (s->state != SOURCE_DONE && (str_eq(str_sub(s->path, 0, s->run), path) || str_eq(s->path, path)))
			return true;
	return false;
}

enum { WORTH = 4096 }; /* a smaller file would still take a block */

/* What is open and largest loses its older half, as often as it must. */
static bool halve(struct archive *a, uint64_t left, struct err *e)
{
	while (left > a->o->limits.bytes) {
		struct archive_source *largest = NULL;
		uint64_t before;

		for (struct archive_source *s = a->sources.first; s; s = s->next)
			if (s->file.fd >= 0 && (!largest || s->file.size > largest->file.size))
				largest = s;
		if (!largest || largest->file.size <= WORTH)
			return true;
		before = largest->file.size;
		if (!archive_file_halve(&largest->file, e))
			return false;
		left -= before - largest->file.size;
	}
	return true;
}

static void prune(struct archive *a)
{
	struct archive_use use = { is_active, &a->sources };
	struct err e = ERR_INIT;
	uint64_t left;

	a->pruned_at = loop_now(a->session->remote.loop);
	a->pruned_written = a->sources.written;
	if (!a->o->limits.bytes && !a->o->limits.age)
		return;
	if (!archive_prune(a->o->dir, &a->o->limits, &use, clock_now(&clock_wall), &left, &e) ||
	    (a->o->limits.bytes && !halve(a, left, &e)))
		cli_fail(a->session->cli, CLI_FAILED, "the archive exceeds its limits: %s", err_msg(&e));
	err_release(&e);
}

static bool must_prune(const struct archive *a)
{
	uint64_t bytes = a->o->limits.bytes;

	return (bytes && a->sources.written - a->pruned_written > bytes / 16) ||
	       loop_now(a->session->remote.loop) - a->pruned_at >= prune_every;
}

/* --- the loop --- */

static void woken(void *cookie)
{
	remote_wake(&((struct archive *)cookie)->session->remote);
}

static bool is_over(void *cookie)
{
	struct archive *a = cookie;
	msec now = loop_now(a->session->remote.loop), wake = a->pruned_at + prune_every;
	size_t left;

	sources_pump(&a->sources);
	left = sources_left(&a->sources);
	if (must_prune(a))
		prune(a);
	if (a->sources.status != CLI_OK)
		return true;
	if (!a->o->follow)
		return !left;
	if (log_pods_refused(&a->pods))
		return true;
	if (a->pods.ended)
		wake = archive_end_at(a->pods.ended_at, a->sources.written_at, left);
	loop_timer_set(a->timer, MAX(wake, now + 1) - now);
	return a->pods.ended && a->pods.listed && now >= wake;
}

/* Two that write to one archive would spoil it. */
static bool lock(struct archive *a)
{
	struct str file = arena_printf(&a->arena, "%s/.lock", a->o->dir);
	const char *why = NULL;

	if (mkdir(a->o->dir, 0750) != 0 && errno != EEXIST)
		why = strerror(errno);
	if (!why) {
		a->lock = open(file.p, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
		if (a->lock < 0)
			why = strerror(errno);
		/* Where a file system knows no locks there is none. */
		else if (flock(a->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
			why = "another 'dljob logs --archive' is writing to it";
	}
	if (why)
		a->sources.status = cli_fail(a->session->cli, CLI_FAILED, "%s: %s", a->o->dir, why);
	return !why;
}

/* What is missing, of those who wait for the end. */
static enum exit_code shortfall(const struct archive *a)
{
	size_t left = sources_left(&a->sources);

	if (a->o->follow && a->job && left)
		return cli_fail(a->session->cli, CLI_FAILED,
		                "%zu more are incomplete: their containers still run, or nothing arrived for a minute",
		                left);
	return a->sources.some_failed && !a->o->follow ? CLI_FAILED : CLI_OK;
}

static void archive_release(struct archive *a)
{
	log_pods_release(&a->pods);
	while (a->sources.first)
		source_free(a->sources.first);
	map_release(&a->sources.by_key);
	loop_timer_free(a->timer);
	arena_release(&a->arena);
	if (a->lock >= 0)
		close(a->lock);
}

enum exit_code archive_logs(struct cli_session *s, const struct job_found *f, const struct archive_options *o)
{
	struct archive a = {
		.session = s, .o = o, .job = f, .sources = { .session = s, .o = o }, .list = 1, .lock = -1
	};
	enum exit_code status;

	a.pods = (struct log_pods){ .session = s,
		                    .job = f,
		                    .all_namespaces = o->all_namespaces,
		                    .role = o->role,
		                    .index = o->index,
		                    .what = "pods",
		                    .events = { NULL, take_container, pod_gone, pods_listed, &a } };
	a.timer = loop_timer_new(s->remote.loop, woken, &a);
	if (lock(&a)) {
		prune(&a);
		/* Whoever keeps all logs ends when he is told to. */
		if (log_pods_start(&a.pods, o->follow, &a.sources.status) && !remote_wait(&s->remote, is_over, &a))
			a.sources.status =
				!f && o->follow && s->cli->status == CLI_INTERRUPTED ? CLI_OK : s->cli->status;
		if (!o->follow)
			prune(&a);
	}
	status = a.sources.status;
	if (status == CLI_OK)
		status = log_pods_refusal(&a.pods);
	if (status == CLI_OK && !(o->follow && !f))
		printf("%zu logs archived in %s\n", a.sources.n_kept, o->dir);
	if (status == CLI_OK)
		status = shortfall(&a);
	archive_release(&a);
	return status;
}
