/* How long a pod stays on a node that does not answer: its tolerations of Kubernetes' own two taints. */
#ifndef OBJECT_TOLERATIONS_H
#define OBJECT_TOLERATIONS_H

#include "base/json.h"

#include <stdint.h>

/* Seconds; -1: no toleration with seconds. One without seconds holds for ever and says nothing of how long to wait. */
struct tolerations {
	int32_t not_ready, unreachable;
};

/* Of spec.tolerations, a list or NULL; the longest counts. What makes no sense is left out. */
struct tolerations tolerations_read(yyjson_val *list);

#endif
