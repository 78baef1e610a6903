/* Links, addresses, neighbours and routes. Each function adds one message to M; nl_talk() carries out what was
   gathered, so that a pod costs two conversations with the kernel and not ten. Links are known by numbers that we
   choose, so that nothing has to be asked. Addresses are IPv4, as numbers of the machine's order. */
#ifndef LOCAL_NET_LINK_H
#define LOCAL_NET_LINK_H

#include "local/net/nl.h"

enum { LINK_LO = 1, LINK_NAME_MAX = 16, LINK_MAC = 6 };

struct link_end {
	const char *name;
	int index; /* 0: the kernel chooses; only the second end's if it does not choose the first one's */
	const uint8_t *mac;
	int ns; /* the network namespace, by descriptor; -1: that of the socket */
};

/* A pair of ends; A is up, B is down. A name or number that is taken: EEXIST. */
void link_veth(struct nl_msg *m, const struct link_end *a, const struct link_end *b, uint32_t mtu);
/* Both ends go. One that is not there: ENODEV. */
void link_delete(struct nl_msg *m, const char *name);
void link_up(struct nl_msg *m, int index);
/* The text that says whose a link is. */
void link_mark(struct nl_msg *m, const char *name, const char *mark);
/* Addresses do not bring a route to their subnet: every way is told by link_route(). */
void link_address(struct nl_msg *m, int index, uint32_t ip, unsigned prefix);
/* Never asked for and never forgotten, and does not count in the kernel's table of at most 1,024 neighbours. */
void link_neighbour(struct nl_msg *m, int index, uint32_t ip, const uint8_t *mac);
/* To DST/PREFIX (0/0: everything) through VIA (0: it is on the link itself), from SRC (0: the kernel chooses). One
   that is there already: EEXIST. */
void link_route(struct nl_msg *m, int index, uint32_t dst, unsigned prefix, uint32_t via, uint32_t src);

struct link_seen {
	int index;
	char name[LINK_NAME_MAX];
	char mark[256];
};
/* The link NAME, in *RET; an index of 0: there is none. */
bool link_find(struct nl *nl, const char *name, struct link_seen *ret, struct err *e);

/* The number that a link's hardware address is made of: the same IP gets the same one again, so that nobody who
   knew the old owner of an address is misled. SIDE tells the two ends of a pair apart. */
void link_mac(uint8_t mac[LINK_MAC], uint32_t ip, uint8_t side);

#endif
