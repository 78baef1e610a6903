/* Endings that somebody outside asks for by annotation: a scheduler that preempts, a person that
   gives up. They hold in every phase, also during a restart and while suspended. */
#include "plan/world.h"

static const struct {
	enum phase phase;
	const char *why;
} endings[] = {
	[EXTERNAL_PREEMPTED] = { PHASE_PREEMPTED, "Preempted" },
	[EXTERNAL_FAILED] = { PHASE_FAILED, "FailedFromOutside" },
	[EXTERNAL_NODE_FAILED] = { PHASE_NODE_FAILED, "NodeFail" },
	[EXTERNAL_SUCCEEDED] = { PHASE_SUCCEEDED, "CompletedFromOutside" },
	[EXTERNAL_TIMED_OUT] = { PHASE_TIMED_OUT, "TimedOutFromOutside" },
};

bool external_check(struct world *w)
{
	const struct job *job = w->job;
	struct str message = reason_clip(job->external_message);

	if (job->external == EXTERNAL_NONE)
		return false;
	ending_set(w, endings[job->external].phase, str_c(endings[job->external].why),
	           message.n ? arena_printf(w->a, "by annotation: %.*s", STR_F(message)) : STR("by annotation"));
	return true;
}
