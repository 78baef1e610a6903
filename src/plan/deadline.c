/* Time limits: activeDeadlineSeconds since the start (or the last resume), timeLimit since every
   replica has run once, runningDeadlineSeconds from the first pod until they have. All wake by timer. */
#include "plan/world.h"

static bool passed(struct world *w, msec since, int64_t limit)
{
	msec at = since + SECONDS(limit);

	if (!since || limit < 0)
		return false;
	if (w->now >= at)
		return true;
	world_wake(w, at);
	w->deadline = MIN(w->deadline, at);
	return false;
}

static bool ends_job(struct world *w, msec since, int64_t limit, const char *field)
{
	if (!passed(w, since, limit))
		return false;
	ending_set(w, PHASE_TIMED_OUT, STR("DeadlineExceeded"),
	           arena_printf(w->a, "%s of %lld s has passed", field, (long long)limit));
	return true;
}

static bool running_deadline_ends_job(struct world *w)
{
	int64_t limit = w->job->running_deadline;
	struct str why;

	if (w->next->running || !passed(w, w->next->first_pod, limit))
		return false;
	why = reason_waiting(w);
	ending_set(w, PHASE_TIMED_OUT, STR("RunningDeadlineExceeded"),
	           arena_printf(w->a, "not all replicas ran within runningDeadlineSeconds of %lld s%s%.*s",
	                        (long long)limit, why.n ? ": " : "", STR_F(why)));
	return true;
}

bool deadline_check(struct world *w)
{
	const struct record *r = w->next;

	return ends_job(w, r->start, w->job->active_deadline, "activeDeadlineSeconds") ||
	       ends_job(w, r->running, w->job->time_limit, "timeLimit") || running_deadline_ends_job(w);
}
