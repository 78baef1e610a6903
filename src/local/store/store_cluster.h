/* A store in the same process as a cluster (cluster.h): what the operator runs on here. A request is carried out
   inside cluster_submit(); its outcome waits for cluster_next(), behind what the watches saw of it. */
#ifndef LOCAL_STORE_STORE_CLUSTER_H
#define LOCAL_STORE_STORE_CLUSTER_H

#include "cluster/cluster.h"
#include "local/store/store.h"

struct store_kind {
	struct str id; /* TfJob.mlkube.io */
	struct str group, version, plural;
};

struct store_cluster_config {
	struct store *store; /* must live as long */
	bool nodes;          /* watch nodes */
	/* Whenever there is something for cluster_next(): also inside cluster_submit(), and inside any call of the
	   store that changes something. Only record it. May be NULL. */
	void (*wake)(void *cookie);
	void *cookie;
};

/* Pods and services that carry our label, and nodes, are watched from here on. NULL, with *E: the store cannot be
   read. */
struct cluster *store_cluster_new(const struct store_cluster_config *c, struct err *e);
void store_cluster_free(struct cluster *c);

/* Which kinds are watched; may be called again when kinds are added or removed. False, with *E, if one of them has no
   CRD in the store; then none is watched. */
bool store_cluster_set_kinds(struct cluster *c, const struct store_kind *kinds, size_t n, struct err *e);

#endif
