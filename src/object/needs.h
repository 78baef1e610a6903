/* Amounts of named resources, as Kubernetes lists them: {"cpu": "1", "memory": "1Gi"}. */
#ifndef OBJECT_NEEDS_H
#define OBJECT_NEEDS_H

#include "base/arena.h"
#include "object/quantity.h"

struct need {
	struct str name; /* cpu, memory, nvidia.com/gpu … */
	struct quantity amount;
};

/* Sorted by name. */
struct needs {
	struct need *v;
	size_t n, cap;
};

/* The names stay in LIST. What is no quantity is left out. */
struct needs needs_of_list(yyjson_val *list, struct arena *a);
/* The amount of NAME, to be changed; made if it is not there. Valid until the next one is made. */
struct quantity *needs_put(struct needs *n, struct str name, struct arena *a);
/* Nothing is 0. */
struct quantity needs_get(const struct needs *n, struct str name);
bool needs_has(const struct needs *n, struct str name);
/* Adds TIMES MORE, which is not negative. */
void needs_add(struct needs *to, const struct needs *more, int32_t times, struct arena *a);
/* Raises each to what is in OTHER. */
void needs_raise(struct needs *to, const struct needs *other, struct arena *a);
bool needs_eq(const struct needs *a, const struct needs *b);
/* As Kubernetes writes it: memory and the like in binary units. */
struct str need_write(const struct need *n, char ret[static QUANTITY_TEXT]);

#endif
