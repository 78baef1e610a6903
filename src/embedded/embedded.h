/* A whole cluster in this process: the store, the operator, and the runner that makes pods processes. What the commands
   add is who may speak to it: `dljob run` alone, or with the API (local/api) everybody who has the token. */
#ifndef EMBEDDED_EMBEDDED_H
#define EMBEDDED_EMBEDDED_H

#include "kind/kind.h"
#include "local/runner/machine.h"
#include "local/runner/runner.h"

struct embedded;

struct embedded_config {
	struct loop *loop;
	struct kinds *kinds;   /* served, all of them; must live as long */
	const char *folder;    /* exists, and is ours */
	bool keep;             /* objects, pods and their network outlive this process; otherwise they end with it */
	bool keep_folders;     /* of pods, after they are gone */
	enum net_kind network; /* at best */
	const struct machine *machine; /* what pods may use */
	bool without_gpus;             /* as runner_config has it */
	const struct runner_tree *rootfs, *volumes;
	size_t n_rootfs, n_volumes;
	const char *const *env;
	struct str cwd;
	int64_t backoff; /* of containers' restarts, in milliseconds; 0: Kubernetes' */
	/* Inside any call of the store; only record it. May be NULL. */
	void (*changed)(void *cookie, struct str ns, struct str name, struct str uid); /* a pod's folder */
	void *cookie;
};

/* While the process has one thread. NULL, with *E: ERR_INVALID if the database is damaged, and else what the
   machine refuses. */
struct embedded *embedded_open(const struct embedded_config *c, struct err *e);
/* Serves these kinds from now on, all of them, which must live as long; jobs go on as after a restart of the operator.
   The old ones are not used any more. False, with *E: the old ones are served on. */
bool embedded_set_kinds(struct embedded *em, struct kinds *kinds, struct err *e);
struct store *embedded_store(struct embedded *em);
/* What the network is, and what could not be had: a line for people. */
const struct net_world *embedded_world(const struct embedded *em);
/* The node's name. */
struct str embedded_node(const struct embedded *em);
/* Where a pod's files are. */
void embedded_pod_folder(const struct embedded *em, struct str uid, struct buf *ret);
/* As runner_kept_logs(). */
bool embedded_kept_logs(const struct embedded *em, struct str ns, struct str name, int before, struct buf *ret);
size_t embedded_living(const struct embedded *em);
/* Something has changed that the loop does not see. */
void embedded_wake(struct embedded *em);
/* All pods are stopped (runner.h), and the operator starts nothing any more. */
void embedded_stop(struct embedded *em, int64_t grace);
/* With `keep` pods, their network and all objects are left for the next one, and pods that live go on meanwhile; unless
   WHOLLY: then nothing is left of pods and network. Without `keep` nothing is left in any case. The folder stays. */
void embedded_close(struct embedded *em, bool wholly);
/* Nothing of the cluster of that folder is left: its pods are killed, and their network goes. For one that cannot be
   opened, or that nobody will open again; not while it is open. The folder stays as it is. */
bool embedded_clear(const char *folder, struct err *e);

#endif
