/* Suspend is a restart whose pods are made when the job is resumed: the generation is raised when it
   is suspended, so everything that runs is old and goes by the ordinary way. */
#include "plan/world.h"

/* Something of the job was made. The record may not know yet: the first children need no prior write, and that write
   can be lost. */
static bool has_begun(const struct world *w)
{
	return w->in->record || w->in->n_pods || w->in->n_services;
}

/* A create that was on its way when the job was suspended: nothing was there, so nothing was raised. */
static bool has_late_pods(const struct world *w)
{
	for (size_t r = 0; r < w->job->n_roles; r++)
		for (int32_t i = 0; i < w->job->roles[r].count && !w->job->roles[r].aux; i++) {
			const struct pod *pod = w->roles[r].replicas[i].pod;

			if (pod && !pod->gone && !ranges_has(&w->roles[r].rec->completed, i))
				return true;
		}
	return false;
}

bool suspend_check(struct world *w)
{
	struct record *next = w->next;

	if (w->job->suspend && next->suspended && has_late_pods(w)) {
		restart_raise(w, SCOPE_JOB, CAUSE_SUSPENDED, NULL, 0, -1);
	} else if (w->job->suspend && !next->suspended) {
		next->suspended = true;
		if (has_begun(w))
			restart_raise(w, SCOPE_JOB, CAUSE_SUSPENDED, NULL, 0, -1);
	} else if (!w->job->suspend && next->suspended) {
		next->suspended = false;
		/* The clocks of the limits start anew, as a batch Job's do. */
		next->start = w->stamp;
		next->running = next->first_pod = 0;
	}
	return next->suspended;
}
