/* The tree of dljob get: job → roles → replicas, why each is where it is, and the last events. A pure function of
   what the cluster says. */
#ifndef CLIENT_TREE_H
#define CLIENT_TREE_H

#include "client/view.h"
#include "object/object.h"

#include <stdio.h>

enum { TREE_EVENTS = 10 };

struct tree_event {
	msec at;
	int64_t count;
	bool warning;
	struct str reason, object, message; /* OBJECT: worker-1, or empty: the job itself */
};

struct tree {
	struct str kind;  /* how the kind is called */
	yyjson_val *root; /* the job's object */
	const struct job *job;
	const struct record *record; /* NULL: none yet */
	struct pod *pods;            /* of this job */
	size_t n_pods;
	const struct tree_event *events; /* the oldest first */
	size_t n_events;
	msec now;
};

/* Of a large role the replicas that run or have succeeded are only counted. */
void tree_print(const struct tree *t, struct arena *a, FILE *to);

/* PODS: items of a list. What is no pod is left out. */
void tree_take_pods(struct tree *t, struct arena *a, yyjson_val *const *pods, size_t n);
/* EVENTS: items of a list, of whatever; those of the job and of its pods are taken, the last TREE_EVENTS of them. */
void tree_take_events(struct tree *t, struct arena *a, yyjson_val *const *events, size_t n);

/* What a pod does, in a word or two: Running, Succeeded, ImagePullBackOff, Unscheduled … */
struct str pod_state(const struct pod *p);
/* The exit code that tells most: of a container that failed, else of one that ended; -1: none has. *REASON: Error,
   OOMKilled … */
int32_t pod_exit(const struct pod *p, struct str *reason);

#endif
