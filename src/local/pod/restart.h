/* Whether and when a container is started again: the kubelet's rules. */
#ifndef LOCAL_POD_RESTART_H
#define LOCAL_POD_RESTART_H

#include "local/pod/parent.h"

bool restart_wanted(enum pod_restart policy, const struct pod_container *c, int64_t exit_code);
/* When a container that ended at NOW is to be started again. */
msec restart_at(struct proc_container *c, msec now);

#endif
