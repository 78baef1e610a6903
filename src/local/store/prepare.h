/* What the builtin types check of a new state, and fill in. */
#ifndef LOCAL_STORE_PREPARE_H
#define LOCAL_STORE_PREPARE_H

#include "local/store/state.h"

bool prepare_pod(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc);
bool prepare_namespace(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc);
bool prepare_config_map(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc);
bool prepare_secret(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc);

#endif
