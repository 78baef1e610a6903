/* Since Kubernetes 1.34 a container may have a restart policy, and rules by exit code, of its own: the kubelet restarts
   it in place while the pod goes on. */
#ifndef CLUSTER_CONTAINER_RESTARTS_H
#define CLUSTER_CONTAINER_RESTARTS_H

#include "base/json.h"
#include "object/object.h"

/* Sets `comes_back` of those of C that have terminated. SPEC: the pod's spec.containers, a list or NULL. */
void container_restarts_read(struct container *c, size_t n, yyjson_val *spec);

#endif
