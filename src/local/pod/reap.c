#include "local/pod/reap.h"

#include "local/pod/container.h"
#include "local/pod/helper.h"
#include "local/pod/probe.h"

#include <sys/wait.h>

static bool take_helper(struct pod_helper *h, pid_t pid, int status)
{
	if (h->pid != pid)
		return false;
	h->pid = 0;
	h->done = true;
	h->status = status;
	return true;
}

static void take_exit(struct proc_pod *p, pid_t pid, int status)
{
	if (execs_take_exit(p, pid, status))
		return;
	for (size_t i = 0; i < p->spec.containers.n; i++) {
		struct proc_container *c = &p->containers[i];

		if (c->pid == pid && !c->reaped) {
			c->reaped = true;
			c->status = status;
			return;
		}
		if (take_helper(&c->pre_stop, pid, status))
			return;
		for (int k = 0; k < PROBE_COUNT; k++)
			if (take_helper(&c->probes[k].helper, pid, status))
				return;
	}
}

void pod_reap_children(struct proc_pod *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		take_exit(p, pid, status);
}
