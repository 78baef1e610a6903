/*
 * The plan: (job, what exists, what time it is) → (actions, status, when to look again).
 *
 * Pure: no I/O, no clock, no globals; memory from the arena that the caller gives. Every decision
 * that the operator makes is in this folder, one policy a file.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/map.h"
#include "job/gang.h"
#include "job/record.h"
#include "object/object.h"
#include "object/resource.h"

/* What whoever runs the operator may set. */
struct plan_config {
	msec node_grace;              /* a node must be NotReady this long; 40 s */
	msec node_outage_wait;        /* … or this long, when most nodes are; 10 min */
	msec force_delete_after;      /* a pod on a failed node is force-deleted after this; 5 min */
	msec creating_restart_period; /* restart pods that cannot be created, for so long since it began to create; 0 */
	msec creating_duration;       /* … once they have been trying this long; 15 min */
	bool creating_failed;         /* after that they have failed; true */
	msec status_interval;         /* between writes of what can be observed; 1 s */
	enum gang_kind gang;          /* whose PodGroups are made; none */
};

extern const struct plan_config plan_config_default;

/* What the API server said to our last create of one sort and role, if it refused. The operator keeps it in memory and
   forgets it when a create of that sort and role succeeds or the job changes: what one role comes to says nothing of
   the others, and holds up none of them. */
enum refusal_kind {
	REFUSED_NOT,
	REFUSED_QUOTA,   /* 403: a quota, a right that is missing, an admission plugin: wait */
	REFUSED_INVALID, /* 422 or 400: not as it is, or not now: an admission policy says so, too */
	REFUSED_SERVER,  /* 5xx, webhooks: try again */
	REFUSED_FOREIGN, /* the child's name belongs to somebody else */
	REFUSED_UNBUILT, /* not the server: we cannot make it, since the kind's code fails or it is too large */
};

struct refusal {
	enum refusal_kind kind;
	struct str message;
	int32_t times; /* in a row */
	msec at;       /* the last one */
	enum resource resource;
	struct str role; /* whose child it was; empty: no role's */
	msec since;      /* what is refused: since when, for this reason … */
	int32_t tries;   /* … and how often */
	/* FOREIGN: what stands there */
	bool watched; /* carries our label: a watch shows its end */
	bool going;   /* is being deleted */
};

/* Services and PodGroups of the job that somebody took away, in a row. */
struct losses {
	int32_t times;
	msec at; /* the last one */
};

/* The cluster's nodes, as the cache keeps them. */
struct fleet {
	const struct map *nodes; /* name → struct node */
	size_t total, not_ready; /* without those that are gone or carry the out-of-service taint */
};

/* A child of which a job has one: its PodGroup. */
struct plan_sole {
	const struct child *have; /* NULL: there is none */
	uint64_t kept;            /* what the server made of our last write, and of that; 0: nothing of it */
	struct str trouble;       /* why there can be none; empty: there can */
};

struct plan_input {
	const struct job *job;
	const struct record *record;   /* NULL: none yet */
	const struct pod *const *pods; /* of this job's UID, gone ones included */
	size_t n_pods;
	const struct service *const *services;
	size_t n_services;
	struct plan_sole sole[RES_COUNT]; /* of resources of which a job has one child */
	const struct fleet *fleet;        /* NULL: nodes are not known, node failure is not looked at */
	const struct plan_config *config;
	const struct refusal *refusals; /* of each sort and role at most one */
	size_t n_refusals;
	struct str undeleted; /* what was said to our last DELETE that was refused */
	struct losses losses;
	msec now;
	msec status_written; /* when the status was last written; 0: not by this process */
	msec status_held;    /* the server takes no status of it: what can only be observed is not sent before this */
};

enum action_type {
	ACT_GET, /* a node: is it gone? put the answer into the nodes */
	ACT_DELETE,
	ACT_CREATE,
	ACT_PATCH,
};

struct action {
	enum action_type type;
	enum resource resource;
	uint32_t role;             /* CREATE, of a replica's child: index into job->roles */
	int32_t index;             /* … */
	int64_t generation;        /* … of a pod */
	const struct meta *target; /* DELETE of a child: name and UID of what goes */
	const struct child *have;  /* PATCH of a sole child: as it stands there */
	const void *want;          /* CREATE, PATCH of one: what it shall say, to whoever writes it: a struct gang */
	uint64_t wish;             /* … as a number, for what is kept of the answer */
	bool force;                /* DELETE of a pod: grace period 0 */
	struct str node;           /* GET */
};

struct plan {
	/* In the order in which they are carried out, those of one stage (type and resource) together. Empty if `write`
	   is CHANGE_DURABLE: record first, then act. */
	struct action *actions;
	size_t n_actions;
	const struct record *record; /* what the status shall say */
	enum change write;           /* DURABLE: now, with resourceVersion; OBSERVED: now, beside the actions */
	const bool *passed; /* of each refusal: nothing of what was refused is missing any more, it can be forgotten */
	msec wake;          /* look again then, though nothing happens; NEVER: no need */
	msec deadline;      /* … and then, whatever the actions have come to; NEVER: no need */
};

/* A pod is shown to us: BEFORE is what was known of that very one, NULL if nothing was. Keeps since when its containers
   cannot be created, by our own clock. */
void plan_pod_seen(struct pod *pod, const struct pod *before, msec now);

/* Plans one job. Everything in the result lives in A or in the input. */
struct plan plan_job(const struct plan_input *in, struct arena *a);

/* The server has answered the write of a PodGroup (the action's WISH) with this: if it is something else, it shall be
   kept as the server has it. A fingerprint of both. */
uint64_t plan_group_kept(uint64_t wish, const struct group *have);
/* In words: the server knows no PodGroups (404), cannot list them (5xx) or does not let us use them. */
struct str plan_groups_trouble(enum gang_kind kind, int code, struct str message, struct arena *a);

/* A create met AlreadyExists: what stands there under that name? */
enum conflict {
	CONFLICT_OURS,
	CONFLICT_ADOPT,
	CONFLICT_OTHER, /* ours, but another replica's: the kind gives one name twice, or somebody changed its labels */
	CONFLICT_FOREIGN
};
/* By its labels; without a role: they are missing, or it is a PodGroup. */
struct replica_labels {
	struct str role;
	int32_t index;
};
enum conflict plan_conflict(struct str job_uid, const struct replica_labels *wanted, const struct meta *found,
                            struct str found_job_uid, const struct replica_labels *found_replica);
/* FOREIGN, in words: what stands there and whose it is. NOUN: "pod", "service", "PodGroup". */
struct str plan_taken(const char *noun, const struct meta *found, struct arena *a);
/* OTHER, in words. */
struct str plan_taken_by(const char *noun, const struct meta *found, const struct replica_labels *by,
                         const struct replica_labels *wanted, struct arena *a);

/* A child was refused; *R is what was said of its sort and role before, its KIND REFUSED_NOT: nothing. MESSAGE must
   live as long as *R. */
void plan_refused(struct refusal *r, enum refusal_kind kind, struct str message, msec now);

/* A DELETE of that child was refused. It is tried again, later each time, and holds up nothing else. */
void plan_undeleted(struct undeleted *u, msec now);

/* The status says only what can be observed, and could not be written so often in a row. Nothing waits for it but the
   next such write, which is not tried before this. */
msec plan_status_held(int32_t times, msec now);

/* One more was taken away. */
void plan_lost(struct losses *l, msec now);
/* It is not tried again before this, unless what is in the way goes. */
msec plan_refused_until(const struct refusal *r);

/* How the answer to a create is taken: HTTP's code and Kubernetes' reason. REFUSED_NOT: not a refusal. */
enum refusal_kind plan_refusal(int code, struct str reason);
/* Was a pod refused because Volcano has not let its PodGroup into the queue yet? Then it is for the server to change.
 */
bool plan_too_early(enum gang_kind gang, int code, struct str message);
/* The same as plan_refusal() for the write of a PodGroup, never INVALID: what a queue or a webhook does not take today
   it may take tomorrow, and a job does not fail for its PodGroup. */
enum refusal_kind plan_group_refusal(int code, struct str reason, struct str message);
/* … in words: MESSAGE, or what it means that there are no PodGroups, in A. */
struct str plan_group_refused(enum gang_kind gang, int code, struct str message, struct arena *a);

#endif
