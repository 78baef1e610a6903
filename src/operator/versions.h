/* Which of two states of an object is the newer one: resourceVersions are decimal numbers that grow
   (docs/decisions/0022-resource-versions.md). */
#ifndef OPERATOR_VERSIONS_H
#define OPERATOR_VERSIONS_H

#include "operator/cache.h"

enum version_origin { VERSION_FROM_WATCH, VERSION_FROM_LIST, VERSION_FROM_ANSWER };

/* The cache has HAVE of an object and is shown RV of the same one. True: take it. */
bool versions_take(struct versions *v, struct str have, struct str rv, enum version_origin from);
/* For another object of the same name: is it certainly the older one? */
bool versions_older(struct str have, struct str rv);
/* Something denies it. SENT: the last request that was sent before. */
void versions_doubt(struct versions *v, uint64_t sent);
/* A first state. */
void versions_start(struct versions *v, enum version_origin from);

#endif
