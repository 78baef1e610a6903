#include "plan/world.h"

void world_wake(struct world *w, msec at)
{
	w->wake = MIN(w->wake, MAX(at, w->now));
}

struct action *world_act(struct world *w, enum action_type type, enum resource resource)
{
	struct action *act = vec_push(w->a, &w->actions);

	*act = (struct action){ .type = type, .resource = resource };
	return act;
}

struct str replica_name(struct arena *a, const struct role *role, int32_t index)
{
	return arena_printf(a, "%.*s-%d", STR_F(role->name), index);
}

/* The record in the job's order of roles. The server keeps objects in an order of its own, and edits
   add and remove roles. */
static struct record *align(struct world *w, const struct record *r)
{
	struct record *c = record_copy(r, w->a);
	struct record_role *roles = arena_array(w->a, struct record_role, w->job->n_roles);
	size_t known = 0;

	for (size_t i = 0; i < w->job->n_roles; i++) {
		const struct role *role = &w->job->roles[i];
		const struct record_role *rr = i < c->n_roles && str_eq(c->roles[i].name, role->name)
		                                       ? &c->roles[i]
		                                       : record_role_of(c, role->name);

		if (rr) {
			roles[i] = *rr;
			known++;
			continue;
		}
		roles[i].name = role->name;
		/* Without a record there is nothing to remember: the first pods need no prior write. */
		roles[i].count = role->aux ? 0 : w->in->record ? -1 : role->count;
	}
	w->roles_changed = known != w->job->n_roles || known != c->n_roles;
	c->roles = roles;
	c->n_roles = w->job->n_roles;
	return c;
}

struct role_view *world_role(const struct world *w, struct str name)
{
	if (!w->roles)
		return NULL;
	for (size_t i = 0; i < w->job->n_roles; i++)
		if (str_eq(w->job->roles[i].name, name))
			return &w->roles[i];
	return NULL;
}

static void doom(struct world *w, const struct pod *pod)
{
	if (!pod->gone)
		*vec_push(w->a, &w->doomed) = pod;
}

/* Two pods of one generation for one replica: which one is it? */
static bool better(const struct pod *a, const struct pod *b)
{
	if (a->gone != b->gone)
		return b->gone;
	if (a->generation != b->generation)
		return a->generation > b->generation;
	if (a->meta.created != b->meta.created)
		return a->meta.created < b->meta.created;
	return str_cmp(a->meta.name, b->meta.name) < 0;
}

/* A pod from a later generation than the record knows: the record was lost or is stale. Raising it
   keeps generations growing; if it is only stale, the write of it meets a conflict and does no harm. */
static void lift(struct world *w, struct role_view *v, const struct pod *pod, int64_t expected)
{
	struct restart_level *l = record_index_make(v->rec, w->a, pod->index);

	l->generation += pod->generation - expected;
}

static void place_pod(struct world *w, const struct pod *pod)
{
	struct role_view *v = world_role(w, pod->role);
	struct replica *rep;
	int64_t expected;

	/* Of whatever generation it is, and whether or not this pass looks at it: the server has taken it. */
	if (v)
		v->rec->accepted = true;
	if (!v || pod->index < 0 || pod->index >= v->role->count) {
		doom(w, pod);
		return;
	}
	rep = &v->replicas[pod->index];
	expected = record_generation(w->next, v->role, v->rec, pod->index);
	/* The last state of a pod matters only to the generation that it was of. */
	if (pod->gone && pod->generation != expected)
		return;
	if (pod->generation < expected) {
		/* A replica that completed and was suspended since keeps its pod: it has the logs. */
		if (ranges_has(&v->rec->completed, pod->index)) {
			if (!rep->pod)
				rep->pod = pod;
			return;
		}
		doom(w, pod);
		rep->blocked = true;
		v->n_old++;
		w->n_old += !v->role->aux;
		return;
	}
	if (pod->generation > expected)
		lift(w, v, pod, expected);
	if (!rep->pod) {
		rep->pod = pod;
	} else if (better(pod, rep->pod)) {
		doom(w, rep->pod);
		rep->pod = pod;
	} else {
		doom(w, pod);
	}
}

static void place_service(struct world *w, const struct service *s)
{
	struct role_view *v = world_role(w, s->role);

	if (v && v->role->service && s->index >= 0 && s->index < v->role->count && !v->replicas[s->index].service)
		v->replicas[s->index].service = s;
	else
		*vec_push(w->a, &w->doomed_services) = s;
}

void world_open(struct world *w, const struct plan_input *in, struct arena *a)
{
	static const struct record nothing = { .version = RECORD_VERSION };
	const struct record *r = in->record ? in->record : &nothing;

	*w = (struct world){ .in = in, .a = a, .job = in->job, .now = in->now, .wake = NEVER, .deadline = NEVER };
	w->stamp = in->now - in->now % 1000;
	w->passed = arena_array(a, bool, MAX(in->n_refusals, (size_t)1));
	/* The roles of a job that cannot be read are not to be trusted; the record is kept as it is. */
	w->base = in->job->problems.errors ? record_copy(r, a) : align(w, r);
	w->next = record_copy(w->base, a);
	w->next->version = RECORD_VERSION;
}

void world_fill(struct world *w)
{
	const struct plan_input *in = w->in;

	w->roles = arena_array(w->a, struct role_view, in->job->n_roles);
	for (size_t i = 0; i < in->job->n_roles; i++) {
		struct role_view *v = &w->roles[i];

		v->role = &in->job->roles[i];
		v->rec = &w->next->roles[i];
		v->replicas = arena_array(w->a, struct replica, v->role->count);
	}
	for (size_t i = 0; i < in->n_pods; i++)
		place_pod(w, in->pods[i]);
	for (size_t i = 0; i < in->n_services; i++)
		place_service(w, in->services[i]);
}
