/* What the plan needs to know of Kubernetes' objects, and nothing else: small values that every
   cluster reports and the plan reads. Strings belong to whoever made the object. */
#ifndef OBJECT_OBJECT_H
#define OBJECT_OBJECT_H

#include "base/clock.h"
#include "base/str.h"
#include "object/labels.h"
#include "object/needs.h"
#include "object/tolerations.h"

struct meta {
	struct str ns, name, uid;
	struct str rv;        /* resourceVersion; which of two is newer only the operator's cache asks */
	struct str owner_uid; /* of the controller that owns it; empty: nobody */
	struct str owner;     /* its kind/name, for people; the operator's cache does not keep it */
	msec created;
	msec deleted;  /* deletionTimestamp; 0: nobody asked for it */
	int32_t grace; /* deletionGracePeriodSeconds, with `deleted` */
};

/* Our requests to delete it that were refused, in a row; kept by the operator's cache. */
struct undeleted {
	int32_t times;
	msec at; /* the last one */
};

/* What all children of a job have in common. Each begins with it, so that whoever needs no more treats them alike. */
#define CHILD_FIELDS                                                                                                   \
	struct meta meta;                                                                                              \
	struct undeleted undeleted;                                                                                    \
	struct str job_uid, role; /* from our labels; of what is no replica's, the role is empty */                    \
	int32_t index             /* from our label; -1: missing or not a number */

struct child {
	CHILD_FIELDS;
};

#define CHILD_PART                                                                                                     \
	union {                                                                                                        \
		struct child child;                                                                                    \
		struct {                                                                                               \
			CHILD_FIELDS;                                                                                  \
		};                                                                                                     \
	}

enum container_state { CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_TERMINATED };

struct container {
	struct str name;
	enum container_state state;
	bool init;
	int32_t exit_code; /* TERMINATED */
	msec started;      /* RUNNING, TERMINATED; by the node's clock, as all times of a container */
	msec finished;     /* TERMINATED */
	struct str reason; /* of the state: OOMKilled, ImagePullBackOff … */
	struct str message;
	bool ran;        /* an earlier state of it has ended, be it that nobody knows how */
	bool comes_back; /* TERMINATED: by a restart policy or rules of its own the kubelet starts it again, in place */
};

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

struct pod {
	CHILD_PART;
	int64_t generation; /* from our label */
	enum pod_phase phase;
	struct str node;                /* spec.nodeName; empty: not scheduled yet */
	struct str reason;              /* status.reason: Evicted, DeadlineExceeded … */
	struct str message;             /* status.message, or why it cannot be scheduled */
	struct str address;             /* where people reach it, if whoever runs it says so by annotation */
	msec started;                   /* status.startTime */
	bool ready;                     /* condition Ready */
	bool disrupted;                 /* condition DisruptionTarget is True */
	struct str disrupter;           /* … and its reason: EvictionByEvictionAPI, DeletionByTaintManager … */
	msec disrupted_at;              /* … since then; 0: not known */
	int32_t stop_grace;             /* spec.terminationGracePeriodSeconds; 0: not known, or none */
	struct tolerations tolerations; /* as stored: the API server adds its own */
	/* What was seen of its end while nobody had asked for its deletion, and no condition said that it is disrupted;
	   kept by the operator's cache. */
	bool ended;      /* the phase was final */
	msec ended_seen; /* the latest `finished` of its containers that stay ended; 0: none */
	/* By our own clock, kept there too (plan_pod_seen()). */
	msec stuck;      /* its containers cannot be created since then; 0: nothing is wrong */
	msec stuck_calm; /* … but nothing of that was shown since then; 0: it is shown now */
	bool gone;       /* its DELETED event was seen; this is its last state */
	const struct container *containers;
	size_t n_containers;
};

struct service {
	CHILD_PART;
};

/* A PodGroup, of Volcano or of scheduler-plugins: pods that a gang scheduler starts together. */
struct group {
	CHILD_PART;
	int32_t min_member;
	struct needs needs; /* minResources */
	struct str queue, priority_class;
	int32_t timeout;    /* scheduleTimeoutSeconds; -1: none */
	struct str phase;   /* Pending, Inqueue, Running …; empty: the scheduler has not seen it */
	struct str message; /* why it cannot be scheduled */
};

struct node {
	struct str name;
	bool ready;          /* condition Ready is True */
	bool unreachable;    /* … is Unknown: the kubelet is not heard of */
	msec since;          /* not ready since then, by our own clock; kept by the operator's cache */
	bool out_of_service; /* taint node.kubernetes.io/out-of-service */
	bool gone;           /* a GET said 404 */
};

#endif
