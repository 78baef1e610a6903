/* What stands in the hosts files of the pods. Pure. */
#ifndef LOCAL_NET_HOSTS_H
#define LOCAL_NET_HOSTS_H

#include "base/buf.h"
#include "base/map.h"
#include "local/net/net.h"

/* Larger files are cut at the last whole line: no resolver reads more in useful time. */
enum { HOSTS_MAX = 16 << 20, HOSTS_MACHINE_MAX = 256 << 10 };

/* A pod and the services that select it. */
struct hosts_pod {
	const struct net_host_pod *pod;
	struct str hostname;
	VEC(const struct net_host_service *) services;
	/* Its hostname does not lead to it in the file that the namespace shares, or it has aliases: it needs a file of
	   its own. */
	bool alone;
	bool listed; /* the shared file has its hostname */
};

struct hosts {
	struct hosts_pod *pods; /* those with an address */
	size_t n;
};

/* Who has which names. Everything is in A or in what was given. A pod or service whose names are no DNS names is left
   out: nothing in these files is anybody's to forge. */
struct hosts *hosts_resolve(struct arena *a, const struct net_host_pod *pods, size_t n_pods,
                            const struct net_host_service *services, size_t n_services);

/* What /etc/hosts of the machine, TEXT, gives to the pods. Its loopback is not theirs: other names that it has there
   lead to MACHINE (an address; empty: they are left out). */
void hosts_machine(struct buf *b, struct str text, struct str machine);

/* The file for all pods of a namespace. COMMON is what hosts_machine() wrote. */
void hosts_shared(struct buf *b, const struct hosts *h, struct str ns, struct str common);
/* The file for one pod that is alone: its own names, then SHARED. */
void hosts_alone(struct buf *b, const struct hosts_pod *p, struct str shared);

#endif
