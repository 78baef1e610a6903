/* Control groups of a pod, version 1, 2 or both: one group for each container in each hierarchy that can be written.
   They limit, tell of kills for lack of memory, and find every process of a container. */
#ifndef LOCAL_POD_CGROUP_H
#define LOCAL_POD_CGROUP_H

#include "base/err.h"
#include "base/str.h"
#include "local/pod/pod.h"

enum { CGROUP_MOUNTS = 8, CGROUP_PATH = 512 };

/* Where the hierarchies are mounted that matter to us. */
struct cgroup_mounts {
	struct cgroup_mount {
		char path[CGROUP_PATH];
		bool v2, memory, cpu;
	} v[CGROUP_MOUNTS];
	size_t n;
};
/* MOUNTINFO is the text of /proc/self/mountinfo. */
void cgroup_mounts_parse(struct cgroup_mounts *ret, struct str mountinfo);
void cgroup_mounts_find(struct cgroup_mounts *ret);

/* Makes BASE/NAME in each hierarchy and sets the limits. What could not be had is told to NOTE (never NULL). */
typedef void (*cgroup_note_fn)(void *cookie, const char *text);
void cgroup_make(const struct cgroup_mounts *m, struct str base, const struct pod_container *c, cgroup_note_fn note,
                 void *cookie);
/* The calling process moves into it. True if it is in one. */
bool cgroup_join(const struct cgroup_mounts *m, struct str base, struct str name);
/* How many processes of it were killed for lack of memory. */
int64_t cgroup_oom_kills(const struct cgroup_mounts *m, struct str base, struct str name);
/* SIGKILL to everything in it. True if there was something. */
bool cgroup_kill(const struct cgroup_mounts *m, struct str base, struct str name);
/* Kills and removes BASE and the groups below it. False: something is still in there (zombies leave it when they are
   waited for); call again. */
bool cgroup_remove(const struct cgroup_mounts *m, struct str base);

#endif
