/* Before something is taken for gone it is read by name: when a list or a watch denies it without having
   shown its end, and when the record knows of a pod that the cache never saw. */
#include "operator/internal.h"
#include "operator/send.h"

bool ask_doubted(struct op *op, struct cached_job *job, const struct children *ch)
{
	bool asked = false;

	if (job->versions.unsure) {
		send_get_job(op, job);
		asked = true;
	}
	for (const struct cached_pod *p = ch ? ch->pods : NULL; p; p = p->next) {
		const struct pod *pod = p->pod;
		struct pending ask = { .job = job, .resource = RES_POD, .role = pod->role, .index = pod->index };

		if (!p->versions.unsure)
			continue;
		ask.ns = pod->meta.ns;
		ask.name = pod->meta.name;
		ask.uid = pod->meta.uid;
		ask.generation = pod->generation;
		send_get_child(op, &ask);
		asked = true;
	}
	for (const struct cached_child *s = ch ? ch->others : NULL; s; s = s->next) {
		const struct meta *m = cached_child_meta(s);
		struct pending ask = {
			.job = job, .resource = s->resource, .ns = m->ns, .name = m->name, .uid = m->uid
		};

		if (!s->versions.unsure)
			continue;
		if (s->resource == RES_SERVICE) {
			ask.role = s->service->role;
			ask.index = s->service->index;
		}
		send_get_child(op, &ask);
		asked = true;
	}
	return asked;
}

/* Which replicas of the role have a pod of their present generation, as far as we know? */
static bool *known_replicas(struct op *op, struct cached_job *job, const struct children *ch, const struct role *role,
                            const struct record_role *rr)
{
	bool *known = arena_array(&op->arena, bool, role->count);

	for (const struct cached_pod *p = ch ? ch->pods : NULL; p; p = p->next) {
		const struct pod *pod = p->pod;

		if (pod->index >= 0 && pod->index < role->count && str_eq(pod->role, role->name))
			known[pod->index] |= pod->generation >= record_generation(job->record, role, rr, pod->index);
	}
	return known;
}

static bool ask_role(struct op *op, struct cached_job *job, const struct children *ch, size_t r)
{
	const struct role *role = &kind_job(job->parsed)->roles[r];
	const struct record_role *rr = record_role_of(job->record, role->name);
	bool *known, asked = false;

	if (!rr || !rr->seen.n)
		return false;
	known = known_replicas(op, job, ch, role, rr);
	for (int32_t i = 0; i < role->count; i++) {
		struct pending ask = {
			.job = job, .resource = RES_POD, .ns = job->meta.ns, .role = role->name, .index = i
		};
		struct kind_names names;

		if (known[i] || !ranges_has(&rr->seen, i) || ranges_has(&rr->completed, i) ||
		    ranges_has(&rr->failed, i))
			continue;
		if (!kind_names(job->parsed, r, i, &names, NULL))
			continue;
		ask.name = names.pod;
		ask.generation = record_generation(job->record, role, rr, i);
		send_get_child(op, &ask);
		asked = true;
	}
	return asked;
}

bool ask_missing(struct op *op, struct cached_job *job, const struct children *ch)
{
	bool asked = false;

	/* Once for each state of the job: what the answers say is then believed. */
	if (!job->parsed || !job->record || job->asked || job->record->outcome ||
	    kind_job(job->parsed)->problems.errors)
		return false;
	for (size_t r = 0; r < kind_job(job->parsed)->n_roles; r++)
		asked |= ask_role(op, job, ch, r);
	job->asked = asked;
	return asked;
}
