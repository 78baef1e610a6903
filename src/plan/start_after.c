/* startAfter: pods of a role are not made before the replicas of others are up. Those that are there already stay: who
   restarts alone waits again, its peers do not. */
#include "plan/world.h"

/* Up: it has run so far that others may count on it, or need not any more. */
static bool is_up(const struct role *role, const struct replica *rep)
{
	switch (rep->verdict) {
	case V_RUNNING:
		return !role->probed || rep->pod->ready;
	case V_COMPLETED:
	case V_GIVEN_UP:
		return true;
	case V_ABSENT:
	case V_PENDING:
	case V_SCHEDULED:
	case V_FAILED:
		break;
	}
	return false;
}

static int32_t down(const struct role_view *v)
{
	int32_t n = 0;

	for (int32_t i = 0; i < v->role->count; i++)
		n += !is_up(v->role, &v->replicas[i]);
	return n;
}

const struct role_view *start_after_blocks(const struct world *w, const struct role_view *v)
{
	/* A gang starts at once, whatever the job says: it was begun without one. */
	if (w->in->config->gang != GANG_NONE)
		return NULL;
	for (size_t r = 0; r < w->job->n_roles && r < JOB_MAX_ROLES && v->role->after >> r; r++)
		if ((v->role->after >> r & 1) && down(&w->roles[r]))
			return &w->roles[r];
	return NULL;
}

struct str start_after_line(const struct world *w, const struct role_view *blocks)
{
	const struct role *role = blocks->role;

	return arena_printf(w->a, "waiting for %d of %d %.*s to %s", down(blocks), role->count, STR_F(role->name),
	                    role->probed ? "be ready" : "run");
}
