/* Replicas by the names that dljob shows: worker-0. */
#ifndef CLIENT_REPLICA_H
#define CLIENT_REPLICA_H

#include "client/jobs.h"

struct replica_pod {
	struct str role, pod;
	int32_t index;
	struct str container; /* whose exit code decides; empty: there is none, or several */
};
/* The pod of F's replica NAME that is there now; in the arena of the remote. False, with what there is said: return
   cli->status. */
bool replica_find(struct cli_session *s, const struct job_found *f, const char *name, struct replica_pod *ret);

#endif
