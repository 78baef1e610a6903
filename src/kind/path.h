/* Paths of the manifest: spec.replicaSpecs["a.b"].template, as yaml_where() reads them. */
#ifndef KIND_PATH_H
#define KIND_PATH_H

#include "base/arena.h"

struct str path_key(struct arena *a, struct str path, struct str key);
struct str path_index(struct arena *a, struct str path, size_t index);

#endif
