/* When a job has ended by itself: complete and fail policies of roles, then of the job, or its chief.
   Completion is looked at before failure. */
#include "plan/world.h"

/* How a role stands towards its policies. */
struct ending_tally {
	int32_t count, completed, given_up;
	bool rank0_completed, rank0_given_up;
};

static struct ending_tally tally_of(const struct role_view *v)
{
	struct ending_tally t = { .count = v->role->count };

	for (int32_t i = 0; i < t.count; i++) {
		t.completed += v->replicas[i].verdict == V_COMPLETED;
		t.given_up += v->replicas[i].verdict == V_GIVEN_UP;
	}
	t.rank0_completed = t.count && v->replicas[0].verdict == V_COMPLETED;
	t.rank0_given_up = t.count && v->replicas[0].verdict == V_GIVEN_UP;
	return t;
}

static bool met(enum role_end policy, int32_t count, int32_t ended, bool rank0)
{
	switch (policy) {
	case END_ANY:
		return ended > 0;
	case END_RANK0:
		return rank0;
	case END_ALL:
		return ended == count;
	case END_NONE:
		return false;
	}
	return false;
}

/* Does the role take part in the question at all? */
static bool takes_part(const struct role *role, enum role_end policy)
{
	return !role->aux && role->count > 0 && policy != END_NONE;
}

/* What is, and what could still be if everything that lives went that way. */
struct answer {
	bool now, possible;
	size_t parts;  /* how many roles (or the chief) decide it */
	int32_t alive; /* how many of their replicas can still change it */
};

/* One of the two questions, for all roles together. */
static struct answer ask_roles(const struct world *w, bool complete)
{
	enum job_end policy = complete ? w->job->complete : w->job->fail;
	size_t now = 0, possible = 0;
	struct answer a = { 0 };

	for (size_t r = 0; r < w->job->n_roles; r++) {
		const struct role_view *v = &w->roles[r];
		enum role_end end = complete ? v->role->complete : v->role->fail;
		struct ending_tally t = tally_of(v);
		int32_t others = complete ? t.given_up : t.completed, ended = complete ? t.completed : t.given_up;
		bool rank0 = complete ? t.rank0_completed : t.rank0_given_up;
		bool rank0_lost = complete ? t.rank0_given_up : t.rank0_completed;

		if (!takes_part(v->role, end))
			continue;
		a.parts++;
		a.alive += t.count - t.completed - t.given_up;
		now += met(end, t.count, ended, rank0);
		possible += met(end, t.count, t.count - others, !rank0_lost);
	}
	a.now = policy == JOB_END_ALL ? a.parts && now == a.parts : now > 0;
	a.possible = policy == JOB_END_ALL ? a.parts && possible == a.parts : possible > 0;
	return a;
}

static struct answer ask_chief(const struct world *w)
{
	enum verdict v = w->roles[w->job->chief_role].replicas[w->job->chief_index].verdict;

	return (struct answer){
		.now = v == V_COMPLETED,
		.possible = v != V_GIVEN_UP,
		.parts = 1,
		.alive = v != V_COMPLETED && v != V_GIVEN_UP,
	};
}

static int32_t alive_in_all(const struct world *w)
{
	int32_t n = 0;

	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct ending_tally t = tally_of(&w->roles[r]);

		n += w->job->roles[r].aux ? 0 : t.count - t.completed - t.given_up;
	}
	return n;
}

/* The job cannot complete any more. Is it over, though no policy says so? Yes, if nobody is left who
   decides completion, or if it cannot fail either. A job that nobody completes by policy goes on
   until it fails, is stopped, or has run out of replicas. */
static bool stuck(const struct world *w, const struct answer *complete, const struct answer *fail)
{
	if (complete->possible)
		return false;
	if (complete->parts)
		return complete->alive == 0 || !fail->possible;
	return alive_in_all(w) == 0;
}

static struct str completed_line(const struct world *w)
{
	const struct job *job = w->job;
	int32_t done = 0, all = 0;

	if (job->complete == JOB_END_CHIEF) {
		struct str name = replica_name(w->a, &job->roles[job->chief_role], job->chief_index);

		return arena_printf(w->a, "%.*s completed", STR_F(name));
	}
	for (size_t r = 0; r < job->n_roles; r++) {
		done += tally_of(&w->roles[r]).completed;
		all += job->roles[r].aux ? 0 : job->roles[r].count;
	}
	return arena_printf(w->a, "%d of %d replicas completed", done, all);
}

static struct str mixed_line(const struct world *w)
{
	struct str first = w->lost_text;
	int32_t done = 0, lost = 0;

	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct ending_tally t = tally_of(&w->roles[r]);

		done += t.completed;
		lost += t.given_up;
	}
	return arena_printf(w->a, "%d replicas completed and %d failed, so the job can no longer complete%s%.*s", done,
	                    lost, first.n ? "; " : "", STR_F(first));
}

void ending_set(struct world *w, enum phase outcome, struct str why, struct str reason)
{
	ASSERT(w->next->outcome == PHASE_NONE);
	w->next->outcome = outcome;
	w->next->why = why;
	w->next->reason = reason;
	w->next->end = w->stamp;
}

/* Completed replicas are recorded with the same write that may end the job. */
static void note_completed(struct world *w)
{
	for (size_t r = 0; r < w->job->n_roles; r++) {
		struct role_view *v = &w->roles[r];

		for (int32_t i = 0; i < v->role->count && !v->role->aux; i++)
			if (v->replicas[i].verdict == V_COMPLETED)
				ranges_add(&v->rec->completed, w->a, i);
	}
}

/* The phase of a failed job says whether a node was to blame. */
static enum phase failed_phase(const struct world *w)
{
	return str_eqc(w->lost_why, cause_name(CAUSE_NODE_FAIL)) ? PHASE_NODE_FAILED : PHASE_FAILED;
}

bool ending_check(struct world *w)
{
	struct answer complete, fail;

	note_completed(w);
	complete = w->job->complete == JOB_END_CHIEF ? ask_chief(w) : ask_roles(w, true);
	if (complete.now) {
		ending_set(w, PHASE_SUCCEEDED, STR("Completed"), completed_line(w));
		return true;
	}
	fail = ask_roles(w, false);
	if (fail.now) {
		/* An edit of the policies can end a job by a failure of long ago. */
		ending_set(w, failed_phase(w), w->lost_why.n ? w->lost_why : STR("Failed"),
		           w->lost_text.n ? w->lost_text : STR("replicas failed and may not be restarted"));
		return true;
	}
	if (stuck(w, &complete, &fail)) {
		ending_set(w, PHASE_FAILED, STR("MixedEnding"), mixed_line(w));
		return true;
	}
	return false;
}
