/* Which replicas really succeeded, and whether the operator says nothing else. */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include "sim/sim.h"

/* What counts in the pod has succeeded, and nobody had asked it to. */
void truth_succeeded(struct sim *s, const struct sim_pod *pod);
/* A status was written: are the completions in it true, and is a job that succeeded one whose policy says so? */
void truth_check(struct sim *s, const struct sim_job *job, const struct sim_version *before,
                 const struct sim_version *after);

#endif
