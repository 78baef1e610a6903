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
/* The operator in SLOT is shown that. */
void nodes_shown(struct sim *s, size_t slot, const struct node *now);
void nodes_shown_gone(struct sim *s, size_t slot, struct str name);
/* … is no more: the next one has seen nothing yet. */
void nodes_unseen(struct sim *s, size_t slot);
/* What may be counted as lost with its node by now is excused. */
void nodes_excuse(struct sim *s);
/* A pod is gone: if its node fails before an operator is told, the pod was lost with it. */
void nodes_pod_left(struct sim *s, struct sim_node *node, struct sim_pod *pod);

#endif
