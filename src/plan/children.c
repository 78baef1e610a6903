/* Which pods and services are made, and which go. */
#include "plan/world.h"

/* A restart of the whole job or role lets the old members go before the first new one is made: an old
   worker must not talk to a new scheduler. */
static void end_drains(struct world *w)
{
	if (w->n_old == 0)
		w->next->drain = false;
	for (size_t r = 0; r < w->job->n_roles; r++)
		if (w->roles[r].n_old == 0)
			w->roles[r].rec->drain = false;
}

/* Services are made before pods, so that names are there when somebody asks for them. Whoever begins asks for all, and
   waits for those that are refused; whoever comes back only needs its own, and the others have what they need. */
static bool waits_for_services(const struct world *w, const struct role_view *v, int32_t index)
{
	if (v->role->service && !v->replicas[index].service && refusal_of(w, RES_SERVICE, v->role->name))
		return true;
	for (size_t i = 0; i < w->in->n_refusals && !v->rec->accepted && !v->role->aux; i++)
		if (w->in->refusals[i].resource == RES_SERVICE && refusal_holds(w, i))
			return true;
	return false;
}

static bool held(struct world *w, const struct role_view *v, int32_t index)
{
	const struct replica *rep = &v->replicas[index];
	msec until;

	if (rep->blocked || v->rec->drain || ((w->next->drain || w->gang_held) && !v->role->aux))
		return true;
	if (waits_for_services(w, v, index))
		return true;
	until = MAX(backoff_until(w, v, index), refused_until(w, RES_POD, v->role->name));
	if (w->now >= until)
		return false;
	world_wake(w, until);
	return true;
}

static void create(struct world *w, enum resource resource, size_t role, int32_t index)
{
	struct action *act = world_act(w, ACT_CREATE, resource);
	const struct role_view *v = &w->roles[role];

	act->role = (uint32_t)role;
	act->index = index;
	act->generation = record_generation(w->next, v->role, v->rec, index);
}

static void create_services(struct world *w, size_t role)
{
	const struct role_view *v = &w->roles[role];
	msec until = MAX(refused_until(w, RES_SERVICE, v->role->name), losses_until(w));

	if (!v->role->service || (w->gang_held && !v->role->aux))
		return;
	for (int32_t i = 0; i < v->role->count; i++) {
		if (v->replicas[i].service || v->replicas[i].verdict >= V_COMPLETED)
			continue;
		if (w->now >= until)
			create(w, RES_SERVICE, role, i);
		else
			world_wake(w, until);
	}
}

/* After the end, and while the job is suspended, only what does not count is made: people look at curves then, too. A
   job that has never run has none. */
static bool is_wanted(struct world *w, const struct role *role)
{
	const struct record *next = w->next;

	if (next->outcome != PHASE_NONE)
		return role->aux && !companion_is_over(w, role);
	if (next->suspended)
		return role->aux && next->level.generation > 0;
	return true;
}

void children_create(struct world *w)
{
	if (!w->next->suspended)
		end_drains(w);
	for (size_t r = 0; r < w->job->n_roles; r++)
		if (is_wanted(w, &w->job->roles[r]))
			create_services(w, r);
	for (size_t r = 0; r < w->job->n_roles; r++) {
		const struct role_view *v = &w->roles[r];

		if (v->role->after && start_after_blocks(w, v))
			continue;
		for (int32_t i = 0; i < v->role->count && is_wanted(w, v->role); i++)
			if (v->replicas[i].verdict == V_ABSENT && !held(w, v, i))
				create(w, RES_POD, r, i);
	}
}

/* A pod whose node is lost never confirms its end: it is taken out of the API by force, at once where
   the node is certainly gone, otherwise after a time in which it could have come back, counted from when it was lost.
   How long it would have been left there to run does not matter: it only has to go, and others may wait for that. */
static bool wants_force(struct world *w, const struct pod *pod)
{
	switch (pod->node.n ? node_state_to_force(w, pod) : NODE_GOOD) {
	case NODE_GOOD:
		break;
	case NODE_GONE:
		return true;
	case NODE_FAILED:
		return pod->meta.deleted || w->in->config->force_delete_after == 0;
	}
	return false;
}

static void delete_pod(struct world *w, const struct pod *pod)
{
	bool force = wants_force(w, pod), forced = pod->meta.deleted && pod->meta.grace == 0;
	struct action *act;

	if ((pod->meta.deleted && (!force || forced)) || undeleted_holds(w, RES_POD, &pod->child))
		return;
	act = world_act(w, ACT_DELETE, RES_POD);
	act->target = &pod->meta;
	act->force = force;
}

void children_delete(struct world *w)
{
	for (size_t i = 0; i < w->doomed.n; i++)
		delete_pod(w, w->doomed.v[i]);
	for (size_t i = 0; i < w->doomed_services.n; i++) {
		const struct service *s = w->doomed_services.v[i];

		if (!s->meta.deleted && !undeleted_holds(w, RES_SERVICE, &s->child))
			world_act(w, ACT_DELETE, RES_SERVICE)->target = &s->meta;
	}
}
