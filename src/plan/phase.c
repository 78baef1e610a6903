/* What can be observed: counts, phase, times, conditions, history. */
#include "plan/world.h"

/* Brought up again after a restart, and not there yet. */
static bool restarting(const struct world *w, const struct role_view *v, int32_t index)
{
	return w->next->restarting && record_generation(w->next, v->role, v->rec, index) > 0;
}

static void count_replica(const struct world *w, const struct role_view *v, int32_t index, struct role_counts *c)
{
	const struct replica *rep = &v->replicas[index];

	switch (rep->verdict) {
	case V_ABSENT:
	case V_PENDING:
	case V_SCHEDULED:
		if (restarting(w, v, index))
			c->restarting++;
		else if (rep->verdict == V_SCHEDULED)
			c->scheduled++;
		else
			c->pending++;
		break;
	case V_RUNNING:
		c->active++;
		c->ready += rep->pod->ready;
		break;
	case V_COMPLETED:
		c->succeeded++;
		break;
	case V_FAILED:
	case V_GIVEN_UP:
		c->failed++;
		break;
	}
}

/* Is every replica running or over? Elastic roles need no more than their minimum. */
static bool role_is_up(const struct role_view *v)
{
	const struct role *role = v->role;
	int32_t up = v->rec->now.active + v->rec->now.succeeded, over = v->rec->now.failed, wanted = role->count;

	for (int32_t i = 0; over && i < role->count; i++)
		if (v->replicas[i].verdict == V_FAILED)
			over--;
	if (role->elastic && role->min >= 0)
		wanted = MIN(wanted, role->min);
	return up + over >= wanted;
}

/* Does it show that the job works? */
static bool is_begun(const struct world *w, const struct replica *rep)
{
	switch (rep->verdict) {
	case V_COMPLETED:
		return true;
	case V_RUNNING:
		return creating_is_proof(w, rep->pod);
	case V_FAILED:
	case V_GIVEN_UP:
		return rep->pod && pod_has_run(rep->pod) && replica_ran_for(w, rep) >= creating_proof(w);
	case V_ABSENT:
	case V_PENDING:
	case V_SCHEDULED:
		break;
	}
	return false;
}

/* Which replicas have run once; when all have, the job's running time begins. */
static void note_running(struct world *w)
{
	bool all = true, any = false;

	if (w->next->running)
		return;
	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct role_view *v = &w->roles[r];

		for (int32_t i = 0; i < v->role->count && !v->role->aux; i++) {
			enum verdict verdict = v->replicas[i].verdict;

			any |= verdict != V_ABSENT;
			w->next->begun |= is_begun(w, &v->replicas[i]);
			if (verdict == V_RUNNING || verdict == V_COMPLETED || verdict == V_GIVEN_UP)
				ranges_add(&v->rec->ran, w->a, i);
		}
		all &= v->role->aux || ranges_count(&v->rec->ran) == v->role->count;
	}
	if (any && !w->next->first_pod && !w->next->suspended)
		w->next->first_pod = w->stamp;
	if (!all)
		return;
	w->next->running = w->stamp;
	w->next->begun = true;
	for (size_t r = 0; r < w->job->n_roles; r++)
		w->roles[r].rec->ran.n = 0;
}

void phase_enter(struct world *w, enum phase p)
{
	struct record *r = w->next;
	size_t n = 0;

	if (r->phase == p && r->n_history)
		return;
	if (r->n_history)
		r->history[r->n_history - 1].left = w->stamp;
	/* One span for each phase: the latest stands last. */
	for (size_t i = 0; i < r->n_history; i++)
		if (r->history[i].phase != p)
			r->history[n++] = r->history[i];
	r->history[n++] = (struct phase_span){ p, w->stamp, 0 };
	r->n_history = n;
	r->phase = p;
}

static void set_condition(struct world *w, enum condition which, bool status, bool show)
{
	struct condition_state *c = &w->next->conditions[which];

	if (!c->set && !status && !show)
		return;
	if (!c->set || c->status != status)
		*c = (struct condition_state){ true, status, w->stamp };
}

void phase_conditions(struct world *w)
{
	enum phase p = w->next->phase, outcome = w->next->outcome;

	/* What a later version has decided it has also shown. */
	if (outcome == PHASE_OTHER)
		return;
	set_condition(w, CONDITION_RUNNING, p == PHASE_RUNNING, true);
	set_condition(w, CONDITION_SUSPENDED, p == PHASE_SUSPENDED, false);
	set_condition(w, CONDITION_COMPLETE, p == PHASE_SUCCEEDED, false);
	set_condition(w, CONDITION_FAILED, phase_final(p) && p != PHASE_SUCCEEDED, false);
	set_condition(w, CONDITION_SUCCESS_CRITERIA_MET, outcome == PHASE_SUCCEEDED, false);
	set_condition(w, CONDITION_FAILURE_TARGET, outcome != PHASE_NONE && outcome != PHASE_SUCCEEDED, false);
}

static void count_all(struct world *w, bool *placed)
{
	*placed = true;
	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct role_view *v = &w->roles[r];

		if (v->role->aux)
			continue;
		v->rec->now = (struct role_counts){ 0 };
		for (int32_t i = 0; i < v->role->count; i++) {
			count_replica(w, v, i, &v->rec->now);
			*placed &= v->replicas[i].verdict >= V_SCHEDULED;
		}
	}
}

/* Suspending deletes the pods of all replicas that count and have not completed. */
static bool is_stopped(const struct world *w, const struct pod *pod)
{
	const struct role_view *v = world_role(w, pod->role);

	if (pod->gone || (v && v->role->aux))
		return false;
	return !v || pod->index < 0 || pod->index >= v->role->count || !ranges_has(&v->rec->completed, pod->index);
}

/* Whoever looks for room wants to know who still takes some: what is on a node and has not ended is active. */
static enum phase phase_suspended(struct world *w)
{
	enum phase p = PHASE_SUSPENDED;

	for (size_t i = 0; i < w->in->n_pods; i++) {
		const struct pod *pod = w->in->pods[i];
		struct role_view *v = world_role(w, pod->role);

		if (!is_stopped(w, pod))
			continue;
		p = PHASE_TERMINATING;
		w->n_stopping++;
		if (!v || !pod->node.n || pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED)
			continue;
		v->rec->now.active++;
		v->rec->now.pending -= v->rec->now.pending > 0;
	}
	return p;
}

static enum phase phase_alive(struct world *w)
{
	bool up = true, placed;

	count_all(w, &placed);
	for (size_t r = 0; r < w->job->n_roles; r++)
		up &= w->job->roles[r].aux || role_is_up(&w->roles[r]);
	note_running(w);
	if (w->next->suspended)
		return phase_suspended(w);
	if (up) {
		w->next->restarting = false;
		w->next->creating_since = 0;
		return PHASE_RUNNING;
	}
	if (!w->next->creating_since)
		w->next->creating_since = w->stamp;
	if (w->next->restarting)
		return PHASE_RESTARTING;
	return placed ? PHASE_CREATING : PHASE_PENDING;
}

/* A pod that is not being deleted so long after the end is one that we are not allowed to delete. */
static const msec undeletable_after = MINUTES(5);

/* The end is not there before the pods that clean-up deletes have gone; but one that a finalizer, a dead node or a
   right that is missing holds does not hold it for ever. */
static bool holds_the_end(struct world *w, const struct pod *pod)
{
	const struct role *role = job_role(w->job, pod->role);
	msec until = pod->meta.deleted ? pod->meta.deleted + w->in->config->force_delete_after
	                               : w->next->end + undeletable_after;

	if (role && role->aux)
		return false;
	if (w->now >= until)
		return false;
	world_wake(w, until);
	return true;
}

/* After the end only what the clean-up changes is counted. */
static enum phase phase_ended(struct world *w)
{
	bool placed;

	if (w->base->outcome == PHASE_NONE)
		count_all(w, &placed);
	for (size_t r = 0; r < w->next->n_roles; r++) {
		struct role_counts *c = &w->next->roles[r].now;

		c->pending = c->scheduled = c->restarting = c->ready = 0;
		c->active = 0;
	}
	for (size_t i = 0; i < w->in->n_pods; i++) {
		const struct pod *pod = w->in->pods[i];
		struct record_role *rec = record_role_of(w->next, pod->role);
		const struct role *role = job_role(w->job, pod->role);

		if (rec && role && !role->aux && !pod->gone && pod->phase == POD_RUNNING)
			rec->now.active += !ranges_has(&rec->completed, pod->index);
	}
	for (size_t i = 0; i < w->doomed.n; i++)
		if (holds_the_end(w, w->doomed.v[i]))
			return PHASE_TERMINATING;
	return w->next->outcome;
}

void phase_update(struct world *w)
{
	enum phase p;

	if (w->next->outcome != PHASE_NONE)
		p = phase_ended(w);
	else if (w->job->deleting)
		p = PHASE_TERMINATING;
	else
		p = phase_alive(w);
	/* What is final stays so, whatever turns up afterwards. */
	if (phase_final(w->base->phase))
		p = w->base->phase;
	if (!w->next->start)
		w->next->start = w->stamp;
	w->next->observed_generation = w->job->generation;
	if (w->roles)
		limit_show(w);
	phase_enter(w, p);
	phase_conditions(w);
}
