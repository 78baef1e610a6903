/* Ports of a pod on this machine's loopback: dljob port-forward. */
#ifndef CLIENT_FORWARD_H
#define CLIENT_FORWARD_H

#include "client/remote.h"

enum { FORWARD_PORTS_MAX = 16 };
struct forward_port {
	int here, there; /* HERE 0: any */
};
/* Until the command is interrupted. Returns the exit status. */
enum exit_code forward_run(struct remote *r, struct str ns, struct str pod, const struct forward_port *ports, size_t n);

#endif
