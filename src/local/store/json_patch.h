/* RFC 6902: a list of operations, of which all are done or none. */
#ifndef LOCAL_STORE_JSON_PATCH_H
#define LOCAL_STORE_JSON_PATCH_H

#include "local/store/state.h"

/* NULL: refused. */
yyjson_mut_val *json_patch(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch);

#endif
