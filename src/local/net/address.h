/* Which addresses the pods of a cluster have: pure but for address_load() and the two that write. */
#ifndef LOCAL_NET_ADDRESS_H
#define LOCAL_NET_ADDRESS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

enum {
	SUBNET_PREFIX = 20,
	SUBNET_SIZE = 1 << (32 - SUBNET_PREFIX),
	/* The first addresses of a subnet: its own, the router's, the machine's. */
	SUBNET_ROUTER = 1,
	SUBNET_MACHINE = 2,
	SUBNET_FIRST = 3,
	/* How many pods have room: the last address is the subnet's broadcast. */
	SUBNET_PODS = SUBNET_SIZE - SUBNET_FIRST - 1,
};

/* What the machine can reach, so that we do not hide it. */
struct subnet_route {
	uint32_t dst;
	unsigned prefix;
};

/* The Nth (from 0) subnet out of 10.201.0.0/16, 10.202.0.0/16 … that no route meets (the default route does not
   count). False if there are not so many. */
bool subnet_choose(uint32_t *ret, const struct subnet_route *routes, size_t n, size_t nth);

enum { IP_TEXT = 16 };
void ip_text(char text[IP_TEXT], uint32_t ip);
/* Strict: four numbers of at most 255, no blanks, no leading zeros. */
bool ip_parse(struct str text, uint32_t *ret);

struct net_address {
	uint32_t ip;
	struct str uid, ns, name; /* owned by the address itself */
};

/* Those that are given, in memory and as one link for each in a folder: 10.201.0.7 -> UID/NAMESPACE/NAME. A symbolic
   link is made whole or not at all, and needs no open file. */
struct addresses {
	char *folder;
	uint32_t subnet;
	uint32_t next; /* where to look: addresses are reused as late as can be */
	size_t used;
	struct net_address *by_ip[SUBNET_SIZE];
	struct map by_uid;
};

/* Reads the folder, which must be there. A link that is none of ours to read is removed: nobody can be using it. */
bool address_load(struct addresses *ret, const char *folder, uint32_t subnet, struct err *e);
void address_release(struct addresses *a);
/* The address of that pod; the one that it has already, if it has one. NULL with *E: all are taken, or the disk. */
const struct net_address *address_take(struct addresses *a, struct str uid, struct str ns, struct str name,
                                       struct err *e);
/* NULL if it has none. */
const struct net_address *address_of(const struct addresses *a, struct str uid);
/* The address is free again. One that has none is ok. */
bool address_drop(struct addresses *a, struct str uid, struct err *e);

#endif
