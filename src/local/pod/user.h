/* Running pods as an ordinary user: a user namespace in which that user is root. */
#ifndef LOCAL_POD_USER_H
#define LOCAL_POD_USER_H

#include "local/pod/pod.h"

/* Can this process become somebody else? */
bool user_is_many(void);
/* The number outside of a user namespace of the one that is INSIDE, by the text of a uid_map; -1: it has none. */
int64_t user_outside(struct str map, int64_t inside);

#endif
