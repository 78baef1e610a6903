/* PATCH: the object as the patch makes it, then as an update. */
#ifndef LOCAL_STORE_PATCH_H
#define LOCAL_STORE_PATCH_H

#include "local/store/state.h"

/* False: refused, the answer says why. */
bool store_verb_patch(struct store_call *c);

#endif
