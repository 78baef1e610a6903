/* The part of the cache that holds pods, services and PodGroups, and which job they belong to. */
#ifndef OPERATOR_CHILDREN_H
#define OPERATOR_CHILDREN_H

#include "operator/cache.h"
#include "operator/versions.h"

void children_put_pod(struct cache *c, const struct pod *pod, enum origin from);
/* The rest: services and PodGroups. */
void children_put_other(struct cache *c, const struct object *o, enum origin from);
void children_pod_gone(struct cache *c, const struct pod *pod);
void children_other_gone(struct cache *c, const struct object *o);
/* It is gone, nobody saw how: its last known state stays as long as its job. */
void children_bury_pod(struct cache *c, struct cached_pod *p);
void children_drop_other(struct cache *c, struct cached_child *ch);
/* A list has ended: what was not in it is gone unseen. */
void children_sweep_pods(struct cache *c);
void children_sweep_others(struct cache *c, enum resource r);
/* Their job is gone: nobody asks for the last state of its pods any more. */
void children_forget_gone(struct cache *c, struct str job_uid);
void children_release(struct cache *c);

/* Of cache.c: UIDs that never come back, and whose job must be told. */
bool cache_was_gone(struct cache *c, struct str uid);
void cache_remember_gone(struct cache *c, struct str uid);
void cache_changed_uid(struct cache *c, struct str job_uid);

#endif
