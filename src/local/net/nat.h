/* The way of the pods' connections to the world beyond: they leave with the address of the machine (masquerading), by
   a table of the packet filter (nf_tables) that bears our own name and that no one else uses. */
#ifndef LOCAL_NET_NAT_H
#define LOCAL_NET_NAT_H

#include "base/err.h"

/* In the network namespace of the calling thread: what comes from SUBNET/PREFIX and goes outside of it is masqueraded.
   A table of that name is replaced, at once and whole. */
bool nat_add(const char *table, uint32_t subnet, unsigned prefix, struct err *e);
/* One that is not there is ok, and so is a namespace in which we may not make any. */
bool nat_remove(const char *table, struct err *e);

#endif
