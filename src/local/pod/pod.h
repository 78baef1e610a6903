/*
 * A pod as processes. Whoever runs pods writes a folder and starts `dljob pod FOLDER`; that process is the pod's
 * parent: it makes the namespaces, runs the init containers in order and then the others, keeps their logs, probes
 * them, restarts them by the pod's policy, stops them, and writes what happened into the folder. It needs nobody
 * for that: the one who started it may be killed and come back, and finds everything in the folder.
 *
 *   FOLDER/spec.json    struct pod_spec, written by pod_prepare() before the start
 *   FOLDER/state.json   struct pod_state, replaced as a whole (rename) at each change
 *   FOLDER/logs/NAME/N.log     what a container wrote, N its number of restarts; lines as the kubelet writes them:
 *                       2026-01-02T03:04:05.678901234Z stdout F text
 *                       N.log.1 is the part before it (rotated), N.log.2 older still
 *   FOLDER/hosts        if it is there, bind-mounted as /etc/hosts; may be rewritten in place at any time. Read-only if
 *                       it is a link
 *   FOLDER/resolv.conf  the same for /etc/resolv.conf
 *   FOLDER/exec.sock    takes further programs for its containers (pod_exec())
 *   FOLDER/volumes/NAME/   emptyDir, configMap, secret and downwardAPI volumes
 *   FOLDER/grace        seconds, in place of the spec's grace period; read at each SIGTERM (pod_stop() writes it);
 *                       behind them `shutdown` if it is the machine that ends (pod_shut_down())
 *
 * SIGTERM to the parent: stop all (SIGTERM to each container, SIGKILL after `grace`), write the last state, exit 0.
 * A further SIGTERM can only shorten the time. SIGKILL of the parent ends everything: it is init of the pod's PID
 * namespace, or (where there is none) its containers die with it (PR_SET_PDEATHSIG) and pod_reap() kills the rest.
 */
#ifndef LOCAL_POD_POD_H
#define LOCAL_POD_POD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"

#include <sys/types.h>
#include <yyjson.h>

struct pod_env {
	struct str name, value;
};
typedef VEC(struct str) pod_strs;
typedef VEC(struct pod_env) pod_envs;

enum pod_probe_kind { POD_PROBE_NONE, POD_PROBE_EXEC, POD_PROBE_HTTP, POD_PROBE_TCP };
struct pod_probe {
	enum pod_probe_kind kind;
	pod_strs command;
	struct str host, path; /* host empty: the pod's own address */
	int64_t port;
	pod_envs headers;
	int64_t initial_delay, period, timeout; /* milliseconds */
	int64_t success, failure;               /* thresholds */
	int64_t grace;                          /* milliseconds; -1: the pod's */
};

enum { POD_MOUNTS_MAX = 128 }; /* of a container */
struct pod_mount {
	struct str volume, path, sub_path;
	bool read_only;
};

struct pod_container {
	struct str name, image;
	bool init;    /* runs to its end before the next one is started … */
	bool sidecar; /* … but for this one, which goes on beside the others and is stopped last */
	pod_strs command;
	pod_envs env; /* all of it: nothing is inherited */
	struct str cwd;
	struct str rootfs; /* a directory tree to run in; empty: the machine's own */
	VEC(struct pod_mount) mounts;
	struct pod_probe startup, readiness, liveness;
	pod_strs pre_stop;
	struct str termination_path;
	bool termination_logs; /* FallbackToLogsOnError */
	int64_t cpu_milli;     /* limit in thousandths of a core; 0: none */
	int64_t cpu_request;   /* weight; 0: none */
	int64_t memory;        /* limit in bytes; 0: none */
	int64_t uid, gid;      /* -1: as the parent */
};

enum pod_volume_kind { POD_VOLUME_OWN, POD_VOLUME_MEMORY, POD_VOLUME_HOST };
/* hostPath.type */
enum pod_host_kind {
	POD_HOST_ANY, /* must be there */
	POD_HOST_DIR,
	POD_HOST_DIR_CREATE,
	POD_HOST_FILE,
	POD_HOST_FILE_CREATE,
};
/* Only on its way into the folder: not in spec.json. */
struct pod_file {
	struct str path, data;
	unsigned mode;
};
struct pod_volume {
	struct str name;
	enum pod_volume_kind kind;
	struct str path; /* HOST: where */
	enum pod_host_kind host;
	int64_t size;   /* MEMORY: bytes; 0: no limit of its own */
	bool read_only; /* configMap, secret, downwardAPI */
	VEC(struct pod_file) files;
};

enum pod_restart { POD_RESTART_ALWAYS, POD_RESTART_ON_FAILURE, POD_RESTART_NEVER };
struct pod_spec {
	struct str name, ns, uid;
	struct str hostname;                  /* empty: the machine's */
	struct str pod_ip;                    /* for probes; empty: 127.0.0.1 */
	VEC(struct pod_container) containers; /* the init ones first, in their order */
	VEC(struct pod_volume) volumes;
	enum pod_restart restart;
	int64_t grace;    /* milliseconds */
	int64_t deadline; /* activeDeadlineSeconds, in milliseconds; 0: none */
	/* How it runs here. */
	struct str network;                                 /* a network namespace to join, as a path; empty: none */
	bool pid_namespace, mount_namespace, ipc_namespace; /* wanted; UTS comes with hostname */
	bool strict;       /* what is wanted and cannot be had ends the pod; else it is noted in the state */
	struct str cgroup; /* of its own, below the root of each hierarchy ("dljob/UID"); empty: none */
	int64_t log_bytes; /* of one file; 0: 10 MiB */
	int64_t log_files; /* 0: 5 */
	int64_t backoff;   /* first delay between restarts in milliseconds, doubled up to 30 times; 0: 10 s */
	pod_strs notes;    /* what is wanted in vain, for people: the first ones of the state's */
};

enum pod_run { POD_RUN_WAITING, POD_RUN_RUNNING, POD_RUN_TERMINATED };
/* One run of a container, as ContainerState has it. */
struct pod_container_run {
	enum pod_run run;
	struct str reason, message;
	int64_t exit_code, signal;
	msec started, finished;
};
struct pod_container_state {
	struct str name, image;
	bool init, sidecar;
	int64_t restarts;
	bool ready, started;                /* as in ContainerStatus */
	msec ready_since;                   /* or not ready since; 0: it never changed */
	struct pod_container_run now, last; /* last.run is WAITING if there was none before */
	int64_t pid, pid_start;             /* while it runs: as the parent sees it, with the field of /proc/PID/stat */
	int64_t log_dropped;                /* lines that could not be written */
	struct str log_problem;             /* … of the last run that had any, for people */
	struct str problem;                 /* what a probe said last, if it was bad */
	int64_t problems;                   /* how often */
};

enum pod_life { POD_ALIVE, POD_STOPPING, POD_ENDED };
struct pod_state {
	enum pod_life life;
	int64_t pid, pid_start; /* of the parent, as the one who started it sees it */
	struct str boot;        /* of the machine: a pid means nothing in another one */
	bool own_pids;          /* it has a PID namespace: killing the parent kills all */
	struct str cgroup;
	msec started, ended;
	struct str reason, message; /* of the pod, as DeadlineExceeded */
	bool failed;                /* whatever the containers say */
	VEC(struct pod_container_state) containers;
	pod_strs notes; /* what was wanted and could not be had, for people */
};

/* --- Made from a Kubernetes pod ------------------------------------------------------------------------------ */

/* A tree that stands for an image. */
struct pod_image {
	struct str dir;
	pod_strs entrypoint, cmd;
	pod_envs env;
	struct str cwd;
};
/* DIR is a plain tree, or holds `rootfs` and perhaps OCI's config.json: of an image (Entrypoint, Cmd, Env, WorkingDir)
   or of a bundle (process). RET lives in A. */
bool pod_image_read(struct pod_image *ret, const char *dir, struct arena *a, struct err *e);

struct pod_from_options {
	/* The object (JSON tree of a ConfigMap or Secret), which must live as long as the spec; NULL: there is none. */
	yyjson_val *(*config_map)(void *cookie, struct str name);
	yyjson_val *(*secret)(void *cookie, struct str name);
	/* The directory that was given for a volume of that name; NULL: none. */
	const char *(*volume)(void *cookie, struct str name);
	/* Is there a tree for that image? */
	bool (*image)(void *cookie, struct str image, struct pod_image *ret);
	void *cookie; /* each of them may be NULL: there is nothing */
	const char *const
		*env; /* "NAME=value" that every container has unless it says otherwise: PATH, HOME …; may be NULL */
	struct str cwd;  /* where neither the container nor its image says; empty: / */
	struct str path; /* PATH instead of that of ENV, for containers without a tree of their own; empty: ENV's */
	struct str node, host_ip, pod_ip;
	int64_t cpu_milli, memory; /* of the machine: for resourceFieldRef without a limit */
	bool as_root;              /* who starts pods is root, outside of his user namespace, too */
	bool any_user;             /* … and can become somebody else */
};
/* Sets `as_root` and `any_user`, of the calling process. */
void pod_from_as(struct pod_from_options *o);
/* Why a pod cannot run, as a container's waiting state has it. */
struct pod_refusal {
	const char *reason;   /* CreateContainerConfigError, InvalidImageName …; NULL: the pod can run */
	struct str container; /* empty: the whole pod */
	bool retry;           /* something is missing that may come */
};
/* POD is the whole object. RET and everything in it lives in A, but for texts of the options. Namespaces, cgroup and
   network are left for the caller to set. False, with *WHY and *E that names the field and the remedy. */
bool pod_from(struct pod_spec *ret, yyjson_val *pod, const struct pod_from_options *o, struct arena *a,
              struct pod_refusal *why, struct err *e);

/* Kubernetes' $(VAR): $$ is $, what LOOKUP does not know (returns false) is kept. */
typedef bool (*pod_lookup_fn)(void *cookie, struct str name, struct str *ret);
struct str pod_expand(struct arena *a, struct str text, pod_lookup_fn lookup, void *cookie);

/* --- The folder ---------------------------------------------------------------------------------------------- */

/* What the next state.json is called until it is whole. It is there before, with its room on the disk. */
#define POD_NEXT_STATE "state.json.new"
/* The same for the last one, whose room nothing else takes: on a full disk another may have what was kept for the next
   by the time that the pod ends. */
#define POD_LAST_STATE "state.json.last"

/* Makes FOLDER (its parent must be there) with everything that the parent process needs. */
bool pod_prepare(const char *folder, const struct pod_spec *spec, struct err *e);
bool pod_spec_read(struct pod_spec *ret, const char *folder, struct arena *a, struct err *e);
void pod_spec_write(const struct pod_spec *s, struct buf *out);
/* FILE_MISSING: the parent has not written one yet. */
bool pod_state_read(struct pod_state *ret, bool *ret_missing, const char *folder, struct arena *a, struct err *e);
bool pod_state_parse(struct pod_state *ret, struct str text, struct arena *a, struct err *e);
void pod_state_write(const struct pod_state *s, struct buf *out);

/* The `status` of a Kubernetes pod. S NULL: not started yet. */
struct pod_status_options {
	struct str pod_ip, host_ip;
	msec scheduled; /* PodScheduled since; 0: the start */
};
yyjson_mut_val *pod_status(yyjson_mut_doc *doc, const struct pod_spec *spec, const struct pod_state *s,
                           const struct pod_status_options *o);

/* --- The process --------------------------------------------------------------------------------------------- */

struct pod_start_options {
	const char *exe; /* NULL: /proc/self/exe */
	bool tied;       /* the pod is killed when the thread that started it ends */
};
/* Starts `EXE pod FOLDER` (with `tied` behind it) in a session of its own, and in a PID namespace if the spec wants
 *one. RET is a child of the caller, who waits for it. O may be NULL. What is wrong with the parent itself stands in
 *FOLDER/parent.log. */
bool pod_start(const char *folder, const struct pod_start_options *o, pid_t *ret, struct err *e);
/* Makes the calling process, which has one thread, root in a user namespace of its own: with it an ordinary user can
   start pods that have namespaces. */
bool pod_user_namespace(struct err *e);
/* The parent process: the whole of `dljob pod FOLDER`. Returns its exit status. */
int pod_main(const char *folder, bool tied);

enum pod_found {
	POD_FOUND_NOTHING, /* no state: never started, or died before it wrote one */
	POD_FOUND_ALIVE,
	POD_FOUND_ENDED, /* as it should */
	POD_FOUND_DIED,  /* somebody killed the parent: call pod_reap() */
};
/* Looks at FOLDER. FAILED with *E as false: the state cannot be read. *RET_PID is the parent's if it lives. */
bool pod_find(const char *folder, enum pod_found *ret, pid_t *ret_pid, struct err *e);
/* A parent that lives and has perhaps not written a state yet, by its arguments; 0: there is none. */
pid_t pod_parent(const char *folder);
/* SIGTERM to the parent, with GRACE milliseconds (-1: the spec's). Well if there is none any more. */
bool pod_stop(const char *folder, int64_t grace, struct err *e);
/* The same, because the node goes and not for the pod's sake: unless its containers have ended by themselves by then,
   it has failed, with the reason NodeShutdown, whatever they make of SIGTERM. */
bool pod_shut_down(const char *folder, int64_t grace, struct err *e);
/* SIGKILL to the first process of each container that runs, as if the machine had taken it: the pod's policy decides
   what follows. For tries. False, with *E, if none runs. */
bool pod_kill(const char *folder, struct err *e);
/* Kills what is left of a pod whose parent died (or lives: it is killed first), removes its cgroups, and writes the
   last state: what ran has ended with 137, and with the reason NodeShutdown if that was before the machine's own start.
   Well to call again. */
bool pod_reap(const char *folder, const struct clock *clock, struct err *e);

/* --- A further program in a container ------------------------------------------------------------------------ */

/* It runs beside the container's own, with the same environment, user, folder, mounts and limits. */
struct pod_exec {
	struct str container;
	pod_strs command;
	bool tty;   /* FDS are the same terminal three times: it becomes the program's own */
	int fds[3]; /* standard input, output, error; they stay the caller's */
};
/* Asks the pod's parent. The answer is a socket (*RET, not blocking) for pod_exec_look(): closing it ends the program
   and its session, and the end of the parent ends both. False, with *E: the pod does not run. */
bool pod_exec(const char *folder, const struct pod_exec *x, int *ret, struct err *e);
enum pod_exec_news {
	POD_EXEC_NOTHING,
	POD_EXEC_FAULT, /* it could not be started: TEXT says why; POD_EXEC_ENDED follows */
	POD_EXEC_ENDED, /* STATUS is that of waitpid() */
	POD_EXEC_GONE,  /* the pod ended before it */
};
struct pod_exec_answer {
	int status;
	char text[512];
};
enum pod_exec_news pod_exec_look(int fd, struct pod_exec_answer *ret);
/* Asks for a connection to PORT of the pod's loopback. *RET: a socket for pod_connect_look(). */
bool pod_connect(const char *folder, int port, int *ret, struct err *e);
/* The connection, which may still be connecting, in *RET (-1: there is none). False: not yet. */
bool pod_connect_look(int fd, int *ret);

#endif
