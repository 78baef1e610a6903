/* The part of the cache that holds pods, services and PodGroups, and which job they belong to. */
#ifndef OPERATOR_CHILDREN_H
#define OPERATOR_CHILDREN_H

#include "operator/cache.h"
#include "operator/versions.h"

void children_put(struct cache *c, const struct object *o, enum version_origin from);
void children_gone(struct cache *c, const struct object *o);
/* One that we do not have, or only its last state, was skipped: it is there, and a GET must tell what it is. */
struct versions *children_put_unread(struct cache *c, enum resource r, const struct skipped *s);
/* It is gone, nobody saw how: a pod's last known state stays as long as its job. */
void children_bury(struct cache *c, struct cached_child *ch);
/* A list has ended: what was not in it is gone unseen, or (blind) doubted. */
void children_sweep(struct cache *c, enum resource r);
/* Their job is gone: nobody asks for the last state of its pods any more. */
void children_forget_gone(struct cache *c, struct str job_uid);
void children_release(struct cache *c);

/* Of cache.c: UIDs that never come back, and whose job must be told. */
bool cache_was_gone(struct cache *c, struct str uid);
void cache_remember_gone(struct cache *c, struct str uid);
void cache_changed_uid(struct cache *c, struct str job_uid);
/* A name is free, perhaps. */
void cache_left(struct cache *c, enum resource resource, const struct meta *m);
/* The round that a job of this kind was last seen in: of its own lists and of those of all kinds. */
uint64_t cache_job_round(struct cache *c, struct str kind);
void cache_drop_node(struct cache *c, struct cached_node *n);

#endif
