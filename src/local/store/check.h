/* What every object must be, whatever its type: the right kind, and a metadata of the right types. */
#ifndef LOCAL_STORE_CHECK_H
#define LOCAL_STORE_CHECK_H

#include "local/store/state.h"

/* False: refused, the answer says why. */
bool store_check_object(struct store_call *c, yyjson_val *root);

#endif
