/* A set of replica indexes, kept as sorted ranges and written as "0-4,7": small when a job is healthy,
   whatever its size. */
#ifndef JOB_RANGES_H
#define JOB_RANGES_H

#include "base/arena.h"
#include "base/buf.h"

struct range {
	int32_t from, to; /* both included */
};

struct ranges {
	struct range *v;
	size_t n, cap;
};

bool ranges_has(const struct ranges *r, int32_t index);
/* Adds one index; false if it was there already. Memory from A. */
bool ranges_add(struct ranges *r, struct arena *a, int32_t index);
/* Takes one out; false if it was not there. */
bool ranges_del(struct ranges *r, struct arena *a, int32_t index);
/* Takes out everything from INDEX on. */
void ranges_cut(struct ranges *r, int32_t index);
/* How many indexes. */
int32_t ranges_count(const struct ranges *r);
bool ranges_eq(const struct ranges *a, const struct ranges *b);
struct ranges ranges_copy(const struct ranges *r, struct arena *a);
/* "0-4,7"; the empty set is "". */
struct str ranges_format(const struct ranges *r, struct arena *a);
/* False if it is not such a text, or an index is negative or ≥ LIMIT. */
bool ranges_parse(struct ranges *ret, struct arena *a, struct str s, int32_t limit);

#endif
