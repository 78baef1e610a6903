/* The one node: what this machine has to give. */
#ifndef LOCAL_RUNNER_NODE_H
#define LOCAL_RUNNER_NODE_H

#include "local/runner/state.h"

bool node_make(struct runner *r, struct err *e);
/* An address of this machine that pods may know it by. */
void node_ip(char ret[NET_IP_TEXT]);

#endif
