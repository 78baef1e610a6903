/* A job whenever it changes: on a terminal its tree is drawn anew, elsewhere each change is a line. */
#ifndef CLIENT_WATCHING_H
#define CLIENT_WATCHING_H

#include "client/jobs.h"

/* Until the job is deleted. */
enum exit_code job_watch(struct cli_session *s, const struct job_found *f);

#endif
