/* A priority queue of nodes that live inside other structures: the smallest key first, equal keys
   in the order in which they were put. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "base/util.h"

struct heap_node {
	int64_t key;
	uint64_t order;
	size_t at; /* 1 + its place in the heap; 0: in no heap */
};

struct heap {
	struct heap_node **v;
	size_t n, cap;
	uint64_t order;
};

#define HEAP_INIT                                                                                                      \
	{                                                                                                              \
		NULL, 0, 0, 0                                                                                          \
	}

/* Puts it in, or moves it if it is in. */
void heap_put(struct heap *h, struct heap_node *node, int64_t key);
/* Takes it out; nothing happens if it is in no heap. */
void heap_remove(struct heap *h, struct heap_node *node);
/* The first one, or NULL; it stays in. */
struct heap_node *heap_first(const struct heap *h);
/* Frees the table. Nodes that were in it are not touched: they may be gone already. */
void heap_release(struct heap *h);

/* The structure of which NODE is the member. */
#define heap_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

#endif
