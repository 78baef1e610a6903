/* What a request to delete says: meta/v1's DeleteOptions. */
#ifndef OBJECT_DELETE_OPTIONS_H
#define OBJECT_DELETE_OPTIONS_H

#include "base/buf.h"

struct delete_options {
	int64_t grace;     /* seconds; negative: the server's choice */
	struct str uid;    /* only if it is that very object; empty: whichever */
	struct str policy; /* Background, Foreground, Orphan; empty: the server's choice */
};

/* Enough for any. */
enum { DELETE_OPTIONS_MAX = 4096 };

void delete_options_put(struct buf *b, const struct delete_options *o);

#endif
