/* The one line that says what the job waits for, or why it ended. */
#include "plan/world.h"

enum { CLIP = 300 };

struct str reason_clip(struct str s)
{
	size_t n = MIN(s.n, (size_t)CLIP);

	/* Not in the middle of a character, and one line only. */
	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		if (s.p[i] == '\n' || s.p[i] == '\r')
			n = i;
	return str_trim(str_sub(s, 0, n));
}

/* The first replica that stands so, and how many do. */
static const struct replica *first_with(const struct world *w, enum verdict verdict, const struct role_view **role,
                                        int32_t *n)
{
	const struct replica *first = NULL;

	*n = 0;
	for (size_t r = 0; r < w->job->n_roles; r++) {
		const struct role_view *v = &w->roles[r];

		for (int32_t i = 0; i < v->role->count && !v->role->aux; i++) {
			if (v->replicas[i].verdict != verdict)
				continue;
			(*n)++;
			if (!first) {
				first = &v->replicas[i];
				*role = v;
			}
		}
	}
	return first;
}

static struct str name_in_role(const struct world *w, const struct role_view *v, const struct replica *rep)
{
	return replica_name(w->a, v->role, (int32_t)(rep - v->replicas));
}

static struct str more(const struct world *w, int32_t n)
{
	return n > 1 ? arena_printf(w->a, " (and %d more)", n - 1) : STR_NONE;
}

/* What is said of that role explains more than what is said of another. NULL: nothing that counts is refused. */
static const struct refusal *refusal_shown(const struct world *w, const struct role_view *v)
{
	const struct refusal *any = NULL;

	for (size_t i = 0; i < w->in->n_refusals; i++) {
		const struct refusal *r = &w->in->refusals[i];

		if (!refusal_holds(w, i))
			continue;
		if (v && str_eq(r->role, v->role->name))
			return r;
		any = r;
	}
	return any;
}

static struct str refused_line(const struct world *w, const struct refusal *r)
{
	static const char *const what[] = {
		[REFUSED_NOT] = "",
		[REFUSED_QUOTA] = "forbidden, retrying",
		[REFUSED_INVALID] = "refused, retrying",
		[REFUSED_SERVER] = "waiting for the API server",
		[REFUSED_FOREIGN] = "waiting for a name that is taken",
		[REFUSED_UNBUILT] = "cannot be built, retrying",
	};

	return arena_printf(w->a, "%s: %.*s", what[r->kind], STR_F(reason_clip(r->message)));
}

/* LINE says how those stand that are there; something may be missing beside them. */
static struct str with_refused(const struct world *w, struct str line)
{
	const struct refusal *r = refusal_shown(w, NULL);

	if (!r || !r->role.n)
		return line;
	return arena_printf(w->a, "%.*s; %s of %.*s: %.*s", STR_F(line), resource_plural(r->resource), STR_F(r->role),
	                    STR_F(refused_line(w, r)));
}

/* Attempts that ended before they ran will often end so again: a node that does not fit, a device that is broken. */
static struct str barren_line(const struct world *w)
{
	const struct restart_note *l = &w->next->last;
	const struct record_role *rec = record_role_of(w->next, l->role);
	const struct restart_level *level = l->scope == SCOPE_JOB    ? &w->next->level
	                                    : !rec                   ? NULL
	                                    : l->scope == SCOPE_ROLE ? &rec->level
	                                                             : record_index_level(rec, l->index);

	if (!level || level->barren < 2)
		return STR_NONE;
	return arena_printf(w->a, ", %d times in a row before it ran", level->barren);
}

/* "worker-1 exited with code 137" of the last restart. */
static struct str last_line(const struct world *w)
{
	const struct restart_note *l = &w->next->last;

	if (!l->role.n)
		return arena_printf(w->a, "%s", cause_name(l->cause));
	if (l->exit_code >= 0)
		return arena_printf(w->a, "%.*s-%d %s with code %d", STR_F(l->role), l->index, cause_name(l->cause),
		                    l->exit_code);
	return arena_printf(w->a, "%.*s-%d %s%s%.*s%s%.*s", STR_F(l->role), l->index, cause_name(l->cause),
	                    l->detail.n ? " (" : "", STR_F(l->detail), l->detail.n ? ")" : "", STR_F(barren_line(w)));
}

static struct str absent_line(const struct world *w, const struct role_view *v, const struct replica *rep, int32_t n)
{
	struct str name = name_in_role(w, v, rep);
	msec until = backoff_until(w, v, (int32_t)(rep - v->replicas));
	const struct role_view *blocks;
	const struct refusal *r = refusal_shown(w, v);
	char at[TIME_TEXT];

	if (r)
		return refused_line(w, r);
	if (w->n_old)
		return arena_printf(w->a, "waiting for %d old pods to be deleted", w->n_old);
	if (until > w->now)
		return arena_printf(w->a, "restarts at %s", time_format(until, at));
	if (w->gang_held)
		return gang_line(w);
	blocks = start_after_blocks(w, v);
	if (blocks)
		return start_after_line(w, blocks);
	return arena_printf(w->a, "creating %.*s%.*s", STR_F(name), STR_F(more(w, n)));
}

static struct str pending_line(const struct world *w, const struct role_view *v, const struct replica *rep, int32_t n)
{
	struct str name = name_in_role(w, v, rep), why = reason_clip(rep->pod->message);

	if (!why.n && world_group(w))
		why = reason_clip(world_group(w)->message);
	return arena_printf(w->a, "waiting for %.*s%.*s to be scheduled%s%.*s", STR_F(name), STR_F(more(w, n)),
	                    why.n ? ": " : "", STR_F(why));
}

/* Of those that are scheduled, one that has a problem explains more than one that is only slow. */
static struct str scheduled_line(const struct world *w, const struct role_view *v, const struct replica *rep, int32_t n)
{
	for (size_t r = 0; r < w->job->n_roles; r++) {
		const struct role_view *u = &w->roles[r];

		for (int32_t i = 0; i < u->role->count && !u->role->aux; i++) {
			const struct replica *one = &u->replicas[i];
			const struct container *c = one->verdict == V_SCHEDULED ? creating_problem(one->pod) : NULL;
			struct str text;

			if (!c)
				continue;
			text = reason_clip(c->message);
			return arena_printf(w->a, "%.*s: %.*s%s%.*s", STR_F(name_in_role(w, u, one)), STR_F(c->reason),
			                    text.n ? ": " : "", STR_F(text));
		}
	}
	return arena_printf(w->a, "waiting for %.*s%.*s to start", STR_F(name_in_role(w, v, rep)), STR_F(more(w, n)));
}

struct str reason_waiting(const struct world *w)
{
	const struct role_view *v = NULL;
	const struct replica *rep;
	int32_t n;

	rep = first_with(w, V_ABSENT, &v, &n);
	if (rep)
		return absent_line(w, v, rep, n);
	rep = first_with(w, V_PENDING, &v, &n);
	if (rep)
		return with_refused(w, pending_line(w, v, rep, n));
	rep = first_with(w, V_SCHEDULED, &v, &n);
	if (rep)
		return with_refused(w, scheduled_line(w, v, rep, n));
	return STR_NONE;
}

static struct str running_line(const struct world *w)
{
	struct role_counts c = { 0 };
	struct str line;

	for (size_t r = 0; r < w->next->n_roles; r++) {
		c.active += w->next->roles[r].now.active;
		c.succeeded += w->next->roles[r].now.succeeded;
		c.failed += w->next->roles[r].now.failed;
	}
	line = arena_printf(w->a, "%d running", c.active);
	if (c.succeeded)
		line = arena_printf(w->a, "%.*s, %d completed", STR_F(line), c.succeeded);
	if (c.failed)
		line = arena_printf(w->a, "%.*s, %d failed", STR_F(line), c.failed);
	return line;
}

/* Something must go, and is not let go. */
static struct str with_undeleted(const struct world *w, struct str line)
{
	if (!w->undeleted)
		return line;
	return arena_printf(w->a, "%.*s%s%s %.*s cannot be deleted: %.*s", STR_F(line), line.n ? "; " : "",
	                    resource_noun(w->undeleted_sort), STR_F(w->undeleted->meta.name),
	                    STR_F(reason_clip(w->in->undeleted)));
}

static struct str phase_line(const struct world *w)
{
	struct str line;

	switch (w->next->phase) {
	case PHASE_NONE:
	case PHASE_INVALID:
		return STR_NONE;
	case PHASE_SUCCEEDED:
	case PHASE_FAILED:
	case PHASE_TIMED_OUT:
	case PHASE_PREEMPTED:
	case PHASE_NODE_FAILED:
		return w->next->reason;
	case PHASE_OTHER:
		return w->next->reason;
	case PHASE_TERMINATING:
		if (w->next->outcome != PHASE_NONE)
			return w->next->reason;
		if (w->job->deleting)
			return STR("the job is being deleted");
		return arena_printf(w->a, "suspended; waiting for %d pods to be deleted", w->n_stopping);
	case PHASE_SUSPENDED:
		return STR("suspended");
	case PHASE_RUNNING:
		return with_refused(w, running_line(w));
	case PHASE_RESTARTING:
		line = reason_waiting(w);
		return arena_printf(w->a, "%.*s%s%.*s", STR_F(last_line(w)), line.n ? "; " : "", STR_F(line));
	case PHASE_PENDING:
	case PHASE_CREATING:
	case PHASE_COUNT:
		break;
	}
	return reason_waiting(w);
}

struct str reason_line(struct world *w)
{
	/* How it has ended is said once and for all. */
	return w->next->outcome != PHASE_NONE ? phase_line(w) : with_undeleted(w, phase_line(w));
}
