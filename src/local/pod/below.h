/* Paths in trees that containers write to: a link in there leads nowhere outside. */
#ifndef LOCAL_POD_BELOW_H
#define LOCAL_POD_BELOW_H

#include "base/err.h"
#include "base/str.h"

/* PATH below the folder TOP, as if TOP were the root: an O_PATH descriptor, which the caller closes. MAKE: folders that
   are missing are made. -1, with *E. */
int below_open(const char *top, struct str path, bool make, struct err *e);
/* PATH, which realpath() gave: nobody has put a link into it since. An O_PATH descriptor; -1, with errno. */
int below_reopen(const char *path);

#endif
