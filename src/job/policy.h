/*
 * The policy document. It is the same wherever it is said: by the user under spec.policy (or in the
 * annotation of a kind whose spec is an array), by a kind that translates its own fields ("own"), and
 * by a kind's defaults. One reader for all of them.
 *
 *   restart: {policy, scope, limit, window, backoff: {initialSeconds, maxSeconds}, exitCodes,
 *             oomPermanent, limitByRole (kinds only)}
 *   complete, fail, timeLimit, activeDeadlineSeconds, ttlSecondsAfterFinished, cleanPods, suspend
 *   doNotDisrupt, startAfter, runningDeadlineSeconds (users only)
 *   schedulingPolicy: {minAvailable, queue, priorityClass, minResources, scheduleTimeoutSeconds} (users only)
 *   tensorboard: {logDir, image, volumes, volumeMounts, serviceType, ttlSecondsAfterFinished}
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
	SAID_WINDOW = 1 << 14,
	SAID_LIMIT_BY_ROLE = 1 << 15, /* kinds only */
};

/* Where a document stands, and what the kind calls its fields there ({"restart.policy":
   "restartPolicy"}, may be NULL), so that problems name what the user wrote. WHO is for the kind's author, who knows
   no paths: role "master"; empty: the job. */
struct policy_place {
	struct str path;
	yyjson_val *fields;
	struct str who;
};

/* The path of KEY ("restart.policy") in the document at AT; of the document itself if KEY is empty. */
struct str place_path(struct policy_place at, struct str key, struct arena *a);

/* What one document says of a companion. */
struct companion_policy {
	unsigned said; /* first: the decoder sets it */
	bool wanted;   /* it is named, whatever is said of it */
	struct str image;
	yyjson_val *volumes, *mounts; /* lists of objects */
	enum service_type service;
	int64_t ttl;
	struct str log_dir; /* TensorBoard's */
};

/* What one document says on one level (the job, or one role). */
struct policy {
	unsigned said; /* first: the decoder sets it */
	struct restart restart;
	enum role_end role_complete, role_fail; /* for a role */
	enum job_end complete, fail;            /* for the job */
	struct str chief_role;
	int32_t chief_index;
	struct policy_place at; /* where the document stands */
	yyjson_val *roles;      /* of the user's document: what stands under `roles`, unread */
	int64_t time_limit, active_deadline, ttl;
	enum clean clean;
	bool suspend;
	bool do_not_disrupt;
	int64_t running_deadline; /* -1: not said */
	yyjson_val *start_after;  /* unread */
	struct scheduling scheduling;
	struct companion_policy companions[COMPANION_COUNT];
};

enum policy_level { POLICY_JOB, POLICY_ROLE };
/* Who said it: users may not set kinds-only fields, and alone have `roles`, `doNotDisrupt`, `schedulingPolicy`,
   `startAfter` and `runningDeadlineSeconds`. What a kind says may hold the user's values (`own`), or only its own
   (`default`). */
enum policy_source { POLICY_USER, POLICY_KIND, POLICY_DEFAULT };

/* Reads DOC (an object, or NULL or null: nothing is said) into *RET. Unknown fields and wrong values
   go to P, named by AT; what is wrong is not said. */
void policy_read(struct policy *ret, yyjson_val *doc, struct policy_place at, enum policy_level level,
                 enum policy_source source, struct problems *p);

/* The layers of a role's policy, the nearest first. */
enum policy_layer {
	LAYER_USER_ROLE,
	LAYER_OWN_ROLE,
	LAYER_USER_JOB,
	LAYER_OWN_JOB,
	LAYER_DEFAULT_CHIEF, /* only for the one replica that is the chief */
	LAYER_DEFAULT_ROLE,
	LAYER_DEFAULT_JOB,
	LAYER_COUNT
};

struct policy_layers {
	const struct policy *v[LAYER_COUNT];
};

/* The effective restart rules of a role, or of the chief. */
struct restart policy_settle_restart(const struct policy_layers *layers);
/* The effective restart, complete and fail of ROLE: of each thing what the nearest layer says. */
void policy_settle_role(struct role *role, const struct policy_layers *layers, struct problems *p);
/* The effective policy of the job itself. The chief's role is returned by name: there may be none
   such. Empty unless job->complete is JOB_END_CHIEF; *RET_AT is the document that said it. */
struct str policy_settle_job(struct job *job, const struct policy *user, const struct policy *own,
                             const struct policy *by_default, struct policy_place *ret_at);
/* Reports what USER and OWN, two documents of one level, say against each other. */
void policy_conflicts(const struct policy *user, const struct policy *own, enum policy_level level, struct problems *p);

/* The set of "137,128", "128-255", 137, or [137, "140-150"]; "" and [] are the empty set. False,
   with a problem, if it is none. */
bool code_set_read(struct code_set *ret, yyjson_val *doc, struct str path, struct problems *p);

bool code_set_empty(const struct code_set *s);
/* Sorted, as ranges: "3,128-255". */
struct str code_set_format(const struct code_set *s, struct arena *a);

/* The OpenAPI schema of spec.policy, for the CRDs. A literal JSON text. */
extern const char policy_schema[];

#endif
