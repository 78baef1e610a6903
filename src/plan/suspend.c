/* Suspend is a restart whose pods are made when the job is resumed: the generation is raised when it
   is suspended, so everything that runs is old and goes by the ordinary way. */
#include "plan/world.h"

bool suspend_check(struct world *w)
{
	struct record *next = w->next;

	if (w->job->suspend && !next->suspended) {
		next->suspended = true;
		if (w->in->record)
			restart_raise(w, SCOPE_JOB, CAUSE_SUSPENDED, NULL, 0, -1);
	} else if (!w->job->suspend && next->suspended) {
		next->suspended = false;
		/* The clocks of the limits start anew, as a batch Job's do. */
		next->start = w->stamp;
		next->running = 0;
	}
	return next->suspended;
}
