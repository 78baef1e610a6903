/* What the files of the store share; nobody else includes it. */
#ifndef LOCAL_STORE_STATE_H
#define LOCAL_STORE_STATE_H

#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "local/store/db.h"
#include "local/store/store.h"

struct store_call;
struct selector;

/* Differences between types. */
enum name_form { NAME_SUBDOMAIN, NAME_LABEL, NAME_LABEL_1035 };
struct type_rules {
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
	bool (*prepare)(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc);
};

struct stored_type {
	struct store_type pub; /* first */
	const struct type_rules *rules;
	struct str resource; /* pods, mxjobs.mlkube.io: the same for all versions */
	struct arena arena;  /* of the strings of a custom one */
	bool gone;           /* there is no CRD any more */
	bool terminating;    /* its CRD is being deleted */
	bool several;        /* other versions share its objects: apiVersion must be set on the way out */
	bool storage;        /* the version that the CRD stores */
	struct stored_type *next;
};

/* A text, and until it was told its tree: what it was written from, or is parsed into when somebody asks. */
struct store_read {
	struct str text;
	yyjson_doc *doc;
	bool taken; /* the tree is somebody's */
};

/* Something that has happened, as watches see it. One block of memory. */
struct history_event {
	enum store_change change;
	uint64_t rv;
	const struct stored_type *type; /* any of the resource */
	struct str ns;
	struct store_read now, before; /* the state before, if a selector could see a difference; else empty */
	size_t size;
};

struct store_history {
	struct history_event **v; /* a ring */
	size_t cap, first, n, bytes;
	uint64_t since; /* everything after this version is in it */
};

struct store {
	struct store_config config;
	struct db *db;
	struct rng rng;
	uint64_t version, stored; /* now, and as committed */
	struct stored_type *types;
	/* Of the call that is going on. */
	struct arena arena;
	VEC(yyjson_doc *) docs;
	VEC(yyjson_mut_doc *) muts;
	VEC(struct history_event *) events;
	bool types_changed;
	bool telling, watches_ended;
	struct store_history history;
	struct store_watch *watches;
	bool untidy;   /* store_step() has something to do now */
	bool draining; /* a namespace or a CRD waits for what is in it */
};

struct store_call {
	struct store *s;
	const struct stored_type *type;
	const struct store_request *r;
	struct store_answer *ret;
	bool dry_run;
	bool urgent; /* a full disk must not keep it */
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

#endif
