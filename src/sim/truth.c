/* Of each job it is remembered which replicas succeeded, and in which generation. */
#include "sim/manifest.h"
#include "sim/truth.h"

static const struct record nothing = { .version = RECORD_VERSION };

struct truth {
	size_t role; /* row among its kind's roles */
	int32_t index;
	int64_t generation;
	struct truth *next;
};

void truth_succeeded(struct sim *s, const struct sim_pod *p)
{
	struct truth *t = arena_new(s->arena, struct truth);

	*t = (struct truth){ p->role, p->index, p->born, p->job->truths };
	p->job->truths = t;
}

/* In a generation that the replica had just before the status was written, or has now. */
static bool has_succeeded(const struct sim_job *job, size_t role, int32_t index, int64_t from, int64_t to)
{
	for (const struct truth *t = job->truths; t; t = t->next)
		if (t->role == role && t->index == index && t->generation >= from && t->generation <= to)
			return true;
	return false;
}

static void check_completions(struct sim *s, const struct sim_job *job, const struct role *role,
                              const struct record *before, const struct record *after)
{
	const struct record_role *was = record_role_of(before, role->name), *is = record_role_of(after, role->name);
	size_t row = manifest_role(job->wish.kind, role->name);

	for (int32_t i = 0; is && i < role->count; i++) {
		int64_t from = was ? record_generation(before, role, was, i) : before->level.generation;

		if (!ranges_has(&is->completed, i) || (was && ranges_has(&was->completed, i)))
			continue;
		if (!has_succeeded(job, row, i, from, record_generation(after, role, is, i)))
			sim_broken(s, INV_TRUTH, "%.*s %d of %.*s is said to have completed, and has not",
			           STR_F(role->name), i, STR_F(job->name));
	}
}

static bool role_is_met(const struct role *role, const struct record_role *rr)
{
	int32_t done = 0;

	for (int32_t i = 0; i < role->count; i++)
		done += ranges_has(&rr->completed, i);
	switch (role->complete) {
	case END_ANY:
		return done > 0;
	case END_RANK0:
		return ranges_has(&rr->completed, 0);
	case END_ALL:
		return done == role->count;
	case END_NONE:
		break;
	}
	return false;
}

/* By the policy that the operator had read when it wrote: a conflict would have told it of another. */
static bool is_met(const struct job *spec, const struct record *r)
{
	size_t asked = 0, met = 0;

	if (spec->complete == JOB_END_CHIEF) {
		const struct record_role *rr = record_role_of(r, spec->roles[spec->chief_role].name);

		return rr && ranges_has(&rr->completed, spec->chief_index);
	}
	for (size_t i = 0; i < spec->n_roles; i++) {
		const struct role *role = &spec->roles[i];
		const struct record_role *rr = record_role_of(r, role->name);

		if (role->aux || !role->count || role->complete == END_NONE)
			continue;
		asked++;
		met += rr && role_is_met(role, rr);
	}
	return spec->complete == JOB_END_ALL ? asked && met == asked : met > 0;
}

void truth_check(struct sim *s, const struct sim_job *job, const struct sim_version *before,
                 const struct sim_version *after)
{
	const struct record *was = before->record ? before->record : &nothing, *is = after->record;
	const struct job *spec = kind_job(before->spec);

	if (spec->problems.errors)
		return;
	for (size_t i = 0; i < spec->n_roles; i++)
		if (!spec->roles[i].aux)
			check_completions(s, job, &spec->roles[i], was, is);
	if (!was->outcome && is->outcome == PHASE_SUCCEEDED && !is_met(spec, is))
		sim_broken(s, INV_TRUTH, "%.*s has succeeded, and its policy asks for more: %.*s", STR_F(job->name),
		           STR_F(is->reason));
}
