/* dljob local: the cluster on this machine, as a process in the background. */
#ifndef RUN_LOCAL_H
#define RUN_LOCAL_H

#include "run/given.h"

#include <signal.h>

struct local_options {
	struct opt_list volumes, rootfs;
	bool foreground, host_network, without_gpus, now, yes;
	int32_t port; /* 0: any */
	const char *timeout;
};

/* Who runs the cluster. */
struct local_holder {
	int lock;   /* open and ours; -1: somebody else's, or nobody's */
	pid_t pid;  /* of whoever has it; 0: nobody */
	int port;   /* where it serves; 0: it does not yet, or no more */
	bool clean; /* nobody has it, and nothing of it runs */
};

struct local {
	struct cli *cli;
	const struct local_options *options;
	struct given given;
	const char *folder;
	struct local_holder holder; /* up, and down if nobody has it: it is ours */
};

enum local_look {
	LOOK_ONLY,
	LOOK_TAKE,     /* if nobody has it, it is ours from now on, and counts as not clean */
	LOOK_TAKE_NEW, /* the same; a lock that is not there is made */
};
/* False, with *E, if the folder cannot be looked at; one that is not there, or has no lock, is ok: `clean`. */
bool local_look(const char *folder, enum local_look how, struct local_holder *ret, struct err *e);
/* The lock is given back. */
void local_holder_release(struct local_holder *h);
/* Writes our number, and where we serve if we do, into the lock, which is ours. */
bool local_hold(const struct local_holder *h, int port, struct err *e);
/* Nothing of the cluster runs any more. */
bool local_ended(const struct local_holder *h, struct err *e);

/* What ends it without a grace period. No second SIGTERM: two of the same signal that wait at once are one. */
enum { SIGNAL_NOW = SIGUSR1 };
/* local_serve.c: the process itself, until a signal ends it. READY is called once with NULL, or with why it cannot
   serve. With DOWN nothing is served: what is left of an earlier one is ended, as `options` says. */
enum exit_code local_serve(struct local *l, struct kinds *kinds, bool down,
                           void (*ready)(void *cookie, const char *problem), void *cookie);

/* local_kinds.c: remembers in FOLDER which folders of kinds the cluster is started with. */
bool local_kinds_note(struct local *l, struct err *e);
/* One of --kinds-dir that the cluster which runs does not have; NULL: it has all. */
const char *local_kinds_missing(struct local *l);
/* Rereads them when they change, for EM and API, until they are closed: unwatch before that, free after it. */
struct api;
struct local_kinds;
struct local_kinds *local_kinds_watch(struct local *l, struct loop *loop, struct embedded *em, struct api *api);
void local_kinds_unwatch(struct local_kinds *k);
void local_kinds_free(struct local_kinds *k);

/* Standard output and error go to FOLDER/log from here on. */
void local_log_open(const char *folder);

enum exit_code local_up(struct local *l);
enum exit_code local_down(struct local *l);
enum exit_code local_status(struct local *l);
enum exit_code local_kubeconfig(struct local *l);
enum exit_code local_reset(struct local *l);

#endif
