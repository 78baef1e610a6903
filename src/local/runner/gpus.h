/* Which GPU is whose. Pure. */
#ifndef LOCAL_RUNNER_GPUS_H
#define LOCAL_RUNNER_GPUS_H

#include "local/runner/machine.h"

struct gpu_set {
	int v[MACHINE_GPUS_MAX];
	size_t n;
};

enum { GPUS_TEXT = MACHINE_GPUS_MAX * 12 };
/* "0,3", as CUDA_VISIBLE_DEVICES has it. Returns BUF. */
const char *gpus_write(const struct gpu_set *s, char buf[static GPUS_TEXT]);
/* Numbers only; each once; false for anything else. */
bool gpus_parse(struct gpu_set *ret, struct str text);

void gpus_add(struct gpu_set *to, const struct gpu_set *more);
/* The first N of ALL that are not TAKEN; false: there are not so many. */
bool gpus_pick(struct gpu_set *ret, const struct gpu_set *all, const struct gpu_set *taken, int64_t n);
/* N of the pod's, from the AT-th on; fewer if it has no more. */
struct gpu_set gpus_part(const struct gpu_set *pod, size_t at, int64_t n);
/* In a container's own CUDA_VISIBLE_DEVICES 0 is the first of those that it was given. What is not there ends the list,
   as in CUDA. */
struct gpu_set gpus_chosen(const struct gpu_set *given, struct str own);

#endif
