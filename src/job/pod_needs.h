/* What a pod asks for as a whole, by the scheduler's rule: the sum of its containers, or more where an init container
   wants more; sidecars count with both; what the pod asks for as such stands instead, its overhead comes on top. A
   limit is a request where there is none. Pure. */
#ifndef JOB_POD_NEEDS_H
#define JOB_POD_NEEDS_H

#include "object/needs.h"

/* SPEC is a pod's, of its object or of a template; the names stay in it. What is no quantity counts as nothing. */
struct needs needs_of_pod(yyjson_val *spec, struct arena *a);
struct needs needs_of_container(yyjson_val *container, struct arena *a);

#endif
