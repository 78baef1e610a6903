#include "plan/world.h"

const struct plan_config plan_config_default = {
	.node_grace = SECONDS(40),
	.node_outage_wait = MINUTES(10),
	.force_delete_after = MINUTES(5),
	.creating_restart_period = 0,
	.creating_duration = MINUTES(15),
	.creating_failed = true,
	.status_interval = SECONDS(1),
};

/* A job that cannot be read. One that never ran gets no children; one that does goes on as it was,
   since nobody asked for its end. Either way the status says what is wrong. */
static void plan_invalid(struct world *w)
{
	struct str line = problems_line(&w->job->problems, w->a);

	if (!w->next->start || w->next->phase == PHASE_INVALID) {
		phase_enter(w, PHASE_INVALID);
		phase_conditions(w);
	}
	w->next->observed_generation = w->job->generation;
	w->next->reason = arena_printf(w->a, "invalid: %.*s", STR_F(reason_clip(line)));
}

/* Cleaning up needs no valid manifest: an edit after the end does not leave pods behind. */
static void plan_ended(struct world *w)
{
	bool valid = !w->job->problems.errors;

	if (valid && !w->job->deleting) {
		judge_replicas(w, true);
		restart_aux(w);
	}
	cleanup(w);
	/* Nothing is made for a job that is being deleted: its children are being collected. */
	if (valid && !w->raised && !w->job->deleting)
		children_create(w);
	companion_addresses(w);
	phase_update(w);
	w->next->reason = reason_line(w);
}

/* Decides what the durable record shall say: endings, suspension, edits, restarts. */
static void decide(struct world *w)
{
	judge_replicas(w, true);
	restart_aux(w);
	/* Members that are suspended or have changed start again: how the old ones stand does not
	   matter any more. */
	if (suspend_check(w) || edit_check(w)) {
		judge_recorded(w);
		external_check(w);
		return;
	}
	judge_replicas(w, false);
	restart_give_up(w);
	if (ending_check(w) || external_check(w) || refusal_check(w) || deadline_check(w))
		return;
	restart_apply(w);
}

static void plan_alive(struct world *w)
{
	decide(w);
	if (w->next->outcome != PHASE_NONE) {
		/* The record comes first; what goes, and that something does, is known already. */
		cleanup(w);
	} else if (!w->raised) {
		children_delete(w);
		if (w->next->suspended)
			gang_drop(w);
		else
			gang_keep(w);
		children_create(w);
	}
	companion_addresses(w);
	phase_update(w);
	w->next->reason = reason_line(w);
}

static void plan_deleting(struct world *w)
{
	/* Whoever deletes a job in the foreground has Kubernetes take its children first. */
	phase_update(w);
	w->next->reason = reason_line(w);
}

/* A replica that was quiet for long needs no streak. Nobody writes because of it; who writes anyway leaves it out. */
static void forget_quiet(struct world *w)
{
	for (size_t r = 0; r < w->job->n_roles; r++) {
		const struct role_view *v = &w->roles[r];
		struct record_role *rec = v->rec;
		size_t n = 0;

		for (size_t i = 0; i < rec->n_indexes; i++) {
			struct index_level *one = &rec->indexes[i];
			struct restart_level *l = &one->level;

			if (l->at && backoff_is_quiet(l, restart_rules(w, v, one->index), w->now)) {
				l->streak = l->barren = 0;
				l->at = 0;
			}
			if (l->generation || l->counted || l->at || l->before || l->exit_code)
				rec->indexes[n++] = *one;
		}
		rec->n_indexes = n;
	}
}

static struct plan finish(struct world *w)
{
	const struct plan_input *in = w->in;
	enum change change = record_compare(w->base, w->next);
	msec next_write = in->status_written + in->config->status_interval;

	if (in->record && w->roles_changed)
		change = CHANGE_DURABLE;
	/* Record first: a pass that changes what must be remembered does nothing else. */
	if (change == CHANGE_DURABLE)
		w->actions.n = 0;
	next_write = MAX(in->status_written ? next_write : 0, in->status_held);
	if (change == CHANGE_OBSERVED && w->now < next_write) {
		change = CHANGE_NONE;
		world_wake(w, next_write);
	}
	if (change != CHANGE_NONE && w->roles)
		forget_quiet(w);
	return (struct plan){ w->actions.v, w->actions.n, w->next, change, w->passed, w->wake, w->deadline };
}

/* What goes, goes first; and services before pods, so that names are there when somebody asks for them. */
static const struct stage {
	enum action_type type;
	enum resource resource;
} stages[] = {
	{ ACT_GET, RES_NODE },       { ACT_DELETE, RES_POD },   { ACT_DELETE, RES_SERVICE },
	{ ACT_DELETE, RES_GROUP },   { ACT_CREATE, RES_GROUP }, { ACT_PATCH, RES_GROUP },
	{ ACT_CREATE, RES_SERVICE }, { ACT_CREATE, RES_POD },   { ACT_DELETE, RES_JOB },
};

static size_t stage_of(const struct action *a)
{
	size_t i = 0;

	while (stages[i].type != a->type || stages[i].resource != a->resource) {
		i++;
		ASSERT(i < ARRAY_LEN(stages));
	}
	return i;
}

/* Actions were found policy by policy; they are carried out stage by stage. */
static void sort_actions(struct world *w)
{
	size_t n = w->actions.n, at[ARRAY_LEN(stages) + 1] = { 0 };
	struct action *sorted;

	if (n < 2)
		return;
	sorted = arena_raw(w->a, n * sizeof(*sorted));
	for (size_t i = 0; i < n; i++)
		at[stage_of(&w->actions.v[i]) + 1]++;
	for (size_t t = 0; t < ARRAY_LEN(stages); t++)
		at[t + 1] += at[t];
	for (size_t i = 0; i < n; i++)
		sorted[at[stage_of(&w->actions.v[i])]++] = w->actions.v[i];
	w->actions.v = sorted;
}

struct plan plan_job(const struct plan_input *in, struct arena *a)
{
	struct world w;

	world_open(&w, in, a);
	if (!in->job->problems.errors)
		world_fill(&w);
	if (w.base->outcome != PHASE_NONE)
		plan_ended(&w);
	else if (in->job->deleting)
		plan_deleting(&w);
	else if (in->job->problems.errors)
		plan_invalid(&w);
	else
		plan_alive(&w);
	sort_actions(&w);
	return finish(&w);
}
