/* What is admitted as a whole: jobs, read through their kinds, and pods that have none. */
#ifndef LOCAL_RUNNER_UNITS_H
#define LOCAL_RUNNER_UNITS_H

#include "local/runner/state.h"

struct runner_unit *units_of(struct runner *r, yyjson_val *pod);
void units_take_job(struct runner *r, yyjson_doc *job, enum store_change change);
/* Jobs are read anew, each by its kind among KINDS. */
void units_set_kinds(struct runner *r, const struct kinds *kinds);
/* Counts anew, and forgets those that nobody needs. */
void units_count(struct runner *r);
/* What it wants or holds now. */
struct amount units_want(const struct runner_unit *u);
void units_free(struct runner *r, struct runner_unit *u);

#endif
