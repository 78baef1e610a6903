/*
 * Strategic merge patches, for the builtin types: a merge patch in which the elements of some lists have an identity
 * ("containers" by their name), with directives: $patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList.
 */
#ifndef LOCAL_STORE_STRATEGIC_H
#define LOCAL_STORE_STRATEGIC_H

#include "local/store/state.h"

/* NULL: refused. */
yyjson_mut_val *strategic_merge(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch);

#endif
