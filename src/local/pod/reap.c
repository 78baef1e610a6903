/* Waiting for what has ended: containers, helpers, and orphans that came to us. */
#include "local/pod/internal.h"

#include <sys/wait.h>

static bool take_helper(struct helper *h, pid_t pid, int status)
{
	if (h->pid != pid)
		return false;
	h->pid = 0;
	h->done = true;
	h->status = status;
	return true;
}

static void take(struct pod *p, pid_t pid, int status)
{
	for (size_t i = 0; i < p->spec.containers.n; i++) {
		struct container *c = &p->containers[i];

		if (c->pid == pid && !c->reaped) {
			c->reaped = true;
			c->status = status;
			return;
		}
		if (take_helper(&c->pre_stop, pid, status))
			return;
		for (int k = 0; k < PROBES; k++)
			if (take_helper(&c->probes[k].helper, pid, status))
				return;
	}
}

void pod_reap_children(struct pod *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		take(p, pid, status);
}
