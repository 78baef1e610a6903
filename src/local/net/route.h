/* What the machine's network looks like, as far as a subnet of ours must fit into it. */
#ifndef LOCAL_NET_ROUTE_H
#define LOCAL_NET_ROUTE_H

#include "local/net/address.h"
#include "local/net/nl.h"

struct route_list {
	VEC(struct subnet_route) routes; /* IPv4, of all tables; addresses of the machine are among them */
	uint32_t mtu;                    /* the least of the links that are up and no loopback; 1500 at most */
};

bool route_list(struct nl *nl, struct route_list *ret, struct arena *a, struct err *e);

#endif
