/* Probes: when they are due, and what their results mean. */
#ifndef LOCAL_POD_PROBE_H
#define LOCAL_POD_PROBE_H

#include "base/buf.h"
#include "local/pod/helper.h"
#include "loop/loop.h"

enum probe_what { PROBE_STARTUP, PROBE_READINESS, PROBE_LIVENESS, PROBE_COUNT };
struct probe {
	struct proc_container *c;
	const struct pod_probe *spec;
	enum probe_what what;
	msec next; /* 0: not armed */
	bool busy;
	msec deadline;
	int64_t good, bad; /* in a row */
	struct pod_helper helper;
	int fd; /* of http and tcp; -1 */
	struct loop_fd *watch;
	bool sent;
	struct buf reply;
};

void probes_arm(struct proc_container *c);
void probes_disarm(struct proc_container *c);
void probes_step(struct proc_container *c, msec now);

#endif
