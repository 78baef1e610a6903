#include "client/waiting.h"

#include "client/follow.h"
#include "client/view.h"
#include "term/plain.h"

bool wait_for_read(const char *text, enum wait_for *ret)
{
	static const char *const names[] = { [WAIT_FINISHED] = "finished",
		                             [WAIT_SUCCEEDED] = "succeeded",
		                             [WAIT_RUNNING] = "running",
		                             [WAIT_DELETED] = "deleted" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(text, names[i])) {
			*ret = (enum wait_for)i;
			return true;
		}
	}
	return false;
}

struct wait_verdict wait_judge(const struct job_view *v, enum wait_for what)
{
	bool ok = v->phase == PHASE_SUCCEEDED;

	if (what == WAIT_DELETED)
		return (struct wait_verdict){ false, CLI_OK };
	/* Who has succeeded has run. */
	if (what == WAIT_RUNNING && v->phase == PHASE_RUNNING)
		return (struct wait_verdict){ true, CLI_OK };
	return (struct wait_verdict){ phase_final(v->phase), ok ? CLI_OK : CLI_FAILED };
}

struct waiting {
	struct str uid;
	enum wait_for what;
	struct wait_verdict verdict;
	bool gone, seen;
	struct buf line;
	const struct follow *follow;
};

static void on_put(void *cookie, yyjson_val *object)
{
	struct waiting *w = cookie;
	struct job_view v = job_view(object);

	w->seen = true;
	if (!str_eq(v.uid, w->uid)) {
		w->gone = true;
		return;
	}
	w->verdict = wait_judge(&v, w->what);
	buf_clear(&w->line);
	buf_printf(&w->line, "%.*s %.*s%s%.*s", STR_F(v.name), STR_F(v.state), v.reason.n ? ": " : "", STR_F(v.reason));
}

static void on_job_gone(void *cookie, yyjson_val *object)
{
	struct waiting *w = cookie;

	if (str_eq(json_str(json_at(object, "metadata", "uid", NULL)), w->uid))
		w->gone = true;
}

static void on_listed(void *cookie)
{
	struct waiting *w = cookie;

	w->gone = w->gone || !w->seen;
	w->seen = false;
}

static bool is_over(void *cookie)
{
	const struct waiting *w = cookie;
	struct str message;

	return w->gone || w->verdict.over || follow_refused(w->follow, &message);
}

static enum exit_code outcome(struct cli_session *s, const struct job_found *f, const struct waiting *w, bool waited)
{
	struct str message;
	int code = follow_refused(w->follow, &message);

	if (!waited) {
		/* Where it stands, for whoever gives up. */
		if (s->cli->status == CLI_TIMED_OUT)
			cli_fail(s->cli, CLI_TIMED_OUT, "timed out: %.*s",
			         STR_F(w->line.n ? buf_str(&w->line) : f->name));
		return s->cli->status;
	}
	if (code)
		return remote_refused(&s->remote, "watch the job", MAX(code, 0), message);
	if (w->gone) {
		plain_printf(stdout, "%.*s was deleted\n", STR_F(f->name));
		return w->what == WAIT_DELETED ? CLI_OK : CLI_FAILED;
	}
	plain_printf(stdout, "%.*s\n", STR_F(buf_str(&w->line)));
	return w->verdict.status;
}

enum exit_code job_wait(struct cli_session *s, const struct job_found *f, enum wait_for what)
{
	struct waiting w = { .what = what, .line = BUF_INIT(8192) };
	struct arena a = ARENA_INIT;
	struct follow *follow;
	enum exit_code status;

	w.uid = json_str(json_at(f->job.root, "metadata", "uid", NULL));
	w.follow = follow = follow_new(&s->remote, remote_kind(f->job.kind), f->ns, STR_NONE,
	                               arena_printf(&a, "metadata.name=%.*s", STR_F(f->name)),
	                               &(struct follow_events){ on_put, on_job_gone, on_listed, &w });
	status = outcome(s, f, &w, remote_wait(&s->remote, is_over, &w));
	fflush(stdout);
	follow_free(follow);
	buf_release(&w.line);
	arena_release(&a);
	return status;
}
