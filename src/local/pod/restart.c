#include "local/pod/restart.h"

#include "local/pod/container.h"

enum { BACKOFF_MOST = 30 }; /* times the first delay */
#define BACKOFF_FIRST SECONDS(10)

bool restart_wanted(enum pod_restart policy, const struct pod_container *c, int64_t exit_code)
{
	if (c->sidecar)
		return true;
	/* An init container that has done its work is not wanted again, whatever the pod's policy. */
	if (c->init)
		return policy != POD_RESTART_NEVER && exit_code != 0;
	switch (policy) {
	case POD_RESTART_ALWAYS:
		return true;
	case POD_RESTART_ON_FAILURE:
		return exit_code != 0;
	case POD_RESTART_NEVER:
		return false;
	}
	BUG("no such restart policy");
}

/* The first restart comes at once; the delay doubles with each one, and is forgotten when a container has lived twice
   as long as the longest. */
msec restart_at(struct proc_container *c, msec now)
{
	msec first = c->pod->spec.backoff ? c->pod->spec.backoff : BACKOFF_FIRST, most = first * BACKOFF_MOST;

	if (!c->backoff || now - c->last_restart > 2 * most) {
		c->backoff = first;
		return now;
	}
	first = c->backoff;
	c->backoff = MIN(c->backoff * 2, most);
	return now + first;
}
