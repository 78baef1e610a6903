/* What becomes of pods. */
#ifndef SIM_KUBELET_H
#define SIM_KUBELET_H

#include "sim/sim.h"

void kubelet_new(struct sim *s, struct sim_pod *pod);
void kubelet_timer(struct sim *s, struct sim_pod *pod);
void kubelet_stop(struct sim *s, struct sim_pod *pod);
void kubelet_evict(struct sim *s, struct sim_pod *pod);
/* Its node shuts down in good order. */
void kubelet_shutdown(struct sim *s, struct sim_pod *pod);
void kubelet_failure(struct sim *s, struct sim_pod *pod);

#endif
