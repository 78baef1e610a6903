/* What stands beside the objects and has no checksum of its own is compared with them when a database is opened. */
#ifndef LOCAL_STORE_VERIFY_H
#define LOCAL_STORE_VERIFY_H

#include "local/store/state.h"

/* Mends the list of owners and the version. False, with *E: the database cannot be read or written. */
bool store_verify(struct db *d, struct err *e);

#endif
