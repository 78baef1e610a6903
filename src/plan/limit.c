/* The restart limit: which count it looks at, and when that begins anew; restart.c and judge.c ask whether it is
   reached. A restart counts once, where it raises the generation: at the replica, at its role or at the job. */
#include "plan/world.h"

/* What the limit of that replica looks at. */
static const struct restart_level *level_of(const struct world *w, const struct role_view *v, int32_t index)
{
	static const struct restart_level none;
	const struct restart *r = restart_rules(w, v, index);
	const struct restart_level *own;

	if (r->limit_by_role)
		return &v->rec->level;
	switch (r->scope) {
	case SCOPE_POD:
		own = record_index_level(v->rec, index);
		return own ? own : &none;
	case SCOPE_ROLE:
		return &v->rec->level;
	case SCOPE_JOB:
		break;
	}
	return &w->next->level;
}

/* An attempt that ran ok for a whole window shows that what failed before is over. */
static bool window_passed(const struct world *w, const struct restart *r, const struct replica *rep)
{
	return r->window > 0 && replica_ran_for(w, rep) >= SECONDS(r->window);
}

bool limit_is_reached(const struct world *w, const struct role_view *v, const struct replica *rep, enum cause cause)
{
	int32_t index = (int32_t)(rep - v->replicas);
	const struct restart *r = restart_rules(w, v, index);
	int32_t count = window_passed(w, r, rep) ? 0 : level_of(w, v, index)->counted;

	return cause_counted(cause) && r->limit >= 0 && count >= r->limit;
}

static void limit_raise(struct restart_level *l, bool anew)
{
	l->counted = anew ? 1 : MIN(l->counted, INT32_MAX - 1) + 1;
}

void limit_hit(struct world *w, struct role_view *v, int32_t index, struct restart_level *raised)
{
	const struct replica *rep = &v->replicas[index];
	const struct restart *r = restart_rules(w, v, index);
	bool anew = window_passed(w, r, rep);

	if (!cause_counted(rep->cause) || v->role->aux)
		return;
	if (!r->limit_by_role) {
		limit_raise(raised, anew);
		return;
	}
	/* A restart of the whole job is one of each role. */
	for (size_t i = 0; i < w->job->n_roles; i++)
		if (!w->job->roles[i].aux && (&w->roles[i] == v || r->scope == SCOPE_JOB))
			limit_raise(&w->roles[i].rec->level, anew);
}

/* Of the replicas of a role, the one that is nearest to its limit. */
static int32_t highest(const struct record_role *rec, int32_t count)
{
	int32_t most = 0;

	for (size_t i = 0; i < rec->n_indexes && rec->indexes[i].index < count; i++)
		most = MAX(most, rec->indexes[i].level.counted);
	return most;
}

void limit_show(struct world *w)
{
	for (size_t i = 0; i < w->job->n_roles; i++) {
		struct role_view *v = &w->roles[i];
		const struct restart *r = &v->role->restart;
		enum scope by = r->limit_by_role ? SCOPE_ROLE : r->scope;

		v->rec->limit = (struct limit_view){ 0 };
		if (v->role->aux || r->limit < 0 || r->policy == RESTART_NEVER)
			continue;
		v->rec->limit = (struct limit_view){ true, r->limit, 0, by, r->window };
		v->rec->limit.counted = by == SCOPE_POD    ? highest(v->rec, v->role->count)
		                        : by == SCOPE_ROLE ? v->rec->level.counted
		                                           : w->next->level.counted;
	}
}
