/* How long a pod stays on a node that does not answer: its tolerations of Kubernetes' own two taints. */
#ifndef OBJECT_TOLERATIONS_H
#define OBJECT_TOLERATIONS_H

#include "base/json.h"

#include <stdint.h>

enum { TOLERATED_FOR_EVER = INT32_MAX };

/* Seconds; -1: no such toleration. One without seconds holds for ever. */
struct tolerations {
	int32_t not_ready, unreachable;
};

/* Of spec.tolerations, a list or NULL; the longest counts. What makes no sense is left out. */
struct tolerations tolerations_read(yyjson_val *list);

#endif
