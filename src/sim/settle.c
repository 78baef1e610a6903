/* What must hold when the faults have stopped and time has passed. */
#include "sim/settle.h"
#include "sim/sim.h"

static const msec still = MINUTES(60);

static bool clean_wanted(const struct sim_pod *p, enum clean clean, enum phase outcome)
{
	if (clean == CLEAN_NONE && outcome != PHASE_SUCCEEDED && outcome != PHASE_FAILED)
		clean = CLEAN_RUNNING;
	return clean == CLEAN_ALL ||
	       (clean == CLEAN_RUNNING && p->now.phase != POD_SUCCEEDED && p->now.phase != POD_FAILED);
}

static void settle_pod(struct sim *s, const struct sim_job *job, const struct sim_pod *p)
{
	const struct record *r = job->now->record;
	const struct job *spec = kind_job(job->spec);
	const struct role *role = job_role(spec, p->now.role);
	const struct record_role *rr = r ? record_role_of(r, p->now.role) : NULL;
	int64_t expected = role && rr ? record_generation(r, role, rr, p->now.index) : 0;

	/* It was asked to go, and can never. */
	if ((p->held == NEVER && p->now.meta.deleted) || p->kept == NEVER)
		return;
	/* Without labels nobody can know of it. */
	if (spec->problems.errors || !p->labelled || (role && role->aux))
		return;
	if (!role || p->now.index >= role->count) {
		if (!r->outcome)
			sim_broken(s, INV_SIBLING, "pod %.*s of %.*s is no replica any more", STR_F(p->now.meta.name),
			           STR_F(job->name));
		return;
	}
	if (!r->outcome && spec->clean != CLEAN_NONE && p->stage == STAGE_BESIDE &&
	    ranges_has(&rr->completed, p->now.index))
		sim_broken(s, INV_SIBLING, "pod %.*s of %.*s has completed, and keeps its node for a sidecar",
		           STR_F(p->now.meta.name), STR_F(job->name));
	if (r->outcome ? clean_wanted(p, spec->clean, r->outcome)
	               : p->now.generation < expected && !ranges_has(&rr->completed, p->now.index))
		sim_broken(s, INV_SIBLING, "pod %.*s of %.*s (generation %lld of %lld) is still there",
		           STR_F(p->now.meta.name), STR_F(job->name), (long long)p->now.generation,
		           (long long)expected);
}

/* Is there anybody whose success would end it? */
static bool can_end(const struct sim_job *job)
{
	return !(job->wish.complete_said && job->wish.complete == END_NONE);
}

/* A companion outlives the job for its own time and not longer; without one it stays, and so it does while the job is
   suspended, if it ever ran. */
static void settle_companion(struct sim *s, const struct sim_job *job, const struct role *role)
{
	const struct record *r = job->now->record;
	const char *title = companion_type(role->companion->id)->title;
	struct str address = r->addresses[role->companion->id];
	size_t pods = 0, services = 0;
	bool over;

	for (const struct sim_pod *p = job->pods; p; p = p->next)
		pods += p->labelled && str_eq(p->now.role, role->name);
	for (const struct sim_service *v = job->services; v; v = v->next)
		services += str_eq(v->now.role, role->name);
	over = r->outcome ? role->companion->ttl >= 0 : r->suspended && r->level.generation == 0;
	if (over ? pods + services > 0 : pods != 1 || services != 1)
		sim_broken(s, INV_STUCK, "%s of %.*s, %s, has %zu pods and %zu services", title, STR_F(job->name),
		           phase_name(r->phase), pods, services);
	if (!over == !address.n)
		sim_broken(s, INV_STUCK, "%s of %.*s is told at \"%.*s\"", title, STR_F(job->name), STR_F(address));
}

static bool has_child(const struct sim_job *job, enum resource sort, struct str role, int32_t index)
{
	for (const struct sim_pod *p = sort == RES_POD ? job->pods : NULL; p; p = p->next)
		if (str_eq(p->now.role, role) && p->now.index == index)
			return true;
	for (const struct sim_service *v = sort == RES_SERVICE ? job->services : NULL; v; v = v->next)
		if (str_eq(v->now.role, role) && v->now.index == index)
			return true;
	return false;
}

/* Has it ended, or a pod of its own that stays? One that nobody lets go is not its own any more. */
static bool is_there(const struct sim_job *job, const struct role *role, const struct record *r, int32_t index)
{
	const struct record_role *rr = record_role_of(r, role->name);

	if (rr && (ranges_has(&rr->completed, index) || ranges_has(&rr->failed, index)))
		return true;
	for (const struct sim_pod *p = job->pods; rr && p; p = p->next)
		if (str_eq(p->now.role, role->name) && p->now.index == index && !p->now.meta.deleted &&
		    p->now.generation >= record_generation(r, role, rr, index))
			return true;
	return false;
}

/* By startAfter: of a role that it waits for a replica is missing, for a reason that is asked for there. */
static bool waits_for_others(const struct sim_job *job, const struct job *spec, const struct role *role,
                             const struct record *r)
{
	for (size_t i = 0; i < spec->n_roles && i < JOB_MAX_ROLES; i++)
		for (int32_t k = 0; (role->after >> i & 1) && k < spec->roles[i].count; k++)
			if (!is_there(job, &spec->roles[i], r, k))
				return true;
	return false;
}

/* One role, or its services, are kept out for ever: all others are there. Who has never begun may wait for the names of
   all, and who is old and must go may be in the way. */
static void settle_others(struct sim *s, const struct sim_job *job, const struct job *spec, const struct record *r)
{
	for (size_t i = 0; i < spec->n_roles; i++) {
		const struct role *role = &spec->roles[i];
		const struct record_role *rr = record_role_of(r, role->name);
		bool kept_out = job->barred == NEVER && str_eq(role->name, job->barred_role);

		if (role->aux || !rr || !rr->accepted || r->drain || rr->drain ||
		    waits_for_others(job, spec, role, r) || (kept_out && job->barred_sort == RES_POD))
			continue;
		for (int32_t k = 0; k < role->count; k++)
			if (!ranges_has(&rr->completed, k) && !ranges_has(&rr->failed, k) &&
			    !has_child(job, RES_POD, role->name, k) &&
			    !(kept_out && !has_child(job, RES_SERVICE, role->name, k)))
				sim_broken(s, INV_STARVED, "%.*s %d of %.*s does not come back: %.*s",
				           STR_F(role->name), k, STR_F(job->name), STR_F(r->reason));
	}
}

static void settle_job(struct sim *s, const struct sim_job *job)
{
	const struct record *r = job->now->record;
	const struct job *spec = kind_job(job->spec);

	if (job->deleting || !r) {
		sim_broken(s, INV_STUCK, "%.*s is %s", STR_F(job->name), r ? "still being deleted" : "never looked at");
		return;
	}
	for (const struct sim_pod *p = job->pods; p; p = p->next)
		settle_pod(s, job, p);
	if (job->group && (r->outcome || (r->suspended && !spec->problems.errors)))
		sim_broken(s, INV_GANG, "PodGroup %.*s of %.*s is still there", STR_F(job->group->now.meta.name),
		           STR_F(job->name));
	for (size_t i = 0; i < spec->n_roles && !spec->problems.errors; i++)
		if (spec->roles[i].companion)
			settle_companion(s, job, &spec->roles[i]);
	if (r->outcome) {
		/* What cannot be read may not tell how long it shall live. */
		if (spec->ttl >= 0 && !spec->problems.errors)
			sim_broken(s, INV_STUCK, "%.*s has ended and outlives its time", STR_F(job->name));
		if (!phase_final(r->phase))
			sim_broken(s, INV_STUCK, "%.*s has ended (%s) and is still %s", STR_F(job->name),
			           phase_name(r->outcome), phase_name(r->phase));
	} else if (spec->problems.errors) {
		if (r->phase != PHASE_INVALID && !r->start)
			sim_broken(s, INV_ORACLE, "%.*s is invalid and shows %s", STR_F(job->name),
			           phase_name(r->phase));
	} else if (spec->suspend) {
		if (r->phase != PHASE_SUSPENDED && !job->keeps)
			sim_broken(s, r->phase == PHASE_TERMINATING ? INV_STUCK : INV_ORACLE,
			           "%.*s is suspended and shows %s", STR_F(job->name), phase_name(r->phase));
	} else if (job->barred == NEVER || job->keeps) {
		settle_others(s, job, spec, r);
	} else if (can_end(job)) {
		sim_broken(s, INV_STUCK, "%.*s does not end: %s, %.*s", STR_F(job->name), phase_name(r->phase),
		           STR_F(r->reason));
	}
}

static void settle_orphans(struct sim *s)
{
	void *value;

	for (size_t at = 0; map_next(&s->pods, &at, NULL, &value);) {
		struct sim_pod *p = value;

		if (!p->foreign && (!p->job || !p->job->exists) && !(p->held == NEVER && p->now.meta.deleted))
			sim_broken(s, INV_ORPHAN, "pod %.*s has outlived its owner", STR_F(p->now.meta.name));
	}
	for (size_t at = 0; map_next(&s->groups, &at, NULL, &value);) {
		struct sim_group *g = value;

		if (!g->foreign && (!g->job || !g->job->exists))
			sim_broken(s, INV_ORPHAN, "PodGroup %.*s has outlived its owner", STR_F(g->now.meta.name));
	}
	for (size_t at = 0; map_next(&s->services, &at, NULL, &value);) {
		struct sim_service *v = value;

		if (!v->foreign && (!v->job || !v->job->exists))
			sim_broken(s, INV_ORPHAN, "service %.*s has outlived its owner", STR_F(v->now.meta.name));
	}
}

void settle_check(struct sim *s)
{
	settle_orphans(s);
	for (const struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists)
			settle_job(s, j);
	if (s->now - s->last_write < still)
		sim_broken(s, INV_QUIET, "the last write was %lld s ago", (long long)(s->now - s->last_write) / 1000);
}
