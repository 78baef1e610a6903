/* The network of the pods on this machine: each has a network namespace and an address of its own, so that twenty of
   them can listen on one port; names of pods and services resolve through an /etc/hosts that is kept up to date.

   The shape: one network namespace is the cluster's router (a tiny process, the holder, keeps it alive); each pod's
   namespace has one link to it. Pod to pod goes through the router and never meets the machine's own network, its
   firewall or its tools. As root the router has one more link, to the machine, with masquerading behind it; as an
   ordinary user it lies in a user namespace and slirp4netns or pasta is its way out, where one is installed.
   Why not a bridge: a bridge has at most 1,023 ports, floods each question for an address to all of them, and every
   answer fills the kernel's one table of 1,024 neighbours. Here all neighbours are known beforehand.

   The order of calls: net_enter() first of all, while there is one thread only; then net_open(), and per pod
   net_pod_add(), net_hosts_update(), net_hosts_path(), …, net_pod_remove(); net_close() keeps everything for the
   next process, net_clean() removes it. All calls are synchronous and take some milliseconds at most. */
#ifndef LOCAL_NET_NET_H
#define LOCAL_NET_NET_H

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

enum net_kind {
	NET_ROOT, /* namespaces by our own right; the machine reaches the pods, and they it */
	NET_USER, /* inside a user namespace */
	NET_HOST, /* no namespaces: all pods share the machine's network */
};

struct net_world {
	enum net_kind kind;
	pid_t holder; /* the process that keeps the router; 0 with NET_HOST */
	bool adopted; /* it was there before. Pods that live although it was not have lost their network */
	/* One line for people: what cannot be had here, why, and what to do about it. Empty: all is ok. */
	char note[1024];
};

enum net_keep {
	NET_DIES_WITH_US, /* `dljob run`: whatever ends us ends the network */
	NET_OUTLIVES_US,  /* the next process with the same folder adopts it */
};

/* Decides what can be had and starts (or finds) the holder. FOLDER is the cluster's, and exists; ours is FOLDER/net.
   With NET_USER the calling process is inside the holder's user namespace afterwards, with all capabilities there and
   with the user's own number and name; its network and its mounts stay those of the machine, so sockets of the API may
   be opened before or after. AT_BEST (NET_ROOT: whatever can be had) leaves out the kinds before it. Must be called
   while the process has one thread. It fails only if the folder does. */
bool net_enter(struct net_world *ret, const char *folder, enum net_kind at_best, enum net_keep keep, struct err *e);
/* With NET_USER the programs that we start keep our capabilities, since the parents of pods need them. What a container
   runs must not: to be called in the child before the exec of a container's program. Does nothing otherwise. */
void net_rights_drop(void);

struct net;
/* The router is set up, or found. ID tells this cluster from all others on the machine, for ever: what we leave on
   the machine is named and marked by it. More notes may be added to W. */
bool net_open(struct net **ret, struct net_world *w, const char *folder, struct str id, struct err *e);
/* The network stays. NULL is ok. */
void net_close(struct net *n);
/* Removes everything of that cluster, whoever made it: the holder and with it the router and all links, the packet
   filter's table, the files. Only what carries the cluster's mark is touched. Pods that still run lose their network.
   Nothing there is ok. Not while a struct net of the same folder is open. */
bool net_clean(const char *folder, struct str id, struct err *e);

enum { NET_IP_TEXT = 16 };
struct net_pod {
	int ns; /* for setns(2) or /proc/self/fd/N; the caller closes it. -1 with NET_HOST */
	char ip[NET_IP_TEXT];
};
/* The pod's namespace lives as long as the descriptor or a process inside: the pod's own parent process keeps it over
   a restart of ours, and its end is the end of the network. Port numbers below 1,024 are for everyone inside. A pod
   that has an address already (UID decides) keeps it and gets a fresh namespace. */
bool net_pod_add(struct net *n, struct str ns, struct str name, struct str uid, struct net_pod *ret, struct err *e);
/* The address is free again. The link goes when nobody is in the namespace any more and its descriptor is closed, or
   when the address is given again, which is as late as can be. A pod that is not known is ok. */
bool net_pod_remove(struct net *n, struct str uid, struct err *e);
/* The address that the pod has, as text; NULL if none: for pods that were there before us. */
bool net_pod_ip(const struct net *n, struct str uid, char ip[NET_IP_TEXT]);
/* All pods with addresses, in no order: start with *AT = 0; false at the end. What the caller does not know any more
   it removes, after the loop. The strings live until net_pod_remove(). */
bool net_pod_next(const struct net *n, size_t *at, struct str *uid, struct str *ns, struct str *name);

/* With NET_HOST two pods that listen on one port cannot both run. Takes all PORTS for the pod or none; on false
 *E says which port is whose. With the other kinds always true. net_pod_remove() gives them back. */
bool net_ports_take(struct net *n, struct str uid, const uint16_t *ports, size_t count, struct err *e);

struct net_label {
	struct str key, value;
};

struct net_alias {
	struct str ip, name;
};

struct net_host_pod {
	struct str ns, name, ip; /* without an IP it is not listed */
	struct str hostname;     /* empty: the name */
	struct str subdomain;
	const struct net_label *labels;
	size_t n_labels;
	const struct net_alias *aliases; /* the pod's hostAliases: only it sees them */
	size_t n_aliases;
};

struct net_host_service {
	struct str ns, name;
	const struct net_label *selector; /* empty: selects nothing, as in Kubernetes */
	size_t n_selector;
};

/* Brings the hosts files up to date, in place, so that what is bind-mounted sees it. All living pods and all services
   of the cluster, the oldest first and in a stable order: then a change is nearly always a line at the end. Cheap
   enough for every change, better once for each round of the loop. */
bool net_hosts_update(struct net *n, const struct net_host_pod *pods, size_t n_pods,
                      const struct net_host_service *services, size_t n_services, struct err *e);
/* The file to bind over the pod's /etc/hosts, after a net_hosts_update() that listed the pod. Into A. *OWN: nobody else
   reads it, and the pod may add lines at its end. */
struct str net_hosts_path(const struct net *n, struct str ns, struct str name, bool *own, struct arena *a);
/* The same for /etc/resolv.conf: the machine's own name servers, as far as they can be reached from inside. */
struct str net_resolv_path(const struct net *n, struct arena *a);

#endif
