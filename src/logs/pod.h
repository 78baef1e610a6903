/* Which replica a pod is, for whoever shows or keeps its log. */
#ifndef LOGS_POD_H
#define LOGS_POD_H

#include "base/arena.h"
#include "base/json.h"

struct log_pod {
	struct str ns, name, uid;
	struct str kind, job, job_uid, role;
	int32_t index; /* -1: missing, or not a number */
	int64_t generation;
	struct str log_lost; /* why its logs are not whole, on the cluster on one machine; else empty */
};

/* The texts are those of its object. */
struct log_pod log_pod_read(yyjson_val *pod);
/* What stands in front of its lines: worker-1, or worker-1/sidecar if CONTAINER is given. */
struct str log_pod_title(const struct log_pod *p, struct str container, struct arena *a);

#endif
