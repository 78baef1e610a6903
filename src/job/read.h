/* Inside src/job: what the files that read a job share. */
#ifndef JOB_READ_H
#define JOB_READ_H

#include "job/decode.h"

enum {
	HAS_COUNT = 1 << 0,
	HAS_MIN = 1 << 1,
	HAS_MAX = 1 << 2,
};

/* One role of the document, with what did not go into struct role. */
struct role_doc {
	unsigned said;
	struct role role;
	unsigned env; /* 0: counting, 1: all */
	yyjson_val *containers, *ports, *own, *by_default, *chief, *fields;
	struct policy_place at;
};

/* Reads containers and ports of the role's template into the role. */
void template_read(struct role_doc *doc, struct problems *p);

/* companion.c: adds the roles of the companions that USER or OWN speak of behind the others. SAYS is what the kind
   calls the children of each ({name, labels}, or NULL). DOCS and the job's roles have room for all. */
void companions_add(struct job *job, struct role_doc *docs, yyjson_val *const *says, const struct policy *user,
                    const struct policy *own, const struct policy *by_default, struct problems *p);

/* What can only be judged when all is read: names, sizes, the chief. DOCS has one entry for each of
   the job's roles. */
void job_validate(struct job *job, const struct role_doc *docs, struct problems *p);
/* … of its schedulingPolicy, which stands in the document AT. */
void scheduling_check(const struct job *job, struct policy_place at, struct problems *p);
/* start_after.c: DOC is what stands under startAfter in the document AT; NULL: nothing. */
void start_after_read(struct job *job, yyjson_val *doc, struct policy_place at, struct problems *p);
/* external.c: does one of the object's annotations end it? */
void external_read(struct job *job, const struct job_identity *id, yyjson_val *annotations);
/* Finds the chief's role, by name or title; false if there is none such: the job then completes when
   all roles do. */
bool chief_find(struct job *job, struct str name, struct policy_place at, struct problems *p);

/* The role that users mean by NAME: its name or its title in any letter case; n_roles if none. */
size_t role_index(const struct job *job, struct str name);
/* The roles' titles, for suggestions. */
struct str *role_titles(const struct job *job, struct arena *a);

#endif
