/* Logs of pods that are gone: of each name the last two, as long as their job exists. A pod's folder says by the link
   `job` where its logs will go, so that they are kept also if nobody knows the pod any more. */
#ifndef LOCAL_RUNNER_KEPT_H
#define LOCAL_RUNNER_KEPT_H

#include "local/runner/state.h"

/* JOB/NAMESPACE/POD below FOLDER/logs, in ROUND; empty: they are not kept. */
struct str kept_place(struct runner *r, const struct runner_pod *p);
/* Removes the pod's folder, after its logs have found their place. */
bool kept_remove_pod(struct runner *r, const struct runner_pod *p, struct err *e);
void kept_take_job(struct runner *r, yyjson_val *job, enum store_change change);
/* What belongs to no job goes, as much as a step has time for. */
void kept_prune(struct runner *r);
void kept_free(struct runner *r);

#endif
