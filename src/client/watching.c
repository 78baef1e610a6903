#include "client/watching.h"

#include "base/map.h"
#include "client/follow.h"
#include "client/gather.h"
#include "cluster/decode.h"
#include "term/plain.h"

#include <unistd.h>

static const msec rest = 500; /* between two pictures */

struct watching {
	struct cli_session *session;
	const struct job_found *job;
	struct str uid;
	bool draws; /* pictures, not lines */
	bool changed, gone, resting;
	struct loop_timer *timer;
	struct follow *follows[2];
	struct arena arena;
	struct map said; /* pod or "" → what was said of it last */
};

/* One line of the job or a replica, unless it was said already. */
static void print_news(struct watching *w, struct str who, struct str what)
{
	char time[TIME_TEXT];
	const char *before = map_get(&w->said, who);

	w->changed = true;
	if (w->draws || (before && str_eqc(what, before)))
		return;
	map_put(&w->said, arena_str(&w->arena, who), (void *)(uintptr_t)arena_str(&w->arena, what).p);
	plain_printf(stdout, "%s %.*s: %.*s\n", time_format(clock_now(&clock_wall), time), STR_F(who), STR_F(what));
	fflush(stdout);
}

static void on_job(void *cookie, yyjson_val *object)
{
	struct watching *w = cookie;
	struct job_view v = job_view(object);
	struct arena a = ARENA_INIT;

	if (str_eq(v.uid, w->uid))
		print_news(w, v.name,
		           arena_printf(&a, "%.*s%s%.*s", STR_F(v.state), v.reason.n ? ": " : "", STR_F(v.reason)));
	else
		w->gone = true; /* another one of the same name */
	arena_release(&a);
}

static void on_job_gone(void *cookie, yyjson_val *object)
{
	struct watching *w = cookie;

	if (str_eq(json_str(json_at(object, "metadata", "uid", NULL)), w->uid))
		w->gone = true;
}

static void say_pod(struct watching *w, yyjson_val *object, bool gone)
{
	struct arena a = ARENA_INIT;
	struct pod p;

	if (decode_pod(&p, object, &a, NULL)) {
		struct str reason, who = arena_printf(&a, "%.*s-%d", STR_F(p.role), p.index), what = pod_state(&p);
		int32_t code = pod_exit(&p, &reason);

		if (code >= 0 && !gone)
			what = arena_printf(&a, "%.*s, exit code %d", STR_F(what), code);
		if (p.node.n && !gone)
			what = arena_printf(&a, "%.*s on %.*s", STR_F(what), STR_F(p.node));
		print_news(w, who, gone ? STR("deleted") : what);
	}
	arena_release(&a);
}

static void on_pod(void *cookie, yyjson_val *object)
{
	say_pod(cookie, object, false);
}

static void on_pod_gone(void *cookie, yyjson_val *object)
{
	say_pod(cookie, object, true);
}

static bool is_due(void *cookie)
{
	const struct watching *w = cookie;
	struct str message;

	for (size_t i = 0; i < ARRAY_LEN(w->follows); i++)
		if (follow_refused(w->follows[i], &message))
			return true;
	return w->gone || cli_output_broken() || (w->draws && w->changed && !w->resting);
}

static void rested(void *cookie)
{
	struct watching *w = cookie;

	w->resting = false;
	remote_wake(&w->session->remote);
}

/* Asks for everything anew: what the watches told may be of different moments. */
static bool draw(struct watching *w)
{
	struct cli_session *s = w->session;
	struct job_found now = *w->job;
	struct gathered d = { 0 };
	bool ok;

	now.call = (struct remote_call){ .path = job_path(&s->remote, w->job) };
	ok = remote_do(&s->remote, &now.call, 1);
	if (ok && now.call.code == HTTP_NOT_FOUND) {
		w->gone = true;
	} else if (ok && !remote_ok(&now.call)) {
		s->cli->status = remote_refused(&s->remote, "read the job", now.call.code, now.call.message);
		ok = false;
	} else if (ok) {
		now.job.root = now.call.root;
		ok = gather_job(s, &now, &d);
		if (ok) {
			fputs("\033[H\033[2J", stdout);
			tree_print(&d.tree, &d.arena, stdout);
			fflush(stdout);
		}
	}
	gathered_release(&d);
	remote_call_release(&now.call);
	w->changed = false;
	w->resting = true;
	loop_timer_set(w->timer, rest);
	return ok;
}

static enum exit_code watch(struct watching *w)
{
	struct remote *r = &w->session->remote;
	struct str message;
	int code;

	for (;;) {
		if (!remote_wait(r, is_due, w))
			return w->session->cli->status;
		for (size_t i = 0; i < ARRAY_LEN(w->follows); i++) {
			code = follow_refused(w->follows[i], &message);
			if (code)
				return remote_refused(r, i ? "watch its pods" : "watch the job", MAX(code, 0), message);
		}
		if (cli_output_broken())
			return CLI_FAILED;
		if (!w->gone && !draw(w))
			return w->session->cli->status;
		if (w->gone) {
			plain_printf(stdout, "%.*s was deleted\n", STR_F(w->job->name));
			return CLI_OK;
		}
	}
}

enum exit_code job_watch(struct cli_session *s, const struct job_found *f)
{
	struct watching w = { .session = s, .job = f, .changed = true };
	enum exit_code status;

	w.draws = isatty(STDOUT_FILENO);
	w.uid = arena_str(&w.arena, json_str(json_at(f->job.root, "metadata", "uid", NULL)));
	w.timer = loop_timer_new(s->remote.loop, rested, &w);
	w.follows[0] = follow_new(&s->remote, remote_kind(f->job.kind), f->ns, STR_NONE,
	                          arena_printf(&w.arena, "metadata.name=%.*s", STR_F(f->name)),
	                          &(struct follow_events){ on_job, on_job_gone, NULL, &w });
	w.follows[1] =
		follow_new(&s->remote, remote_pods, f->ns, arena_printf(&w.arena, LABEL_UID "=%.*s", STR_F(w.uid)),
	                   STR_NONE, &(struct follow_events){ on_pod, on_pod_gone, NULL, &w });
	status = watch(&w);
	for (size_t i = 0; i < ARRAY_LEN(w.follows); i++)
		follow_free(w.follows[i]);
	loop_timer_free(w.timer);
	map_release(&w.said);
	arena_release(&w.arena);
	return status;
}
