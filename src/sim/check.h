/* What must hold at every step. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "sim/sim.h"

void check_create(struct sim *s, const struct sim_request *r);
void check_delete(struct sim *s, const struct sim_request *r);
void check_patch(struct sim *s, const struct sim_request *r);
void check_pod_made(struct sim *s, const struct sim_pod *pod);
void check_touch(struct sim *s, const struct sim_request *r, bool foreign);
void check_status(struct sim *s, const struct sim_request *r, struct sim_job *job, const struct sim_version *before,
                  const struct sim_version *after);

#endif
