/* How a pod has ended: which containers count, whose fault it was, and whether it ended by itself. */
#include "plan/world.h"

/* The kubelet and the control plane take a pod away without its own fault. Not here: Evicted. Where that is no fault of
   the pod that ran, a condition says so as well; where it stands alone, the pod has used more storage than its own
   limit. */
static const char *const disruption_reasons[] = {
	"Preempting",   "Preempted",       "Shutdown",
	"NodeShutdown", "Terminated",      "NodeLost",
	"NodeAffinity", "TaintToleration", "UnexpectedAdmissionError",
};

static bool is_over_its_deadline(const struct pod *pod)
{
	return str_eqc(pod->reason, "DeadlineExceeded");
}

/* The kubelet did not take it, and says why in a word of its own or of a plugin: OutOfcpu, AppArmor, Evicted of a node
   under pressure … Nobody can list them all, and none of its containers was ever created. */
static bool is_rejected(const struct pod *pod)
{
	if (pod->phase != POD_FAILED || !pod->reason.n || is_over_its_deadline(pod))
		return false;
	for (size_t i = 0; i < pod->n_containers; i++)
		if (pod->containers[i].state != CONTAINER_WAITING || pod->containers[i].ran)
			return false;
	return true;
}

bool pod_is_disrupted(const struct pod *pod)
{
	if (pod->disrupted || is_rejected(pod))
		return true;
	/* OutOfcpu, OutOfpods …: also where an earlier attempt left statuses of containers behind. */
	if (str_has_prefix(pod->reason, STR("OutOf")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(disruption_reasons); i++)
		if (str_eqc(pod->reason, disruption_reasons[i]))
			return true;
	return false;
}

bool pod_is_evicted(const struct pod *pod)
{
	return !pod->disrupted && str_eqc(pod->reason, "Evicted") && !is_rejected(pod);
}

bool pod_has_run(const struct pod *pod)
{
	for (size_t i = 0; i < pod->n_containers; i++) {
		const struct container *c = &pod->containers[i];

		if (!c->init &&
		    (c->ran || c->state == CONTAINER_RUNNING || (c->state == CONTAINER_TERMINATED && c->started)))
			return true;
	}
	return pod->phase == POD_RUNNING || pod->phase == POD_SUCCEEDED;
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

static bool is_final(const struct pod *pod)
{
	return pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
}

/* What the containers that count say, taken together. */
struct ends_tally {
	int counting, ended, bad;
	int32_t exit_code; /* the first bad one */
	bool oom;
	bool back;              /* the kubelet was about to start one again, in place */
	msec started, finished; /* the first, the last */
};

static struct ends_tally tally_of(const struct role *role, const struct pod *pod)
{
	struct ends_tally t = { .exit_code = -1 };

	for (size_t i = 0; i < pod->n_containers; i++) {
		const struct container *c = &pod->containers[i];

		if (!container_counts(role, pod, c))
			continue;
		t.counting++;
		if (c->state != CONTAINER_TERMINATED || (c->comes_back && !is_final(pod)))
			continue;
		t.ended++;
		t.back |= c->comes_back;
		t.finished = MAX(t.finished, c->finished);
		if (c->started && (!t.started || c->started < t.started))
			t.started = c->started;
		if (c->exit_code == 0)
			continue;
		t.bad++;
		t.oom |= str_eqc(c->reason, "OOMKilled");
		if (t.exit_code < 0)
			t.exit_code = c->exit_code;
	}
	return t;
}

static struct pod_result failure(enum cause cause, const struct ends_tally *t)
{
	msec ran_for = t->started && t->finished >= t->started ? t->finished - t->started : -1;

	return (struct pod_result){ RESULT_FAILURE, cause, t->exit_code, t->finished, ran_for };
}

/* Whoever deletes pods of nodes that do not answer says so. */
static enum cause disruption_cause(const struct pod *pod)
{
	bool node = str_eqc(pod->disrupter, "DeletionByTaintManager") || str_eqc(pod->disrupter, "DeletionByPodGC");

	return node && pod->node.n ? CAUSE_NODE_FAIL : CAUSE_DISRUPTED;
}

enum cause pod_loss(const struct world *w, const struct pod *pod)
{
	if (pod_is_disrupted(pod))
		return disruption_cause(pod);
	/* One that is gone may have gone before its node did. */
	return !pod->gone && node_is_down(w, pod->node) ? CAUSE_NODE_FAIL : CAUSE_DELETED;
}

/* Nobody keeps the clocks of nodes and API servers nearer to each other than this. */
static const msec clocks_differ = MINUTES(2);

/* Did it end before that was asked of it? What we have seen in that order is sure, whatever the clocks say. */
static bool ended_before(const struct pod *pod, msec finished, msec asked)
{
	if (pod->ended || (finished && finished <= pod->ended_seen))
		return true;
	return finished && finished < asked - clocks_differ;
}

/* When what counts has ended, as far as that says when the pod did; 0: not at all. */
static msec own_end(const struct pod *pod, const struct ends_tally *t)
{
	const struct container *init = failed_init(pod);

	if (t->counting && t->ended == t->counting)
		return t->back ? 0 : t->finished;
	return init ? init->finished : 0;
}

bool pod_ended_by_itself(const struct role *role, const struct pod *pod)
{
	struct ends_tally t = tally_of(role, pod);

	return !pod->meta.deleted || ended_before(pod, own_end(pod, &t), pod->meta.deleted - SECONDS(pod->meta.grace));
}

/* A kubelet that stops a pod (its node shuts down, or runs short of memory) asks nobody to delete it: only the
   condition says so. A program that exits with 0 then has done as it was told, and the pod's phase may be Succeeded.
   The kubelet dates the condition when the last container has ended, and that one may have used up the grace period. */
static bool is_stopped(const struct pod *pod, const struct ends_tally *t)
{
	msec asked = pod->disrupted_at - SECONDS(MAX(pod->stop_grace, 0));

	if (!pod_is_disrupted(pod))
		return false;
	return !pod->disrupted || is_rejected(pod) || !ended_before(pod, own_end(pod, t), asked);
}

struct pod_result pod_result(const struct role *role, const struct pod *pod)
{
	struct ends_tally t = tally_of(role, pod);
	bool stopped = is_stopped(pod, &t);
	const struct container *init;

	if (is_final(pod) && stopped)
		return failure(disruption_cause(pod), &t);
	/* Its own deadline, its own limits. */
	if (pod->phase == POD_FAILED && (is_over_its_deadline(pod) || pod_is_evicted(pod)))
		return failure(CAUSE_FAILED, &t);
	if (t.counting && t.ended == t.counting) {
		if (stopped)
			return failure(disruption_cause(pod), &t);
		if (!t.bad)
			return (struct pod_result){ RESULT_SUCCESS, CAUSE_FAILED, 0, t.finished, -1 };
		return failure(t.oom ? CAUSE_OOM_KILLED : CAUSE_FAILED, &t);
	}
	if (pod->phase == POD_SUCCEEDED)
		return (struct pod_result){ RESULT_SUCCESS, CAUSE_FAILED, 0, t.finished, -1 };
	if (pod->phase == POD_FAILED) {
		init = failed_init(pod);
		if (init) {
			t.exit_code = init->exit_code;
			t.finished = init->finished;
		}
		return failure(t.oom ? CAUSE_OOM_KILLED : CAUSE_FAILED, &t);
	}
	return (struct pod_result){ RESULT_NONE, CAUSE_FAILED, -1, 0, -1 };
}

enum { EXIT_KILLED = 128 + 9 };

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
	/* Killed by the kubelet, and not always with a code. */
	if (!any && !init && pod_is_evicted(pod))
		return code_set_has(codes, EXIT_KILLED);
	return any || (init && code_set_has(codes, init->exit_code));
}

msec replica_ran_for(const struct world *w, const struct replica *rep)
{
	const struct pod *pod = rep->pod;

	if (rep->ran_for >= 0)
		return rep->ran_for;
	if (!pod || !pod->started || !pod_has_run(pod))
		return 0;
	return MAX((rep->finished ? rep->finished : w->now) - pod->started, 0);
}
