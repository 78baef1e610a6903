/* Waiting for what has ended: containers, helpers, and orphans that came to us. */
#ifndef LOCAL_POD_REAP_H
#define LOCAL_POD_REAP_H

#include "local/pod/parent.h"

void pod_reap_children(struct proc_pod *p);

#endif
