/*
 * What a cluster can do, as values: requests go in, events and outcomes come out. Three clusters
 * implement it: a real API server, this machine, and the simulator. Nothing here blocks.
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "object/object.h"
#include "object/resource.h"

#include <yyjson.h>

enum verb {
	VERB_GET,
	VERB_CREATE,
	VERB_DELETE,
	VERB_PATCH,        /* JSON merge patch of the object */
	VERB_PATCH_STATUS, /* JSON merge patch of its status subresource */
};

struct request {
	uint64_t id; /* the caller's; comes back in the outcome */
	enum verb verb;
	enum resource resource;
	struct str kind;     /* RES_JOB: the kind's id, TfJob.mlkube.io */
	struct str ns, name; /* CREATE: the name stands in the body too */
	struct str body;     /* CREATE: the object; PATCH*: the patch; JSON */
	struct str uid;      /* DELETE: precondition; empty: none */
	int32_t grace;       /* DELETE: seconds; -1: the object's own */
};

/* A job's object as it is stored: the kind reads its spec, the operator its status. */
struct job_object {
	struct meta meta;
	struct str kind;    /* the kind's id */
	yyjson_val *root;   /* the whole object */
	yyjson_doc **doc;   /* what it is of: whoever keeps it takes that, and leaves NULL. NULL: it cannot be had */
	struct str problem; /* why it is not the whole, and cannot be run; empty: it is */
};

/* An object that somebody reports. Valid until the next call of next(). */
struct object {
	enum resource resource;
	union {
		const struct job_object *job;
		const struct node *node;
		const struct child *child; /* what every child begins with */
		const struct pod *pod;
		const struct service *service;
		const struct group *group;
	};
};

/* An object's JSON is not read if it is longer: etcd takes 1.5 MB, and JSON can be six times that. */
enum { OBJECT_READ_MAX = 8 << 20 };

/* An object that was not read: it is too large (LARGE), or cannot be understood. It is unknown, never gone. */
struct skipped {
	struct meta meta;   /* its name, UID, version and owner. Without a name nobody knows which one it is */
	struct str job_uid; /* from our label */
	bool gone;          /* this was its last state */
	bool large;
};

/* NULL: it is none. */
static inline const struct child *object_child(const struct object *o)
{
	return resource_is_child(o->resource) ? o->child : NULL;
}

/* The kind of a job; of anything else, empty. */
static inline struct str object_kind(const struct object *o)
{
	return o->resource == RES_JOB ? o->job->kind : STR_NONE;
}

struct outcome {
	uint64_t id;
	int code;          /* HTTP's; 0: no answer came, it may or may not have been done */
	struct str reason; /* Kubernetes' one word: AlreadyExists, Conflict, Invalid … */
	struct str message;
	msec retry_after;     /* the server asked to wait this long; 0: it did not */
	struct object object; /* GET, CREATE, PATCH*: what the server answered with, if `code` is 2xx */
};

enum cluster_event_type {
	EVENT_SYNC,    /* a full list of one resource begins; until it ends only its objects are put … */
	EVENT_PUT,     /* an object is there, or has changed */
	EVENT_GONE,    /* an object was deleted; this is its last state */
	EVENT_SYNCED,  /* … and has ended: what was not in it, and was known before, is gone unseen */
	EVENT_SKIPPED, /* instead of PUT or GONE, of an object that was not read */
	EVENT_OUTCOME, /* a request was answered */
};

struct cluster_event {
	enum cluster_event_type type;
	enum resource resource;
	struct str kind;      /* SYNC, SYNCED of jobs: the kind that is listed; empty: all of them. SKIPPED: the kind */
	struct object object; /* PUT, GONE */
	struct skipped skipped; /* SKIPPED */
	struct outcome outcome; /* OUTCOME */
};

struct cluster;

struct cluster_ops {
	/* Takes the request; its strings need not live on. Exactly one outcome follows. */
	void (*submit)(struct cluster *c, const struct request *r);
	/* The next event, if there is one. */
	bool (*next)(struct cluster *c, struct cluster_event *ret);
};

struct cluster {
	const struct cluster_ops *ops;
};

static inline void cluster_submit(struct cluster *c, const struct request *r)
{
	c->ops->submit(c, r);
}

static inline bool cluster_next(struct cluster *c, struct cluster_event *ret)
{
	return c->ops->next(c, ret);
}

#endif
