/* A program in a container of a pod: what this process reads and writes is the program's. */
#ifndef CLIENT_EXEC_H
#define CLIENT_EXEC_H

#include "client/remote.h"

struct exec_call {
	struct str ns, pod;
	struct str container; /* empty: the only one */
	const char *const *command;
	size_t n_command;
	int in, out, err; /* descriptors, which stay the caller's; -1: none */
	bool tty;         /* IN and OUT are the caller's terminal */
};
/* From its start to its end. False: it was said why it could not be run, or not to its end; return cli->status. */
bool exec_run(struct remote *r, const struct exec_call *c, int *ret_status);

#endif
