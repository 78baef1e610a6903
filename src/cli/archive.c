#include "cli/archive.h"

#include "cli/archive_end.h"
#include "cli/archive_source.h"
#include "cli/follow.h"
#include "cli/view.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const msec prune_every = SECONDS(60); /* or when a sixteenth of the limit was written */

struct archive {
	struct session *session;
	const struct archive_options *o;
	const struct job_found *job; /* NULL: all */
	struct str uid;
	struct archive_sources sources;
	struct follow *pods, *object;
	uint64_t list; /* which one it is */
	bool listed, some_left_out;
	bool ended; /* the job has, or is gone */
	msec ended_at, pruned_at;
	uint64_t pruned_written;
	struct loop_timer *timer;
	struct arena arena;
	int lock;
};

/* --- pods --- */

static void take_container(struct archive *a, yyjson_val *pod, yyjson_val *status, struct archive_name *name)
{
	struct str uid = json_str(json_at(pod, "metadata", "uid", NULL));
	bool running = json_at(status, "state", "running", NULL), ended = json_at(status, "state", "terminated", NULL);
	int64_t restarts = 0;
	struct buf key = BUF_INIT(1024);
	struct source *s;

	name->container = json_str(json_get(status, "name"));
	json_int(json_get(status, "restartCount"), &restarts);
	buf_printf(&key, "%.*s/%.*s", STR_F(uid), STR_F(name->container));
	s = map_get(&a->sources.by_key, buf_str(&key));
	if (!s && (running || ended)) {
		s = source_new(&a->sources, buf_str(&key), uid, json_str(json_at(pod, "metadata", "name", NULL)), name);
		if (!s && !a->some_left_out) {
			a->some_left_out = true;
			cli_fail(a->session->cli, CLI_FAILED,
			         "pods whose labels cannot be names of files are left out");
		}
	}
	if (s) {
		source_told(s, running, restarts);
		s->seen = a->list;
	}
	buf_release(&key);
}

static bool is_chosen(const struct archive_options *o, const struct archive_name *n)
{
	return (!o->role || str_eq_nocase(n->role, str_c(o->role))) && (o->index < 0 || n->index == o->index);
}

static void take_pod(void *cookie, yyjson_val *pod)
{
	static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
	struct archive *a = cookie;
	yyjson_val *labels = json_at(pod, "metadata", "labels", NULL), *status;
	struct archive_name name = { .ns = json_str(json_at(pod, "metadata", "namespace", NULL)),
		                     .kind = json_str(json_get(labels, LABEL_KIND)),
		                     .job = json_str(json_get(labels, LABEL_JOB)),
		                     .uid = json_str(json_get(labels, LABEL_UID)),
		                     .role = json_str(json_get(labels, LABEL_ROLE)) };
	int64_t index = -1;
	size_t i, n;

	str_int(json_str(json_get(labels, LABEL_INDEX)), &index);
	if (index < 0 || index > INT32_MAX)
		return;
	name.index = (int32_t)index;
	str_int(json_str(json_get(labels, LABEL_GENERATION)), &name.generation);
	if (!is_chosen(a->o, &name))
		return;
	for (size_t j = 0; j < ARRAY_LEN(lists); j++) {
		yyjson_arr_foreach(json_at(pod, "status", lists[j], NULL), i, n, status)
		{
			if (!a->o->container || str_eqc(json_str(json_get(status, "name")), a->o->container))
				take_container(a, pod, status, &name);
		}
	}
}

static void pod_gone(void *cookie, yyjson_val *pod)
{
	struct archive *a = cookie;
	struct str uid = json_str(json_at(pod, "metadata", "uid", NULL));

	/* What it said last counts. */
	take_pod(a, pod);
	for (struct source *s = a->sources.first, *later; s; s = later) {
		later = s->next;
		if (str_eq(s->uid, uid))
			source_pod_gone(s);
	}
}

/* What was in neither this list nor the events since the last one is gone. */
static void pods_listed(void *cookie)
{
	struct archive *a = cookie;

	for (struct source *s = a->sources.first, *later; s; s = later) {
		later = s->next;
		if (s->seen < a->list)
			source_pod_gone(s);
	}
	a->list++;
	a->listed = true;
}

/* --- the job --- */

static void end_now(struct archive *a)
{
	if (a->ended)
		return;
	a->ended = true;
	a->ended_at = loop_now(a->session->remote.loop);
}

static void take_job(void *cookie, yyjson_val *object)
{
	struct archive *a = cookie;
	struct job_view v = job_view(object);

	if (!str_eq(v.uid, a->uid) || phase_final(v.phase))
		end_now(a);
}

static void job_gone(void *cookie, yyjson_val *object)
{
	(void)object;
	end_now(cookie);
}

/* --- limits --- */

static bool is_active(void *cookie, struct str path)
{
	const struct archive_sources *all = cookie;

	for (const struct source *s = all->first; s; s = s->next)
		if (s->state != SOURCE_DONE && (str_eq(str_sub(s->path, 0, s->run), path) || str_eq(s->path, path)))
			return true;
	return false;
}

enum { WORTH = 4096 }; /* a smaller file would still take a block */

/* What is open and largest loses its older half, as often as it must. */
static bool halve(struct archive *a, uint64_t left, struct err *e)
{
	while (left > a->o->limits.bytes) {
		struct source *largest = NULL;
		uint64_t before;

		for (struct source *s = a->sources.first; s; s = s->next)
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
		cli_fail(a->session->cli, CLI_FAILED, "the archive cannot be kept within its limits: %s", err_msg(&e));
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
	struct str message;

	sources_pump(&a->sources);
	left = sources_left(&a->sources);
	if (must_prune(a))
		prune(a);
	if (a->sources.status != CLI_WELL)
		return true;
	if (!a->o->follow)
		return !left;
	if (follow_refused(a->pods, &message) || (a->object && follow_refused(a->object, &message)))
		return true;
	if (a->ended)
		wake = archive_end_at(a->ended_at, a->sources.written_at, left);
	loop_timer_set(a->timer, MAX(wake, now + 1) - now);
	return a->ended && a->listed && now >= wake;
}

static bool list_once(struct archive *a, struct str ns, struct str labels)
{
	struct remote *r = &a->session->remote;
	struct remote_list list = { .resource = remote_pods, .options = { .ns = ns, .label_selector = labels } };
	bool well = remote_lists(r, &list, 1);

	if (!well) {
		a->sources.status = a->session->cli->status;
	} else if (list.code != 200) {
		a->sources.status = remote_refused(r, "list pods", list.code, list.message);
		well = false;
	}
	for (size_t i = 0; well && i < list.items.n; i++)
		take_pod(a, list.items.v[i]);
	remote_list_release(&list);
	return well;
}

static bool start(struct archive *a)
{
	struct remote *r = &a->session->remote;
	struct str ns = a->job ? a->job->ns : a->o->all_namespaces ? STR_NONE : r->ns, labels = STR(LABEL_UID);

	if (a->job)
		labels = arena_printf(&a->arena, LABEL_UID "=%.*s", STR_F(a->uid));
	if (!a->o->follow)
		return list_once(a, ns, labels);
	a->pods = follow_new(r, remote_pods, ns, labels, STR_NONE,
	                     &(struct follow_events){ take_pod, pod_gone, pods_listed, a });
	if (a->job)
		a->object = follow_new(r, remote_kind(a->job->job.kind), ns, STR_NONE,
		                       arena_printf(&a->arena, "metadata.name=%.*s", STR_F(a->job->name)),
		                       &(struct follow_events){ take_job, job_gone, NULL, a });
	return true;
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
			why = "another 'dljob logs --archive' writes there";
	}
	if (why)
		a->sources.status = cli_fail(a->session->cli, CLI_FAILED, "%s: %s", a->o->dir, why);
	return !why;
}

static void refusal(struct archive *a)
{
	struct follow *both[] = { a->pods, a->object };
	struct str message;

	for (size_t i = 0; i < ARRAY_LEN(both) && a->sources.status == CLI_WELL; i++) {
		int code = both[i] ? follow_refused(both[i], &message) : 0;

		if (code)
			a->sources.status = remote_refused(&a->session->remote, i ? "watch the job" : "watch pods",
			                                   MAX(code, 0), message);
	}
}

/* What is missing, of those who wait for the end. */
static enum exit_code shortfall(const struct archive *a)
{
	size_t left = sources_left(&a->sources);

	if (a->o->follow && a->job && left)
		return cli_fail(a->session->cli, CLI_FAILED,
		                "%zu more are not whole: their containers still run, or nothing came for a minute",
		                left);
	return a->sources.some_failed && !a->o->follow ? CLI_FAILED : CLI_WELL;
}

static void archive_release(struct archive *a)
{
	follow_free(a->pods);
	follow_free(a->object);
	while (a->sources.first)
		source_free(a->sources.first);
	map_release(&a->sources.by_key);
	loop_timer_free(a->timer);
	arena_release(&a->arena);
	if (a->lock >= 0)
		close(a->lock);
}

enum exit_code archive_logs(struct session *s, const struct job_found *f, const struct archive_options *o)
{
	struct archive a = {
		.session = s, .o = o, .job = f, .sources = { .session = s, .o = o }, .list = 1, .lock = -1
	};
	enum exit_code status;

	if (f)
		a.uid = arena_str(&a.arena, json_str(json_at(f->job.root, "metadata", "uid", NULL)));
	a.timer = loop_timer_new(s->remote.loop, woken, &a);
	if (lock(&a)) {
		prune(&a);
		/* Whoever keeps all logs ends when he is told to. */
		if (start(&a) && !remote_wait(&s->remote, is_over, &a))
			a.sources.status =
				!f && o->follow && s->cli->status == CLI_INTERRUPTED ? CLI_WELL : s->cli->status;
		if (!o->follow)
			prune(&a);
	}
	refusal(&a);
	status = a.sources.status;
	if (status == CLI_WELL && !(o->follow && !f))
		printf("%zu logs kept in %s\n", a.sources.n_kept, o->dir);
	if (status == CLI_WELL)
		status = shortfall(&a);
	archive_release(&a);
	return status;
}
