/* Stopping: hooks, SIGTERM, SIGKILL when the time is over; sidecars last, in reverse order. */
#ifndef LOCAL_POD_STOP_H
#define LOCAL_POD_STOP_H

#include "local/pod/parent.h"

void stop_begin(struct proc_pod *p, int64_t grace);
/* After a look at all containers, before any of them is stopped: does the node's end come before their own? */
void stop_judge_shutdown(struct proc_pod *p);
void stop_step(struct proc_pod *p, msec now);
/* One container: its hook, SIGTERM, and SIGKILL at KILL_AT. */
void stop_container(struct proc_container *c, msec kill_at);
void stop_container_step(struct proc_container *c, msec now);

#endif
