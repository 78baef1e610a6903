/* Who may start: jobs as a whole, in the order of their creation. What is admitted gets its GPUs and is bound. */
#ifndef LOCAL_RUNNER_ADMIT_H
#define LOCAL_RUNNER_ADMIT_H

#include "local/runner/state.h"

void admit(struct runner *r);
/* For a pod that was bound by somebody else: GPUs, and the note of them. */
bool admit_gpus(struct runner *r, struct runner_pod *p);

#endif
