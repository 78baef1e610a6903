/* What must be remembered of a job: status.dlOperator, the same for every kind, written and read by
   C only. It is the only memory: whoever starts anew knows what stands here and on the pods. */
#ifndef JOB_RECORD_H
#define JOB_RECORD_H

#include "base/err.h"
#include "base/json.h"
#include "job/job.h"
#include "job/ranges.h"

enum {
	RECORD_VERSION = 1,
	/* Single replicas of which something is known, those that have left included: whoever may write a status shall
	   not take the operator's memory with it. */
	RECORD_MAX_INDEXES = 2 * JOB_MAX_REPLICAS,
};

enum phase {
	PHASE_NONE,
	PHASE_INVALID,
	PHASE_PENDING,
	PHASE_CREATING,
	PHASE_RUNNING,
	PHASE_RESTARTING,
	PHASE_SUSPENDED,
	PHASE_TERMINATING,
	/* Final from here on. */
	PHASE_SUCCEEDED,
	PHASE_FAILED,
	PHASE_TIMED_OUT,
	PHASE_PREEMPTED,
	PHASE_NODE_FAILED,
	PHASE_OTHER, /* an end that a later version knows: kept word for word */
	PHASE_COUNT
};

static inline bool phase_final(enum phase p)
{
	return p >= PHASE_SUCCEEDED;
}

const char *phase_name(enum phase p);
/* PHASE_NONE if there is none of that name. */
enum phase phase_parse(struct str s);

/* Why something was started again. */
enum cause {
	CAUSE_FAILED, /* a container that counts ended with a code ≠ 0 */
	CAUSE_OOM_KILLED,
	CAUSE_NODE_FAIL,
	CAUSE_CREATE_FAILED, /* image pull and the like, for too long */
	/* Not counted against the limit from here on. */
	CAUSE_DISRUPTED, /* eviction, preemption, node shutdown, rejected by the kubelet */
	CAUSE_DELETED,   /* somebody deleted the pod */
	CAUSE_RESIZED,   /* the number of replicas was changed */
	CAUSE_SUSPENDED,
	CAUSE_COUNT
};

static inline bool cause_counted(enum cause c)
{
	return c < CAUSE_DISRUPTED;
}

const char *cause_name(enum cause c);
bool cause_parse(struct str s, enum cause *ret);

/* How many pods of a role are in which state. A completed replica is succeeded though its pod is gone. */
struct role_counts {
	int32_t pending, scheduled, active, succeeded, failed, restarting, ready;
};

/* The same as a list of so many names and places. */
enum { ROLE_COUNTS = sizeof(struct role_counts) / sizeof(int32_t) };
const char *counts_name(size_t i);
int32_t *counts_at(struct role_counts *c, size_t i);

/* One level of generations (job, role or index) with what its back-off needs. */
struct restart_level {
	int64_t generation;
	int32_t streak;  /* restarts in a row, for the back-off */
	msec at;         /* of the last restart */
	int32_t counted; /* of the restarts that count, those that the limit sees: not those before a quiet window */
	int32_t barren;  /* restarts in a row that do not count, of pods that never ran */
	/* Of a replica only, for people. */
	int64_t before;    /* what of its generation is none of its own: from before it came, or because it left */
	int32_t exit_code; /* with which it was given up; 0: nobody knows */
};

struct index_level {
	int32_t index;
	struct restart_level level;
};

/* How near the role is to its limit, for people. */
struct limit_view {
	bool shown; /* there is a limit */
	int32_t of, counted;
	enum scope by;  /* whose count it is; of a pod's, the highest */
	int32_t window; /* seconds */
};

struct record_role {
	struct str name;
	int32_t count; /* the size that the members' environment speaks of; -1: not known */
	struct restart_level level;
	bool drain; /* a restart of this role waits for its old pods to go */
	int32_t restarts[CAUSE_COUNT];
	int32_t other_restarts; /* for causes that only a later version knows; the server keeps them */
	int32_t counted_ever;   /* all restarts of this role that count; the limit sees level.counted */
	/* The server has taken a pod of it once. Only observed: a status that is refused must not hold up pods. */
	bool accepted;
	struct ranges completed, failed; /* in this generation */
	struct ranges seen;              /* replicas whose pod of this generation was there */
	struct ranges ran; /* replicas that ran once, in any generation; kept until the job's `running` is set */
	struct index_level *indexes; /* sorted by index, sparse */
	size_t n_indexes, cap_indexes;
	struct role_counts now;
	struct limit_view limit;
};

/* What was started again, and which replica made it so, for people. */
struct restart_note {
	msec at; /* 0: none */
	enum cause cause;
	struct str role;
	int32_t index;
	int32_t exit_code; /* -1: none */
	enum scope scope;
	struct str detail; /* what the cluster calls it: NodeAffinity, PreemptionByScheduler …; may be empty */
	struct str node;   /* where it was; may be empty */
	msec ran;          /* how long its containers had run; 0: not at all, or nobody knows */
};
enum { RECORD_RESTARTS = 10 };

struct phase_span {
	enum phase phase;
	msec entered, left; /* left 0: it is the present one */
};

/* The last two as a batch Job has them: the end is decided, and what clean-up takes away is not gone yet. */
enum condition {
	CONDITION_RUNNING,
	CONDITION_SUSPENDED,
	CONDITION_COMPLETE,
	CONDITION_FAILED,
	CONDITION_SUCCESS_CRITERIA_MET,
	CONDITION_FAILURE_TARGET,
	CONDITION_COUNT
};

const char *condition_name(enum condition c);

struct condition_state {
	bool set; /* was it ever written */
	bool status;
	msec since;
};

struct record {
	int32_t version;
	int64_t observed_generation;
	enum phase phase;
	enum phase outcome;         /* final phase that was decided; set once, never changed */
	struct str outcome_text;    /* with PHASE_OTHER: what a later version wrote */
	struct str why;             /* reason of the outcome in one word: Completed, ExitCode, RestartLimit … */
	struct str reason;          /* one line for people */
	msec start, running, end;   /* first look; all replicas seen running; outcome decided */
	msec first_pod;             /* since the start or a resume: the first pod that counts was there; 0: none yet */
	msec creating_since;        /* since when replicas are being brought up; 0: they all run */
	struct restart_level level; /* of the job */
	bool drain;                 /* a restart of the job waits for all old pods to go */
	bool restarting;            /* since a restart, until all replicas run again */
	bool suspended;
	bool begun;       /* all replicas have run, or one for long: what cannot be created does not end the job */
	int32_t restarts; /* how often something was started again; edits and suspensions are none */
	struct restart_note last;
	struct restart_note earlier[RECORD_RESTARTS - 1]; /* those before it, newest first */
	size_t n_earlier;
	struct str addresses[COMPANION_COUNT];  /* where people find the companions; empty: it does not answer */
	struct phase_span history[PHASE_COUNT]; /* one for each phase, in the order of entering */
	size_t n_history;
	struct condition_state conditions[CONDITION_COUNT];
	struct record_role *roles;
	size_t n_roles;
};

/* A deep copy in A. */
struct record *record_copy(const struct record *r, struct arena *a);
struct record_role *record_role_of(const struct record *r, struct str name);
/* The generation that a pod of that replica must carry. */
int64_t record_generation(const struct record *r, const struct role *role, const struct record_role *rr, int32_t index);
/* How often that replica was started again since it came; edits and suspensions are none. */
int64_t record_replica_restarts(const struct record *r, const struct role *role, const struct record_role *rr,
                                int32_t index);
/* The level of one index: NULL if it was never restarted alone; made if need be. */
const struct restart_level *record_index_level(const struct record_role *role, int32_t index);
struct restart_level *record_index_make(struct record_role *role, struct arena *a, int32_t index);

/* What is known of single replicas, as JSON made in DOC; NULL: nothing. */
yyjson_mut_val *record_index_write(const struct record_role *role, yyjson_mut_doc *doc);
/* Reads it, and what was written before in an object for each replica (OLD; both may be NULL). *ROOM: for how many
   replicas there is room, and then is. False: it makes no sense, or there is no room. */
bool record_index_read(struct record_role *role, yyjson_val *obj, yyjson_val *old, size_t *room, struct arena *a);
/* Forgets what only the back-off of single replicas needs: for a record that would be too long. */
void record_shorten(struct record *r);

/* How often the role was started again; edits and suspensions are none. */
int32_t record_role_restarts(const struct record_role *role);

/* The new one becomes the last. */
void record_note_restart(struct record *r, struct restart_note note);
/* The last one is number 0; NULL: there were not so many, or they are forgotten. */
const struct restart_note *record_restart(const struct record *r, size_t i);

/* What a comparison of two records says must be written, and how urgently. */
enum change { CHANGE_NONE, CHANGE_OBSERVED, CHANGE_DURABLE };
enum change record_compare(const struct record *before, const struct record *after);

/* status.dlOperator as JSON, made in DOC. Every field that this version knows is there; one that says
   nothing is null, so that a merge patch removes it. */
yyjson_mut_val *record_write(const struct record *r, yyjson_mut_doc *doc);
/* Reads it. NULL with *E unset: there is none yet (VAL is NULL). NULL with *E set: it cannot be
   read, or its version is higher than ours: leave that job alone. */
struct record *record_read(yyjson_val *val, struct arena *a, struct err *e);

/* Takes over what an operator of before wrote in its own fields, once, when there is no record:
   a final phase stays final (PHASE_NONE: none), restart counts by role name ({"trainer": 2}). */
struct record *record_adopt(struct arena *a, enum phase final, struct str reason, yyjson_val *restarts);

#endif
