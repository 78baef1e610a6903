/* What the files of this folder share about an open network. */
#ifndef LOCAL_NET_INTERNAL_H
#define LOCAL_NET_INTERNAL_H

#include "base/buf.h"
#include "local/net/address.h"
#include "local/net/link.h"
#include "local/net/net.h"

enum { MARK_MAX = 200, LINK_ROUTER_UP = 2, LINK_POD = 2, LINK_FIRST_POD = 100000 };

struct port_taken {
	uint16_t port;
	struct str uid; /* owned */
};

struct net {
	enum net_kind kind;
	char *folder; /* FOLDER/net */
	char name[LINK_NAME_MAX];
	char mark[MARK_MAX];
	int router;   /* its network namespace; -1 with NET_HOST */
	struct nl nl; /* a conversation inside the router */
	uint32_t subnet;
	uint32_t mtu;
	bool machine; /* the machine is reached at its address in the subnet */
	struct addresses addresses;
	VEC(struct port_taken) ports; /* in ports_arena */
	struct arena ports_arena;
	struct str machine_hosts; /* owned */
};

/* router.c: the names that a cluster's things have on the machine. */
void net_name(char name[LINK_NAME_MAX], struct str id);
void net_mark(char mark[MARK_MAX], struct str id);
/* enter.c: adds a sentence to the line for people. */
void net_note(struct net_world *w, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* apparmor.c: if AppArmor is why a user namespace could not be used (the file SYSCTL says 1), what to do about it for
   the program that the link EXE leads to. */
#define APPARMOR_SYSCTL "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
void apparmor_note(struct net_world *w, const char *sysctl, const char *exe);

/* router.c: the router's own links, addresses and the way out. */
bool router_set_up(struct net *n, struct net_world *w, struct err *e);
/* Removes the link NAME of this network namespace if it carries MARK. */
bool router_remove_link(const char *name, const char *mark, struct err *e);
/* names.c: what the pods' resolv.conf says, of the machine's TEXT; DNS (NULL: none) stands for its name servers. */
void resolv_text(struct buf *b, struct str text, const char *dns);

/* The files of one pod go. */
void names_forget(const struct net *n, struct str ns, struct str name);

#endif
