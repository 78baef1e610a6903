/* The store, asked by the shortest way. */
#ifndef LOCAL_RUNNER_CALL_H
#define LOCAL_RUNNER_CALL_H

#include "local/runner/state.h"

/* Returns HTTP's code. RET may be NULL. */
int runner_ask(struct runner *r, const struct store_request *q, struct store_answer *ret);
/* False, with *E, which says what the store said: it was not done. CODE: HTTP's. */
bool runner_do(struct runner *r, const struct store_request *q, int *code, struct err *e);
/* The same with a merge patch of the pod or of its status. They are small, and a full disk does not keep them. */
bool runner_patch_pod(struct runner *r, const struct runner_pod *p, bool status, struct str body, int *code,
                      struct err *e);
/* The object as a tree, which the caller frees; NULL: there is none. */
yyjson_doc *runner_read(struct runner *r, const struct store_type *t, struct str ns, struct str name);

#endif
