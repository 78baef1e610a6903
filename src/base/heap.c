#include "base/heap.h"

static bool before(const struct heap_node *a, const struct heap_node *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void place(struct heap *h, size_t i, struct heap_node *node)
{
	h->v[i] = node;
	node->at = i + 1;
}

static size_t sift_up(struct heap *h, size_t i, struct heap_node *node)
{
	while (i > 0 && before(node, h->v[(i - 1) / 2])) {
		place(h, i, h->v[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	return i;
}

static size_t sift_down(struct heap *h, size_t i, struct heap_node *node)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < h->n && before(h->v[child + 1], h->v[child]))
			child++;
		if (child >= h->n || !before(h->v[child], node))
			return i;
		place(h, i, h->v[child]);
		i = child;
	}
}

static void settle(struct heap *h, size_t i, struct heap_node *node)
{
	i = sift_up(h, i, node);
	place(h, sift_down(h, i, node), node);
}

void heap_put(struct heap *h, struct heap_node *node, int64_t key)
{
	node->key = key;
	node->order = h->order++;
	if (node->at == 0) {
		if (h->n == h->cap) {
			h->cap = h->cap ? h->cap * 2 : 16;
			h->v = xrealloc(h->v, h->cap * sizeof(*h->v));
		}
		node->at = ++h->n;
	}
	settle(h, node->at - 1, node);
}

void heap_remove(struct heap *h, struct heap_node *node)
{
	size_t i = node->at - 1;
	struct heap_node *last;

	if (node->at == 0)
		return;
	ASSERT(i < h->n && h->v[i] == node);
	node->at = 0;
	last = h->v[--h->n];
	if (last != node)
		settle(h, i, last);
}

struct heap_node *heap_first(const struct heap *h)
{
	return h->n ? h->v[0] : NULL;
}

void heap_release(struct heap *h)
{
	free(h->v);
	*h = (struct heap)HEAP_INIT;
}
