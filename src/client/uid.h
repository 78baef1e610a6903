/* A UID for a job that has none because no API server has seen it. */
#ifndef CLIENT_UID_H
#define CLIENT_UID_H

#include "base/arena.h"

/* Derived from namespace and name: the same job gets the same one every time. It has the form of a
   UUID (version 8, "custom"). */
struct str uid_derive(struct arena *a, struct str ns, struct str name);
/* Where it does not matter which one. */
extern const struct str uid_any;

#endif
