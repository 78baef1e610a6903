#include "local/pod/helper.h"

#include "local/pod/child.h"
#include "local/pod/container.h"
#include "local/pod/parent.h"

#include <signal.h>

bool helper_start(struct pod_helper *h, struct proc_container *c, const pod_strs *command, msec deadline)
{
	pid_t pid = child_helper(c, command);

	*h = (struct pod_helper){ .pid = pid > 0 ? pid : 0, .deadline = deadline };
	return pid > 0;
}

void helper_kill(struct pod_helper *h)
{
	if (h->pid <= 0)
		return;
	kill(-h->pid, SIGKILL);
	kill(h->pid, SIGKILL);
	/* It is waited for as any orphan. */
	h->pid = 0;
	h->done = true;
}

void helper_step(struct pod_helper *h, struct proc_pod *p, msec now)
{
	if (h->pid <= 0)
		return;
	if (now < h->deadline) {
		pod_wake_at(p, h->deadline);
		return;
	}
	h->timed_out = true;
	helper_kill(h);
}
