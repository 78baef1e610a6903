/* POST: a new object, with a name of its own or one that is made up. */
#ifndef LOCAL_STORE_CREATE_H
#define LOCAL_STORE_CREATE_H

#include "local/store/state.h"

/* False: refused, the answer says why. */
bool store_verb_create(struct store_call *c);

#endif
