/* Containers that cannot be created: a missing image, a wrong name, a missing ConfigMap. The kubelet tries again and
   again, and most heal by themselves, so they get time; what can never heal gets none. A job that has run is not ended
   by them at all: its manifest works, and what is missing now was there. */
#include "plan/world.h"

static const struct {
	const char *reason;
	bool hopeless; /* only another manifest can mend it */
} problems[] = {
	{ "ErrImagePull", false },           { "ImagePullBackOff", false },           { "ImageInspectError", false },
	{ "ErrImageNeverPull", false },      { "RegistryUnavailable", false },        { "InvalidImageName", true },
	{ "CreateContainerError", false },   { "CreateContainerConfigError", false }, { "RunContainerError", false },
	{ "FailedCreatePodSandBox", false },
};

static int problem_of(const struct container *c)
{
	if (c->state == CONTAINER_WAITING)
		for (size_t i = 0; i < ARRAY_LEN(problems); i++)
			if (str_eqc(c->reason, problems[i].reason))
				return (int)i;
	return -1;
}

const struct container *creating_problem(const struct pod *pod)
{
	for (size_t i = 0; i < pod->n_containers; i++)
		if (problem_of(&pod->containers[i]) >= 0)
			return &pod->containers[i];
	return NULL;
}

bool creating_ends(const struct world *w)
{
	if (w->base->running)
		return false;
	for (size_t i = 0; i < w->base->n_history; i++)
		if (w->base->history[i].phase == PHASE_RUNNING)
			return false;
	return true;
}

enum creating creating_state(struct world *w, const struct pod *pod)
{
	const struct plan_config *cfg = w->in->config;
	const struct container *c = creating_problem(pod);
	bool ends = cfg->creating_failed && creating_ends(w);
	msec since, until, restarts_until;

	if (!c)
		return CREATING_FINE;
	if (problems[problem_of(c)].hopeless && ends)
		return CREATING_HOPELESS;
	since = pod->started ? pod->started : pod->meta.created;
	until = since + cfg->creating_duration;
	if (w->now < until) {
		world_wake(w, until);
		return CREATING_FINE;
	}
	restarts_until = w->base->creating_since + cfg->creating_restart_period;
	if (w->base->creating_since && w->now < restarts_until)
		return CREATING_RESTART;
	return ends ? CREATING_FAILED : CREATING_FINE;
}
