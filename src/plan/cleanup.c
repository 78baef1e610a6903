/* After the end: which pods and services go, and when the job itself goes. */
#include "plan/world.h"

/* A job that was stopped must stop, also where everything shall be kept. */
static enum clean effective(const struct world *w)
{
	enum phase end = w->next->outcome;

	if (w->job->clean == CLEAN_NONE && end != PHASE_SUCCEEDED && end != PHASE_FAILED)
		return CLEAN_RUNNING;
	return w->job->clean;
}

static bool finished(const struct pod *pod)
{
	return pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
}

static const struct role *role_of(const struct world *w, struct str name)
{
	return job_role(w->job, name);
}

static void doom_all(struct world *w, enum clean clean)
{
	w->doomed.n = 0;
	w->doomed_services.n = 0;
	if (clean == CLEAN_NONE)
		return;
	for (size_t i = 0; i < w->in->n_pods; i++) {
		const struct pod *pod = w->in->pods[i];
		const struct role *role = role_of(w, pod->role);

		if (!pod->gone && !(role && role->aux) && (clean == CLEAN_ALL || !finished(pod)))
			*vec_push(w->a, &w->doomed) = pod;
	}
	for (size_t i = 0; i < w->in->n_services; i++) {
		const struct role *role = role_of(w, w->in->services[i]->role);

		if (!(role && role->aux))
			*vec_push(w->a, &w->doomed_services) = w->in->services[i];
	}
}

static void time_to_live(struct world *w)
{
	msec at = w->next->end + SECONDS(w->job->ttl);

	if (w->job->ttl < 0 || !w->next->end)
		return;
	if (w->now >= at)
		world_act(w, ACT_DELETE_JOB);
	else
		world_wake(w, at);
}

void cleanup(struct world *w)
{
	doom_all(w, effective(w));
	children_delete(w);
	time_to_live(w);
}
