/* Suspend is a restart whose pods are made when the job is resumed: the generation is raised when it
   is suspended, so everything that runs is old and goes by the ordinary way. */
#include "plan/world.h"

/* Something of the job was made. The record may not know yet: the first children need no prior write, and that write
   can be lost. */
static bool has_begun(const struct world *w)
{
	return w->in->record || w->in->n_pods || w->in->n_services;
}

bool suspend_check(struct world *w)
{
	struct record *next = w->next;

	if (w->job->suspend && !next->suspended) {
		next->suspended = true;
		if (has_begun(w))
			restart_raise(w, SCOPE_JOB, CAUSE_SUSPENDED, NULL, 0, -1);
	} else if (!w->job->suspend && next->suspended) {
		next->suspended = false;
		/* The clocks of the limits start anew, as a batch Job's do. */
		next->start = w->stamp;
		next->running = 0;
	}
	return next->suspended;
}
