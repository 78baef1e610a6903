/* The pod's parent process: its life from the first state to the last, and what its files share. Callbacks only record;
   pod_step() does everything: it looks at what is there and what time it is, does what is due, writes the state if
   something changed, and says when to look again. */
#ifndef LOCAL_POD_PARENT_H
#define LOCAL_POD_PARENT_H

#include "local/pod/cgroup.h"
#include "local/pod/container.h"
#include "local/pod/exec.h"

struct proc_pod {
	struct pod_spec spec;
	struct pod_state state;
	struct arena arena;
	struct loop *loop;
	struct loop_timer *timer;
	const struct clock *clock;
	const char *folder; /* where we are, as others call it */
	pid_t self;
	bool tied;   /* ends with the one who started it */
	bool orphan; /* the one who started it went before it could begin */
	struct cgroup_mounts cgroups;
	bool mount_namespace; /* had */
	bool own_proc;        /* /proc speaks of the same numbers as we */
	bool any_user;        /* containers can run as whoever they say */
	struct proc_container *containers;
	struct execs execs;
	bool initialized; /* the init containers have done their work */
	bool stopping;    /* somebody said so */
	bool draining;    /* nothing is started any more */
	bool shutdown;    /* somebody said that the node goes, and it was not yet decided what that means */
	msec stop_at;     /* when everything is killed */
	msec began;
	bool dirty;
	msec next; /* when to look again */
};

void pod_wake(struct proc_pod *p);
void pod_changed(struct proc_pod *p);
void pod_note(void *pod, const char *text);
static inline void pod_wake_at(struct proc_pod *p, msec t)
{
	p->next = MIN(p->next, t);
}

#endif
