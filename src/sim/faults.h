/* What goes wrong between operators and the server. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "sim/sim.h"

/* Now and then something does. */
void faults_act(struct sim *s);

#endif
