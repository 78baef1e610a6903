/* A machine that lets nothing be forwarded, as every one with Docker or ufw does: their chain drops what it does not
   know, and no table of ours can say otherwise. Where the chain is that of iptables two rules are put in front of it,
   by the program iptables; they name our link, and so are known again. */
#ifndef LOCAL_NET_FORWARD_H
#define LOCAL_NET_FORWARD_H

#include "base/err.h"

/* In this network namespace: what comes from LINK may be forwarded, and answers to it. True also where nothing drops.
   False: a firewall drops it, and *E says which. */
bool forward_allow(const char *link, struct err *e);
/* The rules for LINK go, if there are any. */
void forward_forget(const char *link);

#endif
