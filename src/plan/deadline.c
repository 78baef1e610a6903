/* Time limits: activeDeadlineSeconds since the start (or the last resume), timeLimit since every
   replica has run once. Both wake by timer. */
#include "plan/world.h"

static bool passed(struct world *w, msec since, int64_t limit, const char *field)
{
	msec at = since + SECONDS(limit);

	if (!since || limit < 0)
		return false;
	if (w->now < at) {
		world_wake(w, at);
		w->deadline = MIN(w->deadline, at);
		return false;
	}
	ending_set(w, PHASE_TIMED_OUT, STR("DeadlineExceeded"),
	           arena_printf(w->a, "%s of %lld s has passed", field, (long long)limit));
	return true;
}

bool deadline_check(struct world *w)
{
	const struct record *r = w->next;

	return passed(w, r->start, w->job->active_deadline, "activeDeadlineSeconds") ||
	       passed(w, r->running, w->job->time_limit, "timeLimit");
}
