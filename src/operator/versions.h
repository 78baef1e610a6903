/* Which of two states of an object is the newer one, when resourceVersions can only be compared for
   equality: a state is old if the cache had it and replaced it. */
#ifndef OPERATOR_VERSIONS_H
#define OPERATOR_VERSIONS_H

#include "operator/cache.h"

enum origin { FROM_WATCH, FROM_LIST, FROM_ANSWER };

/* The cache has HAVE of an object and is shown RV of the same one. True: take it. */
bool versions_take(struct versions *v, struct str have, struct str rv, enum origin from);
/* A first state. */
void versions_start(struct versions *v, enum origin from);

#endif
