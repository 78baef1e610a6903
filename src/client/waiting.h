/* Waiting for what becomes of a job. */
#ifndef CLIENT_WAITING_H
#define CLIENT_WAITING_H

#include "client/jobs.h"

enum wait_for { WAIT_FINISHED, WAIT_SUCCEEDED, WAIT_RUNNING, WAIT_DELETED };
/* False: TEXT is none of them. */
bool wait_for_read(const char *text, enum wait_for *ret);

/* Waits until the job is what is wanted, can no longer become it, or is deleted, and says as one line on standard
   output what became of it. CLI_OK: as wanted; CLI_FAILED: not. FINISHED is as wanted if the job succeeded. */
enum exit_code job_wait(struct cli_session *s, const struct job_found *f, enum wait_for what);

/* What VIEW means for whoever waits: NULL: go on waiting; else CLI_OK or CLI_FAILED. */
struct wait_verdict {
	bool over;
	enum exit_code status;
};
struct job_view;
struct wait_verdict wait_judge(const struct job_view *v, enum wait_for what);

#endif
