#include "local/store/store_cluster.h"

#include "base/json.h"
#include "cluster/inbox.h"
#include "object/delete_options.h"
#include "object/status.h"

/* One watch of the store. */
struct store_feed {
	struct store_cluster *cluster;
	enum resource resource;
	struct str kind; /* RES_JOB: its id; owned */
	const struct store_type *type;
	struct store_watch *watch;
	struct store_feed *next;
};

struct store_cluster {
	struct cluster cluster; /* first: a pointer to it is a pointer to this */
	struct store_cluster_config config;
	struct inbox inbox;
	struct store_feed *feeds;
};

static void push(struct store_feed *f, enum cluster_event_type type, yyjson_val *root)
{
	struct store_cluster *c = f->cluster;
	struct inbox_batch *b = inbox_begin(&c->inbox);
	struct object object = { 0 };
	struct cluster_event *ev;

	/* What the store keeps has a name; an object that says otherwise is nothing that the operator could use. */
	if (!root || inbox_object(b, &object, f->resource, f->kind, root, NULL)) {
		ev = inbox_push(&c->inbox, b);
		ev->type = type;
		ev->resource = f->resource;
		ev->kind = arena_str(&b->arena, f->kind);
		ev->object = object;
	}
	inbox_end(&c->inbox, b);
	if (c->config.wake)
		c->config.wake(c->config.cookie);
}

static void changed(void *cookie, const struct store_event *ev)
{
	yyjson_val *root = store_event_root(ev);

	if (root)
		push(cookie, ev->change == STORE_DELETED ? EVENT_GONE : EVENT_PUT, root);
}

static void store_feed_free(struct store_feed *f)
{
	store_watch_free(f->watch);
	str_free(f->kind);
	free(f);
}

static bool add_feed(struct store_cluster *c, enum resource resource, struct str kind, const struct store_type *type,
                     struct err *e)
{
	struct store_feed *f = xcalloc(1, sizeof(*f));
	bool ours = resource_is_child(resource);

	*f = (struct store_feed){ .cluster = c, .resource = resource, .type = type };
	f->kind = (struct str){ xstrndup(str_text(kind), kind.n), kind.n };
	push(f, EVENT_SYNC, NULL);
	f->watch = store_watch_new(c->config.store,
	                           &(struct store_watch_config){ .type = type,
	                                                         .label_selector = ours ? STR(LABEL_UID) : STR_NONE,
	                                                         .event = changed,
	                                                         .cookie = f },
	                           e);
	if (!f->watch) {
		store_feed_free(f);
		return false;
	}
	push(f, EVENT_SYNCED, NULL);
	f->next = c->feeds;
	c->feeds = f;
	return true;
}

/* Requests */

static const struct store_type *type_of(const struct store_cluster *c, enum resource r, struct str kind)
{
	if (r != RES_JOB)
		return store_type(c->config.store, STR_NONE, STR("v1"), str_c(resource_plural(r)));
	for (const struct store_feed *f = c->feeds; f; f = f->next)
		if (f->resource == RES_JOB && str_eq(f->kind, kind))
			return f->type;
	return NULL;
}

static enum store_verb verb_of(enum verb v)
{
	switch (v) {
	case VERB_GET:
		return STORE_GET;
	case VERB_CREATE:
		return STORE_CREATE;
	case VERB_DELETE:
		return STORE_DELETE;
	case VERB_PATCH:
	case VERB_PATCH_STATUS:
		return STORE_PATCH;
	}
	BUG("no verb");
}

static void call(struct store_cluster *c, const struct request *r, const struct store_type *type,
                 struct store_answer *ret)
{
	struct buf options = BUF_INIT(DELETE_OPTIONS_MAX);
	struct store_request to = { .verb = verb_of(r->verb),
		                    .type = type,
		                    .ns = r->ns,
		                    .name = r->name,
		                    .status = r->verb == VERB_PATCH_STATUS,
		                    .patch = STORE_PATCH_MERGE,
		                    .body = r->body };

	if (r->verb == VERB_DELETE) {
		delete_options_put(&options, &(struct delete_options){ r->grace, r->uid, STR("Background") });
		to.body = buf_str(&options);
	} else if (r->verb == VERB_GET) {
		to.body = STR_NONE;
	}
	store_call(c->config.store, &to, ret);
	buf_release(&options);
}

static void submit(struct cluster *cluster, const struct request *r)
{
	struct store_cluster *c = (struct store_cluster *)(void *)cluster;
	const struct store_type *type = type_of(c, r->resource, r->kind);
	struct store_answer a = { .code = HTTP_NOT_FOUND, .body = BUF_INIT(DELETE_OPTIONS_MAX) };

	if (type)
		call(c, r, type, &a);
	else
		status_put(&a.body, &(struct status){ HTTP_NOT_FOUND, status_reason(HTTP_NOT_FOUND),
		                                      STR("the kind is not served"), STR_NONE });
	inbox_outcome(&c->inbox, r, &(struct outcome){ .code = a.code }, buf_str(&a.body));
	if (c->config.wake)
		c->config.wake(c->config.cookie);
	store_answer_release(&a);
}

static bool next(struct cluster *cluster, struct cluster_event *ret)
{
	return inbox_next(&((struct store_cluster *)(void *)cluster)->inbox, ret);
}

static const struct cluster_ops ops = { submit, next };

struct cluster *store_cluster_new(const struct store_cluster_config *config, struct err *e)
{
	struct store_cluster *c = xcalloc(1, sizeof(*c));

	c->cluster.ops = &ops;
	c->config = *config;
	inbox_init(&c->inbox);
	for (enum resource r = RES_POD; r <= RES_NODE; r++) {
		if (r == RES_NODE && !config->nodes)
			continue;
		if (!add_feed(c, r, STR_NONE, type_of(c, r, STR_NONE), e)) {
			store_cluster_free(&c->cluster);
			return NULL;
		}
	}
	return &c->cluster;
}

/* The feeds of the jobs. */
static void drop_kinds(struct store_cluster *c)
{
	for (struct store_feed **at = &c->feeds; *at;) {
		struct store_feed *f = *at;

		if (f->resource == RES_JOB) {
			*at = f->next;
			store_feed_free(f);
		} else {
			at = &f->next;
		}
	}
}

void store_cluster_free(struct cluster *cluster)
{
	struct store_cluster *c = (struct store_cluster *)(void *)cluster;

	if (!c)
		return;
	for (struct store_feed *f = c->feeds, *later; f; f = later) {
		later = f->next;
		store_feed_free(f);
	}
	inbox_release(&c->inbox);
	free(c);
}

bool store_cluster_set_kinds(struct cluster *cluster, const struct store_kind *kinds, size_t n, struct err *e)
{
	struct store_cluster *c = (struct store_cluster *)(void *)cluster;

	drop_kinds(c);
	for (size_t i = 0; i < n; i++) {
		const struct store_kind *k = &kinds[i];
		const struct store_type *t = store_type(c->config.store, k->group, k->version, k->plural);

		if (!t)
			err_set(e, ERR_INVALID, "kind %.*s: there is no CRD of %.*s in %.*s/%.*s", STR_F(k->id),
			        STR_F(k->plural), STR_F(k->group), STR_F(k->version));
		if (!t || !add_feed(c, RES_JOB, k->id, t, e)) {
			drop_kinds(c);
			return false;
		}
	}
	return true;
}
