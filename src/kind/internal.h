/* What the files of src/kind share. */
#ifndef KIND_INTERNAL_H
#define KIND_INTERNAL_H

#include "kind/accelerators.h"
#include "kind/cache.h"
#include "kind/schema.h"
#include "object/object.h"

/* The functions that a kind's file may define. */
enum kind_fn { FN_READ, FN_NAMES, FN_ONCE, FN_POD, FN_CONTAINER, FN_SERVICE, FN_STATUS, FN_ADOPT, FN_WRITE, FN_COUNT };

extern const char *const kind_fn_names[FN_COUNT];

struct kind_column {
	struct str name, type, path;
};

struct kind_file {
	struct kind kind;  /* first: a struct kind is the first member of its file */
	int fns[FN_COUNT]; /* registry; LUA_NOREF: not defined */
	struct str text;   /* what was loaded, for messages */
	struct schema spec;
	bool job_labels; /* the job's labels go to its pods, where absent */
	struct kind_column *columns;
	size_t n_columns;
};

struct kinds {
	struct sandbox sb;
	struct arena arena;
	VEC(struct kind_file *) files;
	uint64_t serial;                         /* of the last job that was read */
	const struct accelerators *accelerators; /* NULL: none */
	struct str gang_scheduler;               /* empty: there are no gangs */
	struct kind_sizes sizes;
};

/* What of a role's pods is the same for all of them, prepared at the first. */
struct pod_parts;

struct kind_job {
	struct kinds *kinds;
	const struct kind_file *file;
	const struct accelerators *accelerators; /* as they were when the job was read */
	struct arena arena;
	struct arena scratch; /* of one call */
	yyjson_val *object;
	yyjson_doc *doc;          /* the common job document; templates reach into it */
	struct yaml_file *policy; /* that stood in an annotation */
	struct job *job;
	bool started;             /* its record says so: it is not held up by what is only found now */
	bool told_empty;          /* … and that a table of variables has none was told */
	int ref;                  /* registry: the job as Lua sees it; LUA_NOREF: nothing could be read */
	bool once;                /* once() has run */
	struct pod_parts **parts; /* one for each role, made at its first pod */
	bool building;            /* a pod, and not only looking at one */
	struct text_cache *cache; /* made when a pod has long texts */
	struct buf pod_name, service_name;
	struct str group_name; /* made at its first use */
};

static inline const struct kind_file *kind_file_of(const struct kind *k)
{
	return (const struct kind_file *)(const void *)k;
}

/* Pushes function FN, the job's table, and, unless ROLE is SIZE_MAX, the role's table and INDEX.
   Returns the number of arguments. */
int kind_push_call(struct kind_job *kj, enum kind_fn fn, size_t role, int32_t index);
bool kind_call(struct kind_job *kj, enum kind_fn fn, int nargs, int nresults, struct err *e);
/* Runs once() if it has not run for this job. */
bool kind_once(struct kind_job *kj, struct err *e);
/* Makes the job's table (name, roles …) after the job was read. The spec's table and read()'s second result
   are on top of the stack, in this order; both are popped. */
void kind_push_job(struct kind_job *kj);

/* foreign.c: the job of a kind without Lua. */
void foreign_read(struct kind_job *kj, const struct job_identity *id);
/* Notes in RECORD (status.dlOperator) what that one needs to know of JOB. */
void foreign_note_roles(const struct job *job, yyjson_mut_val *record, yyjson_mut_doc *doc);

/* field_names.c: checks what read() says the user's fields are called. False with *E. */
bool kind_check_field_names(struct kind_job *kj, struct err *e);
/* Checks names, variables and labels of the children. False with *E if the kind's code fails. */
bool kind_check_children(struct kind_job *kj, struct err *e);
/* … that no two have the same name: one call into the kind for each replica. */
bool kind_check_doubles(struct kind_job *kj, struct err *e);

/* A derived variable or a label. The value is the parts one after the other. */
struct pair {
	struct str name;
	const struct str *parts;
	size_t n_parts;
};

struct pairs {
	VEC(struct pair) list;
};

/* How long the value is; whether it is one text (labels always are), and which. */
size_t pair_size(const struct pair *p);
static inline struct str pair_text(const struct pair *p)
{
	return p->parts[0];
}

/* What the kind says of one pod. The slices live in Lua's strings and in the job's scratch arena:
   between begin and end there must be no other call into this kind. */
struct pod_say {
	struct pairs env;
	struct pairs labels; /* sorted by name */
	struct str hostname, scheduler;
};
bool pod_say_begin(struct pod_say *s, struct kind_job *kj, size_t role, int32_t index, int32_t restarts, struct err *e);
void pod_say_end(struct kind_job *kj);

/* The variables in the table on top of the stack: a list of {name, value}, or of such lists. */
bool kind_read_env(struct kind_job *kj, struct pairs *ret, const char *what, struct err *e);
/* The labels in the table on top of the stack, sorted. */
bool kind_read_labels(struct kind_job *kj, struct pairs *ret, const char *what, struct err *e);
/* Where what FN returned comes from: the one line with WORD (may be empty) in it or else in the file; without one
   where FN begins. */
int kind_line(struct kinds *k, const struct kind_file *f, enum kind_fn fn, struct str word);
/* The same for what is wrong with the table that the file TEXT returns, by the words that MESSAGE puts in quotes. */
int kind_load_line(struct str text, const char *message);
/* Puts the kind's file and that line in front of *E; returns false. */
bool kind_blame_word(struct kinds *k, const struct kind_file *f, enum kind_fn fn, struct str word, struct err *e);
/* … and the line of its function WHAT. */
bool kind_blame(const struct kind_job *kj, struct err *e, const char *what);
/* Says that WHAT returned something wrong; returns false. */
bool kind_refuse(const struct kind_job *kj, struct err *e, const char *what, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* The variables of container() for one container, copied into the job's arena. */
bool kind_container_env(struct kind_job *kj, size_t role, const struct template_container *c, struct pairs *ret,
                        struct err *e);
/* Does this container get derived variables? */
static inline bool kind_wants_env(const struct role *role, const struct template_container *c)
{
	return role->env_everywhere || c->counts;
}

/* Did all of it find room in OUT? Otherwise why not: "the pod master-0 is larger than 3 MiB". */
bool kind_found_room(const struct buf *out, const char *noun, struct str name, struct err *e);
/* ,"ownerReferences":[…] of the job's children. */
void kind_put_owner(const struct kind_job *kj, struct buf *out);
/* "key":"value" */
void kind_put_label(struct buf *out, bool *first, struct str key, struct str value);
/* Those of our own labels that say which job it is of. */
void kind_put_job_labels(const struct kind_job *kj, struct buf *out, bool *first);
/* All of our own labels. */
void kind_put_own_labels(const struct kind_job *kj, const struct role *role, int32_t index, int64_t generation,
                         struct buf *out, bool *first);

#endif
