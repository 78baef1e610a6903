/* What a pod asks for as a whole, by the scheduler's rule: the sum of its containers, or more where an init container
   wants more; sidecars count with both; what the pod asks for as such stands instead, its overhead comes on top. A
   limit is a request where there is none. Pure. */
#ifndef JOB_NEEDS_H
#define JOB_NEEDS_H

#include "base/arena.h"
#include "base/quantity.h"

struct need {
	struct str name; /* cpu, memory, nvidia.com/gpu … */
	struct quantity amount;
};

/* Sorted by name. */
struct needs {
	struct need *v;
	size_t n, cap;
};

/* SPEC is a pod's, of its object or of a template; the names stay in it. What is no quantity counts as nothing. */
struct needs needs_of_pod(yyjson_val *spec, struct arena *a);
struct needs needs_of_container(yyjson_val *container, struct arena *a);
/* Of a list of resources: {"cpu": "1", …}. */
struct needs needs_of_list(yyjson_val *list, struct arena *a);

/* Adds TIMES MORE, which is not negative. */
void needs_add(struct needs *to, const struct needs *more, int32_t times, struct arena *a);
/* Raises each to what is in OTHER. */
void needs_raise(struct needs *to, const struct needs *other, struct arena *a);
/* Nothing is 0. */
struct quantity needs_get(const struct needs *n, struct str name);
bool needs_eq(const struct needs *a, const struct needs *b);

#endif
