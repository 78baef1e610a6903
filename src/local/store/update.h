/* PUT, and the second half of PATCH: a new state of an object that exists. */
#ifndef LOCAL_STORE_UPDATE_H
#define LOCAL_STORE_UPDATE_H

#include "local/store/state.h"

/* False: refused, the answer says why. */
bool store_verb_update(struct store_call *c);
/* Makes WISH the new state of OLD as the endpoint allows. */
bool update_object(struct store_call *c, const struct db_row *old, yyjson_val *before, yyjson_val *wish);

#endif
