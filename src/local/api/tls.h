/* The certificates of the API: an authority of its own and a server's certificate for 127.0.0.1. The authority's key is
   thrown away once it has signed. */
#ifndef LOCAL_API_TLS_H
#define LOCAL_API_TLS_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"

struct tls_identity {
	struct str key, cert, ca; /* PEM, each followed by a zero */
};

/* Makes them anew, good from a day before NOW on for ten years. In A. */
bool tls_make(struct tls_identity *ret, msec now, struct arena *a, struct err *e);
/* All three as one text, and back. */
struct str tls_text(const struct tls_identity *t, struct arena *a);
/* False, with *E: damaged, of somebody else, or not good any more for thirty days. */
bool tls_read(struct tls_identity *ret, struct str text, msec now, struct arena *a, struct err *e);

#endif
