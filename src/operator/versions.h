/*
 * Which of two states of an object is the newer one. Kubernetes' resourceVersions are decimal numbers
 * that grow (every API server that keeps its objects in etcd; from 1.35 on it is promised). Where they
 * are something else they can only be compared for equality: then a state is old if the cache had it
 * and replaced it, or if a watch that has not shown our own write yet shows it.
 */
#ifndef OPERATOR_VERSIONS_H
#define OPERATOR_VERSIONS_H

#include "operator/cache.h"

enum origin { FROM_WATCH, FROM_LIST, FROM_ANSWER };

/* The cache has HAVE of an object and is shown RV of the same one. True: take it. */
bool versions_take(struct versions *v, struct str have, struct str rv, enum origin from);
/* For another object of the same name: is it certainly the older one? */
bool versions_older(struct str have, struct str rv);
/* A first state. */
void versions_start(struct versions *v, enum origin from);

#endif
