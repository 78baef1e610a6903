/* What becomes of nodes. */
#ifndef SIM_NODES_H
#define SIM_NODES_H

#include "sim/sim.h"

void nodes_start(struct sim *s);
void nodes_timer(struct sim *s, struct sim_node *node);
/* The taint manager deletes pods that have not tolerated for longer that their node does not answer. */
void nodes_taints(struct sim *s, struct sim_node *node);
void nodes_fault(struct sim *s);
void nodes_heal(struct sim *s);
/* A pod that was stopped is gone: if its node fails before an operator is told, the pod was lost with it. */
void nodes_pod_left(struct sim *s, struct sim_node *node, struct sim_pod *pod);

#endif
