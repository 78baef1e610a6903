/* What becomes of the pods, as their status in the store. Written only where it differs. */
#ifndef LOCAL_RUNNER_STATUS_H
#define LOCAL_RUNNER_STATUS_H

#include "local/runner/state.h"

/* What state.json says goes into the store, and into events. */
void status_write(struct runner *r, struct runner_pod *p);
/* It failed for a reason of ours: nothing of it will run. */
void status_fail(struct runner *r, struct runner_pod *p, const char *reason, struct str message);
/* It waits: for room (PodScheduled is False) … */
void status_unschedulable(struct runner *r, struct runner_pod *p, struct str message);
/* … or one of its containers (empty: all) for something. */
void status_waiting(struct runner *r, struct runner_pod *p, struct str container, const char *reason,
                    struct str message);

#endif
