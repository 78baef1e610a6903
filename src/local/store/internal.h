/* What the files of the store share; nobody else includes it. */
#ifndef LOCAL_STORE_INTERNAL_H
#define LOCAL_STORE_INTERNAL_H

#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "local/store/db.h"
#include "local/store/store.h"

enum code {
	OK = 200,
	CREATED = 201,
	BAD_REQUEST = 400,
	FORBIDDEN = 403,
	NOT_FOUND = 404,
	NOT_ALLOWED = 405,
	CONFLICT = 409,
	GONE = 410,
	TOO_LARGE = 413,
	UNSUPPORTED = 415,
	INVALID = 422,
	INTERNAL = 500
};

struct call;
struct selector;

/* In what types differ. */
enum name_form { NAME_SUBDOMAIN, NAME_LABEL, NAME_LABEL_1035 };
struct rules {
	enum name_form names;
	bool generation;           /* metadata.generation counts the changes of all but metadata and status */
	bool conditional;          /* an update must carry the resourceVersion */
	bool made_by_update;       /* an update of what is not there creates it */
	bool keeps_status;         /* a status in a new object stays */
	bool answers_object;       /* DELETE answers with the object, not with a Status */
	bool graceful;             /* pods: whoever runs it has the last word */
	bool drained;              /* is there until everything in it, or of it, is gone */
	const char *const *fields; /* for selectors, beside metadata.name and metadata.namespace; NULL at the end */
	/* Checks a new state and fills in what is missing; false: refused. BEFORE NULL: it is created. */
	bool (*prepare)(struct call *c, yyjson_val *before, yyjson_mut_doc *doc);
};

struct type {
	struct store_type pub; /* first */
	const struct rules *rules;
	struct str resource; /* pods, mxjobs.mlkube.io: the same for all versions */
	struct arena arena;  /* of the strings of a custom one */
	bool gone;           /* there is no definition any more */
	bool terminating;    /* its definition is being deleted */
	bool several;        /* other versions share its objects: apiVersion must be set on the way out */
	bool storage;        /* the version that the definition stores */
	struct type *next;
};

/* Something that has happened, as watches see it. One block of memory. */
struct event {
	enum store_change change;
	uint64_t rv;
	const struct type *type; /* any of the resource */
	struct str ns, text;
	struct str before; /* the state before, if a selector could see a difference; else empty */
	size_t size;
};

struct history {
	struct event **v; /* a ring */
	size_t cap, first, n, bytes;
	uint64_t since; /* everything after this version is in it */
};

struct store {
	struct store_config config;
	struct db *db;
	struct rng rng;
	uint64_t version, stored; /* now, and as committed */
	struct type *types;
	/* Of the call that is going on. */
	struct arena arena;
	VEC(yyjson_doc *) docs;
	VEC(yyjson_mut_doc *) muts;
	VEC(struct event *) events;
	bool types_changed;
	bool telling, watches_ended;
	struct history history;
	struct store_watch *watches;
	bool untidy;   /* store_step() has something to do now */
	bool draining; /* a namespace or a definition waits for what is in it */
};

struct call {
	struct store *s;
	const struct type *type;
	const struct store_request *r;
	struct store_answer *ret;
	bool dry_run;
};

/* store.c. A transaction: what is parsed and made inside lives until its end. */
void store_begin(struct store *s);
/* False, with *E: everything is as it was before. */
bool store_end(struct store *s, bool keep, struct err *e);
yyjson_doc *store_parse(struct store *s, struct str text, struct err *e);
/* A tree that stands in the database. */
yyjson_val *store_tree(struct store *s, struct str text);
yyjson_mut_doc *store_mut(struct store *s);
/* A copy of DOC as it is now, for reading. */
yyjson_val *store_frozen(struct store *s, yyjson_mut_doc *doc);
void store_untidy(struct store *s);
msec store_now(const struct store *s); /* in whole seconds, as Kubernetes' times are */

/* answer.c. Each fills the answer and returns false. */
bool refuse(struct call *c, enum code code, const char *reason, const char *fmt, ...) PRINTF_LIKE(4, 5);
bool refuse_not_found(struct call *c, struct str name);
bool refuse_exists(struct call *c, struct str name);
bool refuse_conflict(struct call *c, struct str name, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* 422: of a field of an object. */
bool refuse_invalid(struct call *c, struct str name, const char *field, const char *fmt, ...) PRINTF_LIKE(4, 5);
bool refuse_decoding(struct call *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Answers with an object, in the version that was asked for. */
bool answer_object(struct call *c, enum code code, struct str text, uint64_t rv);
bool answer_deleted(struct call *c, const struct row *row);
/* "pods", "mxjobs.mlkube.io"; "Pod", "MXJob.mlkube.io". */
struct str api_version(const struct type *t, struct arena *a);
/* TEXT with the apiVersion of T, in the store's arena. */
struct str in_version(struct store *s, const struct type *t, struct str text);

/* types.c */
void types_builtin(struct store *s);
void types_release(struct store *s);
struct type *type_new(struct store *s, const struct store_type *t, struct str resource, const struct rules *rules);
struct type *type_find(const struct store *s, struct str group, struct str version, struct str plural);
/* Of the resource's versions the stored one. */
const struct type *type_of_resource(const struct store *s, struct str resource);
extern const struct rules rules_custom;
#define RES_NAMESPACES STR("namespaces")
#define RES_EVENTS STR("events")
#define RES_DEFINITIONS STR("customresourcedefinitions.apiextensions.k8s.io")

/* crd.c */
bool crd_prepare(struct call *c, yyjson_val *before, yyjson_mut_doc *doc);
/* Makes the types those of the stored definitions. */
void crd_load(struct store *s);

/* prepare.c: the builtin types' own. */
bool prepare_pod(struct call *c, yyjson_val *before, yyjson_mut_doc *doc);
bool prepare_namespace(struct call *c, yyjson_val *before, yyjson_mut_doc *doc);
bool prepare_secret(struct call *c, yyjson_val *before, yyjson_mut_doc *doc);

/* meta.c */
yyjson_mut_val *meta_of(yyjson_mut_doc *doc);
void put_str(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, struct str v);
void put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, int64_t v);
/* The member, made if it is missing or no object. */
yyjson_mut_val *put_obj(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key);
void put_time(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, msec t);
struct str new_uid(struct store *s);
struct str generated_name(struct store *s, struct str base);
/* Why it is none; NULL: it is one. */
const char *name_problem(enum name_form form, struct str name);

/* check.c: is it an object of this type, with a metadata that makes sense? */
bool check_object(struct call *c, yyjson_val *root);

/* object.c: what changes the database. */
/* Stores DOC as the state after BEFORE (in OLD; both NULL: it is new). Empty: refused, the answer says why. */
struct str object_put(struct call *c, const struct row *old, yyjson_val *before, yyjson_mut_doc *doc);
/* DOC is its last state. Returns that, as text. */
struct str object_remove(struct store *s, const struct type *t, const struct row *old, yyjson_val *before,
                         yyjson_mut_doc *doc);
bool has_finalizers(yyjson_val *root);

/* create.c, update.c, patch.c, delete.c, list.c: the verbs. False: refused, the answer says why. */
bool verb_create(struct call *c);
bool verb_update(struct call *c);
bool verb_patch(struct call *c);
bool verb_delete(struct call *c);
bool verb_list(struct call *c);
bool verb_delete_all(struct call *c);
/* Makes WISH the new state of OLD as the endpoint allows. */
bool update_object(struct call *c, const struct row *old, yyjson_val *before, yyjson_val *wish);
/* json_patch.c, strategic.c. NULL: refused. */
yyjson_mut_val *json_patch(struct call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch);
yyjson_mut_val *strategic_merge(struct call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch);

struct delete_options {
	int64_t grace; /* -1: the object's own */
	bool orphan;
};
struct deleted {
	struct str text;
	uint64_t rv;
	bool removed; /* else it is there still, being deleted */
};
/* From the body. ROW: the object that its preconditions are about; NULL: they do not count. */
bool delete_read_options(struct call *c, struct delete_options *ret, const struct row *row);
/* False: it may not go at all. */
bool delete_allowed(struct call *c, const struct row *row);
/* Deletes, or marks it as being deleted. False: it could not be stored. */
bool delete_object(struct call *c, const struct row *row, const struct delete_options *o, struct deleted *ret);

/* gc.c. True: there is more to do at once. */
bool gc_step(struct store *s);
/* Takes the owner out of its children. */
void gc_orphan(struct call *c, struct str owner);

/* select.c. In A; NULL with *E: it makes no sense. */
struct selector *selector_new(const struct type *t, struct str labels, struct str fields, struct arena *a,
                              struct err *e);
bool selector_empty(const struct selector *s);
bool selector_matches(const struct selector *s, yyjson_val *root);
/* Is it the same for every selector? */
bool selector_same(const struct type *t, yyjson_val *a, yyjson_val *b);

/* watch.c */
struct event *event_new(enum store_change change, const struct type *t, struct str ns, uint64_t rv, struct str text,
                        struct str before);
void history_init(struct history *h, size_t cap, uint64_t since);
void history_release(struct history *h);
/* Takes the events of a call, and tells them. */
void watches_tell(struct store *s);
/* Frees those that were ended while something was told. */
void watches_sweep(struct store *s);

#endif
