/* What somebody outside may want to know of the loop: metrics, Kubernetes' Events and logs are made of it. It
   is told as it happens and must do nothing but remember. */
#ifndef OPERATOR_OBSERVER_H
#define OPERATOR_OBSERVER_H

#include "base/log.h"
#include "cluster/cluster.h"
#include "job/record.h"

/* The little of a record that is compared with what was told before. */
struct record_digest {
	enum phase phase, outcome;
	msec running, restarted;       /* restarted: the last time */
	int32_t restarts[CAUSE_COUNT]; /* of all roles */
	int32_t raised;                /* how often something was started again */
};

enum observer_sight_type {
	SIGHT_PASS,   /* a pass over a job has ended, and all that it sent was answered */
	SIGHT_ANSWER, /* a request was answered */
	SIGHT_RECORD, /* the server has taken a new record of the job from us */
	SIGHT_LEFT,   /* the job is left alone */
	SIGHT_TAKEN,  /* the name of a child of it belongs to somebody else */
	SIGHT_STATUS, /* the server does not take the job's status, or not all of it */
	SIGHT_ODD,    /* the job names a scheduler that knows nothing of its gang */
	SIGHT_SPARED, /* the job would be invalid if it had not started */
	SIGHT_UNREAD, /* an object of the job is too large to be read as it changes */
};

struct observer_sight {
	enum observer_sight_type type;
	struct str kind; /* the kind's id */
	const struct meta *job;

	/* PASS */
	bool failed; /* it is tried again, with back-off */
	bool later;  /* it is looked at again at some time */
	/* ANSWER */
	enum verb verb;
	enum resource resource;
	struct str object, role; /* a child's name and role */
	int32_t index;
	int64_t generation; /* of a pod; -1: not known */
	int code;
	/* PASS, ANSWER */
	msec took;
	/* RECORD */
	const struct record_digest *before, *after;
	const struct record *record;
	/* ANSWER that is none of 2xx, LEFT, TAKEN, STATUS, ODD, SPARED, UNREAD */
	struct str message;
};

/* What stands in front of every line of the log that is about a job. */
#define JOB_FIELDS(kind, meta) F_STR("kind", (kind)), F_STR("namespace", (meta)->ns), F_STR("job", (meta)->name)

enum { SIGHT_FIELDS = 12 };
/* The fields of a line of the log about it, by the names of the labels that pods carry; what is not known is left
   out. Returns how many. */
size_t sight_fields(const struct observer_sight *s, struct log_field to[static SIGHT_FIELDS]);

struct observer {
	void (*see)(void *cookie, const struct observer_sight *s); /* NULL: nobody looks */
	void *cookie;
};

#endif
