/*
 * The kubelet of this machine: what the store has as pods runs as processes (local/pod), with addresses and names
 * (local/net); what becomes of them is written back as their status. It makes the one node, admits jobs whole (fit.h),
 * gives out GPUs, and says in events what people would ask about.
 *
 *   FOLDER/pods/UID/    the pod's folder, as local/pod/pod.h has it; kept until the pod's object is gone
 *   FOLDER/logs/JOB/NAMESPACE/POD/N/logs/
 *                       then the logs of a job's pod (unless tied): JOB is the job's UID, N how many pods of that name
 *                       ended before; the last two are kept, until the job's object is gone
 *
 * Nothing here is remembered that is not in the store or in the folders: killed at any instruction and started again,
 * it goes on with the processes of before. Callbacks only record; everything happens in runner_step().
 */
#ifndef LOCAL_RUNNER_RUNNER_H
#define LOCAL_RUNNER_RUNNER_H

#include "base/buf.h"
#include "kind/kind.h"
#include "local/net/net.h"
#include "local/runner/fit.h"
#include "local/store/store.h"
#include "loop/loop.h"

struct runner;

/* NAME=DIR, as the user gave it. */
struct runner_tree {
	struct str name;
	const char *dir;
};

struct runner_config {
	struct loop *loop;
	struct store *store;
	struct kinds *kinds;       /* to know what a pod's job wants as a whole */
	const struct clock *clock; /* the wall's */
	const char *folder;        /* of the cluster; exists */
	struct str node;           /* name of the node object */
	struct net *net;
	const struct net_world *world;    /* of net_enter() */
	const char *exe;                  /* dljob; NULL: /proc/self/exe */
	bool tied;                        /* pods die with this process (`dljob run`) */
	bool keep_folders;                /* of pods that are gone, too */
	struct amount machine;            /* what there is: machine_find() */
	bool without_gpus;                /* pods that ask for GPUs run without, and are told */
	const int *gpus;                  /* their numbers, for CUDA_VISIBLE_DEVICES; machine.gpus of them */
	const struct runner_tree *rootfs; /* image → tree */
	size_t n_rootfs;
	const struct runner_tree *volumes; /* volume or claim → directory */
	size_t n_volumes;
	const char *const *env; /* NAME=value for every container that does not say otherwise; NULL-terminated */
	struct str cwd;         /* of containers that name none */
	int64_t backoff;        /* as pod_spec has it; 0: Kubernetes' 10 s */
	/* runner_step() has something to do. May come inside any call of the store; only record it. */
	void (*wake)(void *cookie);
	/* A pod's state has changed (its folder is FOLDER/pods/UID): for those who show it. May be NULL. */
	void (*changed)(void *cookie, struct str ns, struct str name, struct str uid);
	void *cookie;
};

/* Finds what runs already, makes the node. NULL, with *E: the folder or the store cannot be used. */
struct runner *runner_new(const struct runner_config *c, struct err *e);
/* Does what can be done now, for some 50 ms at most. Returns when to call it again though nothing happens, by the
   config's clock (it may be now: there is more to do); NEVER: not at all. */
msec runner_step(struct runner *r);
/* Other kinds from now on; the old ones must be there still, and are not used any more afterwards. */
void runner_set_kinds(struct runner *r, struct kinds *kinds);
/* Is JOB too large for MACHINE, whatever else runs? *WHY, in A, says of what it wants more. */
bool runner_never_fits(const struct amount *machine, const struct job *job, bool without_gpus, struct arena *a,
                       struct str *why);
/* How many GPUs a pod of that template asks for. */
int64_t runner_gpus_of(yyjson_val *template);
/* How many pods have processes. */
size_t runner_living(const struct runner *r);
/* All pods are stopped, with at most GRACE milliseconds each (-1: their own; 0: at once), and none is started any more.
   To be called again with less. runner_step() goes on until runner_living() is 0. Objects stay. */
void runner_stop(struct runner *r, int64_t grace);
/* The folder with the logs (as pod_tail wants it) of the last pod of that name that is gone, appended to RET; of the
   newest job, if several had one. BEFORE: not of the last one, but of one so many before it. False: there are none. */
bool runner_kept_logs(const char *folder, struct str ns, struct str name, int before, struct buf *ret);
/* Pods that live are left alone (unless tied). */
void runner_free(struct runner *r);

#endif
