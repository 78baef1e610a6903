/* Lists in pages, and deletion of what a list would show. */
#ifndef LOCAL_STORE_LIST_H
#define LOCAL_STORE_LIST_H

#include "local/store/state.h"

/* False: refused, the answer says why. */
bool verb_list(struct call *c);
bool verb_delete_all(struct call *c);

#endif
