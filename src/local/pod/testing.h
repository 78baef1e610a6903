/* For tests that run real pods: a folder, a spec with /bin/sh in it, and waiting by asking. The test's executable is
   the parent process too. */
#ifndef LOCAL_POD_TESTING_H
#define LOCAL_POD_TESTING_H

#include "local/pod/pod.h"

struct testing_pod {
	char top[64];     /* a folder that goes at the end */
	char folder[128]; /* the pod's, in it */
	struct arena arena;
	struct pod_spec spec;
	struct pod_state state;
	pid_t pid;
	bool running;
};

/* For main(): is this call the parent process? Then *RET is its exit status. Otherwise the tests' own process enters a
   user namespace, if it is an ordinary user's. */
bool testing_is_parent(int argc, char **argv, int *ret);
/* Skips the test, with the reason, if pods can have no namespaces here. */
void testing_pod_needs_namespaces(void);

void testing_pod_begin(struct testing_pod *t);
/* A container that runs SCRIPT with /bin/sh -e. */
struct pod_container *testing_pod_sh(struct testing_pod *t, const char *name, const char *script);
void testing_pod_mount(struct testing_pod *t, struct pod_container *c, const char *volume, const char *path);
void testing_pod_start(struct testing_pod *t);
/* Waits until the parent has ended, reads the state. */
void testing_pod_wait(struct testing_pod *t);
void testing_pod_run(struct testing_pod *t);
/* Reads the state until FN likes it. */
void testing_pod_until(struct testing_pod *t, bool (*fn)(const struct pod_state *s));
struct pod_container_state *testing_pod_container(struct testing_pod *t, const char *name);
/* The text of a log, without times; of the arena. */
struct str testing_pod_log(struct testing_pod *t, const char *name, int number);
struct str testing_pod_file(struct testing_pod *t, const char *name);
bool testing_pod_exists(struct testing_pod *t, const char *name);
/* Kills what is left, fails the test if a process, cgroup or mount is, and removes the folder. */
void testing_pod_end(struct testing_pod *t);

#endif
