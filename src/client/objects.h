/* Objects on standard output, one after the other, so that a thousand of them need no more memory
   than one: documents of YAML, or the items of one JSON List. */
#ifndef CLIENT_OBJECTS_H
#define CLIENT_OBJECTS_H

#include "base/buf.h"
#include "base/err.h"
#include "client/cli.h"

enum { OBJECT_MAX = 256 << 20 };

struct object_list {
	enum output_format format;
	size_t n;
	struct buf text; /* of the last one, kept for its memory */
};

/* Writes the object whose JSON is in TEXT. False if it is too large; writing errors are stdout's. */
bool objects_put(struct object_list *o, const struct buf *text, struct err *e);
/* The end of the List, unless it is not WHOLE; gives the memory back. */
void objects_end(struct object_list *o, bool whole);

#endif
