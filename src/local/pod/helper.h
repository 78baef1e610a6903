/* Programs that run inside a container beside it, for a bounded time. */
#ifndef LOCAL_POD_HELPER_H
#define LOCAL_POD_HELPER_H

#include "local/pod/pod.h"

struct proc_pod;
struct proc_container;

/* An exec probe, or a hook. */
struct pod_helper {
	pid_t pid; /* 0: none runs */
	msec deadline;
	bool done, timed_out;
	int status; /* of waitpid(), once done */
};

bool helper_start(struct pod_helper *h, struct proc_container *c, const pod_strs *command, msec deadline);
void helper_step(struct pod_helper *h, struct proc_pod *p, msec now);
void helper_kill(struct pod_helper *h);

#endif
