#include "logs/logs.h"

#include "base/map.h"
#include "client/view.h"
#include "logs/again.h"
#include "logs/merge.h"
#include "logs/pods.h"
#include "logs/request.h"
#include "term/plain.h"

static const msec grace = 250;         /* a line waits so long for earlier ones of other replicas */
static const msec reopen_after = 1000; /* a stream that ended before its container */
static const msec linger = SECONDS(3); /* after the end of the job, for lines that still come */
static const msec settle = 300;        /* … for pods that are told of later than the job */

enum { AT_ONCE = 1000 }; /* lines, before signals and streams have their turn */

/* One run of one container of one pod. */
struct log_source {
	struct logs *logs;
	struct merge_source *merge;
	struct kube_stream *stream;
	struct str key; /* pod's UID, container, run */
	struct str pod, uid, container, role, replica;
	int64_t restarts, generation;
	int32_t index;
	bool running; /* as far as is known */
	bool asked;   /* nobody knows whether there is such a log */
	bool paused, gone;
	bool previous; /* it is the run before, or that of a pod that is gone: nothing more is written to it */
	msec heard;    /* when something came of it last, or it broke off */
	/* It is opened again: after a while, if its pod is still the same. */
	struct loop_timer *timer;
	struct log_asking *asking;
	bool waits, broke; /* BROKE: nothing came since */
	int code;          /* … the answer was this, and */
	char why[256];
	struct log_source *next;
};

struct logs {
	struct cli_session *session;
	const struct job_found *job;
	const struct logs_options *o;
	const struct job *read; /* NULL: it cannot be read */
	struct kind_job *kj;
	struct log_pods pods;
	struct log_merge merge;
	struct logline_printer printer;
	struct log_source *sources;
	struct map by_key, by_pod; /* BY_POD: names of pods that are there */
	struct map lost;           /* what was said of lines that are lost */
	bool gone_taken;
	size_t n_open, n_shown, n_told;
	struct loop_timer *timer;
	enum exit_code status;
	struct arena arena;
};

static void open_stream(struct log_source *s, bool again);

/* Is a container of that name shown for this role? */
static bool is_wanted(const struct logs *l, struct str role, struct str name)
{
	const struct role *r = l->read ? job_role(l->read, role) : NULL;

	if (l->o->container)
		return !strcmp(l->o->container, "*") || str_eqc(name, l->o->container);
	for (size_t i = 0; r && i < r->n_containers; i++)
		if (str_eq(r->containers[i].name, name))
			return r->containers[i].counts && !r->containers[i].init;
	/* What somebody has put beside them (a sidecar of a mesh) is no part of the job. */
	return !r || !r->n_containers;
}

/* Are the logs of pods that are gone kept? The cluster on this machine does; others on it say no when they are asked.
 */
static bool may_be_kept(const struct logs *l)
{
	const struct remote *r = &l->session->remote;

	return r->local || str_has_prefix(r->config.server.url, STR("https://127.0.0.1:"));
}

static bool on_data(void *cookie, struct str piece)
{
	struct log_source *s = cookie;

	s->heard = loop_now(s->logs->session->remote.loop);
	s->broke = false;
	merge_push(s->merge, piece, s->heard);
	remote_heard(&s->logs->session->remote);
	if (merge_held(s->merge) > MERGE_HIGH && !s->paused) {
		s->paused = true;
		kube_stream_pause(s->stream);
	}
	remote_wake(&s->logs->session->remote);
	return true;
}

/* Something about a replica that is no log line. */
static void report(struct logs *l, struct str replica, const char *what, struct str more)
{
	logline_break(&l->printer);
	fflush(stdout);
	plain_printf(stderr, "dljob logs: %.*s: %s%s%.*s\n", STR_F(replica), what, *what && more.n ? ": " : "",
	             STR_F(more));
}

static void report_replica(struct logs *l, const struct log_source *s, const char *what, struct str more)
{
	report(l, s->replica, what, more);
	l->n_told++;
}

/* Lines that the pod wrote and no log has: said when the first is lost, and how many they were. */
static void report_lost(struct logs *l, const struct log_pod *p)
{
	struct str key;

	if (!p->log_lost.n || !log_pods_has(&l->pods, p->role, p->index))
		return;
	key = arena_printf(&l->arena, "%.*s/%.*s", STR_F(p->uid), STR_F(p->log_lost));
	if (map_get(&l->lost, key))
		return;
	map_put(&l->lost, key, l);
	report(l, log_pod_title(p, STR_NONE, &l->arena), "", p->log_lost);
}

/* Nothing more comes of it. */
static void end_source(struct log_source *s)
{
	struct logs *l = s->logs;

	s->waits = false;
	s->gone = true;
	loop_timer_stop(s->timer);
	log_asking_free(s->asking);
	s->asking = NULL;
	merge_end(s->merge, loop_now(l->session->remote.loop));
	l->n_open--;
	remote_wake(&l->session->remote);
}

static void wait_again(struct log_source *s)
{
	s->waits = true;
	loop_timer_set(s->timer, reopen_after);
}

/* Its pod may be another one by now. */
static void on_asked(void *cookie, enum log_again where, int code, struct str message)
{
	struct log_source *s = cookie;
	struct logs *l = s->logs;

	s->asking = NULL;
	remote_wake(&l->session->remote);
	switch (where) {
	case AGAIN_LATER:
		wait_again(s);
		return;
	case AGAIN_REFUSED:
		l->status = remote_refused(&l->session->remote, "read logs", code, message);
		end_source(s);
		return;
	case AGAIN_GONE:
		report_replica(l, s, "its pod is gone: its last lines may be missing", STR_NONE);
		end_source(s);
		return;
	case AGAIN_PREVIOUS:
	case AGAIN_SAME:
		s->previous = s->previous || where == AGAIN_PREVIOUS || code == HTTP_NOT_FOUND;
		s->waits = false;
		open_stream(s, true);
		return;
	}
}

static void reopen(void *cookie)
{
	struct log_source *s = cookie;
	struct logs *l = s->logs;

	s->asking = log_ask(&l->session->remote,
	                    &(struct log_run){ .ns = l->job->ns,
	                                       .pod = s->pod,
	                                       .uid = s->uid,
	                                       .container = s->container,
	                                       .restarts = s->restarts,
	                                       .generation = s->generation,
	                                       .kept = may_be_kept(l) },
	                    on_asked, s);
}

/* Has it stopped before its end? */
static bool goes_on(const struct log_source *s, const struct outcome *o)
{
	bool broke = o->code == 0 || o->code >= HTTP_SERVER_ERROR || (http_is_good(o->code) && o->message.n);

	return s->logs->o->follow &&
	       (broke || (http_is_good(o->code) && s->running && !s->previous && !s->logs->pods.ended));
}

/* One that breaks off again and again without a byte is waited for from the first time on. */
static void note_break(struct log_source *s, const struct outcome *o)
{
	if (!s->broke)
		s->heard = loop_now(s->logs->session->remote.loop);
	s->broke = !http_is_good(o->code) || o->message.n;
	s->code = o->code;
	snprintf(s->why, sizeof(s->why), "%.*s", STR_F(o->message));
}

static void on_done(void *cookie, const struct outcome *o, msec took)
{
	struct log_source *s = cookie;
	struct logs *l = s->logs;
	bool ok = http_is_good(o->code);

	(void)took;
	s->stream = NULL;
	s->paused = false;
	remote_wake(&l->session->remote);
	if (o->code == 0)
		remote_doubt(&l->session->remote);
	else
		remote_heard(&l->session->remote);
	if (goes_on(s, o)) {
		note_break(s, o);
		wait_again(s);
		return;
	}
	end_source(s);
	l->n_shown += s->asked && ok;
	if ((ok && !o->message.n) || (s->asked && http_is_client_error(o->code)))
		return;
	if (o->code == HTTP_UNAUTHORIZED || o->code == HTTP_FORBIDDEN || o->code == 0)
		l->status = remote_refused(&l->session->remote, "read logs", o->code, o->message);
	else if (o->code == HTTP_NOT_FOUND)
		report_replica(l, s, "its pod and its log are gone", STR_NONE);
	else
		report_replica(l, s, "its log cannot be read", o->message);
}

static void open_stream(struct log_source *s, bool again)
{
	struct logs *l = s->logs;
	struct buf path = BUF_INIT(LOG_PATH_MAX);

	log_request_path(&path, &(struct log_request){ .ns = l->job->ns,
	                                               .pod = s->pod,
	                                               .container = s->container,
	                                               .follow = l->o->follow && !s->previous,
	                                               .previous = l->o->previous || s->previous,
	                                               .since_time = s->merge->out_time,
	                                               .since = l->o->since,
	                                               .tail = s->merge->out_time ? -1 : l->o->tail });
	if (again)
		merge_again(s->merge);
	if (!again)
		s->heard = loop_now(l->session->remote.loop);
	s->stream = kube_stream_open(
		l->session->remote.kube,
		&(struct kube_stream_spec){ .path = buf_str(&path), .data = on_data, .done = on_done, .cookie = s });
	buf_release(&path);
}

static struct log_source *log_source_new(struct logs *l, struct str key)
{
	struct log_source *s = arena_new(&l->arena, struct log_source);

	s->logs = l;
	s->key = key;
	s->merge = merge_add(&l->merge, s);
	s->timer = loop_timer_new(l->session->remote.loop, reopen, s);
	s->next = l->sources;
	l->sources = s;
	l->n_open++;
	map_put(&l->by_key, key, s);
	return s;
}

/* NULL: there are too many. */
static struct log_source *add_source(struct logs *l, struct str key, const struct log_pod *p, struct str container)
{
	struct arena *a = &l->arena;
	bool all = l->o->container && !strcmp(l->o->container, "*");
	struct log_source *s;

	if (l->n_open >= LOGS_AT_ONCE) {
		if (!l->n_told++)
			cli_fail(l->session->cli, CLI_FAILED,
			         "only the first %d replicas are shown; choose others with --role and --index",
			         LOGS_AT_ONCE);
		l->status = CLI_FAILED;
		return NULL;
	}
	s = log_source_new(l, key);
	s->pod = arena_str(a, p->name);
	s->uid = arena_str(a, p->uid);
	s->generation = p->generation;
	s->container = arena_str(a, container);
	s->role = arena_str(a, p->role);
	s->index = p->index;
	s->replica = log_pod_title(p, all ? container : STR_NONE, a);
	logline_expect(&l->printer, s->replica);
	return s;
}

static void take_pod(void *cookie, const struct log_pod *p)
{
	struct logs *l = cookie;

	if (!map_get(&l->by_pod, p->name))
		map_put(&l->by_pod, arena_str(&l->arena, p->name), l);
	report_lost(l, p);
}

static void take_container(void *cookie, const struct log_pod *p, const struct log_container *c)
{
	struct logs *l = cookie;
	struct log_source *s;
	struct str key;

	if (!is_wanted(l, p->role, c->name))
		return;
	key = arena_printf(&l->arena, "%.*s/%.*s/%lld", STR_F(p->uid), STR_F(c->name), (long long)c->restarts);
	s = map_get(&l->by_key, key);
	if (s) {
		s->running = c->running;
		return;
	}
	if (l->o->previous ? c->restarts == 0 && !may_be_kept(l) : !c->running && !c->ended)
		return;
	s = add_source(l, key, p, c->name);
	if (!s)
		return;
	s->running = c->running;
	s->restarts = c->restarts;
	s->asked = l->o->previous && c->restarts == 0;
	l->n_shown += !s->asked;
	open_stream(s, false);
}

/* A replica that has no pod. */
static void take_gone_one(struct logs *l, const struct role *r, int32_t index, struct str pod)
{
	for (size_t i = 0; i < r->n_containers && l->status == CLI_OK; i++) {
		struct str name = r->containers[i].name;
		struct log_source *s;

		if (!is_wanted(l, r->name, name))
			continue;
		s = add_source(l, arena_printf(&l->arena, "/%.*s/%.*s", STR_F(pod), STR_F(name)),
		               &(struct log_pod){ .name = pod, .role = r->name, .index = index }, name);
		if (!s)
			return;
		s->asked = true;
		open_stream(s, false);
	}
}

/* Once all pods that are there have been taken. */
static void take_gone(struct logs *l)
{
	struct kind_names names;

	if (l->gone_taken || !l->read || !may_be_kept(l))
		return;
	/* A pod that is made just now would be shown twice. */
	if (l->o->follow && !phase_final(job_view(l->job->job.root).phase))
		return;
	l->gone_taken = true;
	for (size_t i = 0; i < l->read->n_roles; i++) {
		const struct role *r = &l->read->roles[i];

		for (int32_t k = 0; k < r->count && l->status == CLI_OK; k++)
			if (log_pods_has(&l->pods, r->name, k) && kind_names(l->kj, i, k, &names, NULL) &&
			    !map_get(&l->by_pod, names.pod))
				take_gone_one(l, r, k, names.pod);
	}
}

static void pod_gone(void *cookie, yyjson_val *pod)
{
	struct logs *l = cookie;
	struct str uid = json_str(json_at(pod, "metadata", "uid", NULL));
	struct log_pod who = log_pod_read(pod);

	report_lost(l, &who);
	for (struct log_source *s = l->sources; s; s = s->next)
		if (str_has_prefix(s->key, uid))
			s->running = false;
}

static void pods_listed(void *cookie)
{
	take_gone(cookie);
}

static void print_line(struct logs *l, const struct merge_line *line)
{
	struct log_source *s = line->source->cookie;

	logline_print(&l->printer, &(struct logline){ .replica = s->replica,
	                                              .time = line->time,
	                                              .part = line->part,
	                                              .text = line->text,
	                                              .role = s->role,
	                                              .pod = s->pod,
	                                              .container = s->container,
	                                              .index = s->index });
	/* Whoever reads may be slow. */
	s->heard = loop_now(l->session->remote.loop);
}

/* Streams that have been read far enough go on; what is done with goes. */
static void tend(struct logs *l)
{
	for (struct log_source **at = &l->sources; *at;) {
		struct log_source *s = *at;

		if (s->paused && merge_held(s->merge) < MERGE_LOW) {
			s->paused = false;
			kube_stream_go_on(s->stream);
		}
		/* The key stays: this run was shown. */
		if (s->gone && !merge_held(s->merge)) {
			merge_remove(&l->merge, s->merge);
			logline_end(&l->printer, s->replica);
			loop_timer_free(s->timer);
			*at = s->next;
			s->timer = NULL;
			continue;
		}
		at = &s->next;
	}
}

/* After the end of the job a stream that ended is not opened again, unless it broke off. */
static void give_up_waiting(struct logs *l)
{
	for (struct log_source *s = l->sources; s; s = s->next)
		if (s->waits && !s->broke && l->pods.ended)
			end_source(s);
}

/* When nothing more is waited for, after the end of the job: of a container that has ended all lines are shown, however
   slowly they come. */
static msec over_at(const struct logs *l)
{
	msec at = l->pods.ended_at + (l->n_open ? linger : settle);

	for (const struct log_source *s = l->sources; s; s = s->next)
		if (!s->gone && !s->running)
			at = MAX(at, s->heard + linger);
	return at;
}

/* Those that did not come to their end. */
static void tell_broken(struct logs *l)
{
	for (const struct log_source *s = l->sources; s; s = s->next)
		if (!s->gone && s->broke)
			report_replica(l, s,
			               s->code >= HTTP_SERVER_ERROR
			                       ? "its log cannot be read"
			                       : "the connection was cut off: its last lines are missing",
			               str_c(s->why));
}

static bool is_over(void *cookie)
{
	struct logs *l = cookie;
	struct loop *loop = l->session->remote.loop;
	struct merge_line line;
	msec wake = NEVER;
	int printed = 0;

	while (printed < AT_ONCE && merge_next(&l->merge, loop_now(loop), &line, &wake)) {
		print_line(l, &line);
		printed++;
	}
	give_up_waiting(l);
	tend(l);
	wake = printed == AT_ONCE ? loop_now(loop) : MIN(wake, logline_draw(&l->printer, loop_now(loop)));
	if (printed < AT_ONCE && l->o->follow)
		fflush(stdout);
	if (wake != NEVER)
		loop_timer_set(l->timer, wake - loop_now(loop));
	else if (l->pods.ended)
		loop_timer_set(l->timer, over_at(l) - loop_now(loop));
	if (l->status != CLI_OK || cli_output_broken())
		return true;
	if (!l->o->follow)
		return merge_done(&l->merge);
	if (log_pods_refused(&l->pods))
		return true;
	if (!l->pods.ended || !l->pods.listed || printed == AT_ONCE || loop_now(loop) < over_at(l))
		return false;
	tell_broken(l);
	return true;
}

static void woken(void *cookie)
{
	remote_wake(&((struct logs *)cookie)->session->remote);
}

/* Nothing was shown: why? */
static enum exit_code say_nothing(struct logs *l)
{
	struct cli *cli = l->session->cli;
	struct job_view v = job_view(l->job->job.root);

	if (l->n_told)
		return CLI_FAILED;
	if (l->o->previous && l->session->remote.local)
		return cli_fail(cli, CLI_FAILED, "no container of %.*s has an earlier log", STR_F(v.name));
	if (l->o->previous)
		return cli_fail(cli, CLI_FAILED,
		                "no container of %.*s has an earlier log: a restarted replica is a new pod, and "
		                "the log of the old one is wherever your cluster's log agent keeps it",
		                STR_F(v.name));
	if (l->o->role || l->o->index >= 0 || l->o->container)
		return cli_fail(cli, CLI_FAILED, "no matching replica of %.*s has a log; 'dljob get %.*s' shows them",
		                STR_F(v.name), STR_F(v.name));
	if (phase_final(v.phase))
		return cli_fail(cli, CLI_FAILED,
		                "%.*s has ended and its pods and their logs are gone; 'cleanPods: None' in the "
		                "policy keeps them",
		                STR_F(v.name));
	return cli_fail(cli, CLI_FAILED, "no replica of %.*s has a log yet: %.*s; -f waits for them", STR_F(v.name),
	                STR_F(v.reason.n ? v.reason : v.state));
}

static void break_line(void *cookie)
{
	logline_break(&((struct logs *)cookie)->printer);
}

static void logs_release(struct logs *l)
{
	for (struct log_source *s = l->sources; s; s = s->next) {
		kube_stream_close(s->stream);
		log_asking_free(s->asking);
		loop_timer_free(s->timer);
	}
	log_pods_release(&l->pods);
	loop_timer_free(l->timer);
	merge_release(&l->merge);
	map_release(&l->by_key);
	map_release(&l->by_pod);
	map_release(&l->lost);
	logline_release(&l->printer);
	arena_release(&l->arena);
}

enum exit_code logs_follow(struct cli_session *s, const struct job_found *f, const struct logs_options *o)
{
	struct logs l = { .session = s, .job = f, .o = o, .merge = { .grace = o->follow ? grace : NEVER } };
	struct logline_options print;
	enum exit_code status;

	logline_options_for(&print, NULL, stdout);
	l.printer = logline_printer(stdout, o->print ? o->print : &print);
	l.kj = kind_read(s->kinds, f->job.kind, f->job.root, STR_NONE, NULL);
	l.read = l.kj ? kind_job(l.kj) : NULL;
	l.timer = loop_timer_new(s->remote.loop, woken, &l);
	l.pods = (struct log_pods){ .session = s,
		                    .job = f,
		                    .role = o->role,
		                    .index = o->index,
		                    .what = "its pods",
		                    .events = { take_pod, take_container, pod_gone, pods_listed, &l } };
	s->remote.before_saying = break_line;
	s->remote.before_saying_cookie = &l;
	if (log_pods_start(&l.pods, o->follow, &l.status) && !remote_wait(&s->remote, is_over, &l))
		l.status = s->cli->status;
	if (l.status == CLI_OK)
		l.status = cli_output_broken() ? CLI_FAILED : log_pods_refusal(&l.pods);
	s->remote.before_saying = NULL;
	logline_end(&l.printer, STR_NONE);
	logline_break(&l.printer);
	status = l.status;
	if (status == CLI_OK && !l.n_shown)
		status = say_nothing(&l);
	else if (status == CLI_OK && l.n_told && !o->follow)
		status = CLI_FAILED;
	logs_release(&l);
	kind_job_free(l.kj);
	return status;
}
