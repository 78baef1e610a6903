/* The table of pods: what the store has, and what is left of those that it has no more. */
#ifndef LOCAL_RUNNER_PODS_H
#define LOCAL_RUNNER_PODS_H

#include "local/runner/state.h"

struct runner_pod *pods_add(struct runner *r, struct str uid, struct str ns, struct str name);
/* OBJECT becomes the pod's. */
void pods_take(struct runner *r, yyjson_doc *object, enum store_change change);
void pods_drop(struct runner *r, struct runner_pod *p);
/* Nothing is done with it any more but removing it: most of what is known of it is forgotten. */
void pods_slim(struct runner_pod *p);
void pods_set_stage(struct runner *r, struct runner_pod *p, enum runner_stage s);
bool pods_is_deleting(const struct runner_pod *p);
/* A document of its own with {KEY: PART}, and nothing else of where PART comes from. */
yyjson_doc *doc_of_part(const char *key, yyjson_val *part);

#endif
