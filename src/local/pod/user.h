/* Running pods as an ordinary user: a user namespace in which that user is root. */
#ifndef LOCAL_POD_USER_H
#define LOCAL_POD_USER_H

#include "local/pod/pod.h"

/* Can this process become somebody else? */
bool user_is_many(void);

#endif
