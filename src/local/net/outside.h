/* The way out of a user namespace: a program that carries the connections of a network namespace to the machine's
   network as an ordinary user may: slirp4netns, or pasta of passt. */
#ifndef LOCAL_NET_OUTSIDE_H
#define LOCAL_NET_OUTSIDE_H

#include "local/net/program.h"

#include <sys/types.h>

enum { OUTSIDE_ARGS = 16 };

struct outside {
	char path[PROGRAM_PATH]; /* empty: neither is installed */
	bool pasta;
	const char *dns; /* the name server that it offers inside; NULL: it carries the machine's own */
};

struct outside outside_find(void);
/* The arguments for the network namespace of the process PID, whose text must be given too. Neither lets the inside
   reach what listens on the machine's loopback. */
void outside_argv(const char *argv[OUTSIDE_ARGS], const struct outside *o, const char *pid);

#endif
