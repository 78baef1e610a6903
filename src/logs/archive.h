/* Keeps the logs of pods in files, also of those that are removed later. */
#ifndef LOGS_ARCHIVE_H
#define LOGS_ARCHIVE_H

#include "client/jobs.h"
#include "logs/archive_path.h"
#include "logs/archive_prune.h"

struct archive_options {
	const char *dir;
	bool follow;           /* goes on: until the job has ended, or for ever */
	bool all_namespaces;   /* without a job */
	const char *role;      /* NULL: all */
	int32_t index;         /* -1: all */
	const char *container; /* NULL: all */
	struct archive_limits limits;
};

enum { ARCHIVE_STREAMS = 200 }; /* logs that are read at once; the others wait */

/* Of one job, or (F NULL) of all jobs of the namespace or of all namespaces. Without a job and with `follow` it ends
   when it is told to, and that is ok. */
enum exit_code archive_logs(struct cli_session *s, const struct job_found *f, const struct archive_options *o);

#endif
