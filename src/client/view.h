/* What people see of a job: the columns of dljob list. */
#ifndef CLIENT_VIEW_H
#define CLIENT_VIEW_H

#include "base/clock.h"
#include "base/json.h"
#include "job/record.h"

struct job_view {
	struct str ns, name, uid;
	struct str state;  /* the record's phase; Waiting if no operator has looked at it yet */
	struct str reason; /* one line: what it waits for, or why it ended */
	struct str pods;   /* 3/4 */
	enum phase phase;
	int64_t restarts;
	msec created, deleted; /* 0: not known; nobody asked for it */
};

/* Reads what is needed of the whole object; the texts are ROOT's. */
struct job_view job_view(yyjson_val *root);

/* As age_format() has it; empty if SINCE is 0. A time that is yet to come is 0s. */
struct str age_text(struct arena *a, msec since, msec now);

#endif
