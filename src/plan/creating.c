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

/* A kubelet that starts anew, or begins another try, shows for a while that all is ok. Its longest pause between two
   tries. */
static const msec calm = MINUTES(5);

static bool waits_still(const struct pod *pod, const struct container *c)
{
	for (size_t i = 0; i < pod->n_containers; i++)
		if (str_eq(pod->containers[i].name, c->name))
			return pod->containers[i].state == CONTAINER_WAITING;
	return true;
}

/* Has a container begun for the first time? Then what was wrong is not any more, and what comes next is another
   matter. */
static bool goes_on(const struct pod *pod, const struct pod *before)
{
	if (pod->phase != POD_PENDING)
		return true;
	for (size_t i = 0; i < before->n_containers; i++) {
		const struct container *c = &before->containers[i];

		if (c->state == CONTAINER_WAITING && !c->ran && !waits_still(pod, c))
			return true;
	}
	return false;
}

void plan_pod_seen(struct pod *pod, const struct pod *before, msec now)
{
	bool problem = pod->phase == POD_PENDING && creating_problem(pod);
	msec since = before ? before->stuck : 0, quiet = before ? before->stuck_calm : 0;

	if (since && (goes_on(pod, before) || (quiet && now - quiet >= calm)))
		since = quiet = 0;
	if (problem)
		quiet = 0;
	else if (since && !quiet)
		quiet = now;
	pod->stuck = problem && !since ? now : since;
	pod->stuck_calm = quiet;
}

msec creating_proof(const struct world *w)
{
	return 2 * w->in->config->creating_duration;
}

bool creating_is_proof(const struct world *w, const struct pod *pod)
{
	return pod->phase == POD_RUNNING && pod_has_run(pod) && pod->started &&
	       w->now - pod->started >= creating_proof(w);
}

/* Seven of eight replicas may train for days before the eighth gets a node. But that a parameter server runs for a
   minute says nothing of the worker whose image is misspelled. */
bool creating_ends(const struct world *w)
{
	if (w->base->begun)
		return false;
	for (size_t r = 0; r < w->job->n_roles; r++)
		for (int32_t i = 0; i < w->job->roles[r].count && !w->job->roles[r].aux; i++) {
			const struct pod *pod = w->roles[r].replicas[i].pod;

			if (pod && !pod->gone && creating_is_proof(w, pod))
				return false;
		}
	return true;
}

bool creating_ends_whole(const struct world *w, const struct role_view *v)
{
	const struct record_role *rec = record_role_of(w->base, v->role->name);

	return !w->base->running && !(rec && ranges_count(&rec->ran) > ranges_count(&rec->failed));
}

enum creating creating_state(struct world *w, const struct pod *pod)
{
	const struct plan_config *cfg = w->in->config;
	const struct container *c = creating_problem(pod);
	bool ends = cfg->creating_failed && creating_ends(w);
	msec until, restarts_until;

	if (!c)
		return CREATING_FINE;
	if (problems[problem_of(c)].hopeless && ends)
		return CREATING_HOPELESS;
	until = (pod->stuck ? pod->stuck : w->now) + cfg->creating_duration;
	if (w->now < until) {
		world_wake(w, until);
		return CREATING_FINE;
	}
	restarts_until = w->base->creating_since + cfg->creating_restart_period;
	if (w->base->creating_since && w->now < restarts_until)
		return CREATING_RESTART;
	return ends ? CREATING_FAILED : CREATING_FINE;
}
