/* Ending pods: deleted, gone, or all of them. First the processes, then what is left, then the object. */
#ifndef LOCAL_RUNNER_STOP_H
#define LOCAL_RUNNER_STOP_H

#include "local/runner/state.h"

/* A pod that lives: is it to end, and how far is it? */
void stop_some(struct runner *r, struct runner_pod *p);
/* Without a process, and its object is deleted or gone: everything of it goes. P may be freed. */
void stop_remove(struct runner *r, struct runner_pod *p);

#endif
