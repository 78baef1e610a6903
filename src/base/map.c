#include "base/map.h"

/* Open addressing with linear probing. Deletion shifts the followers back, so there are no
   tombstones and a map that stays the same size never degrades. */

static size_t find_slot(const struct map *m, struct str key, uint64_t hash)
{
	size_t i = hash & (m->cap - 1);

	while (m->slots[i].value && (m->slots[i].hash != hash || !str_eq(m->slots[i].key, key)))
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void grow(struct map *m)
{
	size_t cap = m->cap ? m->cap * 2 : 16;
	struct map bigger = { xcalloc(cap, sizeof(struct map_slot)), m->n, cap };

	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].value)
			bigger.slots[find_slot(&bigger, m->slots[i].key, m->slots[i].hash)] = m->slots[i];
	free(m->slots);
	*m = bigger;
}

void *map_get(const struct map *m, struct str key)
{
	return m->cap ? m->slots[find_slot(m, key, str_hash(key))].value : NULL;
}

void *map_put(struct map *m, struct str key, void *value)
{
	uint64_t hash = str_hash(key);
	struct map_slot *s;
	void *before;

	ASSERT(value);
	if (m->n * 4 >= m->cap * 3)
		grow(m);
	s = &m->slots[find_slot(m, key, hash)];
	before = s->value;
	m->n += !before;
	*s = (struct map_slot){ hash, key, value };
	return before;
}

void *map_del(struct map *m, struct str key)
{
	size_t hole, i;
	void *before;

	if (!m->cap)
		return NULL;
	hole = find_slot(m, key, str_hash(key));
	before = m->slots[hole].value;
	if (!before)
		return NULL;
	for (i = (hole + 1) & (m->cap - 1); m->slots[i].value; i = (i + 1) & (m->cap - 1)) {
		size_t home = m->slots[i].hash & (m->cap - 1);

		/* May it move into the hole, or does its own place lie between the two? */
		if (((i - home) & (m->cap - 1)) >= ((i - hole) & (m->cap - 1))) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole] = (struct map_slot){ 0 };
	m->n--;
	return before;
}

bool map_next(const struct map *m, size_t *at, struct str *key, void **value)
{
	while (*at < m->cap) {
		const struct map_slot *s = &m->slots[(*at)++];

		if (!s->value)
			continue;
		if (key)
			*key = s->key;
		if (value)
			*value = s->value;
		return true;
	}
	return false;
}

void map_release(struct map *m)
{
	free(m->slots);
	*m = (struct map)MAP_INIT;
}
