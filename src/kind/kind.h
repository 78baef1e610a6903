/*
 * Kinds: one Lua file says everything that is particular to one API kind. C loads it in a sandbox,
 * asks it to read a manifest into the common job, and builds pods, services, status and the CRD with
 * what it says. docs/adding-a-kind.md is the description of such a file.
 */
#ifndef KIND_KIND_H
#define KIND_KIND_H

#include "base/buf.h"
#include "base/err.h"
#include "job/job.h"
#include "job/record.h"
#include "kind/pod_fields.h"

struct group;
struct kinds; /* a set of loaded kinds; one Lua state, not for several threads */

struct kind {
	struct str id; /* Kind.group, e.g. TfJob.mlkube.io: unique in a set */
	struct str group, version, kind, plural, singular;
	const struct str *short_names;
	size_t n_short_names;
	const struct end_word *end_words; /* annotations that end its jobs, beside those of all kinds */
	size_t n_end_words;
	bool spec_is_array; /* its policy stands in an annotation */
	bool foreign;       /* only a cluster has it: see kinds_add_foreign() */
	struct str file;    /* where it came from, for messages */
};

struct kind_limits {
	int64_t instructions; /* of one call */
	size_t memory;        /* bytes that one call may add */
	size_t churn;         /* bytes that one call may allocate in all, freed or not */
	size_t text;          /* bytes of one text */
	msec time;            /* of one call; instructions alone say nothing of comparisons of long texts */
	const struct clock *clock;
};

extern const struct kind_limits kind_limits_default;

/* LIMITS: NULL for the usual ones. */
struct kinds *kinds_new(const struct kind_limits *limits);
/* After all jobs that were read with it. */
void kinds_free(struct kinds *k);
/* For CLEANUP. */
void kinds_freep(struct kinds **k);

/* Each checks the file as a whole: syntax, missing and unknown fields, wrong types, a kind that is
   there already. On an error the set is as it was. */
bool kinds_load_text(struct kinds *k, struct str file, struct str text, struct err *e);
bool kinds_load_file(struct kinds *k, const char *path, struct err *e);
/* All *.lua of a folder, in the order of their names. */
bool kinds_load_dir(struct kinds *k, const char *dir, struct err *e);
/* Changes when one of those files does. */
uint64_t kinds_dir_hash(const char *dir);
/* The kinds that are compiled in. */
bool kinds_load_builtin(struct kinds *k, struct err *e);

/* A kind that a cluster serves and that has no Lua here; WHAT says group, version, kind, plural, singular and short
   names, which are copied. Of its jobs kind_read() knows who they are, and of their roles what an operator has noted in
   their status; nothing is checked, and no child or status can be made. False: the set has it already. */
bool kinds_add_foreign(struct kinds *k, const struct kind *what);

/* What pods that ask for an accelerator get beside what their templates say. Holds for jobs that are read from now on;
   A must live as long as the set and its jobs; NULL: nothing. */
struct accelerators;
void kinds_set_accelerators(struct kinds *k, const struct accelerators *a);

/* How many bytes a pod, and all pods of a job together, may have; a job with more is invalid, unless it has started
   already. Holds for jobs that are read from now on. */
struct kind_sizes {
	uint64_t pod, job;
};
extern const struct kind_sizes kind_sizes_default;
void kinds_set_sizes(struct kinds *k, const struct kind_sizes *sizes);

/* The pods that count of all jobs form gangs for that scheduler (job/gang.h); before the first job is read. */
void kinds_set_gang(struct kinds *k, struct str scheduler);

size_t kinds_count(const struct kinds *k);
/* In the order of loading. */
const struct kind *kinds_at(const struct kinds *k, size_t i);
/* By "mlkube.io/v1beta1" and "TfJob"; NULL if there is none. */
const struct kind *kinds_find(const struct kinds *k, struct str api_version, struct str kind);
const struct kind *kinds_by_id(const struct kinds *k, struct str id);
/* Do people mean it by NAME: kind (TfJob), plural, singular, short name, id (TfJob.mlkube.io), plural.group or
   singular.group, in any case? */
bool kind_is_named(const struct kind *k, struct str name);

/* A manifest, read. */
struct kind_job;

/* Reads OBJECT (metadata and spec). What is wrong with it is in the job's problems; NULL only if the
   kind's own code failed (ERR_LUA, with file and line) or OBJECT is no object. OBJECT must live as
   long as the result. UID: used where metadata has none (render); usually empty. */
struct kind_job *kind_read(struct kinds *k, const struct kind *kind, yyjson_val *object, struct str uid, struct err *e);
void kind_job_free(struct kind_job *kj);
const struct job *kind_job(const struct kind_job *kj);

/* Adds to the job's problems what Kubernetes would not take of its metadata and its templates. For people's commands: a
   job that an operator runs already stays as valid as it was. */
void kind_check_fields(struct kind_job *kj, enum unknown_fields unknown);
/* The same of an object of KIND, or of a patch of one, that nobody has read. */
void kind_check_body(const struct kind *kind, yyjson_val *object, const struct pod_fields_check *c);

/* The pod and the service of one replica as JSON, appended to OUT. RESTARTS is what the role's
   replicas are told of their restarts. */
bool kind_pod(struct kind_job *kj, size_t role, int32_t index, int64_t generation, int32_t restarts, struct buf *out,
              struct err *e);
bool kind_service(struct kind_job *kj, size_t role, int32_t index, struct buf *out, struct err *e);

/* With kinds_set_gang(): the job's PodGroup as JSON, which says WANT, and the merge patch that makes HAVE so, appended
   to OUT. */
struct gang;
bool kind_group(struct kind_job *kj, const struct gang *want, struct buf *out, struct err *e);
bool kind_group_patch(struct kind_job *kj, const struct group *have, const struct gang *want, struct buf *out,
                      struct err *e);
/* Its name; lives as long as the job. */
struct str kind_group_name(struct kind_job *kj);

struct kind_names {
	struct str pod, service; /* valid until the next call with this kind_job; service may be empty */
};
bool kind_names(struct kind_job *kj, size_t role, int32_t index, struct kind_names *ret, struct err *e);

/* The whole status of the object as this kind shows it: its own fields, `conditions`, and
   `dlOperator`. Made in DOC. */
yyjson_mut_val *kind_status(struct kind_job *kj, const struct record *r, yyjson_mut_doc *doc, struct err *e);
/* What an operator of before left in STATUS, when there is no record yet; NULL: nothing. */
struct record *kind_adopt(struct kind_job *kj, yyjson_val *status, struct arena *a, struct err *e);

/* The spec of a manifest of this kind, made in DOC: N roles that all run TEMPLATE (a pod template with one container).
   What the kind's own write() says; ERR_INVALID if it has none. */
struct kind_role {
	struct str name;
	int32_t count;
};
bool kind_writes(const struct kind *kind);
yyjson_mut_val *kind_write(struct kinds *k, const struct kind *kind, const struct kind_role *roles, size_t n,
                           yyjson_val *template, yyjson_mut_doc *doc, struct err *e);
/* *E says of a problem of what it wrote where it comes from: "p.lua:12: write: spec.wrkers: unknown field". */
void kind_blame_write(struct kinds *k, const struct kind *kind, const struct problem *p, struct err *e);

/* Its CustomResourceDefinition, apiextensions.k8s.io/v1. */
yyjson_mut_val *kind_crd(struct kinds *k, const struct kind *kind, yyjson_mut_doc *doc, struct err *e);

#endif
