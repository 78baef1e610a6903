/* What stands in the file of accelerators. */
#ifndef KIND_ACCELERATOR_FILE_H
#define KIND_ACCELERATOR_FILE_H

#include "base/arena.h"
#include "kind/accelerators.h"

struct accelerator_volume {
	struct str name, mount_path, host_path;
};

struct accelerator_variable {
	struct str name, value;
};

struct accelerator {
	struct str name;     /* of the resource */
	struct str resource; /* the name that it is asked for under; empty: its own */
	VEC(struct accelerator_volume) volumes;
	VEC(struct accelerator_variable) variables;
};

/* A key without meaning today, as it was written, and why it has none. */
struct accelerator_idle {
	const char *key, *why;
};

enum { ACCELERATORS_MAX = 64 }; /* resource names, and volumes and variables of each */

struct accelerators {
	struct arena arena;
	VEC(struct accelerator) list; /* in the file's order */
	VEC(struct accelerator_idle) idle;
};

#endif
