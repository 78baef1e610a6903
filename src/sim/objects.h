/* The objects as the simulated server has them. */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include "base/json.h"
#include "cluster/cluster.h"
#include "kind/kind.h"
#include "job/record.h"
#include "sim/wish.h"

enum {
	NODE_LEFT = 64,
	SIM_LINKS = 2,      /* the operator of today, and one that does not know yet that it is not */
	SIM_CONTAINERS = 3, /* of a pod: what prepares, what counts, what stands beside it */
};

struct sim_link;
struct sim_event;
struct sim_request;
struct truth;

/* What is too large is not shown in lists and watches. */
enum sim_size {
	SIZE_USUAL,
	SIZE_LARGE,
	SIZE_VAST, /* it cannot even be read by name */
};

struct sim_version;

/* What the kinds make of a wish; nothing that the checkers look at depends on the job's name. */
struct sim_spec {
	struct sim_wish wish;
	bool deleting;
	struct kind_job *read;
};

/* One job, by UID; it stays known after its end. */
struct sim_job {
	struct str name, uid, kind, key;
	struct sim_wish wish;
	bool exists, deleting, collecting;
	int64_t generation;
	msec edited;                          /* by a user, the last time */
	int32_t grow_to;                      /* an elastic role has shrunk, and grows to that again; 0: no */
	struct sim_version *now;              /* as the server has it */
	struct sim_version *known[SIM_LINKS]; /* the newest that each operator was shown */
	struct sim_pod *pods;                 /* all that exist and name it as their owner */
	struct sim_service *services;
	struct sim_group *group;
	struct sim_version *group_known[SIM_LINKS]; /* … and of its PodGroup; NULL: none, or it was told to go */
	int32_t failures;                           /* pods that ended in a way that may be counted */
	bool flaky_done;                            /* the flaky replica has succeeded */
	const struct sim_request *heir;             /* of a mutant: the last child that was to be made */
	struct truth *truths;                       /* … and all that have */
	bool refuse;                                /* the server takes none of its pods: 422 */
	struct str refused_role;                    /* … of this role alone, and never; empty: of all */
	bool was_refused;                           /* … or did not, from its first day on */
	bool has_run;                               /* its record has said so once, whatever the phase was */
	msec uncreated; /* since a container of it could not be created, the first time; 0: never */
	msec denied;    /* a policy denies its pods until then */
	bool keeps;     /* one of its pods can never be deleted by the operator */
	msec barred;    /* a quota keeps one sort of one role's children out; NEVER: for ever */
	enum resource barred_sort;
	struct str barred_role;
	msec status_refused;   /* … and the server its status */
	msec own_refused;      /* … and what its kind wrote in it */
	int status_code;       /* … by that */
	struct kind_job *spec; /* as the kinds read it; of this generation */
	struct sim_job *next;
};

/* What watchers are shown: an immutable state of an object. */
struct sim_version {
	struct object object;
	struct sim_job *job;  /* of a job */
	struct sim_job *gang; /* … whose PodGroup it is */
	struct kind_job *spec;
	struct record *record;
	enum sim_size size;
	struct sim_pod *pod; /* of a pod */
	uint64_t seq;
};

enum pod_stage {
	STAGE_NEW,
	STAGE_BOUND,
	STAGE_ADMITTED,
	STAGE_STARTING,
	STAGE_UP,
	STAGE_RUNNING,
	STAGE_BESIDE, /* what counts has ended, the sidecar runs on */
	STAGE_ENDED,
	STAGE_STOPPING,
	STAGE_GONE
};

struct sim_pod {
	struct pod now;
	struct container containers[SIM_CONTAINERS];
	size_t main;   /* which of them counts */
	bool labelled; /* carries our labels: the watch selects on them */
	bool hidden;   /* it lost them once, or was shown without its name: nobody can be sure of it */
	bool foreign;
	bool late; /* made by an operator that is not the leader any more */
	struct sim_job *job;
	struct sim_node *on;
	enum pod_stage stage;
	struct sim_event *timer;
	size_t role;   /* row among its kind's roles */
	int32_t index; /* … and which of its replicas it was made as, in which generation */
	int64_t born;
	bool counted;              /* one of its job's failures */
	bool stuck;                /* cannot start for a long time */
	bool slow_pull;            /* its image takes long, and then one try fails */
	bool in_place;             /* the kubelet may start its container again */
	bool sidecar_again;        /* … and does so with the sidecar */
	msec kept;                 /* the operator may not delete it until then; NEVER: for ever */
	msec held;                 /* by somebody's finalizer until then; NEVER: for ever */
	const struct sim_link *by; /* who made it, and when */
	msec made;
	enum sim_size size;
	const struct sim_link *told[SIM_LINKS]; /* the operators that know that it is there, and too large … */
	msec told_at[SIM_LINKS];                /* … since then */
	struct sim_version *version;
	struct sim_pod *next, *prev; /* of its job */
};

struct sim_service {
	struct service now;
	bool labelled, foreign;
	struct sim_job *job;
	enum sim_size size;
	struct sim_version *version;
	struct sim_service *next, *prev;
};

struct sim_group {
	struct group now;
	yyjson_val *root; /* the object, but for what the server says in its metadata */
	bool foreign;
	struct sim_job *job;
	struct sim_event *timer;
	struct sim_version *version;
};

struct sim_node {
	struct node now;
	bool exists;
	msec skew;                       /* its clock goes wrong by that */
	struct sim_pod *left[NODE_LEFT]; /* pods that were removed from it, and when */
	msec left_at[NODE_LEFT];
	size_t n_left;
	/* What each operator was shown of it: not ready since then (0: ready), gone or out of service. */
	struct node_sight {
		msec down;
		bool lost;
	} sights[SIM_LINKS];
	struct sim_event *timer;
	struct sim_event *taints; /* the taint manager looks at it */
	msec down;                /* since then; 0: it is ready */
	struct sim_version *version;
};

#endif
