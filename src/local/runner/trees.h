/* Directories that the user gave by name, for volumes and for images. */
#ifndef LOCAL_RUNNER_TREES_H
#define LOCAL_RUNNER_TREES_H

#include "local/runner/runner.h"

/* NULL: none of that name. */
const char *tree_find(const struct runner_tree *trees, size_t n, struct str name);
/* For the volume NAME of POD: by its own name, else by that of its claim. */
const char *tree_of_volume(const struct runner_tree *trees, size_t n, yyjson_val *pod, struct str name);

#endif
