/* An operator that has much to do, and deadlines meanwhile. */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "sim/sim.h"

/* Is this a run in which the operator has much to do? Then nothing goes wrong between it and the server. */
bool load_is_busy(const struct sim *s);
/* How long a turn takes it. */
msec load_turn(const struct sim *s);
void load_config(const struct sim *s, struct operator_config *c);
void load_begin_storm(struct sim *s);
void load_storm(struct sim *s);
/* The job ends: should it have done so long ago? */
void load_check_end(struct sim *s, const struct sim_job *job, const struct record *before);
/* A request is sent. */
void load_check_flight(struct sim *s, const struct sim_link *l);

#endif
