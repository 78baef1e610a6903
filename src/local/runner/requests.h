/* What a pod asks for (job/pod_needs.h), of what this machine has. Pure. */
#ifndef LOCAL_RUNNER_REQUESTS_H
#define LOCAL_RUNNER_REQUESTS_H

#include "job/job.h"
#include "local/runner/fit.h"

#include <yyjson.h>

/* SPEC is a pod's, of its object or of a template. What is no quantity counts as nothing. */
struct amount requests_of_pod(yyjson_val *spec);
struct amount requests_of_container(yyjson_val *container);
/* All of its replicas together. */
struct amount requests_of_job(const struct job *job, bool without_gpus);

/* Never more than can be said. */
void amount_add(struct amount *to, struct amount more);
struct amount amount_times(struct amount one, int64_t n);
/* The larger one of each. */
struct amount amount_max(struct amount a, struct amount b);

#endif
