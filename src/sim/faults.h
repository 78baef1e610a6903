/* What goes wrong between operators and the server. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "sim/sim.h"

/* Now and then something does. */
void faults_act(struct sim *s);
/* All others stop: what stays for ever. A quota keeps one role of some jobs out, of others one pod cannot be
   deleted, and they lose their pods once more. */
void faults_stay(struct sim *s);

#endif
