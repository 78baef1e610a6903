/* The parent's own namespaces and mounts, before the first container. */
#ifndef LOCAL_POD_SET_UP_H
#define LOCAL_POD_SET_UP_H

#include "local/pod/parent.h"

/* False, with *E: the pod cannot run. */
bool pod_set_up(struct proc_pod *p, struct err *e);

#endif
