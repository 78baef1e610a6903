/*
 * The policy document. It is the same wherever it is said: by the user under spec.policy (or in the
 * annotation of a kind whose spec is an array), by a kind that translates its own fields ("own"), and
 * by a kind's defaults. One reader for all of them.
 *
 *   restart: {policy, scope, limit, backoff: {initialSeconds, maxSeconds}, exitCodes}
 *   complete, fail, timeLimit, activeDeadlineSeconds, ttlSecondsAfterFinished, cleanPods, suspend
 *   roles: {NAME: {restart, complete, fail}}
 */
#ifndef JOB_POLICY_H
#define JOB_POLICY_H

#include "job/job.h"

/* One bit for each thing that can be said. */
enum policy_field {
	SAID_RESTART_POLICY = 1 << 0,
	SAID_SCOPE = 1 << 1,
	SAID_LIMIT = 1 << 2,
	SAID_BACKOFF_INITIAL = 1 << 3,
	SAID_BACKOFF_MAX = 1 << 4,
	SAID_EXIT_CODES = 1 << 5,
	SAID_COMPLETE = 1 << 6,
	SAID_FAIL = 1 << 7,
	SAID_TIME_LIMIT = 1 << 8,
	SAID_ACTIVE_DEADLINE = 1 << 9,
	SAID_TTL = 1 << 10,
	SAID_CLEAN = 1 << 11,
	SAID_SUSPEND = 1 << 12,
	SAID_OOM_PERMANENT = 1 << 13, /* kinds only */
};

/* What one document says on one level (the job, or one role). */
struct policy {
	unsigned said;
	struct restart restart;
	enum role_end role_complete, role_fail; /* for a role */
	enum job_end complete, fail;            /* for the job */
	struct str chief_role;
	int32_t chief_index;
	struct str path; /* where the document stands */
	int64_t time_limit, active_deadline, ttl;
	enum clean clean;
	bool suspend;
};

enum policy_level { POLICY_JOB, POLICY_ROLE };
/* Who said it: users get unknown fields and wrong values reported, and may not set kinds-only fields. */
enum policy_source { POLICY_USER, POLICY_KIND };

/* Reads DOC (an object, or NULL: nothing is said) into *RET. Problems go to P with PATH in front. */
void policy_read(struct policy *ret, yyjson_val *doc, struct str path, enum policy_level level,
		 enum policy_source source, struct problems *p);

/* The set of "137,128", "128-255", 137, or [137, "140-150"]. False, with a problem, if it is none. */
bool code_set_read(struct code_set *ret, yyjson_val *doc, struct str path, struct problems *p);

/* The OpenAPI schema of spec.policy, for the CRDs. A literal JSON text. */
extern const char policy_schema[];

#endif
