/* How much an operator does. */
#ifndef SIM_WORK_H
#define SIM_WORK_H

#include "sim/sim.h"

/* The operator is called; it had asked for that; it sends something. */
void work_called(struct sim *s);
void work_woken(struct sim *s);
void work_sent(struct sim *s, const struct sim_request *r);

#endif
