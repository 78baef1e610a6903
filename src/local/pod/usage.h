/* What pods use of the machine: processor and memory, by what /proc says at two moments. */
#ifndef LOCAL_POD_USAGE_H
#define LOCAL_POD_USAGE_H

#include "local/pod/pod.h"

struct usage_process;
struct usage_sample {
	msec at;                 /* by a clock that does not go back */
	struct usage_process *v; /* by their numbers */
	size_t n;
};
/* All processes of the machine; NOW is written beside them. */
void usage_take(struct usage_sample *ret, msec now);
void usage_release(struct usage_sample *s);

struct pod_usage {
	int64_t cpu_milli; /* thousandths of a core, between the two */
	int64_t memory;    /* bytes that are resident; what processes share counts for each */
};
/* Of the container numbered WHICH in S, a pod that runs. What belongs to none of them counts for the first that runs.
 */
struct pod_usage usage_between(const struct usage_sample *before, const struct usage_sample *now,
                               const struct pod_state *s, size_t which);

#endif
