/* What a gang scheduler is told of a job: how many of its pods must start together, and what these ask for. */
#ifndef JOB_GANG_H
#define JOB_GANG_H

#include "base/needs.h"
#include "job/job.h"

struct gang {
	int32_t members;
	struct needs needs;
};

/* The policy's minAvailable, or all replicas that count; of elastic roles their minimum. What they ask for is the
   policy's minResources, or the sum of the first of them in the order of roles. JOB has no errors. The names stay in
   the job, the rest is in A. */
struct gang gang_of(const struct job *job, struct arena *a);

#endif
