/* What the store says. Inside its calls only a copy is taken; the rest happens in the step. */
#ifndef LOCAL_RUNNER_WATCH_H
#define LOCAL_RUNNER_WATCH_H

#include "local/runner/state.h"

bool watch_start(struct runner *r, struct err *e);
/* For kinds whose CRDs have come. */
void watch_jobs(struct runner *r);
/* Watches none of the jobs of before, and has room for those of KINDS. */
void watch_set_kinds(struct runner *r, const struct kinds *kinds);
void watch_stop(struct runner *r);
/* Takes what the watches have recorded. */
void watch_take(struct runner *r);

#endif
