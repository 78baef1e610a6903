/*
 * Cuts a stream of bytes, however it comes in pieces, into JSON texts that are parsed one by one, so that
 * nothing larger than one object is ever held: the lines of a watch, or the items of a list.
 */
#ifndef KUBE_SPLIT_H
#define KUBE_SPLIT_H

#include "base/buf.h"

enum { SPLIT_REST_MAX = 64 << 10 };

struct splitter {
	struct buf part; /* what has begun in an earlier piece */
	struct buf rest; /* a list without its items: {"metadata":{…},"items":[]} */
	size_t depth, key;
	bool in_string, escaped;
	bool is_items; /* the key that was read last is "items" */
	bool in_items, in_item;
	bool done; /* the list has been closed */
};

/* MAX: of one part. */
struct splitter splitter_make(size_t max);
void splitter_reset(struct splitter *s);
void splitter_release(struct splitter *s);

enum split { SPLIT_MORE, SPLIT_STOPPED, SPLIT_TOO_LONG };
/* PART is called for each whole text; it is valid until PART returns; false: stop. After STOPPED and TOO_LONG
   nothing but a reset makes sense. */
typedef bool (*split_fn)(void *cookie, struct str text);
/* Blank lines are left out. */
enum split split_lines(struct splitter *s, struct str piece, split_fn part, void *cookie);
/* The elements of the outermost object's "items", whatever they are. */
enum split split_list(struct splitter *s, struct str piece, split_fn part, void *cookie);

#endif
