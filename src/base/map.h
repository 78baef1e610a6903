/* A hash map from strings to pointers. Keys are not copied: they must live as long as the entry,
   usually inside the value. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

struct map_slot {
	uint64_t hash;
	struct str key;
	void *value; /* NULL: the slot is free */
};

struct map {
	struct map_slot *slots;
	size_t n, cap; /* cap is a power of two, or 0 */
};

#define MAP_INIT                                                                                                       \
	{                                                                                                              \
		NULL, 0, 0                                                                                             \
	}

/* The value, or NULL. */
void *map_get(const struct map *m, struct str key);
/* Sets it and returns the value that stood there before, or NULL. VALUE must not be NULL. The key
   that the map keeps is the new one. */
void *map_put(struct map *m, struct str key, void *value);
/* Removes and returns it, or NULL. */
void *map_del(struct map *m, struct str key);
/* Goes through all entries: start with *AT = 0; false at the end. The order is that of the hash;
   the map must not change meanwhile. */
bool map_next(const struct map *m, size_t *at, struct str *key, void **value);
/* Frees the table, not the values. */
void map_release(struct map *m);

#endif
