/* A small cluster for tests of the runner: a store, a network, real pods. Each scenario runs in a process of its own,
   in a network namespace that stands for the machine. The test's executable is the pods' parent process too. */
#ifndef LOCAL_RUNNER_TESTING_H
#define LOCAL_RUNNER_TESTING_H

#include "base/json.h"
#include "local/pod/pod.h"
#include "local/runner/runner.h"

struct lab {
	char folder[64];
	struct loop *loop;
	struct loop_timer *timer, *limit, *poll;
	struct store *store;
	struct kinds *kinds;
	struct net_world world;
	struct net *net;
	struct runner_config config;
	struct runner *runner;
	struct arena arena;
	bool (*until)(struct lab *l);
	bool reached, late;
	int changes; /* how often the runner said so */
};

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond))                                                                                           \
			lab_fail(__FILE__, __LINE__, #cond);                                                           \
	} while (0)
_Noreturn void lab_fail(const char *file, int line, const char *what);

typedef void (*lab_fn)(struct lab *l);
/* For main(): is this call no test but a pod's parent process, or a container's program? Then *RET is its exit status.
   EXE pod FOLDER; EXE listen PORT (says "hello" to one); EXE connect HOST:PORT (until somebody says something). */
bool lab_is_program(int argc, char **argv, int *ret);
/* Runs FN in a process of its own, with what there is of KIND; skips the test where that cannot be had. */
void lab_run(lab_fn fn, enum net_kind kind);

/* The runner with `config`, as it is now. */
void lab_start(struct lab *l);
/* As if the process had ended: pods that live stay. */
void lab_leave(struct lab *l);
/* The loop, until FN is true; 30 s at most. */
void lab_until(struct lab *l, bool (*fn)(struct lab *l));

/* Makes an object in the namespace `default`; returns the code. */
int lab_create(struct lab *l, const char *plural, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* A pod with one container `main` that runs SCRIPT with /bin/sh; EXTRA (may be empty) are fields of the container,
   each with a comma before it, SPEC the same for the pod's spec. */
void lab_pod(struct lab *l, const char *name, const char *script, const char *extra, const char *spec);
int lab_delete(struct lab *l, const char *plural, const char *name, const char *options);
int lab_patch(struct lab *l, const char *plural, const char *name, bool status, const char *body);
/* The text at "status.containerStatuses.0.state" of a pod (strings as they are, else JSON); empty: it is not there. */
struct str lab_get(struct lab *l, const char *plural, const char *name, const char *path);
#define lab_said(l, name, path, text) str_eqc(lab_get((l), "pods", (name), (path)), (text))
/* The path of a file in the lab's folder; containers see it too. */
const char *lab_path(struct lab *l, const char *name);
/* As a script that goes on when somebody has made that file: sh has nothing but asking again. */
const char *lab_wait_for(struct lab *l, const char *name);
void lab_touch(struct lab *l, const char *name);
bool lab_exists(struct lab *l, const char *name);
/* The pod's folder. */
const char *lab_pod_folder(struct lab *l, const char *pod);
/* printf into the lab's arena. */
const char *lab_fmt(struct lab *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Is there an event of that reason on the pod? */
bool lab_event(struct lab *l, const char *pod, const char *reason);
/* How many there are with TEXT in their message. */
int lab_events(struct lab *l, const char *pod, const char *reason, const char *text);
/* What the container `main` of a pod has written. */
struct str lab_log(struct lab *l, const char *pod);

#endif
