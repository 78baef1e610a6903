#include "local/store/store.h"

#include "local/store/answer.h"
#include "local/store/crd.h"
#include "local/store/create.h"
#include "local/store/delete.h"
#include "local/store/gc.h"
#include "local/store/list.h"
#include "local/store/object.h"
#include "local/store/patch.h"
#include "local/store/types.h"
#include "local/store/update.h"
#include "local/store/verify.h"
#include "local/store/watch.h"

static const msec retry_after_failure = SECONDS(1);
enum { HISTORY = 4096, EVENTS_AT_ONCE = 256, SCRATCH_KEPT = 1 << 20 };
static const msec events_live = MINUTES(60);

msec store_now(const struct store *s)
{
	msec now = clock_now(s->config.clock);

	return now - now % 1000;
}

void store_untidy(struct store *s)
{
	if (!s->untidy && s->config.wake)
		s->config.wake(s->config.cookie);
	s->untidy = true;
}

/* A transaction */

void store_begin(struct store *s)
{
	ASSERT(!s->telling);
	s->types_changed = false;
	db_begin(s->db);
}

static void forget(struct store *s)
{
	for (size_t i = 0; i < s->docs.n; i++)
		yyjson_doc_free(s->docs.v[i]);
	for (size_t i = 0; i < s->muts.n; i++)
		yyjson_mut_doc_free(s->muts.v[i]);
	memset(&s->docs, 0, sizeof(s->docs));
	memset(&s->muts, 0, sizeof(s->muts));
	memset(&s->events, 0, sizeof(s->events));
	/* One large list must not be remembered for ever. */
	if (s->arena.used > SCRATCH_KEPT)
		arena_release(&s->arena);
	arena_reset(&s->arena);
}

bool store_end(struct store *s, bool keep, struct err *e)
{
	bool ok;

	keep = keep && s->events.n;
	if (keep)
		db_set_version(s->db, s->version);
	ok = db_end(s->db, keep, e);
	if (keep && ok) {
		s->stored = s->version;
		if (s->types_changed)
			crd_load(s);
		watches_tell(s);
	} else {
		s->version = s->stored;
		for (size_t i = 0; i < s->events.n; i++)
			history_event_free(s->events.v[i]);
	}
	forget(s);
	return ok;
}

yyjson_doc *store_parse(struct store *s, struct str text, struct err *e)
{
	yyjson_doc *doc = json_parse(text, e);

	if (doc)
		*vec_push(&s->arena, &s->docs) = doc;
	return doc;
}

yyjson_val *store_tree(struct store *s, struct str text)
{
	/* A row that is no JSON was not written by us: an empty object breaks nothing. */
	yyjson_doc *doc = store_parse(s, text, NULL);

	return yyjson_doc_get_root(doc ? doc : store_parse(s, STR("{}"), NULL));
}

yyjson_mut_doc *store_mut(struct store *s)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

	ASSERT(doc);
	*vec_push(&s->arena, &s->muts) = doc;
	return doc;
}

yyjson_val *store_frozen(struct store *s, yyjson_mut_doc *doc)
{
	yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);

	ASSERT(copy);
	*vec_push(&s->arena, &s->docs) = copy;
	return yyjson_doc_get_root(copy);
}

/* Calls */

static bool verb_get(struct store_call *c)
{
	struct db_row row;

	if (!db_get(c->s->db, c->type->resource, c->type->pub.namespaced ? c->r->ns : STR_NONE, c->r->name, &row,
	            &c->s->arena))
		return answer_not_found(c, c->r->name);
	return answer_object(c, HTTP_OK, row.text, row.rv);
}

static bool (*const verbs[])(struct store_call *c) = {
	[STORE_GET] = verb_get,
	[STORE_LIST] = store_verb_list,
	[STORE_CREATE] = store_verb_create,
	[STORE_UPDATE] = store_verb_update,
	[STORE_PATCH] = store_verb_patch,
	[STORE_DELETE] = store_verb_delete,
	[STORE_DELETE_ALL] = store_verb_delete_all,
};

/* What is wrong with the request itself. */
static bool check_request(struct store_call *c)
{
	const struct store_request *r = c->r;
	bool whole = r->verb == STORE_LIST || r->verb == STORE_DELETE_ALL;

	if (c->type->gone || (r->status && !c->type->pub.status))
		return answer_refusal(c, HTTP_NOT_FOUND, "NotFound",
		                      "the server could not find the requested resource");
	if (!whole && c->type->pub.namespaced && str_empty(r->ns))
		return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest",
		                      "an empty namespace may not be set when a resource name is provided");
	if (!whole && r->verb != STORE_CREATE && str_empty(r->name))
		return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "name is required");
	if (r->body.n > STORE_BODY_MAX)
		return answer_refusal(c, HTTP_TOO_LARGE, "RequestEntityTooLarge",
		                      "Request entity too large: limit is %d", STORE_BODY_MAX);
	return true;
}

/* What makes room, and what says how something is or has ended. */
static bool is_urgent(const struct store_request *r)
{
	return r->urgent || r->status || r->verb == STORE_DELETE || r->verb == STORE_DELETE_ALL;
}

/* False: everything is as it was before, and the answer says why. */
static bool try_call(struct store_call *c)
{
	struct err e = ERR_INIT;
	bool ok;

	store_begin(c->s);
	ok = check_request(c) && verbs[c->r->verb](c);
	if (!c->urgent)
		db_leave_reserve(c->s->db);
	ok = store_end(c->s, ok && !c->dry_run, &e);
	if (!ok)
		answer_refusal(c, HTTP_SERVER_ERROR, "InternalError", "Internal error occurred: %s", err_msg(&e));
	err_release(&e);
	return ok;
}

void store_call(struct store *s, const struct store_request *r, struct store_answer *ret)
{
	struct store_call c = {
		s, (const struct stored_type *)(const void *)r->type, r, ret, r->dry_run, is_urgent(r)
	};

	ASSERT(r->type && (size_t)r->verb < ARRAY_LEN(verbs));
	*ret = (struct store_answer){ 0 };
	if (try_call(&c) || !db_is_full(s->db) || !c.urgent)
		return;
	store_answer_release(ret);
	*ret = (struct store_answer){ 0 };
	db_release_reserve(s->db);
	try_call(&c);
	db_take_reserve(s->db);
}

void store_answer_release(struct store_answer *a)
{
	buf_release(&a->body);
}

uint64_t store_version(const struct store *s)
{
	return s->stored;
}

/* Events of an hour ago are of no use to anybody. True: there are more. */
static bool expire_events(struct store *s)
{
	const struct stored_type *t = type_of_resource(s, RES_EVENTS);
	int64_t ids[EVENTS_AT_ONCE];
	size_t n = db_older(s->db, t->resource, clock_now(s->config.clock) - events_live, ids, ARRAY_LEN(ids));

	for (size_t i = 0; i < n; i++) {
		yyjson_mut_doc *doc = store_mut(s);
		yyjson_val *tree;
		struct db_row row;

		if (!db_get_id(s->db, ids[i], &row, &s->arena))
			continue;
		tree = store_tree(s, row.text);
		yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, tree));
		object_remove(s, t, &row, tree, doc);
	}
	return n == ARRAY_LEN(ids);
}

/* One transaction. False: everything is as it was before. */
static bool try_step(struct store *s, bool untidy, bool *more, msec *oldest)
{
	store_begin(s);
	s->untidy = false;
	*more = untidy && gc_step(s);
	*more = expire_events(s) || *more;
	*oldest = db_oldest(s->db, RES_EVENTS);
	return store_end(s, true, NULL);
}

msec store_step(struct store *s)
{
	bool more, untidy = s->untidy, ok;
	msec oldest;

	ok = try_step(s, untidy, &more, &oldest);
	if (!ok && db_is_full(s->db)) {
		db_release_reserve(s->db);
		ok = try_step(s, untidy, &more, &oldest);
		db_take_reserve(s->db);
	}
	if (!ok) {
		s->untidy = true;
		return clock_now(s->config.clock) + retry_after_failure;
	}
	s->untidy = s->untidy || more;
	if (s->untidy)
		return clock_now(s->config.clock);
	return oldest == NEVER ? NEVER : oldest + events_live + 1;
}

/* Opening */

static bool make_default_namespace(struct store *s, struct err *e)
{
	struct store_request r = { .verb = STORE_CREATE,
		                   .type = store_type(s, STR(""), STR("v1"), STR("namespaces")),
		                   .body = STR("{\"metadata\":{\"name\":\"default\"}}") };
	struct store_answer a = { 0 };
	bool ok;

	store_call(s, &r, &a);
	ok = a.code == HTTP_CREATED || a.code == HTTP_CONFLICT;
	if (!ok)
		err_set(e, ERR_IO, "%.*s", STR_F(buf_str(&a.body)));
	store_answer_release(&a);
	return ok;
}

struct store *store_open(const struct store_config *c, struct err *e)
{
	struct db *db = db_open(c->path, e);
	struct store *s;

	if (!db || !store_verify(db, e)) {
		db_close(db);
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->config = *c;
	s->db = db;
	s->version = s->stored = db_version(db);
	/* The same seed must not give the same UIDs again to what is made after a restart. */
	s->rng = rng_seed(c->seed ^ (s->stored * 0x9e3779b97f4a7c15u));
	store_history_init(&s->history, c->history ? c->history : HISTORY, s->stored);
	types_builtin(s);
	crd_load(s);
	s->untidy = s->draining = true;
	if (db_failed(db) || !make_default_namespace(s, e)) {
		if (e && !e->code)
			err_set(e, ERR_IO, "the database cannot be read");
		store_close(s);
		return NULL;
	}
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	watches_sweep(s);
	ASSERT(!s->watches);
	store_history_release(&s->history);
	types_release(s);
	forget(s);
	arena_release(&s->arena);
	db_close(s->db);
	free(s);
}
