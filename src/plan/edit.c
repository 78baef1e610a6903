/* Edits of a job that runs. The environment lists the members, so another number of them means that
   everyone starts again; elastic roles are the exception: their members come and go. */
#include "plan/world.h"

static void shrink(struct world *w, struct role_view *v, int32_t was)
{
	int32_t count = v->role->count;

	ranges_cut(&v->rec->completed, count);
	ranges_cut(&v->rec->failed, count);
	ranges_cut(&v->rec->seen, count);
	ranges_cut(&v->rec->ran, count);
	/* An index that leaves is a generation further when it comes back: its old pod has nothing to do with it, and
	   what happened before is forgotten. Where everyone starts again, the job's generation does that. */
	for (int32_t i = count; v->role->elastic && i < was; i++) {
		struct restart_level *l = record_index_make(v->rec, w->a, i);

		l->generation++;
		l->before++;
	}
	for (size_t i = 0; i < v->rec->n_indexes; i++) {
		struct restart_level *l = &v->rec->indexes[i].level;

		if (v->rec->indexes[i].index >= count)
			*l = (struct restart_level){ .generation = l->generation, .before = l->before };
	}
}

/* What the job, the role and others of that index went through is no restart of those who come now. */
static void welcome(struct world *w, struct role_view *v, int32_t was)
{
	for (int32_t i = MAX(was, 0); i < v->role->count; i++) {
		int64_t before = record_replica_restarts(w->next, v->role, v->rec, i);

		if (before)
			record_index_make(v->rec, w->a, i)->before += before;
	}
}

/* Has a role that counts come or gone? */
static bool roles_differ(const struct world *w)
{
	const struct record *r = w->in->record;

	for (size_t i = 0; i < w->job->n_roles; i++)
		if (!w->job->roles[i].aux && !record_role_of(r, w->job->roles[i].name))
			return true;
	for (size_t i = 0; i < r->n_roles; i++)
		if (r->roles[i].count > 0 && !job_role(w->job, r->roles[i].name))
			return true;
	return false;
}

/* What was taken over from another operator tells how often some of the roles were restarted, and not how many
   there were. */
static bool was_planned(const struct record *r)
{
	for (size_t i = 0; r && i < r->n_roles; i++)
		if (r->roles[i].count >= 0)
			return true;
	return false;
}

bool edit_check(struct world *w)
{
	bool planned = was_planned(w->in->record), resized = planned && w->roles_changed && roles_differ(w);

	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct role_view *v = &w->roles[r];
		int32_t was = v->rec->count;

		if (v->role->aux || was == v->role->count)
			continue;
		v->rec->count = v->role->count;
		shrink(w, v, was);
		if (planned)
			welcome(w, v, was);
		resized |= !v->role->elastic && was >= 0;
	}
	if (resized)
		restart_raise(w, SCOPE_JOB, CAUSE_RESIZED, NULL, 0, -1);
	return resized;
}
