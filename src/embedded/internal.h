/* What the files of this folder share. */
#ifndef EMBEDDED_INTERNAL_H
#define EMBEDDED_INTERNAL_H

#include "embedded/embedded.h"
#include "local/store/store_cluster.h"
#include "operator/events.h"
#include "operator/operator.h"

struct embedded {
	struct arena arena;
	struct loop *loop;
	struct loop_timer *timer; /* of the next step */
	struct loop_timer *quiet; /* nothing was done for a while; NULL: we end soon anyway */
	struct kinds *kinds;
	const char *folder;
	struct str node;
	char id[16];
	bool keep, stopping;
	bool woken; /* since the step began */
	struct net_world world;
	struct net *net;
	struct store *store;
	struct cluster *cluster;
	struct operator_loop *op;
	struct events *events;
	struct runner *runner;
	void (*changed)(void *cookie, struct str ns, struct str name, struct str uid);
	void *changed_cookie;
};

void embedded_pod_changed(void *cookie, struct str ns, struct str name, struct str uid);

/* define.c: the store knows the kinds as they are now. */
bool embedded_define_kinds(struct embedded *em, struct kinds *kinds, struct err *e);
/* send.c: what the operator has to tell of jobs; when to come back. */
msec embedded_send_events(struct embedded *em);

#endif
