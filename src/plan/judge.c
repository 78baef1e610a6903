/* How each replica stands: what its pod's state means. */
#include "plan/world.h"

/* The kubelet and the control plane take a pod away without its own fault. */
static const char *const disruption_reasons[] = {
	"Evicted",         "Preempting",   "Preempted",
	"Shutdown",        "NodeShutdown", "Terminated",
	"NodeLost",        "NodeAffinity", "UnexpectedAdmissionError",
	"TaintToleration",
};

static bool is_disruption(const struct pod *pod)
{
	if (pod->disrupted)
		return true;
	/* The pod's own deadline is its own failure; OutOfcpu, OutOfpods … are the node's. */
	if (str_has_prefix(pod->reason, STR("OutOf")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(disruption_reasons); i++)
		if (str_eqc(pod->reason, disruption_reasons[i]))
			return true;
	return false;
}

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

/* By the present template; a pod that was made from an earlier one is matched by the rule itself. */
static bool container_counts(const struct role *role, const struct pod *pod, const struct container *c)
{
	size_t n = 0;

	if (c->init)
		return false;
	for (size_t i = 0; i < role->n_containers; i++)
		if (str_eq(role->containers[i].name, c->name) && !role->containers[i].init)
			return role->containers[i].counts;
	for (size_t i = 0; i < pod->n_containers; i++)
		n += !pod->containers[i].init;
	if (n == 1)
		return true;
	switch (role->match) {
	case MATCH_NAME:
		return str_eq(c->name, role->match_text);
	case MATCH_PREFIX:
		return str_has_prefix(c->name, role->match_text);
	case MATCH_FIRST:
		return false;
	}
	return false;
}

static const struct container *failed_init(const struct pod *pod)
{
	for (size_t i = 0; i < pod->n_containers; i++) {
		const struct container *c = &pod->containers[i];

		if (c->init && c->state == CONTAINER_TERMINATED && c->exit_code != 0)
			return c;
	}
	return NULL;
}

/* What the containers that count say, taken together. */
struct tally {
	int counting, ended, bad;
	int32_t exit_code; /* the first bad one */
	bool oom;
	msec finished; /* the last */
};

static struct tally tally_of(const struct role *role, const struct pod *pod)
{
	struct tally t = { .exit_code = -1 };

	for (size_t i = 0; i < pod->n_containers; i++) {
		const struct container *c = &pod->containers[i];

		if (!container_counts(role, pod, c))
			continue;
		t.counting++;
		if (c->state != CONTAINER_TERMINATED)
			continue;
		t.ended++;
		t.finished = MAX(t.finished, c->finished);
		if (c->exit_code == 0)
			continue;
		t.bad++;
		t.oom |= str_eqc(c->reason, "OOMKilled");
		if (t.exit_code < 0)
			t.exit_code = c->exit_code;
	}
	return t;
}

static struct pod_result failure(enum cause cause, int32_t exit_code, msec finished)
{
	return (struct pod_result){ RESULT_FAILURE, cause, exit_code, finished };
}

struct pod_result pod_result(const struct role *role, const struct pod *pod)
{
	struct tally t = tally_of(role, pod);
	const struct container *init;

	if (pod->phase == POD_FAILED && is_disruption(pod))
		return failure(CAUSE_DISRUPTED, t.exit_code, t.finished);
	if (pod->phase == POD_FAILED && str_eqc(pod->reason, "DeadlineExceeded"))
		return failure(CAUSE_FAILED, t.exit_code, t.finished);
	if (t.counting && t.ended == t.counting) {
		if (!t.bad)
			return (struct pod_result){ RESULT_SUCCESS, CAUSE_FAILED, 0, t.finished };
		if (is_disruption(pod))
			return failure(CAUSE_DISRUPTED, t.exit_code, t.finished);
		return failure(t.oom ? CAUSE_OOM_KILLED : CAUSE_FAILED, t.exit_code, t.finished);
	}
	if (pod->phase == POD_SUCCEEDED)
		return (struct pod_result){ RESULT_SUCCESS, CAUSE_FAILED, 0, t.finished };
	if (pod->phase == POD_FAILED) {
		init = failed_init(pod);
		return failure(t.oom ? CAUSE_OOM_KILLED : CAUSE_FAILED, init ? init->exit_code : t.exit_code,
		               init ? init->finished : t.finished);
	}
	return (struct pod_result){ RESULT_NONE, CAUSE_FAILED, -1, 0 };
}

bool pod_codes_retryable(const struct role *role, const struct code_set *codes, const struct pod *pod)
{
	const struct container *init = failed_init(pod);
	bool any = false;

	for (size_t i = 0; i < pod->n_containers; i++) {
		const struct container *c = &pod->containers[i];

		if (c->state != CONTAINER_TERMINATED || c->exit_code == 0 || !container_counts(role, pod, c))
			continue;
		if (!code_set_has(codes, c->exit_code))
			return false;
		any = true;
	}
	return any || (init && code_set_has(codes, init->exit_code));
}

/* What ended after somebody asked for the pod's deletion does not count: a script that catches
   SIGTERM and exits 0 has not succeeded. */
static bool ended_by_itself(const struct pod *pod, msec finished)
{
	msec asked;

	if (!pod->meta.deleted)
		return true;
	asked = pod->meta.deleted - SECONDS(pod->meta.grace);
	return finished && finished < asked;
}

static void failed(struct replica *rep, enum cause cause, int32_t exit_code, msec finished)
{
	rep->verdict = V_FAILED;
	rep->cause = cause;
	rep->exit_code = exit_code;
	rep->finished = finished;
}

static void judge_alive(struct world *w, struct replica *rep)
{
	const struct pod *pod = rep->pod;

	if (pod->node.n && node_state_of(w, pod->node) != NODE_GOOD) {
		failed(rep, CAUSE_NODE_FAIL, -1, w->now);
		return;
	}
	if (pod->phase == POD_PENDING) {
		enum creating c = creating_state(w, pod);

		rep->verdict = pod->node.n ? V_SCHEDULED : V_PENDING;
		if (c == CREATING_FINE)
			return;
		failed(rep, CAUSE_CREATE_FAILED, -1, w->now);
		rep->hopeless = c == CREATING_HOPELESS;
		rep->insist = c == CREATING_RESTART;
		return;
	}
	rep->verdict = V_RUNNING;
}

static void judge_pod(struct world *w, struct role_view *v, struct replica *rep)
{
	const struct pod *pod = rep->pod;
	struct pod_result res = pod_result(v->role, pod);

	if (is_hopeless(pod)) {
		failed(rep, CAUSE_CREATE_FAILED, -1, w->now);
		rep->hopeless = true;
		return;
	}
	if (res.result != RESULT_NONE && ended_by_itself(pod, res.finished)) {
		if (res.result == RESULT_SUCCESS)
			rep->verdict = V_COMPLETED;
		else
			failed(rep, res.cause, res.exit_code, res.finished ? res.finished : w->now);
		return;
	}
	if (pod->gone || pod->meta.deleted)
		failed(rep, is_disruption(pod) ? CAUSE_DISRUPTED : CAUSE_DELETED, -1, w->now);
	else
		judge_alive(w, rep);
}

static bool recorded(const struct role_view *v, int32_t index)
{
	struct replica *rep = &v->replicas[index];

	rep->exit_code = -1;
	if (ranges_has(&v->rec->completed, index))
		rep->verdict = V_COMPLETED;
	else if (ranges_has(&v->rec->failed, index))
		rep->verdict = V_GIVEN_UP;
	else
		return false;
	return true;
}

/* The record says that it completed, and yet its pod has begun again: made by somebody who did not
   know. It goes. */
static void stop_rerun(struct world *w, const struct role_view *v, const struct replica *rep)
{
	if (rep->verdict == V_COMPLETED && rep->pod && !rep->pod->gone &&
	    pod_result(v->role, rep->pod).result == RESULT_NONE)
		*vec_push(w->a, &w->doomed) = rep->pod;
}

static void judge_replica(struct world *w, struct role_view *v, int32_t index)
{
	struct replica *rep = &v->replicas[index];

	if (recorded(v, index)) {
		stop_rerun(w, v, rep);
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

void judge(struct world *w, bool aux)
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
			recorded(&w->roles[r], i);
}
