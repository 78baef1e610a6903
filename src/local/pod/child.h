/* Between fork and exec: the new process becomes what its container is. */
#ifndef LOCAL_POD_CHILD_H
#define LOCAL_POD_CHILD_H

#include "local/pod/parent.h"

/* Each returns the process, or -1. The kinds of faults that come through the pipe are the first byte. */
#define FAULT_CREATE 'C'
#define FAULT_START 'S'
pid_t child_container(struct proc_container *c, int out, int err, int fault);
pid_t child_helper(struct proc_container *c, const pod_strs *command);
/* With FDS as standard input, output and error. TTY: they are a terminal, which becomes that of the new session. */
pid_t child_exec(struct proc_container *c, const pod_strs *command, const int fds[static 3], bool tty, int fault);

#endif
