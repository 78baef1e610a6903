/* Objects that are too large to be read. */
#ifndef SIM_SIZES_H
#define SIM_SIZES_H

#include "sim/sim.h"

/* Something grows, or shrinks again. */
void sizes_fault(struct sim *s);
void sizes_leave(struct sim *s);
/* Instead of a PUT or (GONE) its end. NAMED: one can tell which one it is. */
void sizes_skip(struct sim *s, const struct sim_link *l, struct sim_version *v, bool gone, bool named,
                struct cluster_event *ret);

#endif
