/* Which containers are due: init containers one after the other, then all the rest; again by the policy. */
#ifndef LOCAL_POD_RUN_H
#define LOCAL_POD_RUN_H

#include "local/pod/parent.h"

void run_step(struct proc_pod *p, msec now);
bool run_is_over(const struct proc_pod *p);

#endif
