/*
 * What the operator knows of the cluster: jobs, their pods and services, and nodes, as the watches and
 * the answers to its own requests showed them. An answer is seen at once; what a watch delivers late
 * never overwrites it (versions.h).
 */
#ifndef OPERATOR_CACHE_H
#define OPERATOR_CACHE_H

#include "base/arena.h"
#include "base/map.h"
#include "cluster/cluster.h"
#include "kind/kind.h"
#include "operator/observer.h"
#include "operator/queue.h"
#include "plan/plan.h"

enum {
	GONE_KEPT = 1024,        /* UIDs of deleted objects that are remembered */
	NODES_MISSED_MAX = 4096, /* nodes of which a GET said 404 */
};

struct versions {
	bool ahead;    /* came with an answer, and no watch has shown it yet */
	bool unsure;   /* a list or a DELETED event denies it; a GET must tell … */
	uint64_t sent; /* … that is sent after this request, the last one before the doubt */
	uint64_t mark; /* the last list that held it */
};

struct cached_child {
	struct str key; /* ns/name */
	enum resource resource;
	union {
		struct child *child; /* what every one begins with */
		struct pod *pod;
		struct service *service;
		struct group *group;
	};
	struct versions versions;
	struct children *of;
	struct cached_child *prev, *next;
};

/* All that carries one job's UID: pods, services, PodGroups. */
struct children {
	struct str uid;
	struct cached_child *first[RES_COUNT];
	size_t n[RES_COUNT], n_all;
};

/* A child that the plan wants. */
struct child_wish {
	uint32_t role;
	int32_t index;
	int64_t generation;
};

/* Those that wait for their turn (creates.c). */
struct child_wishes {
	struct child_wish *v; /* NULL: none */
	size_t n, at;
	bool pods;
	size_t in_flight, window; /* how many there are, and may be */
	msec until;               /* the list is old then */
	msec deadline;            /* the job is looked at then, whatever is in the list */
	bool stale;               /* something else has happened since it was planned */
	uint64_t rv;              /* of the job's version that it was planned for */
	struct cached_job *job;   /* whose they are */
	struct child_wishes *prev, *next;
};

/* How much of a job's status the server takes. */
enum status_form {
	STATUS_WHOLE,
	STATUS_BARE,  /* not the kind's own fields: the record alone is written */
	STATUS_SHORT, /* … and that without what only back-offs need */
};

/* A child's name that somebody else has (taken.c). */
struct name_taken {
	struct cached_job *job; /* that waits for it; NULL: nobody does */
	enum resource resource;
	struct str name, role; /* in one block at `name.p` */
	int32_t index;
	struct name_taken *prev, *next;
};

/* What the server said to the last create of one sort and role that it did not take (refused.c). Few jobs have one, and
   none more than two for each role that it ever had, and its PodGroup's. */
struct child_refused {
	struct refusal refusal;
	char *text;              /* the message */
	struct name_taken taken; /* what it is about, if that is a name */
	bool now, made;          /* among the answers since the last pass */
	struct child_refused *next;
	char role[];
};

/* What was answered when we asked for pods that the record saw and we did not (ask.c). */
struct pods_asked_of_role {
	struct str name;
	int64_t *answers; /* by index */
	int32_t n;
};

struct pods_asked {
	struct pods_asked_of_role *v;
	size_t n;
	bool good, bad; /* among the answers since the last pass */
	bool again;     /* those that failed are due */
};

struct cached_job {
	struct str key; /* kind ns/name */
	struct str kind;
	struct meta meta;
	/* The whole object, as text or, while it is looked at, as a tree (open.c). */
	struct str text;
	yyjson_doc *doc;
	char *problem;                  /* why it is not the whole; NULL: it is */
	struct cached_job *prev, *next; /* of those that are trees */
	struct versions versions;
	uint64_t edit_hash; /* of what changes when somebody edits it */
	bool edited;        /* … and it has: whoever looks at it next resets this */
	bool gone;          /* no longer in the cache; lives while requests are in flight */
	bool leave_alone;   /* its record cannot be read */

	/* Made of it by gather. */
	struct str parsed_rv; /* of the object that PARSED, RECORD and BARE show */
	yyjson_doc *source;   /* the object that PARSED was made of; may be DOC */
	struct kind_job *parsed;
	struct job *bare;   /* where the kind's code failed: a job that only says so */
	uint64_t read_hash; /* of what the kind reads of the object */
	struct record *record;
	struct arena arena;      /* of RECORD and BARE */
	struct pods_asked asked; /* for pods that the record knows of and we do not */
	/* Questions about creates whose answers were lost, which were lost as well: nobody knows what stands there. */
	struct request_sent *doubts;
	size_t n_doubts;

	/* Of the loop. */
	struct queue_item item;
	size_t in_flight; /* it is not planned again until all are answered */
	struct child_wishes creates;
	/* Among the answers since the last pass. */
	bool failed;
	bool unproven; /* none of these answers shows that what failed before succeeds now */
	msec retry_after;
	struct child_refused *refused;
	char *undeleted; /* what was said to its last DELETE that was refused */
	struct losses losses;
	uint64_t kept[RES_COUNT]; /* what the server made of our last write of a sole child, where it is not as we want
	                             it */
	msec status_written;
	enum status_form status_form;
	msec status_whole;     /* with another form: all of it is tried again then */
	msec status_held;      /* what the plan is told */
	int32_t status_failed; /* writes in a row that were not taken, of what can only be observed */
	bool status_denied;    /* "not now" was said to all of it */
	msec deadline;         /* of its last plan: no back-off is longer; 0 and NEVER: none */
	bool delete_sent;      /* we asked for its end */

	/* For the observer. */
	msec pass_began;
	enum phase phase;            /* that the object shows */
	struct record_digest digest; /* of the record that we saw last */
	bool wrote;                  /* the record that we see next is of our own making */
};

struct cached_node {
	struct node node; /* first: the plan takes it for a struct node */
	uint64_t mark;
	char name[];
};

/* A UID that never comes back, unless somebody who asked later found it. */
struct gone_uid {
	uint64_t hash;
	uint64_t sent; /* the last request that was sent before we knew */
};

struct cache_list {
	uint64_t round;
	bool in_list, synced;
	bool blind;  /* something in it has no name: what is not in it is doubted, not gone */
	char kind[]; /* "" for a list of all kinds */
};

struct cache {
	struct map jobs; /* by key */
	struct map jobs_by_uid;
	struct map by_name[RES_COUNT]; /* pods, services, PodGroups: struct cached_child */
	struct map children;           /* by job UID */
	struct map nodes;
	size_t nodes_missed;
	struct fleet fleet; /* NODES, counted */
	bool fleet_stale;
	struct gone_uid gone[GONE_KEPT];
	size_t n_gone;
	uint64_t sent;             /* the last request that was sent */
	uint64_t round[RES_COUNT]; /* of lists; jobs have their own */
	bool in_list[RES_COUNT];
	bool blind[RES_COUNT];
	bool synced[RES_COUNT];
	msec now;             /* kept by whoever owns the cache */
	struct map job_lists; /* kind → struct cache_list: each kind may be listed by itself, at any time */
	/* Something that this job's plan looks at has changed. */
	void (*changed)(void *cookie, struct cached_job *job);
	/* Whatever stood under the name of a child is gone; NULL: nobody wants to know. */
	void (*left)(void *cookie, enum resource resource, struct str ns, struct str name);
	/* Frees it, or keeps it until its requests are answered. */
	void (*drop_job)(void *cookie, struct cached_job *job);
	void *cookie;
};

void cache_release(struct cache *c);

/* Takes an event of a watch: SYNC, PUT, GONE, SKIPPED or SYNCED. */
void cache_event(struct cache *c, const struct cluster_event *ev);
/* Takes the object in the answer to the request that was sent as number SENT. */
void cache_answer(struct cache *c, const struct object *o, uint64_t sent);
/* A GET or a DELETE said that it is not there; UID: the object of which that is known. */
void cache_missing(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid);
/* Whether that child is still there nobody knows: a GET must tell. */
void cache_doubt(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid);
/* Was its end shown after the request of number SENT had been sent? */
bool cache_gone_since(struct cache *c, struct str uid, uint64_t sent);
/* A DELETE of ours was taken. */
void cache_deleting(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid, msec now,
                    bool force);
/* … was refused. */
void cache_undeleted(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid);
void cache_node_missing(struct cache *c, struct str name);

/* Was it listed once? KIND: of jobs. */
bool cache_listed(const struct cache *c, enum resource r, struct str kind);
struct children *cache_children(const struct cache *c, struct str uid);
/* A pod, a service or a PodGroup; NULL: it is not known. */
struct cached_child *cache_child(const struct cache *c, enum resource r, struct str ns, struct str name);
/* … if it is that very one. */
struct cached_child *cache_child_of(const struct cache *c, enum resource r, struct str ns, struct str name,
                                    struct str uid);
/* What is known of it; the pointer to change it by. */
struct meta *cached_child_meta(const struct cached_child *ch);
/* Which replica it is, by its labels; of a PodGroup: none. */
struct replica_labels cached_child_replica(const struct cached_child *ch);
/* A pod of which only the last state is known. */
bool cached_child_gone(const struct cached_child *ch);
struct cached_job *cache_job(const struct cache *c, struct str kind, struct str ns, struct str name);
const struct fleet *cache_fleet(struct cache *c);

/* Forgets what was answered (ask.c). */
void ask_forget(struct cached_job *job);
/* Frees what a cached job owns, and itself. */
void cached_job_free(struct cached_job *job);
/* refused.c: what the job keeps of refusals. */
void refused_release(struct cached_job *job);

#endif
