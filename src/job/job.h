/* The common job: everything that any kind can say, in one structure, so that every policy works
   for every kind. Made by job_read() from the document that a kind's Lua returns. */
#ifndef JOB_JOB_H
#define JOB_JOB_H

#include "base/arena.h"
#include "base/clock.h"
#include "job/companion.h"
#include "job/problems.h"
#include "object/needs.h"
#include "object/tolerations.h"

#include <yyjson.h>

enum {
	JOB_MAX_ROLES = 64,
	JOB_MAX_REPLICAS = 100000, /* of all roles together */
	JOB_NAME_KEPT = 63,        /* a child's name is a DNS label */
};

enum restart_policy {
	RESTART_NEVER,
	RESTART_ALWAYS,
	RESTART_ON_FAILURE,
	RESTART_ON_NODE_FAIL,
	RESTART_EXIT_CODE,
	RESTART_ON_NODE_FAIL_WITH_EXIT_CODE,
};

/* What starts again when one replica fails. */
enum scope { SCOPE_POD, SCOPE_ROLE, SCOPE_JOB };

/* Which replicas decide that a role has ended. NONE: the role takes no part. */
enum role_end { END_ANY, END_RANK0, END_ALL, END_NONE };

/* Which roles decide that the job has ended. */
enum job_end { JOB_END_ANY, JOB_END_ALL, JOB_END_CHIEF };

enum clean { CLEAN_ALL, CLEAN_RUNNING, CLEAN_NONE };

/* Exit codes 0…255 as a set. */
struct code_set {
	uint64_t bits[4];
};

static inline bool code_set_has(const struct code_set *s, int32_t code)
{
	return code >= 0 && code < 256 && (s->bits[code / 64] >> (code % 64) & 1);
}

struct restart {
	enum restart_policy policy;
	enum scope scope;
	int32_t limit;           /* counted restarts; -1: none */
	int32_t window;          /* seconds that an attempt must run for the count to begin anew; 0: it never does */
	bool limit_by_role;      /* the limit is of the role, whatever the scope */
	int32_t backoff_initial; /* seconds; the first restart waits for nothing, the second this long */
	int32_t backoff_max;     /* seconds; each one doubles up to here */
	struct code_set codes;   /* the codes that are worth another try */
	bool oom_permanent;      /* OOMKilled is not, whatever its code */
};

enum container_match { MATCH_NAME, MATCH_PREFIX, MATCH_FIRST };

struct port {
	struct str name;
	int32_t number;
};

/* One container of the template, in the order init containers, containers. */
struct template_container {
	struct str name;
	bool init;
	bool counts;              /* its exit code decides */
	const struct port *ports; /* with {"prefix"} only those of that prefix, and only if it counts */
	size_t n_ports;
};

struct role {
	struct str name;       /* lower case, a part of names and labels */
	struct str title;      /* as the user wrote it: WORKER */
	struct str path;       /* where it stands in the manifest: spec.replicaSpecs[1] */
	struct str count_path; /* … and its number of replicas: spec.replicaSpecs[1].replicas */
	int32_t count;
	int32_t min, max; /* -1: not given */
	bool elastic;     /* members may come and go without a restart */
	bool aux;         /* does not count: kept running, outlives the end */
	bool service;     /* wants a service for each replica */
	yyjson_val *template;
	enum container_match match;
	struct str match_text;
	bool env_everywhere;      /* derived variables go to all containers, not only those that count */
	const struct port *ports; /* of the service */
	size_t n_ports;
	const struct template_container *containers;
	size_t n_containers;
	struct restart restart;
	enum role_end complete, fail;
	uint64_t after;                    /* by index: the roles whose replicas are up before its pods are made */
	bool probed;                       /* a container has a readinessProbe: a replica is up when its pod is ready */
	const struct companion *companion; /* job_read() added it; NULL: it is the kind's own */
	struct needs needs;                /* of one pod, as it is made; only where there are gangs */
	struct tolerations tolerations;    /* that the template asks for */
};

/* An ending that somebody outside asked for by annotation. */
enum external_end {
	EXTERNAL_NONE,
	EXTERNAL_PREEMPTED,
	EXTERNAL_FAILED,
	EXTERNAL_NODE_FAILED,
	EXTERNAL_SUCCEEDED,
	EXTERNAL_TIMED_OUT,
};

/* An annotation that asks for it. */
struct end_word {
	struct str annotation;
	enum external_end end;
};

/* Those of all kinds, in the order of precedence. Returns how many. */
size_t external_common(const struct end_word **ret);
/* By the final phase that it leads to: "NodeFailed"; EXTERNAL_NONE if there is none such. */
enum external_end external_parse(struct str phase);

/* How a gang scheduler shall take the job. */
struct scheduling {
	int32_t min_available; /* pods that must start together; -1: all */
	struct str queue, priority_class;
	yyjson_val *min_resources; /* as the user wrote them; NULL: what these pods ask for */
	struct needs needs;        /* … as the cluster calls them; only where there are gangs */
	int32_t timeout;           /* seconds to wait for them; -1: the scheduler's own */
};

struct job {
	/* Identity, from metadata. */
	struct str kind; /* the kind's id: TfJob.mlkube.io */
	struct str ns, name, uid;
	msec created;
	int64_t generation; /* metadata.generation */
	bool deleting;      /* has a deletionTimestamp */

	struct role *roles;
	size_t n_roles;

	enum job_end complete, fail; /* fail is never CHIEF */
	size_t chief_role;           /* with JOB_END_CHIEF */
	int32_t chief_index;
	struct restart chief_restart; /* the chief's own; the other replicas of its role have the role's */
	enum clean clean;
	int64_t time_limit;       /* seconds since running; -1: none */
	int64_t active_deadline;  /* seconds since start; -1: none */
	int64_t running_deadline; /* seconds from the first pod until all replicas run; -1: none */
	int64_t ttl;              /* seconds after the end; -1: keep */
	bool suspend;
	enum external_end external;
	struct str external_message;
	struct scheduling scheduling;
	bool do_not_disrupt; /* node autoscalers leave the nodes of its pods alone */

	/* What is wrong with it. A job with errors gets no children. */
	struct problems problems;
};

/* The role of that name, or NULL. */
const struct role *job_role(const struct job *job, struct str name);

/* Names of enum values as users write them: "OnNodeFailWithExitCode", "Pod", "Rank0" … */
const char *restart_policy_name(enum restart_policy p);
const char *scope_name(enum scope s);
const char *role_end_name(enum role_end e);
const char *job_end_name(enum job_end e); /* not for CHIEF */
const char *clean_name(enum clean c);

struct job_identity {
	struct str kind, ns, name, uid;
	msec created;
	int64_t generation;
	bool deleting;
	const struct end_word *end_words; /* of its kind alone */
	size_t n_end_words;
};

/*
 * Reads the common job document DOC that a kind made:
 *
 *   {"roles": [{"name", "title", "path", "count", "min", "max", "elastic", "aux", "service",
 *               "template", "containers": {"name"|"prefix"|"first"}, "env": "counting"|"all",
 *               "ports": [{"name","port"}] | {"prefix"},
 *               "own": {…}, "default": {…},            policy of the role, see policy.h
 *               "chief": {…},                          default of one replica of it, if that is the chief
 *               "fields": {…}}],
 *    "own": {…}, "default": {…}, "fields": {…},        policy of the job
 *    "tensorboard": {"name", "labels"}}                what a companion's children are called, if it is there
 *
 * name, count and template must be there. "fields" is optional and says what the kind calls things
 * below "path" (for the job: below "spec"), so that messages name the user's field:
 * {"count": "replicas", "restart.policy": "restartPolicy"}; "" is the place itself, where a map's key is the name.
 *
 * POLICY is the user's spec.policy (or NULL) and POLICY_PATH where it stands, ANNOTATIONS the
 * object's (or NULL). Everything that is wrong is put into the job's problems; the job is returned
 * in any case, and what could not be read has its default. All memory is from A; the template
 * pointers reach into DOC.
 */
struct job *job_read(struct arena *a, const struct job_identity *id, yyjson_val *doc, yyjson_val *policy,
                     struct str policy_path, yyjson_val *annotations);

/* May the document's "fields" have KEY, of a role or of the job? If not, *RET_NEAR is what was perhaps meant. */
bool job_fields_have(bool of_role, struct str key, struct str *ret_near);

#endif
