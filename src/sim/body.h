/* The body of a create. */
#ifndef SIM_BODY_H
#define SIM_BODY_H

#include "sim/sim.h"

/* NULL, or what is wrong with it. */
const char *body_read(struct sim *s, struct sim_request *r);

#endif
