/*
 * A cluster on virtual time, with everything that can go wrong in one, from one seed. The real operator
 * runs on it; checkers look at every write that reaches the simulated API server.
 *
 *   server.c   the store: what Kubernetes promises of objects, and no more
 *   link.c     the way between an operator and the server, with its faults
 *   groups.c   PodGroups and who schedules them
 *   kubelet.c  what becomes of pods; nodes.c what becomes of nodes; users.c what people do
 *   check.c    what must hold at every step; settle.c what must hold when all is quiet
 *   mutant.c   defects that are planted on purpose, to see that the checkers find them
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/arena.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "operator/operator.h"
#include "sim/tally.h"

enum {
	SIM_NODES = 8,
	SIM_STABLE = 3, /* the first of them never fail: jobs with a known end run there */
	SIM_JOBS = 6,   /* that users like to have around */
	SIM_NAMES = 9,  /* that they give their jobs */
	SIM_ROLES = 4,
	SIM_GRACE = 30,
	STREAM_REPLAY = 4,
	LINKS = 2, /* the operator of today, and one that does not know yet that it is not */
};

/* What a run checks. The names are what --mutant's test expects to read. */
enum invariant {
	INV_NONE,
	INV_TWO_PODS,
	INV_LIMIT,
	INV_COMPLETED,
	INV_FINAL,
	INV_GENERATION,
	INV_COUNT,
	INV_FOREIGN,
	INV_UID,
	INV_INVALID,
	INV_CLEANED,
	INV_BODY,
	INV_RECORD_FIRST,
	INV_SIBLING,
	INV_GANG,
	INV_STUCK,
	INV_QUIET,
	INV_ORPHAN,
	INV_ORACLE,
	INV_COUNT_
};

const char *invariant_name(enum invariant i);

/* How a job is meant to go, where that is known beforehand. */
enum script {
	SCRIPT_WILD,      /* anything may happen to it */
	SCRIPT_GOOD,      /* all that can end well does */
	SCRIPT_FLAKY,     /* one replica fails in its first generations */
	SCRIPT_PERMANENT, /* the chief ends with a code that is not worth another try */
};

/* What users say of a job; rendered to a manifest of its kind. */
struct wish {
	uint64_t serial; /* the same for all that differ only in what edits change */
	size_t kind;     /* row of the table in manifest.c */
	int32_t counts[SIM_ROLES];
	enum restart_policy restart;
	bool restart_said;
	enum scope scope;
	bool scope_said;
	int32_t limit;                     /* -1: not said */
	int32_t time_limit, deadline, ttl; /* -1: not said */
	enum clean clean;
	bool clean_said;
	enum role_end complete, fail; /* of the role that works */
	bool complete_said, fail_said;
	bool suspend, invalid, init;
	bool tensorboard, own_board; /* has one; said in the kind's own field */
	int32_t board_ttl;           /* … -1: not said */
	const char *annotation;      /* NULL, Preempted, Failed, NodeFail */
	enum script script;
	int32_t flaky; /* generations in which it fails */
};

struct version;

/* What the kinds make of a wish; nothing that the checkers look at depends on the job's name. */
struct spec {
	struct wish wish;
	bool deleting;
	struct kind_job *read;
};

/* One job, by UID; it stays known after its end. */
struct sim_job {
	struct str name, uid, kind, key;
	struct wish wish;
	bool exists, deleting, collecting;
	int64_t generation;
	struct version *now;          /* as the server has it */
	struct version *known[LINKS]; /* the newest that each operator was shown */
	struct sim_pod *pods;         /* all that exist and name it as their owner */
	struct sim_service *services;
	struct sim_group *group;
	struct version *group_known[LINKS]; /* … and of its PodGroup; NULL: none, or it was told to go */
	int32_t failures;                   /* pods that ended in a way that may be counted */
	bool flaky_done;                    /* the flaky replica has ended well */
	bool refuse;                        /* the server takes none of its pods: 422 */
	msec status_refused;                /* … nor its status until then */
	struct kind_job *spec;              /* as the kinds read it; of this generation */
	struct sim_job *next;
};

/* What watchers are shown: an immutable state of an object. */
struct version {
	struct object object;
	struct sim_job *job;  /* of a job */
	struct sim_job *gang; /* … whose PodGroup it is */
	struct kind_job *spec;
	struct record *record;
	uint64_t seq;
};

enum pod_stage {
	STAGE_NEW,
	STAGE_BOUND,
	STAGE_ADMITTED,
	STAGE_STARTING,
	STAGE_UP,
	STAGE_RUNNING,
	STAGE_ENDED,
	STAGE_STOPPING,
	STAGE_GONE
};

struct sim_pod {
	struct pod now;
	struct container containers[2];
	bool labelled; /* carries our labels: the watch selects on them */
	bool hidden;   /* it lost them once: nobody can be sure of it */
	bool foreign;
	bool late; /* made by an operator that is not the leader any more */
	struct sim_job *job;
	struct sim_node *on;
	enum pod_stage stage;
	struct sim_event *timer;
	size_t role;  /* row among its kind's roles */
	bool counted; /* one of its job's failures */
	bool stuck;   /* cannot start for a long time */
	struct version *version;
	struct sim_pod *next, *prev; /* of its job */
};

struct sim_service {
	struct service now;
	bool labelled, foreign;
	struct sim_job *job;
	struct version *version;
	struct sim_service *next, *prev;
};

struct sim_group {
	struct group now;
	yyjson_val *root; /* the object, but for what the server says in its metadata */
	bool foreign;
	struct sim_job *job;
	struct sim_event *timer;
	struct version *version;
};

struct sim_node {
	struct node now;
	bool exists, was_down;
	struct sim_event *timer;
	struct version *version;
};

struct sim_request {
	struct request r;
	struct link *link; /* NULL: whoever sent it is no more */
	size_t slot;       /* … and who it was */
	/* Of a create's body. */
	struct pod pod;
	struct service service;
	yyjson_val *group;
	size_t n_containers;
	struct str owner_uid;
	bool init;
	const char *fault; /* body that cannot be taken */
	bool lose_reply, hoarded;
	int inject;       /* answered with this code instead; 0: carried out */
	int inject_after; /* … though carried out */
	struct outcome outcome;
	struct version *answered, *version; /* what the answer holds */
	struct sim_event *timer;            /* its arrival; NULL: it has arrived */
	struct sim_request *next, *prev;    /* in flight */
};

enum event_type {
	EV_ARRIVE,
	EV_REPLY,
	EV_WATCH,
	EV_LIST,
	EV_OPERATOR,
	EV_DEPOSE, /* a former leader stops */
	EV_START,  /* an operator starts */
	EV_POD,
	EV_NODE,
	EV_GROUP,
	EV_USERS,
	EV_FAULTS,
	EV_COLLECT, /* garbage of a job that is gone */
	EV_COUNT
};

struct sim_event {
	struct heap_node node;
	enum event_type type;
	void *what;
	size_t number;
};

struct item {
	bool list, gone;
	struct version *version;
	struct version **versions; /* of a list */
	size_t n;
	msec at;
};

struct stream {
	struct link *link;
	bool on; /* listed, and told of what follows */
	VEC(struct item) items;
	size_t head;
	msec stalled; /* nothing is delivered before */
	struct item last[STREAM_REPLAY];
	size_t n_last;
	struct sim_event *timer, *relist;
};

/* One operator's way to the server. */
struct link {
	struct cluster cluster; /* first */
	struct sim *sim;
	size_t slot; /* which of the LINKS */
	struct op *op;
	struct stream streams[RES_COUNT];
	struct sim_event *wake;
	/* What is being delivered. */
	enum resource resource;
	const struct item *item;
	size_t at;
	struct sim_request *reply;
};

struct sim_options {
	uint64_t seed;
	size_t steps;
	bool trace;
	FILE *trace_to;
	int mutant; /* enum mutant */
};

struct sim {
	struct sim_options opt;
	struct arena *arena;
	struct rng rng;
	msec now;
	size_t step;
	struct heap events;
	struct clock clock;
	struct kinds *kinds;
	struct tally *tally;
	bool quiet; /* faults have stopped */

	uint64_t rv, uid, wishes;
	struct map jobs_by_name, jobs_by_uid; /* sim_job */
	struct sim_job *all_jobs;
	VEC(struct spec) specs;    /* all that were read */
	size_t n_jobs;             /* that exist */
	struct map pods, services; /* by name */
	struct sim_node nodes[SIM_NODES];
	msec quota_until, webhook_until;
	enum gang_kind gang;
	struct map groups;  /* by name */
	msec groups_absent; /* the server knows none until then */
	size_t n_foreign;

	struct link *link;   /* the operator of today; NULL: there is none */
	struct link *former; /* one that was leader and still acts; NULL: none */
	struct sim_request *in_flight;
	struct sim_event *users, *faults, *start, *depose;
	msec last_write; /* of an operator */

	enum invariant broken;
	char why[512];

	/* Of a mutant. */
	size_t mutant_n;
	struct sim_request mutant_create;
};

/* sim.c: runs one seed. False: an invariant was broken (s->broken, s->why, s->step). The memory of the
   run is MEMORY's, which is emptied first. */
bool sim_run(struct sim *s, struct kinds *kinds, const struct sim_options *opt, struct tally *tally,
             struct arena *memory);
void sim_release(struct sim *s);
struct sim_event *sim_at(struct sim *s, msec at, enum event_type type, void *what);
void sim_move(struct sim *s, struct sim_event *ev, msec at);
void sim_cancel(struct sim *s, struct sim_event *ev);
void sim_broken(struct sim *s, enum invariant which, const char *fmt, ...) PRINTF_LIKE(3, 4);
void sim_trace_line(struct sim *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
#define TRACE(s, ...)                                                                                                  \
	do {                                                                                                           \
		if ((s)->opt.trace)                                                                                    \
			sim_trace_line((s), __VA_ARGS__);                                                              \
	} while (0)
/* True in one of N cases, never when all is quiet. */
bool sim_chance(struct sim *s, uint64_t n);
msec sim_between(struct sim *s, msec from, msec to);
/* JSON whose memory is the run's. */
const yyjson_alc *sim_alc(struct sim *s);

/* server.c */
/* Carries it out; what the answer holds is r->answered. */
void server_answer(struct sim *s, struct sim_request *r, struct outcome *o);
struct sim_job *server_create_job(struct sim *s, const struct wish *wish, struct str name);
void server_edit_job(struct sim *s, struct sim_job *job);
void server_delete_job(struct sim *s, struct sim_job *job, bool foreground);
void server_collect(struct sim *s, struct sim_job *job);
void server_delete_pod(struct sim *s, struct sim_pod *pod, int32_t grace);
void server_remove_pod(struct sim *s, struct sim_pod *pod);
void server_remove_service(struct sim *s, struct sim_service *svc);
/* The pod was changed: a new resourceVersion, and the watchers are shown it. */
void server_pod_changed(struct sim *s, struct sim_pod *pod);
void server_pod_unlabel(struct sim *s, struct sim_pod *pod);
void server_node_changed(struct sim *s, struct sim_node *node);
void server_node_gone(struct sim *s, struct sim_node *node);
struct sim_pod *server_foreign_pod(struct sim *s, struct str name, struct sim_job *impostor_of);

/* link.c */
struct link *link_new(struct sim *s, size_t slot);
/* The operator is no more; some of its requests still arrive, those of a leader that was cut off late. */
void link_crash(struct sim *s, struct link *l, bool cut_off);
void link_depose(struct sim *s);
void link_push(struct sim *s, enum resource r, struct version *v, bool gone);
void link_list(struct sim *s, struct stream *st);
void link_watch(struct sim *s, struct stream *st);
void link_wake(struct sim *s, struct link *l);
void link_arrive(struct sim *s, struct sim_request *r);
void link_reply(struct sim *s, struct sim_request *r);
void link_fault(struct sim *s);

/* groups.c */
const char *groups_read(struct sim *s, struct sim_request *r, yyjson_val *root);
int groups_create(struct sim *s, struct sim_request *r, struct outcome *o);
int groups_patch(struct sim *s, struct sim_request *r);
int groups_get(struct sim *s, struct sim_request *r);
int groups_delete(struct sim *s, struct sim_request *r);
int groups_refuse(struct sim *s, const struct sim_job *job, const struct sim_request *r, struct outcome *o);
/* Would the patch leave HAVE as it is? */
bool groups_says_nothing(struct sim *s, const struct sim_request *r, const struct group *have);
/* Does the gang scheduler give the pod a place? */
bool groups_admit(const struct sim *s, const struct sim_pod *p);
void groups_remove(struct sim *s, struct sim_group *g);
void groups_timer(struct sim *s, struct sim_group *g);
void groups_meddle(struct sim *s);
void groups_undefine(struct sim *s);
void groups_leave(struct sim *s);

/* kubelet.c */
void kubelet_new(struct sim *s, struct sim_pod *pod);
void kubelet_timer(struct sim *s, struct sim_pod *pod);
void kubelet_stop(struct sim *s, struct sim_pod *pod);
void kubelet_evict(struct sim *s, struct sim_pod *pod);
void kubelet_failure(struct sim *s, struct sim_pod *pod);

/* nodes.c */
void nodes_start(struct sim *s);
void nodes_timer(struct sim *s, struct sim_node *node);
void nodes_fault(struct sim *s);
void nodes_heal(struct sim *s);

/* users.c */
void users_act(struct sim *s);
void users_leave(struct sim *s);

/* manifest.c */
size_t manifest_kinds(void);
const char *manifest_kind_id(size_t row);
size_t manifest_role(size_t row, struct str name); /* SIM_ROLES: none */
const char *manifest_role_name(size_t row, size_t role);
/* Its children's names can be foreseen: nothing in them comes from the UID. */
bool manifest_plain_names(size_t row);
/* Runs until it is told to stop, and does not decide the end. */
bool manifest_serves(size_t row, size_t role);
bool manifest_chief(const struct wish *w, size_t role, int32_t index);
/* The replica that fails in a flaky job. */
bool manifest_flaky(const struct wish *w, size_t role, int32_t index);
struct wish manifest_wish(struct sim *s);
/* The whole object but for its status. */
yyjson_mut_val *manifest_render(struct sim *s, const struct sim_job *job, struct str rv, msec deleted,
                                yyjson_mut_doc *doc);

/* check.c */
void check_create(struct sim *s, const struct sim_request *r);
void check_delete(struct sim *s, const struct sim_request *r);
void check_patch(struct sim *s, const struct sim_request *r);
void check_pod_made(struct sim *s, const struct sim_pod *pod);
void check_touch(struct sim *s, const struct sim_request *r, bool foreign);
void check_status(struct sim *s, struct sim_job *job, const struct version *before, const struct version *after);

/* settle.c */
void settle_check(struct sim *s);

/* mutant.c */
enum mutant {
	MUTANT_NONE,
	MUTANT_TWIN,
	MUTANT_LIMITLESS,
	MUTANT_FORGETFUL,
	MUTANT_LAZARUS,
	MUTANT_REWIND,
	MUTANT_UNCOUNTED,
	MUTANT_DOUBLE,
	MUTANT_LOWERED,
	MUTANT_GREEDY,
	MUTANT_CARELESS,
	MUTANT_BLIND,
	MUTANT_UNDEAD,
	MUTANT_ORPHANER,
	MUTANT_HOARDER,
	MUTANT_HASTY,
	MUTANT_SIBLING,
	MUTANT_DEAF,
	MUTANT_RESTLESS,
	MUTANT_LIAR,
	MUTANT_EAGER,
	MUTANT_FUSSY,
	MUTANT_COUNT
};
const char *mutant_name(enum mutant m);
enum invariant mutant_breaks(enum mutant m);
/* Spoils a request on its way to the server; false: it is swallowed, and answered as done. */
bool mutant_request(struct sim *s, struct sim_request *r);
/* Spoils what the operator is shown. */
struct object mutant_object(struct sim *s, const struct version *v);
/* The operator was shown a state of a job: now is the time. */
void mutant_shown(struct sim *s, struct sim_job *job);
bool mutant_drops(struct sim *s, const struct item *it);
/* Submits a request as if the operator had. */
void link_submit_spoiled(struct sim *s, const struct sim_request *like);

#endif
