/* What a gang scheduler is told of a job: how many of its pods must start together, and what these ask for. */
#ifndef JOB_GANG_H
#define JOB_GANG_H

#include "job/job.h"
#include "object/needs.h"

/* Whose PodGroups they are. */
enum gang_kind { GANG_NONE, GANG_VOLCANO, GANG_PLUGINS };

struct gang_api {
	struct str title; /* for messages */
	struct str group, version, plural;
};

/* By the name of the scheduler: volcano, or any other with the plugin; empty: none. */
enum gang_kind gang_kind_of(struct str scheduler);
/* Not for NONE. */
const struct gang_api *gang_api(enum gang_kind k);

struct gang {
	int32_t members;
	struct needs needs;
};

/* The policy's minAvailable, or all replicas that count; of elastic roles their minimum. LEFT: how many of each role
   are still to run, so that the gang is no larger than these; NULL: all. What they ask for is the
   policy's minResources, or the sum of the first of them in the order of roles: `needs` of scheduling and of the roles,
   which kind_read() has set. JOB has no errors. The names stay in the job, the rest there or in A. */
struct gang gang_of(const struct job *job, const int32_t *left, struct arena *a);

#endif
