/* Restarts. A restart is a generation: the higher number is recorded first, with its cause; only then
   are pods that carry a lower one deleted and made anew. So a crash between the two neither loses nor
   repeats a count. */
#include "plan/world.h"

const struct restart *restart_rules(const struct world *w, const struct role_view *v, int32_t index)
{
	const struct job *job = w->job;
	bool chief =
		job->complete == JOB_END_CHIEF && v->role == &job->roles[job->chief_role] && index == job->chief_index;

	return chief ? &job->chief_restart : &v->role->restart;
}

bool restart_covers_nodes(enum restart_policy p)
{
	return p == RESTART_ALWAYS || p == RESTART_ON_NODE_FAIL || p == RESTART_ON_NODE_FAIL_WITH_EXIT_CODE;
}

static bool policy_has_codes(enum restart_policy p)
{
	return p == RESTART_EXIT_CODE || p == RESTART_ON_NODE_FAIL_WITH_EXIT_CODE;
}

/* Does the role's policy want another try for a failure of this cause? */
static bool policy_wants(const struct role *role, const struct restart *r, const struct replica *rep)
{
	switch (rep->cause) {
	case CAUSE_DISRUPTED:
	case CAUSE_DELETED:
	case CAUSE_RESIZED:
	case CAUSE_SUSPENDED:
		return true;
	case CAUSE_NODE_FAIL:
		return restart_covers_nodes(r->policy);
	case CAUSE_CREATE_FAILED:
		/* The kubelet has tried again all the time. */
		return rep->insist;
	case CAUSE_OOM_KILLED:
	case CAUSE_FAILED:
	case CAUSE_COUNT:
		break;
	}
	if (policy_has_codes(r->policy)) {
		if (rep->cause == CAUSE_OOM_KILLED && r->oom_permanent)
			return false;
		return pod_codes_retryable(role, &r->codes, rep->pod);
	}
	return r->policy == RESTART_ALWAYS || r->policy == RESTART_ON_FAILURE;
}

/* A container whose program never began: its exit code (128) says nothing, its message does. */
static const struct container *never_began(const struct pod *pod)
{
	static const char *const reasons[] = { "StartError", "CreateContainerError", "ContainerCannotRun" };

	for (size_t i = 0; i < pod->n_containers; i++)
		for (size_t j = 0; j < ARRAY_LEN(reasons); j++)
			if (pod->containers[i].state == CONTAINER_TERMINATED && pod->containers[i].message.n &&
			    str_eqc(pod->containers[i].reason, reasons[j]))
				return &pod->containers[i];
	return NULL;
}

/* "exited with code 3", "was killed for memory" … */
static struct str what_happened(struct arena *a, const struct replica *rep)
{
	const struct container *c;

	switch (rep->cause) {
	case CAUSE_FAILED:
		c = rep->pod ? never_began(rep->pod) : NULL;
		if (c)
			return arena_printf(a, "could not start: %.*s", STR_F(reason_clip(c->message)));
		if (rep->pod && pod_is_evicted(rep->pod))
			return arena_printf(a, "was evicted: %.*s", STR_F(reason_clip(rep->pod->message)));
		return rep->exit_code >= 0 ? arena_printf(a, "exited with code %d", rep->exit_code) : STR("failed");
	case CAUSE_OOM_KILLED:
		return STR("ran out of memory (OOMKilled)");
	case CAUSE_NODE_FAIL:
		return arena_printf(a, "was lost with node %.*s", STR_F(rep->pod->node));
	case CAUSE_CREATE_FAILED:
		c = creating_problem(rep->pod);
		if (!c || rep->pod->phase == POD_FAILED)
			return arena_printf(a, "cannot run: %.*s", STR_F(reason_clip(rep->pod->message)));
		return arena_printf(a, "could not be created: %.*s%s%.*s", STR_F(c->reason), c->message.n ? ": " : "",
		                    STR_F(reason_clip(c->message)));
	case CAUSE_DISRUPTED:
		return STR("was disrupted");
	case CAUSE_DELETED:
		return STR("was deleted");
	case CAUSE_RESIZED:
	case CAUSE_SUSPENDED:
	case CAUSE_COUNT:
		break;
	}
	return STR_NONE;
}

bool restart_allowed(const struct world *w, const struct role_view *v, const struct replica *rep, struct str *why,
                     struct str *text)
{
	int32_t index = (int32_t)(rep - v->replicas);
	const struct restart *r = restart_rules(w, v, index);
	struct str name = replica_name(w->a, v->role, index), what = what_happened(w->a, rep);

	if (rep->hopeless) {
		*why = STR("CannotBeCreated");
		*text = arena_printf(w->a, "%.*s %.*s", STR_F(name), STR_F(what));
		return false;
	}
	if (!policy_wants(v->role, r, rep)) {
		bool code = rep->cause == CAUSE_FAILED || rep->cause == CAUSE_OOM_KILLED;

		*why = str_c(cause_name(rep->cause));
		*text = arena_printf(w->a, "%.*s %.*s; %s %s", STR_F(name), STR_F(what),
		                     policy_has_codes(r->policy) && code ? "permanent under restart policy"
		                                                         : "not restarted under policy",
		                     restart_policy_name(r->policy));
		return false;
	}
	if (limit_is_reached(w, v, rep, rep->cause)) {
		*why = STR("RestartLimit");
		*text = arena_printf(w->a, "%.*s %.*s; the restart limit of %d is reached", STR_F(name), STR_F(what),
		                     r->limit);
		return false;
	}
	return true;
}

static void forget_role(struct role_view *v)
{
	v->rec->completed.n = v->rec->failed.n = v->rec->seen.n = 0;
}

static void count_cause(struct record_role *rec, enum cause cause)
{
	rec->restarts[cause]++;
	rec->counted_ever += cause_counted(cause);
}

static void raise_job(struct world *w, enum cause cause)
{
	w->next->level.generation++;
	w->next->drain = true;
	for (size_t i = 0; i < w->job->n_roles; i++) {
		struct role_view *v = &w->roles[i];

		if (v->role->aux)
			continue;
		count_cause(v->rec, cause);
		/* A suspension is not the fault of those who have completed: where members come back
		   one by one they need not run again. */
		if (cause == CAUSE_SUSPENDED && v->role->restart.scope == SCOPE_POD)
			v->rec->failed.n = v->rec->seen.n = 0;
		else
			forget_role(v);
	}
}

/* The cluster's own word for what happened to the pod. */
static struct str detail_of(const struct world *w, const struct role_view *v, int32_t index)
{
	const struct pod *pod = v ? v->replicas[index].pod : NULL;
	struct str word = !pod ? STR_NONE : pod->disrupter.n ? pod->disrupter : pod->reason;

	return arena_str(w->a, reason_clip(word));
}

static struct str node_of(const struct world *w, const struct role_view *v, int32_t index)
{
	const struct pod *pod = v ? v->replicas[index].pod : NULL;

	return pod ? arena_str(w->a, pod->node) : STR_NONE;
}

void restart_raise(struct world *w, enum scope scope, enum cause cause, struct role_view *v, int32_t index,
                   int32_t exit_code)
{
	struct record *next = w->next;
	struct restart_level *level = &next->level;

	w->raised = true;
	if (v && v->role->aux)
		scope = SCOPE_POD;
	switch (scope) {
	case SCOPE_JOB:
		raise_job(w, cause);
		break;
	case SCOPE_ROLE:
		level = &v->rec->level;
		level->generation++;
		v->rec->drain = true;
		count_cause(v->rec, cause);
		forget_role(v);
		break;
	case SCOPE_POD:
		level = record_index_make(v->rec, w->a, index);
		level->generation++;
		ranges_del(&v->rec->seen, w->a, index);
		count_cause(v->rec, cause);
		break;
	}
	if (v) {
		backoff_hit(level, restart_rules(w, v, index), w->stamp,
		            !cause_counted(cause) && v->replicas[index].barren);
		limit_hit(w, v, index, level);
	}
	if (v && v->role->aux)
		return;
	next->restarts += cause != CAUSE_RESIZED && cause != CAUSE_SUSPENDED;
	next->restarting = cause != CAUSE_SUSPENDED;
	record_note_restart(next, (struct restart_note){ w->stamp, cause, v ? v->role->name : STR_NONE, index,
	                                                 exit_code, scope, detail_of(w, v, index), node_of(w, v, index),
	                                                 v ? replica_ran_for(w, &v->replicas[index]) : 0 });
}

/* The failure that came first and wants the whole job again, if nothing that is final came before it:
   what fails after it fails because of it. */
static struct replica *first_for_all(struct world *w, struct role_view **ret)
{
	struct replica *first = NULL, *final = NULL;
	struct str why, text;

	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct role_view *v = &w->roles[r];

		for (int32_t i = 0; i < v->role->count && !v->role->aux; i++) {
			struct replica *rep = &v->replicas[i];

			if (rep->verdict != V_FAILED)
				continue;
			if (!restart_allowed(w, v, rep, &why, &text)) {
				if (!final || rep->finished < final->finished)
					final = rep;
			} else if (restart_rules(w, v, i)->scope == SCOPE_JOB &&
			           (!first || rep->finished < first->finished)) {
				first = rep;
				*ret = v;
			}
		}
	}
	return first && final && final->finished < first->finished ? NULL : first;
}

void restart_give_up(struct world *w)
{
	struct role_view *v = NULL;
	struct str why, text;

	if (first_for_all(w, &v))
		return;
	for (size_t r = 0; r < w->job->n_roles; r++) {
		v = &w->roles[r];
		for (int32_t i = 0; i < v->role->count && !v->role->aux; i++) {
			struct replica *rep = &v->replicas[i];

			if (rep->verdict != V_FAILED || restart_allowed(w, v, rep, &why, &text))
				continue;
			rep->verdict = V_GIVEN_UP;
			ranges_add(&v->rec->failed, w->a, i);
			if (rep->exit_code > 0)
				record_index_make(v->rec, w->a, i)->exit_code = rep->exit_code;
			/* The first one explains. */
			if (str_empty(w->lost_why)) {
				w->lost_why = why;
				w->lost_text = text;
			}
		}
	}
}

static void restart_one(struct world *w, struct role_view *v, int32_t index)
{
	struct replica *rep = &v->replicas[index];
	struct str why, text;

	/* Those before it in this pass may have used up the limit. The next pass gives it up. */
	if (restart_allowed(w, v, rep, &why, &text))
		restart_raise(w, restart_rules(w, v, index)->scope, rep->cause, v, index, rep->exit_code);
}

void restart_apply(struct world *w)
{
	struct role_view *v = NULL;
	struct replica *first = first_for_all(w, &v);

	if (first) {
		restart_raise(w, SCOPE_JOB, first->cause, v, (int32_t)(first - v->replicas), first->exit_code);
		return;
	}
	for (size_t r = 0; r < w->job->n_roles; r++) {
		v = &w->roles[r];
		for (int32_t i = 0; i < v->role->count && !v->role->aux; i++) {
			if (v->replicas[i].verdict != V_FAILED)
				continue;
			restart_one(w, v, i);
			if (restart_rules(w, v, i)->scope == SCOPE_ROLE)
				break;
		}
	}
}

void restart_aux(struct world *w)
{
	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct role_view *v = &w->roles[r];

		if (companion_is_over(w, v->role))
			continue;
		for (int32_t i = 0; i < v->role->count && v->role->aux; i++) {
			struct replica *rep = &v->replicas[i];

			if (rep->verdict == V_COMPLETED)
				rep->cause = CAUSE_FAILED;
			if (rep->verdict == V_COMPLETED || rep->verdict == V_FAILED)
				restart_raise(w, SCOPE_POD, rep->cause, v, i, rep->exit_code);
		}
	}
}
