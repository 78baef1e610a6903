/*
 * Cuts a stream of bytes, however it comes in pieces, into JSON texts that are parsed one by one, so that
 * nothing larger than one object is ever held: the lines of a watch, or the items of a list. A text that is longer
 * than the limit is let go by up to its end; only whose it is is read (skim.h).
 */
#ifndef KUBE_SPLIT_H
#define KUBE_SPLIT_H

#include "base/buf.h"
#include "kube/skim.h"

enum {
	SPLIT_REST_MAX = 64 << 10,
	SPLIT_SKIP_MAX = 16, /* times the limit: what is longer has no end */
};

struct splitter {
	struct buf part; /* what has begun in an earlier piece */
	struct buf rest; /* a list without its items: {"metadata":{…},"items":[]} */
	size_t depth, key;
	bool in_string, escaped;
	bool is_items; /* the key that was read last is "items" */
	bool in_items, in_item;
	bool done;        /* the list has been closed */
	size_t skipped;   /* bytes of a text that is too long; 0: it is not */
	struct skim skim; /* … and what was read of it */
};

/* MAX: of one part. */
struct splitter splitter_make(size_t max);
void splitter_reset(struct splitter *s);
void splitter_release(struct splitter *s);

enum split { SPLIT_MORE, SPLIT_STOPPED, SPLIT_TOO_LONG };
/* Where the texts go. What is handed over is valid until the call returns; false: stop. */
struct split_to {
	bool (*part)(void *cookie, struct str text);                   /* a whole text */
	bool (*skipped)(void *cookie, const struct skim *whose_it_is); /* one that was too long has come to its end */
	void *cookie;
};
/* After STOPPED and TOO_LONG (the list around the items is, or a text that never ends) nothing but a reset makes sense.
   Blank lines are left out. */
enum split split_lines(struct splitter *s, struct str piece, const struct split_to *to);
/* The elements of the outermost object's "items", whatever they are. */
enum split split_list(struct splitter *s, struct str piece, const struct split_to *to);

#endif
