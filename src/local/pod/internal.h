/* What the files of the parent process share. Callbacks only record; pod_step() does everything: it looks at what is
   there and what time it is, does what is due, writes the state if something changed, and says when to look again. */
#ifndef LOCAL_POD_INTERNAL_H
#define LOCAL_POD_INTERNAL_H

#include "base/buf.h"
#include "local/pod/cgroup.h"
#include "local/pod/log.h"
#include "local/pod/pod.h"
#include "loop/loop.h"

struct pod;
struct container;

/* A program that runs inside a container beside it: an exec probe, a hook. */
struct helper {
	pid_t pid; /* 0: none runs */
	msec deadline;
	bool done, timed_out;
	int status; /* of waitpid(), once done */
};

enum probe_what { PROBE_STARTUP, PROBE_READINESS, PROBE_LIVENESS, PROBES };
struct probe {
	struct container *c;
	const struct pod_probe *spec;
	enum probe_what what;
	msec next; /* 0: not armed */
	bool busy;
	msec deadline;
	int64_t good, bad; /* in a row */
	struct helper helper;
	int fd; /* of http and tcp; -1 */
	struct loop_fd *watch;
	bool sent;
	struct buf reply;
};

enum { CONTAINER_OUT, CONTAINER_ERR, CONTAINER_FAULT, CONTAINER_FDS };
struct container_fd {
	struct container *c;
	int fd; /* -1: closed */
	struct loop_fd *watch;
};

struct container {
	struct pod *pod;
	const struct pod_container *spec;
	struct pod_container_state *state;
	pid_t pid;   /* its first process, also the number of its session and process group; 0: none */
	bool began;  /* the program runs: everything before it went well */
	bool reaped; /* the first process has ended; others may be left */
	int status;
	bool cannot; /* the program could not be started: FAULT says why */
	struct container_fd fds[CONTAINER_FDS];
	struct buf fault;
	struct pod_log log;
	int64_t oom_before;
	/* Restarts. Times are the loop's. */
	bool finished; /* will not be started again */
	msec retry_at, last_restart;
	int64_t backoff;
	/* Stopping. */
	bool stop, term_sent, killed;
	msec kill_at;
	struct helper pre_stop;
	msec began_at;
	struct probe probes[PROBES];
};

struct pod {
	struct pod_spec spec;
	struct pod_state state;
	struct arena arena;
	struct loop *loop;
	struct loop_timer *timer;
	const struct clock *clock;
	pid_t self;
	bool tied;   /* ends with the one who started it */
	bool orphan; /* the one who started it went before it could begin */
	struct cgroup_mounts cgroups;
	bool mount_namespace; /* had */
	bool own_proc;        /* /proc speaks of the same numbers as we */
	bool any_user;        /* containers can run as whoever they say */
	struct container *containers;
	bool initialized; /* the init containers have done their work */
	bool stopping;    /* somebody said so */
	bool draining;    /* nothing is started any more */
	bool shutdown;    /* somebody said that the node goes, and it was not yet decided what that means */
	msec stop_at;     /* when everything is killed */
	msec began;
	bool dirty;
	msec next; /* when to look again */
};

/* --- parent.c */
void pod_wake(struct pod *p);
void pod_changed(struct pod *p);
void pod_note(void *pod, const char *text);
static inline void pod_wake_at(struct pod *p, msec t)
{
	p->next = MIN(p->next, t);
}

/* --- set_up.c: namespaces and what the folder has. False, with *E: the pod cannot run. */
bool pod_set_up(struct pod *p, struct err *e);

/* --- user.c: can this process become somebody else? */
bool user_is_many(void);

/* --- child.c: each returns the process, or -1. The kinds of faults that come through the pipe are the first byte. */
#define FAULT_CREATE 'C'
#define FAULT_START 'S'
pid_t child_container(struct container *c, int out, int err, int fault);
pid_t child_helper(struct container *c, const pod_strs *command);

/* --- container.c: one container, from start to end. */
void container_start(struct container *c);
void container_set_ready(struct container *c, bool ready);
void container_signal(struct container *c, int signum);
/* Kills every process of it that can be found. */
void container_kill(struct container *c);
/* What is due: news of its end, deadlines. */
void container_step(struct container *c, msec now);
static inline bool container_runs(const struct container *c)
{
	return c->pid != 0;
}

/* --- helper.c */
bool helper_start(struct helper *h, struct container *c, const pod_strs *command, msec deadline);
void helper_step(struct helper *h, struct pod *p, msec now);
void helper_kill(struct helper *h);

/* --- reap.c: waits for whatever has ended. */
void pod_reap_children(struct pod *p);

/* --- restart.c: the policy. */
bool restart_wanted(enum pod_restart policy, const struct pod_container *c, int64_t exit_code);
/* When a container that ended at NOW is to be started again. */
msec restart_at(struct container *c, msec now);

/* --- run.c: which containers are due. */
void run_step(struct pod *p, msec now);
bool run_is_over(const struct pod *p);

/* --- stop.c */
void stop_begin(struct pod *p, int64_t grace);
/* After a look at all containers, before any of them is stopped: does the node's end come before their own? */
void stop_judge_shutdown(struct pod *p);
void stop_step(struct pod *p, msec now);
/* One container: its hook, SIGTERM, and SIGKILL at KILL_AT. */
void stop_container(struct container *c, msec kill_at);
void stop_container_step(struct container *c, msec now);

/* --- probe.c */
void probes_arm(struct container *c);
void probes_disarm(struct container *c);
void probes_step(struct container *c, msec now);

#endif
