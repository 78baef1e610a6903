/* The store, asked by the shortest way. */
#ifndef LOCAL_RUNNER_CALL_H
#define LOCAL_RUNNER_CALL_H

#include "local/runner/state.h"

/* Returns HTTP's code, as the next one does. RET may be NULL. */
int store_ask(struct runner *r, const struct store_request *q, struct store_answer *ret);
/* A merge patch of the pod or of its status. */
int store_patch_pod(struct runner *r, const struct runner_pod *p, bool status, struct str body);
/* The object as a tree, which the caller frees; NULL: there is none. */
yyjson_doc *store_read(struct runner *r, const struct store_type *t, struct str ns, struct str name);

#endif
