/* Who is connected to a listener that anybody may reach, in the order in which they were last of use: when there is
   hardly room for another one the one that has been idle for longest gives way, so that nobody can keep the others out
   by holding connections. */
#ifndef HTTP_GUESTS_H
#define HTTP_GUESTS_H

#include "base/util.h"

#include <microhttpd.h>

enum {
	GUESTS_MAX = 64,        /* connections */
	GUESTS_OF_ADDRESS = 16, /* … of one address */
};

struct guest {
	struct MHD_Connection *connection; /* NULL: nobody */
	int fd;
	bool busy, told; /* a request is under way; it was told to go */
	uint64_t turn;   /* when it was last of use */
	unsigned char address[16];
};

struct guests {
	struct guest v[GUESTS_MAX];
	uint64_t turns;
};

/* Somebody came; others may be told to go. NULL: there are GUESTS_MAX already, which the daemon's own limit forbids. */
struct guest *guests_add(struct guests *g, struct MHD_Connection *c);
/* NULL is ok, here and below. */
void guests_remove(struct guest *one);
/* A request begins, or its answer is on the way as a whole. */
void guests_busy(struct guests *g, struct guest *one, bool busy);

#endif
