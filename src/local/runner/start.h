/* Starting pods that are bound. A round takes some of them, so that the loop goes on: first all of their networks, then
   the names once, then the processes. */
#ifndef LOCAL_RUNNER_START_H
#define LOCAL_RUNNER_START_H

#include "local/runner/state.h"

/* As many as a round has time for. */
void start_some(struct runner *r);
/* The parent process is PID: from now on its end and its state are watched. */
void start_attach(struct runner *r, struct runner_pod *p, pid_t pid);
void start_watch_folder(struct runner *r, struct runner_pod *p);

#endif
