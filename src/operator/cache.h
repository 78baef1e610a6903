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
	/* Where resourceVersions are no numbers: */
	VERSIONS_KEPT = 8,       /* … that an object remembers as replaced */
	VERSIONS_SKIPPED = 64,   /* … that are skipped while one waits for one's own write to show up */
	GONE_KEPT = 1024,        /* UIDs of deleted objects that are remembered */
	NODES_MISSED_MAX = 4096, /* nodes of which a GET said 404 */
};

struct versions {
	uint64_t old[VERSIONS_KEPT];
	uint32_t n_old, skipped;
	bool ahead;    /* came with an answer, and no watch has shown it yet */
	bool unsure;   /* a list or a DELETED event denies it; a GET must tell */
	uint64_t mark; /* the last list that held it */
};

struct cached_pod {
	struct str key; /* ns/name */
	struct pod *pod;
	struct versions versions;
	struct children *children;
	struct cached_pod *prev, *next;
};

/* Of a child that has no last state worth keeping: a service or a PodGroup. */
struct cached_child {
	struct str key;
	enum resource resource;
	union {
		struct service *service;
		struct group *group;
	};
	struct versions versions;
	struct cached_child *prev, *next;
};

/* All that carries one job's UID. */
struct children {
	struct str uid;
	struct cached_pod *pods;
	struct cached_child *others;
	size_t n_pods, n_others;
};

/* A child that the plan wants. */
struct create {
	uint32_t role;
	int32_t index;
	int64_t generation;
};

/* Those that wait for their turn (creates.c). */
struct creates {
	struct create *v; /* NULL: none */
	size_t n, at;
	bool pods;
	size_t in_flight, window; /* how many there are, and may be */
	msec until;               /* the list is old then */
	bool stale;               /* something else has happened since it was planned */
	uint64_t rv;              /* of the job's version that it was planned for */
	struct cached_job *prev, *next;
};

struct cached_job {
	struct str key; /* kind ns/name */
	struct str kind;
	struct meta meta;
	/* The whole object, as text or, while it is looked at, as a tree (open.c). */
	struct str text;
	yyjson_doc *doc;
	char *problem; /* why it is not the whole; NULL: it is */
	struct cached_job *open_prev, *open_next;
	struct versions versions;
	bool gone; /* no longer in the cache; lives while requests are in flight */

	/* Made of it by gather. */
	struct str parsed_rv; /* of the object that PARSED, RECORD and BARE show */
	yyjson_doc *source;   /* the object that PARSED was made of; may be DOC */
	struct kind_job *parsed;
	struct job *bare;   /* where the kind's code failed: a job that only says so */
	uint64_t read_hash; /* of what the kind reads of the object */
	struct record *record;
	struct arena arena; /* of RECORD and BARE */
	bool leave_alone;   /* its record cannot be read */
	bool asked;         /* for pods that this record knows of and we do not */

	/* Of the loop. */
	struct queue_item item;
	size_t in_flight; /* it is not planned again until all are answered */
	struct creates creates;
	bool created, refused, failed; /* among the answers since the last pass */
	bool aux_refused;              /* … of children that do not count */
	msec retry_after;
	struct refusal refusal, aux_refusal;
	char *refusal_text, *aux_refusal_text;
	uint64_t group_kept; /* its PodGroup is not as it wants it, and stays so */
	msec status_written;
	bool delete_sent; /* we asked for its end */

	/* For the observer. */
	msec pass_began;
	enum phase phase;     /* that the object shows */
	struct digest digest; /* of the record that we saw last */
	bool wrote;           /* the record that we see next is of our own making */
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

struct job_list {
	uint64_t round;
	bool in_list, synced;
	char kind[]; /* "" for a list of all kinds */
};

struct cache {
	struct map jobs; /* by key */
	struct map jobs_by_uid;
	struct map pods, services, groups; /* by key */
	struct map children;               /* by job UID */
	struct map nodes;
	size_t nodes_missed;
	struct fleet fleet; /* NODES, counted */
	bool fleet_stale;
	struct gone_uid gone[GONE_KEPT];
	size_t n_gone;
	uint64_t sent;             /* the last request that was sent */
	uint64_t round[RES_COUNT]; /* of lists; jobs have their own */
	bool in_list[RES_COUNT];
	bool synced[RES_COUNT];
	struct map job_lists; /* kind → struct job_list: each kind may be listed by itself, at any time */
	/* Something that this job's plan looks at has changed. */
	void (*changed)(void *cookie, struct cached_job *job);
	/* Frees it, or keeps it until its requests are answered. */
	void (*drop_job)(void *cookie, struct cached_job *job);
	void *cookie;
};

void cache_release(struct cache *c);

/* Takes an event of a watch: SYNC, PUT, GONE or SYNCED. */
void cache_event(struct cache *c, const struct cluster_event *ev);
/* Takes the object in the answer to the request that was sent as number SENT. */
void cache_answer(struct cache *c, const struct object *o, uint64_t sent);
/* A GET or a DELETE said that it is not there; UID: the object of which that is known. */
void cache_missing(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid);
/* A DELETE of ours was taken. */
void cache_deleting(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid, msec now,
                    bool force);
void cache_node_missing(struct cache *c, struct str name);

/* Has everything been listed once: the jobs of all kinds, pods, services, and nodes and PodGroups if they matter? */
bool cache_ready(const struct cache *c, size_t kinds, bool nodes, bool groups);
struct children *cache_children(const struct cache *c, struct str uid);
struct cached_pod *cache_pod(const struct cache *c, struct str ns, struct str name);
/* A service or a PodGroup. */
struct cached_child *cache_child(const struct cache *c, enum resource r, struct str ns, struct str name);
/* What is known of it; the pointer to change it by. */
struct meta *cached_child_meta(const struct cached_child *ch);
struct cached_job *cache_job(const struct cache *c, struct str kind, struct str ns, struct str name);
const struct fleet *cache_fleet(struct cache *c);

/* Frees what a cached job owns, and itself. */
void cached_job_free(struct cached_job *job);

#endif
