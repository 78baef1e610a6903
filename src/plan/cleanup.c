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

/* The kubelet says that the containers have ended a second or two before it says so of the pod. */
static bool finished(const struct pod *pod)
{
	size_t ended = 0;

	if (pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED)
		return true;
	for (size_t i = 0; i < pod->n_containers; i++) {
		if (pod->containers[i].init)
			continue;
		if (pod->containers[i].state != CONTAINER_TERMINATED || pod->containers[i].comes_back)
			return false;
		ended++;
	}
	return ended > 0;
}

static bool is_aux(const struct world *w, struct str role_name)
{
	const struct role *role = job_role(w->job, role_name);

	return role && role->aux;
}

/* What does not count lives on, and its old pods go as ever; for the rest the policy decides. */
static void keep_aux_only(struct world *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->doomed.n; i++)
		if (is_aux(w, w->doomed.v[i]->role))
			w->doomed.v[n++] = w->doomed.v[i];
	w->doomed.n = n;
	w->doomed_services.n = 0;
}

/* … until its own time is over. */
static void doom_over(struct world *w)
{
	for (size_t i = 0; i < w->in->n_pods; i++) {
		const struct role *role = job_role(w->job, w->in->pods[i]->role);

		if (!w->in->pods[i]->gone && role && companion_is_over(w, role))
			*vec_push(w->a, &w->doomed) = w->in->pods[i];
	}
	for (size_t i = 0; i < w->in->n_services; i++) {
		const struct role *role = job_role(w->job, w->in->services[i]->role);

		if (role && companion_is_over(w, role))
			*vec_push(w->a, &w->doomed_services) = w->in->services[i];
	}
}

static void doom_rest(struct world *w, enum clean clean)
{
	keep_aux_only(w);
	doom_over(w);
	if (clean == CLEAN_NONE)
		return;
	for (size_t i = 0; i < w->in->n_pods; i++) {
		const struct pod *pod = w->in->pods[i];

		if (!pod->gone && !is_aux(w, pod->role) && (clean == CLEAN_ALL || !finished(pod)))
			*vec_push(w->a, &w->doomed) = pod;
	}
	for (size_t i = 0; i < w->in->n_services; i++)
		if (!is_aux(w, w->in->services[i]->role))
			*vec_push(w->a, &w->doomed_services) = w->in->services[i];
}

static void time_to_live(struct world *w)
{
	msec at = w->next->end + SECONDS(w->job->ttl);

	/* Whoever waits for the end shall see it: the job stays until its status says so. */
	if (w->job->ttl < 0 || !w->next->end || w->job->deleting || !phase_final(w->base->phase))
		return;
	if (w->now >= at)
		world_act(w, ACT_DELETE, RES_JOB);
	else
		world_wake(w, at);
}

void cleanup(struct world *w)
{
	doom_rest(w, effective(w));
	children_delete(w);
	gang_drop(w);
	time_to_live(w);
}
