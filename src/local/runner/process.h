/* News of the pods' processes: their end by pidfd, their state by one inotify for all folders. */
#ifndef LOCAL_RUNNER_PROCESS_H
#define LOCAL_RUNNER_PROCESS_H

#include "local/runner/state.h"

bool process_open(struct runner *r, struct err *e);
void process_close(struct runner *r);
/* The pod is watched no more. */
void process_forget(struct runner *r, struct runner_pod *p);
/* The parent has ended, or is to be ended: clears up, the pod has ended. */
void process_over(struct runner *r, struct runner_pod *p);

#endif
