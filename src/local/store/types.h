/* The types of objects: those that are always there, and the list of all. */
#ifndef LOCAL_STORE_TYPES_H
#define LOCAL_STORE_TYPES_H

#include "local/store/state.h"

void types_builtin(struct store *s);
void types_release(struct store *s);
struct stored_type *type_new(struct store *s, const struct store_type *t, struct str resource,
                             const struct type_rules *rules);
struct stored_type *type_find(const struct store *s, struct str group, struct str version, struct str plural);
/* Of the resource's versions the stored one. */
const struct stored_type *type_of_resource(const struct store *s, struct str resource);
extern const struct type_rules rules_custom;
#define RES_NAMESPACES STR("namespaces")
#define RES_EVENTS STR("events")
#define RES_CRDS STR("customresourcedefinitions.apiextensions.k8s.io")

#endif
