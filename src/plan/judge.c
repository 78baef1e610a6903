/* How each replica stands: what its pod's state means. */
#include "plan/world.h"

/* Whoever runs pods has looked at this one, and it can never run there: only another manifest helps. A kubelet keeps
   such a pod waiting (creating.c); the machine that runs them by itself ends it. */
static const char *const hopeless_reasons[] = {
	"NeverFits", "CreateContainerConfigError", "CreateContainerError", "InvalidImageName", "HostPortConflict",
};

static bool is_hopeless(const struct pod *pod)
{
	for (size_t i = 0; i < ARRAY_LEN(hopeless_reasons); i++)
		if (pod->phase == POD_FAILED && str_eqc(pod->reason, hopeless_reasons[i]))
			return true;
	return false;
}

static void failed(struct replica *rep, enum cause cause, int32_t exit_code, msec finished)
{
	rep->verdict = V_FAILED;
	rep->cause = cause;
	rep->exit_code = exit_code;
	rep->finished = finished;
}

/* Its containers cannot be created. */
static void judge_creating(struct world *w, const struct role_view *v, struct replica *rep)
{
	enum creating c = creating_state(w, rep->pod);
	enum verdict waits = rep->verdict;

	if (c == CREATING_FINE)
		return;
	failed(rep, CAUSE_CREATE_FAILED, -1, w->now);
	rep->hopeless = c == CREATING_HOPELESS;
	rep->insist = c == CREATING_RESTART;
	/* Neither does the limit end a job that they may not end. */
	if (rep->insist && !(w->in->config->creating_failed && creating_ends(w)) &&
	    limit_is_reached(w, v, rep, rep->cause))
		rep->verdict = waits;
}

static void judge_alive(struct world *w, const struct role_view *v, struct replica *rep)
{
	const struct pod *pod = rep->pod;

	if (pod->node.n && node_state_of(w, v, rep) != NODE_GOOD) {
		failed(rep, CAUSE_NODE_FAIL, -1, w->now);
		return;
	}
	if (pod->phase == POD_PENDING) {
		rep->verdict = pod->node.n ? V_SCHEDULED : V_PENDING;
		judge_creating(w, v, rep);
		return;
	}
	rep->verdict = V_RUNNING;
}

static void judge_pod(struct world *w, struct role_view *v, struct replica *rep)
{
	const struct pod *pod = rep->pod;
	struct pod_result res = pod_result(v->role, pod);

	if (is_hopeless(pod)) {
		/* Where the job has run before, another try may find again what is missing now. */
		rep->hopeless = creating_ends_whole(w, v);
		failed(rep, rep->hopeless ? CAUSE_CREATE_FAILED : CAUSE_DISRUPTED, -1, w->now);
		rep->barren = !pod_has_run(pod);
		return;
	}
	if (res.result != RESULT_NONE && pod_ended_by_itself(v->role, pod)) {
		if (res.result == RESULT_SUCCESS)
			rep->verdict = V_COMPLETED;
		else
			failed(rep, res.cause, res.exit_code, res.finished ? res.finished : w->now);
		rep->ran_for = res.ran_for;
		rep->barren = !pod_has_run(pod);
		return;
	}
	rep->barren = !pod_has_run(pod);
	/* Whoever takes it away does not say why, and nobody has seen its node yet: with a node that is gone it is a
	   node's failure, and may end the job. */
	if (!pod->gone && pod->meta.deleted && !pod_is_disrupted(pod) && node_is_asked_for(w, pod))
		rep->verdict = pod->phase == POD_PENDING ? V_SCHEDULED : V_RUNNING;
	else if (pod->gone || pod->meta.deleted)
		failed(rep, pod_loss(w, pod), -1, w->now);
	else
		judge_alive(w, v, rep);
}

static bool recorded(const struct role_view *v, int32_t index)
{
	struct replica *rep = &v->replicas[index];

	rep->exit_code = -1;
	rep->ran_for = -1;
	if (ranges_has(&v->rec->completed, index))
		rep->verdict = V_COMPLETED;
	else if (ranges_has(&v->rec->failed, index))
		rep->verdict = V_GIVEN_UP;
	else
		return false;
	return true;
}

/* The record says that it completed, and yet its pod has begun again: made by somebody who did not
   know. It is deleted. */
static void stop_rerun(struct world *w, const struct role_view *v, const struct replica *rep)
{
	if (rep->verdict == V_COMPLETED && rep->pod && !rep->pod->gone &&
	    pod_result(v->role, rep->pod).result == RESULT_NONE)
		*vec_push(w->a, &w->doomed) = rep->pod;
}

/* A replica has completed, and a container beside the one that counts keeps its pod, and its GPU, for itself. */
static const msec sidecars_have = MINUTES(5);

static void free_completed(struct world *w, const struct role_view *v, const struct replica *rep)
{
	const struct pod *pod = rep->pod;
	struct pod_result res;
	msec at;

	if (rep->verdict != V_COMPLETED || !pod || pod->gone || pod->phase != POD_RUNNING ||
	    w->job->clean == CLEAN_NONE)
		return;
	res = pod_result(v->role, pod);
	if (res.result != RESULT_SUCCESS || !res.finished)
		return;
	at = res.finished + sidecars_have;
	if (w->now >= at)
		*vec_push(w->a, &w->doomed) = pod;
	else
		world_wake(w, at);
}

static void judge_replica(struct world *w, struct role_view *v, int32_t index)
{
	struct replica *rep = &v->replicas[index];

	if (recorded(v, index)) {
		stop_rerun(w, v, rep);
		free_completed(w, v, rep);
	} else if (rep->pod) {
		ranges_add(&v->rec->seen, w->a, index);
		judge_pod(w, v, rep);
	} else if (ranges_has(&v->rec->seen, index)) {
		/* It was there in this generation, and nobody saw how it went. */
		failed(rep, CAUSE_DELETED, -1, w->now);
	} else {
		rep->verdict = V_ABSENT;
	}
}

void judge_replicas(struct world *w, bool aux)
{
	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct role_view *v = &w->roles[r];

		if (v->role->aux != aux)
			continue;
		for (int32_t i = 0; i < v->role->count; i++)
			judge_replica(w, v, i);
	}
}

void judge_recorded(struct world *w)
{
	for (size_t r = 0; r < w->job->n_roles; r++)
		for (int32_t i = 0; i < w->job->roles[r].count && !w->job->roles[r].aux; i++)
			if (recorded(&w->roles[r], i))
				free_completed(w, &w->roles[r], &w->roles[r].replicas[i]);
}
