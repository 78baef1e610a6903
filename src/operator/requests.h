/* Requests in flight, and what each is for. */
#ifndef OPERATOR_REQUESTS_H
#define OPERATOR_REQUESTS_H

#include "cluster/cluster.h"

struct cached_job;

enum request_purpose {
	FOR_STATUS,
	FOR_CREATE,
	FOR_DELETE,
	FOR_END, /* delete the job itself */
	FOR_NODE,
	FOR_JOB,    /* what does the job look like now? */
	FOR_CHILD,  /* what stands under that name? */
	FOR_SEEN,   /* the same for a pod that the record saw and we did not */
	FOR_LABELS, /* adopt it */
	FOR_SOLE,   /* make or change a child of which there is one */
};

struct request_sent {
	uint64_t id; /* 0: free */
	enum request_purpose purpose;
	enum verb verb;
	msec sent;
	struct cached_job *job;
	enum resource resource;
	/* The child that is meant, in one block at `ns.p`. */
	struct str ns, name, uid, role;
	int32_t index;
	int64_t generation;
	bool force;
	uint64_t wish; /* FOR_SOLE: the action's */
	bool durable;  /* FOR_STATUS: it says what must be remembered */
};

struct requests {
	struct request_sent *v;
	size_t n, cap;
	uint32_t *free; /* places in V that are free */
	size_t n_free;
	uint64_t serial;
	size_t in_flight;
};

/* Remembers a copy and returns its id, which is never used again. The job must live until it is answered. */
uint64_t requests_add(struct requests *r, const struct request_sent *p);
/* Which request it is, counted from the first. */
uint64_t requests_serial(uint64_t id);
/* Takes it out into *RET: false if it is not known. The strings are freed by requests_done(). */
bool requests_take(struct requests *r, uint64_t id, struct request_sent *ret);
void requests_done(struct request_sent *p);
void requests_release(struct requests *r);

#endif
