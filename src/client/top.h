/* What the replicas of a job use: dljob top. */
#ifndef CLIENT_TOP_H
#define CLIENT_TOP_H

#include "client/jobs.h"

/* A table on standard output. GPUS: nvidia-smi is run in each replica. */
enum exit_code top_print(struct cli_session *s, const struct job_found *f, bool gpus);

#endif
