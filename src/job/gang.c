#include "job/gang.h"

enum gang_kind gang_kind_of(struct str scheduler)
{
	if (!scheduler.n)
		return GANG_NONE;
	return str_eqc(scheduler, "volcano") ? GANG_VOLCANO : GANG_PLUGINS;
}

const struct gang_api *gang_api(enum gang_kind k)
{
	static const struct gang_api volcano = { STR_INIT("Volcano"), STR_INIT("scheduling.volcano.sh"),
		                                 STR_INIT("v1beta1"), STR_INIT("podgroups") },
				     plugins = { STR_INIT("scheduler-plugins"), STR_INIT("scheduling.x-k8s.io"),
		                                 STR_INIT("v1alpha1"), STR_INIT("podgroups") };

	ASSERT(k != GANG_NONE);
	return k == GANG_VOLCANO ? &volcano : &plugins;
}

/* So many of a role must be there for it to run. */
static int32_t least(const struct role *role)
{
	return role->elastic && role->min >= 0 ? MIN(role->min, role->count) : role->count;
}

static int32_t left_of(const struct job *job, const int32_t *left, size_t role)
{
	if (job->roles[role].aux)
		return 0;
	return left ? MIN(left[role], job->roles[role].count) : job->roles[role].count;
}

/* The first MEMBERS pods in the order of roles; what elastic roles have above their minimum comes last. */
static struct needs sum_first(const struct job *job, const int32_t *left, int32_t members, struct arena *a)
{
	struct needs sum = { 0 };

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < job->n_roles && members > 0; i++) {
			const struct role *role = &job->roles[i];
			int32_t all = left_of(job, left, i), first = MIN(least(role), all);
			int32_t n = MIN(round ? all - first : first, members);

			needs_add(&sum, &role->needs, n, a);
			members -= n;
		}
	}
	return sum;
}

struct gang gang_of(const struct job *job, const int32_t *left, struct arena *a)
{
	int32_t least_left = 0, all_left = 0;
	struct gang g;

	for (size_t i = 0; i < job->n_roles; i++) {
		int32_t n = left_of(job, left, i);

		least_left += MIN(least(&job->roles[i]), n);
		all_left += n;
	}
	g.members = job->scheduling.min_available < 0 ? least_left : MIN(job->scheduling.min_available, all_left);
	/* Roles that may all be empty: one pod at least is a gang. */
	g.members = MAX(g.members, 1);
	if (job->scheduling.min_resources)
		g.needs = job->scheduling.needs;
	else
		g.needs = sum_first(job, left, g.members, a);
	return g;
}
