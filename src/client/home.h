/* Where the cluster on this machine has its files. */
#ifndef CLIENT_HOME_H
#define CLIENT_HOME_H

#include "base/arena.h"

/* $DLJOB_HOME, else $XDG_STATE_HOME/dljob, else ~/.local/state/dljob; in A, without a slash at its end. NULL: none of
   them is set. It need not exist. */
const char *local_home(struct arena *a);

#endif
