/* Objects that are nested too deep: whoever goes through a tree does it by recursion. */
#ifndef CLUSTER_SHALLOW_H
#define CLUSTER_SHALLOW_H

#include "base/arena.h"
#include "base/json.h"

/* A copy of an object that is at most JSON_MAX_DEPTH deep; free it with yyjson_doc_free(). What is deeper is left
   out: *LEFT_OUT names the first such field ("spec.replicaSpecs"), in A; empty if nothing that matters is missing.
   Its managedFields, which nobody of ours reads, are not copied. */
yyjson_doc *shallow_copy(yyjson_val *val, struct str *left_out, struct arena *a);

#endif
