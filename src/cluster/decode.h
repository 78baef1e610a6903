/* JSON of the API server → the small values of object.h. What is not needed is not kept. */
#ifndef CLUSTER_DECODE_H
#define CLUSTER_DECODE_H

#include "base/arena.h"
#include "base/err.h"
#include "cluster/cluster.h"

enum { DECODE_TEXT_MAX = 512 }; /* messages and reasons are clipped to so many bytes */

/* Each reads VAL into A; RET does not need VAL any more (a job's root excepted). False, with *E, if it is
   not such an object at all (no metadata.name …); a wrong type in any other field is as if the field were
   missing. */
bool decode_pod(struct pod *ret, yyjson_val *val, struct arena *a, struct err *e);
bool decode_service(struct service *ret, yyjson_val *val, struct arena *a, struct err *e);
bool decode_group(struct group *ret, yyjson_val *val, struct arena *a, struct err *e);
bool decode_node(struct node *ret, yyjson_val *val, struct arena *a, struct err *e);
/* KIND: the kind's id; not copied. RET's root is VAL, which must be at most JSON_MAX_DEPTH deep (shallow.h). */
bool decode_job(struct job_object *ret, yyjson_val *val, struct str kind, struct arena *a, struct err *e);

/* A new child of that sort in A; NULL with *E as above. */
const struct child *decode_child(enum resource r, yyjson_val *val, struct arena *a, struct err *e);

/* metav1.Status: reason, message, details.retryAfterSeconds. What VAL does not say stays as it was; the
   strings belong to VAL. */
void decode_status(struct outcome *ret, yyjson_val *val);

#endif
