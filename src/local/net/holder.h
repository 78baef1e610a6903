/* The holder: a process that does nothing but keep the router's network namespace, and with NET_USER the user namespace
   around it. FOLDER is FOLDER/net of the cluster; FOLDER/holder says which process it is. */
#ifndef LOCAL_NET_HOLDER_H
#define LOCAL_NET_HOLDER_H

#include "local/net/net.h"
#include "local/net/outside.h"

/* The one that is recorded, if it lives: its process and what it is; 0 if there is none. */
pid_t holder_find(const char *folder, enum net_kind *kind);
/* Starts one of that KIND (not NET_HOST) and records it. It has tried that links can be made. WAY_OUT (may be NULL) is
   started beside it and ends with it; what it says goes to FOLDER/outside.log. False: the kernel does not let us. */
bool holder_start(pid_t *ret, const char *folder, enum net_kind kind, enum net_keep keep, const struct outside *way_out,
                  struct err *e);
/* Ends the one that is recorded; true also if there is none. Waits until it is gone, some seconds at most. */
bool holder_end(const char *folder, struct err *e);

#endif
