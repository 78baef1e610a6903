/* What is left to tidy up: children whose owners are gone, and what is in a namespace or of a CRD that was
   deleted. */
#ifndef LOCAL_STORE_GC_H
#define LOCAL_STORE_GC_H

#include "local/store/state.h"

/* True: there is more to do at once. */
bool gc_step(struct store *s);
/* Takes the owner out of its children. */
void gc_orphan(struct store_call *c, struct str owner);

#endif
