/* Further programs in the pod's containers, which somebody outside asks for (pod_exec()). */
#ifndef LOCAL_POD_EXEC_H
#define LOCAL_POD_EXEC_H

#include "local/pod/pod.h"

#include <sys/un.h>

struct proc_pod;
struct proc_container;
struct exec;
struct loop_fd;

/* The way in is a socket that keeps messages apart, in the pod's folder. One connection is one program. The request is
   one message: '1' with a terminal, else '0', then the container's name and the arguments, each with its zero; the
   three descriptors come with it. Answers: FAULT_CREATE or FAULT_START with a text, then, at the end, EXEC_ENDED with
   the status of waitpid().
   'P' with a port in decimals, and without descriptors, asks for a connection to that port of the pod's loopback
   instead: the answer is one message with its descriptor, which may still be connecting. */
#define EXEC_SOCKET "exec.sock"
#define EXEC_ENDED 'X'
#define EXEC_CONNECT 'P'
enum { EXEC_REQUEST_MAX = 64 << 10, EXEC_ARGS_MAX = 1024, EXECS_MAX = 64 };

struct execs {
	int listener; /* -1: there is none */
	struct loop_fd *watch;
	struct exec *first;
	size_t n;
};

/* Without it the pod runs as well. */
void execs_open(struct proc_pod *p);
void execs_close(struct proc_pod *p);
void execs_step(struct proc_pod *p, msec now);
/* False: PID is none of them. */
bool execs_take_exit(struct proc_pod *p, pid_t pid, int status);
/* The container has ended, and so do they. */
void execs_kill(struct proc_container *c);

#endif
