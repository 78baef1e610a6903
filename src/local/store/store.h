/*
 * Objects as Kubernetes keeps them, in SQLite: uid, resourceVersion and conflicts, generation, deletion with
 * grace and finalizers, owners, status subresources, selectors, pages, watches with a window of history.
 *
 * Everything happens at once, inside the call; nothing blocks but the disk. What a call has answered with 2xx
 * survives SIGKILL at any later instruction. Watchers are told inside the call that changed something, after it
 * is stored; they must not call the store from there (ending a watch is allowed).
 *
 * Unlike Kubernetes: foreground deletion is done as background deletion; objects are not checked, pruned or
 * defaulted by a CRD's schema; a pod's spec may be changed after it was made; managedFields are not kept.
 */
#ifndef LOCAL_STORE_STORE_H
#define LOCAL_STORE_STORE_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/http_code.h"
#include "base/json.h"

struct store;

struct store_config {
	const char *path; /* of the database; NULL: in memory */
	const struct clock *clock;
	uint64_t seed;  /* of UIDs and of generateName */
	size_t history; /* events that a watch can go back to; 0: 4096. Large objects make it shorter */
	/* store_step() has something to do earlier than it said. May come inside any call; only record it. May be
	   NULL: then call store_step() after each call. */
	void (*wake)(void *cookie);
	void *cookie;
};

/* NULL, with *E: ERR_INVALID if the file is no such database or damaged (it says so, and that `dljob local reset`
   makes a new one), ERR_IO else: another process has it open, too. The builtin types, the namespace `default` and
   what was stored before are there. */
struct store *store_open(const struct store_config *c, struct err *e);
void store_close(struct store *s);

/* A type of objects. Builtin ones: namespaces pods services events nodes configmaps secrets (v1), leases
   (coordination.k8s.io/v1), customresourcedefinitions (apiextensions.k8s.io/v1). Each stored CRD adds
   one for each of its served versions; they share their objects. */
struct store_type {
	struct str group, version, plural, singular, kind, list_kind;
	struct str short_names; /* separated by commas */
	struct str categories;  /* … */
	bool namespaced;
	bool status; /* has a status subresource */
	bool custom; /* by a CRD */
};
/* NULL: there is none. The pointer is good until store_close(); once the CRD is gone, calls with it are
   answered with 404. */
const struct store_type *store_type(const struct store *s, struct str group, struct str version, struct str plural);
/* The I-th, in a fixed order; NULL at the end. */
const struct store_type *store_type_at(const struct store *s, size_t i);

enum store_verb { STORE_GET, STORE_LIST, STORE_CREATE, STORE_UPDATE, STORE_PATCH, STORE_DELETE, STORE_DELETE_ALL };
enum store_patch { STORE_PATCH_MERGE, STORE_PATCH_JSON, STORE_PATCH_STRATEGIC };

enum { STORE_BODY_MAX = 3 << 20 }; /* of a body, and of an object; more is answered with 413 */

struct store_request {
	enum store_verb verb;
	const struct store_type *type;
	struct str ns, name; /* LIST, DELETE_ALL: ns empty means all. CREATE: the name in the body counts */
	/* GET, UPDATE, PATCH of the status subresource: only the status changes; without it everything else does. */
	bool status;
	bool dry_run; /* answer as if, and change nothing */
	bool urgent;  /* may use the room that is kept for a full disk, as deletions and statuses do */
	enum store_patch patch;
	/* PATCH: asked of what the patch makes of an object, before anything else looks at that. False: the patch is
	   refused, as one that makes it invalid, with *WHY. May be NULL. */
	bool (*judge)(void *cookie, yyjson_val *before, yyjson_val *after, struct str *why);
	void *judge_cookie;
	struct str body; /* JSON: the object, the patch, or DeleteOptions (may be empty) */
	/* LIST, DELETE_ALL. */
	struct str label_selector, field_selector;
	size_t limit; /* 0: no pages */
	struct str continue_token;
};

/* Answers as the API would. */
struct store_answer {
	int code;        /* HTTP's */
	struct buf body; /* JSON: the object, a list, or a Status; release it */
	uint64_t rv;     /* of the object or the list, if it is one */
};
void store_call(struct store *s, const struct store_request *r, struct store_answer *ret);
void store_answer_release(struct store_answer *a);

/* A watch of one type: everything after version FROM, then what comes. */
enum store_change { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };
struct store_event {
	enum store_change change;
	uint64_t rv;
	struct str object; /* JSON; valid inside the call only */
	struct store_read *read;
};
/* The object as a tree, one for all watches. NULL: it is none that the store has written. Valid inside the call only.
 */
yyjson_val *store_event_root(const struct store_event *ev);
/* The same for whoever keeps it; free it, but not inside the call. */
yyjson_doc *store_event_take(const struct store_event *ev);
struct store_watch;
struct store_watch_config {
	const struct store_type *type;
	struct str ns;                             /* empty: all */
	struct str label_selector, field_selector; /* what stops to match comes as DELETED, what begins to as ADDED */
	uint64_t from;                             /* 0: begin with what there is, as ADDED */
	/* Called for what has happened since FROM inside store_watch_new(), later inside the call that changed it. */
	void (*event)(void *cookie, const struct store_event *ev);
	void *cookie;
};
/* NULL, with *E: ERR_LIMIT if FROM is older than the history, or of another time altogether (the API answers 410),
   ERR_INVALID if a selector makes no sense (400), ERR_IO if the database cannot be read (500). */
struct store_watch *store_watch_new(struct store *s, const struct store_watch_config *c, struct err *e);
void store_watch_free(struct store_watch *w);
/* The newest version: bookmarks carry it. */
uint64_t store_version(const struct store *s);

/* Does what need not be done inside a call: children whose owners are gone, what is in a namespace or of a CRD
   that was deleted, events older than an hour. A pod on a node is not removed when its grace is over: that is for
   whoever runs it, with a second DELETE of grace 0. Call it once after store_open(); it returns when to call it again,
   NEVER if nothing waits. */
msec store_step(struct store *s);

#endif
