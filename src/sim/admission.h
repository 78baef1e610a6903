/* Who may refuse a create. */
#ifndef SIM_ADMISSION_H
#define SIM_ADMISSION_H

#include "sim/sim.h"

/* The code of the refusal; 0: it may be made. */
int admission_refuses(struct sim *s, struct sim_request *r, struct outcome *o);

/* The same of what shall be deleted. */
int admission_keeps(struct sim *s, struct sim_request *r, struct outcome *o);

#endif
