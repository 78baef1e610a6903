/* Replicas of one job know each other's names before the first of them starts: whoever begins with connecting to a peer
   would end with an unknown name otherwise. */
#ifndef LOCAL_RUNNER_TOGETHER_H
#define LOCAL_RUNNER_TOGETHER_H

#include "local/runner/state.h"

/* Counts what together_may_start() looks at: once in a round, when addresses were given. */
void together_count(struct runner *r);
/* All pods of P's job that are here have addresses, and all that the job wants are here; or one of them runs already;
   or no more came for a while. If not, it is looked at again in time. */
bool together_may_start(struct runner *r, const struct runner_pod *p);

#endif
