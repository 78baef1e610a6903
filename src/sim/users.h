/* What people do. */
#ifndef SIM_USERS_H
#define SIM_USERS_H

#include "sim/sim.h"

void users_act(struct sim *s);
void users_leave(struct sim *s);

#endif
