/* Capabilities inside the user namespace, and how they pass to the programs that we start. */
#ifndef LOCAL_NET_RIGHTS_H
#define LOCAL_NET_RIGHTS_H

#include "base/err.h"

/* From here on programs that this process starts keep its capabilities (they become ambient), though their user is not
   number 0: the parents of pods need them. */
bool rights_keep(struct err *e);

#endif
