/* dljob run --kill: a replica is killed on purpose, to see that its job survives. */
#include "local/pod/pod.h"
#include "run/internal.h"
#include "term/duration.h"

static bool parse(struct run_kill *k, const char *text)
{
	struct str rest = str_c(text), index, after;
	double seconds;

	*k = (struct run_kill){ .text = text };
	if (!str_next(&rest, '/', &k->role) || str_empty(k->role) || !str_next(&rest, '@', &index) ||
	    !str_int(index, &k->index) || k->index < 0 || str_empty(rest))
		return false;
	after = rest;
	if (duration_parse(after, &k->after))
		return true;
	if (!decimal_cut(&after, &seconds) || after.n || seconds > 1e6)
		return false;
	k->after = (msec)(seconds * 1000);
	return true;
}

static bool check_target(struct run *r, const struct run_kill *k)
{
	for (size_t i = 0; i < r->input.roles.n; i++) {
		int32_t count = r->input.counts.v[i];

		if (!str_eq_nocase(r->input.roles.v[i], k->role))
			continue;
		if (k->index < count)
			return true;
		r->cli->status =
			cli_fail(r->cli, CLI_INVALID, "--kill %s: the role %.*s has %d replica%s, starting at 0",
		                 k->text, STR_F(k->role), (int)count, count == 1 ? "" : "s");
		return false;
	}
	r->cli->status =
		cli_fail(r->cli, CLI_INVALID, "--kill %s: the job has no role '%.*s'", k->text, STR_F(k->role));
	return false;
}

bool run_kills_parse(struct run *r)
{
	const struct opt_list *list = &r->options->kills;

	r->kills = arena_array(&r->cli->arena, struct run_kill, list->n);
	r->n_kills = list->n;
	for (size_t i = 0; i < list->n; i++) {
		if (!parse(&r->kills[i], list->v[i])) {
			r->cli->status = cli_usage(
				r->cli, "--kill wants ROLE/INDEX@SECONDS such as worker/1@2.5, not '%s'", list->v[i]);
			return false;
		}
		if (!check_target(r, &r->kills[i]))
			return false;
	}
	return true;
}

void run_kills_pod_runs(struct run *r, struct str role, int32_t index)
{
	for (size_t i = 0; i < r->n_kills; i++) {
		struct run_kill *k = &r->kills[i];

		if (!k->at && k->index == index && str_eq_nocase(k->role, role))
			k->at = MAX(loop_now(r->loop) + k->after, 1);
	}
}

static void carry_out(struct run *r, struct run_kill *k)
{
	struct buf folder = BUF_INIT(4096);
	struct err e = ERR_INIT;

	k->done = true;
	if (!run_pod_folder(r, k->role, k->index, &folder))
		run_say(r, "--kill %s: the replica is no longer running", k->text);
	else if (pod_kill(folder.p, &e))
		run_say(r, "killed %.*s-%d (--kill %s)", STR_F(k->role), (int)k->index, k->text);
	else
		run_say(r, "--kill %s: %s", k->text, err_msg(&e));
	err_release(&e);
	buf_release(&folder);
}

msec run_kills(struct run *r)
{
	msec now = loop_now(r->loop), next = NEVER;

	for (size_t i = 0; i < r->n_kills; i++) {
		struct run_kill *k = &r->kills[i];

		if (k->done || !k->at)
			continue;
		if (k->at <= now)
			carry_out(r, k);
		else
			next = MIN(next, k->at - now);
	}
	return next;
}

void run_kills_end(struct run *r)
{
	for (size_t i = 0; i < r->n_kills; i++)
		if (!r->kills[i].done)
			run_say(r, "--kill %s: the job ended before that", r->kills[i].text);
}
