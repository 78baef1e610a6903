/* Lists in pages, and deletion of what a list would show. */
#ifndef LOCAL_STORE_LIST_H
#define LOCAL_STORE_LIST_H

#include "local/store/state.h"

/* False: refused, the answer says why. */
bool store_verb_list(struct store_call *c);
bool store_verb_delete_all(struct store_call *c);

#endif
