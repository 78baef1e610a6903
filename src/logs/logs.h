/* The logs of a job's replicas, merged in the order of their times. */
#ifndef LOGS_LOGS_H
#define LOGS_LOGS_H

#include "client/jobs.h"
#include "logs/logline.h"

struct logs_options {
	bool follow;                         /* until the job has ended, with the pods that come after restarts */
	bool previous;                       /* of the containers' runs before these */
	const char *role;                    /* NULL: all */
	int32_t index;                       /* -1: all */
	const char *container;               /* NULL: those that count; "*": all */
	int32_t tail;                        /* lines of each; -1: all */
	int64_t since;                       /* seconds; 0: from the beginning */
	const struct logline_options *print; /* NULL: as standard output likes it */
};

enum { LOGS_AT_ONCE = 200 }; /* of so many replicas at most */

/* CLI_OK if there was something to show, or could have been; otherwise it was said why. */
enum exit_code logs_follow(struct cli_session *s, const struct job_found *f, const struct logs_options *o);

#endif
