/* What changes the database: an object's new state, or its end; and what watches are told of it. */
#ifndef LOCAL_STORE_OBJECT_H
#define LOCAL_STORE_OBJECT_H

#include "local/store/state.h"

/* Stores DOC as the state after BEFORE (in OLD; both NULL: it is new). Empty: refused, the answer says why. */
struct str object_put(struct store_call *c, const struct db_row *old, yyjson_val *before, yyjson_mut_doc *doc);
/* DOC is its last state. Returns that, as text. */
struct str object_remove(struct store *s, const struct stored_type *t, const struct db_row *old, yyjson_val *before,
                         yyjson_mut_doc *doc);
bool object_has_finalizers(yyjson_val *root);

#endif
