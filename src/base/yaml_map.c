/* The keys of a YAML map: none twice, merged ones where it has none of its own. */
#include "base/yaml_node.h"

/* Maps up to this size are searched key by key; larger ones are sorted. */
enum { FEW_KEYS = 24 };

struct candidate {
	struct yaml_item *item;
	size_t rank; /* 0: the map's own; otherwise the lower one wins */
	size_t order;
};

typedef VEC(struct candidate) candidates;

static int by_key(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	int c = str_cmp(a->item->key, b->item->key);

	if (c)
		return c;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_order(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return a->order < b->order ? -1 : a->order > b->order;
}

static void add_all(const struct yaml_node *map, size_t rank, struct arena *scratch, candidates *all)
{
	for (struct yaml_item *it = map->first; it; it = it->next) {
		struct candidate c = { it, rank, all->n };

		*vec_push(scratch, all) = c;
	}
}

static const struct yaml_item *twice(const struct yaml_item *first, const struct yaml_item *second, struct arena *tree,
                                     const char **reason)
{
	struct buf quoted = BUF_INIT(1024);
	struct str why;

	buf_json_str(&quoted, str_sub(second->key, 0, 100));
	why = arena_printf(tree, "duplicate key %s in this map (first in line %u)", quoted.p, first->line);
	buf_release(&quoted);
	*reason = why.p;
	return second;
}

/* Adds what one "<<" names: a map, or a list of maps of which the earlier win. NULL, or what is no map. */
static const struct yaml_item *add_merge(const struct yaml_item *merge, size_t *rank, struct arena *scratch,
                                         candidates *all)
{
	if (merge->node->kind == YAML_MAP) {
		add_all(merge->node, (*rank)++, scratch, all);
		return NULL;
	}
	if (merge->node->kind != YAML_LIST)
		return merge;
	for (const struct yaml_item *it = merge->node->first; it; it = it->next) {
		if (it->node->kind != YAML_MAP)
			return it;
		add_all(it->node, (*rank)++, scratch, all);
	}
	return NULL;
}

/* Keeps the best candidate for each key, in the order in which they came. */
static const struct yaml_item *choose(struct yaml_node *map, candidates *all, struct arena *tree, const char **reason)
{
	struct yaml_item **end = &map->first;
	size_t kept = 0;

	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_key);
	for (size_t i = 0; i < all->n; i++) {
		if (kept && str_eq(all->v[kept - 1].item->key, all->v[i].item->key)) {
			if (all->v[i].rank == 0)
				return twice(all->v[kept - 1].item, all->v[i].item, tree, reason);
			continue;
		}
		all->v[kept++] = all->v[i];
	}
	if (kept)
		qsort(all->v, kept, sizeof(*all->v), by_order);
	for (size_t i = 0; i < kept; i++) {
		struct yaml_item *it = all->v[i].item;

		if (all->v[i].rank) {
			/* The other map keeps its own item. */
			it = arena_new(tree, struct yaml_item);
			*it = *all->v[i].item;
		}
		*end = it;
		end = &it->next;
	}
	*end = NULL;
	map->n = kept;
	return NULL;
}

static const struct yaml_item *check_few(const struct yaml_node *map, struct arena *tree, const char **reason)
{
	for (const struct yaml_item *b = map->first; b; b = b->next)
		for (const struct yaml_item *a = map->first; a != b; a = a->next)
			if (str_eq(a->key, b->key))
				return twice(a, b, tree, reason);
	return NULL;
}

const struct yaml_item *yaml_settle_map(struct yaml_node *map, const struct yaml_item *merges, struct arena *tree,
                                        const char **reason)
{
	struct arena scratch = ARENA_INIT;
	candidates all = { 0 };
	const struct yaml_item *bad = NULL;
	size_t rank = 1;

	if (!merges && map->n <= FEW_KEYS)
		return check_few(map, tree, reason);
	add_all(map, 0, &scratch, &all);
	for (; merges && !bad; merges = merges->next)
		bad = add_merge(merges, &rank, &scratch, &all);
	if (bad)
		*reason = "\"<<\" merges a map or a list of maps, and this is neither";
	else
		bad = choose(map, &all, tree, reason);
	arena_release(&scratch);
	return bad;
}
