/* What must hold when all is quiet. */
#ifndef SIM_SETTLE_H
#define SIM_SETTLE_H

#include "sim/sim.h"

void settle_check(struct sim *s);

#endif
