/* One container: its pipes, its start, its end and what is said of it. */
#ifndef LOCAL_POD_CONTAINER_H
#define LOCAL_POD_CONTAINER_H

#include "local/pod/log.h"
#include "local/pod/probe.h"

enum { CONTAINER_OUT, CONTAINER_ERR, CONTAINER_FAULT, CONTAINER_FDS };
struct container_fd {
	struct proc_container *c;
	int fd; /* -1: closed */
	struct loop_fd *watch;
};

struct proc_container {
	struct proc_pod *pod;
	const struct pod_container *spec;
	struct pod_container_state *state;
	pid_t pid;   /* its first process, also the number of its session and process group; 0: none */
	bool began;  /* the program runs: everything before it succeeded */
	bool reaped; /* the first process has ended; others may be left */
	int status;
	bool cannot; /* the program could not be started: FAULT says why */
	struct container_fd fds[CONTAINER_FDS];
	struct buf fault;
	struct pod_log log;
	bool log_lost; /* it was said of this run that lines are lost */
	int64_t oom_before;
	/* Restarts. Times are the loop's. */
	bool finished; /* will not be started again */
	msec retry_at, last_restart;
	int64_t backoff;
	/* Stopping. */
	bool stop, term_sent, killed;
	msec kill_at;
	struct pod_helper pre_stop;
	msec began_at;
	struct probe probes[PROBE_COUNT];
};

void container_start(struct proc_container *c);
void container_set_ready(struct proc_container *c, bool ready);
void container_signal(struct proc_container *c, int signum);
/* Kills every process of it that can be found. */
void container_kill(struct proc_container *c);
/* What is due: news of its end, deadlines. */
void container_step(struct proc_container *c, msec now);
static inline bool container_runs(const struct proc_container *c)
{
	return c->pid != 0;
}

#endif
