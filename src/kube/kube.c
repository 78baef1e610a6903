#include "kube/kube.h"

#include "base/list.h"
#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "cluster/decode.h"
#include "kube/internal.h"

enum { ANSWER_MAX = 16 << 20 };

struct kube_call {
	struct kube *kube;
	struct request request; /* its strings are in the arena */
	struct kube_raw raw;    /* if `done` is set it is this one */
	struct kube_wire wire;  /* its body is in BODY while it waits, and the HTTP client's once it was sent */
	char *body;
	struct arena arena;
	struct kube_call *prev, *next;
	struct http_call *http; /* NULL: it waits for authorisation or its turn */
	msec deadline;          /* whatever it waits for, it is not sent after this */
	int tries;
};

static void wake(struct kube *k)
{
	k->options.wake(k->options.cookie);
}

static void hand_over(struct kube_call *c);

static void call_free(struct kube_call *c)
{
	struct kube *k = c->kube;

	list_drop(&k->calls, c);
	arena_release(&c->arena);
	free(c->body);
	free(c);
}

static struct kube_call *call_new(struct kube *k, msec timeout)
{
	struct kube_call *c = xcalloc(1, sizeof(*c));

	c->kube = k;
	c->deadline = loop_now(k->loop) + timeout;
	list_push(&k->calls, c);
	return c;
}

static void answer_request(struct kube_call *c, const struct http_answer *a)
{
	inbox_outcome(
		&c->kube->inbox, &c->request,
		&(struct outcome){ .code = a->status, .retry_after = a->retry_after, .message = str_c(a->problem) },
		a->body);
	wake(c->kube);
}

static void answer_raw(struct kube_call *c, const struct http_answer *a)
{
	struct err e = ERR_INIT;
	yyjson_doc *doc = a->body.n ? json_parse(a->body, &e) : NULL;
	struct outcome o = { .code = a->status, .retry_after = a->retry_after, .message = str_c(a->problem) };

	if (!http_is_good(a->status))
		decode_status(&o, yyjson_doc_get_root(doc));
	c->raw.done(c->raw.cookie, &o, yyjson_doc_get_root(doc));
	err_release(&e);
	yyjson_doc_free(doc);
}

static void answer(struct kube_call *c, const struct http_answer *a)
{
	if (c->raw.done)
		answer_raw(c, a);
	else
		answer_request(c, a);
	call_free(c);
}

static void call_done(void *cookie, const struct http_answer *a)
{
	struct kube_call *c = cookie;

	c->http = NULL;
	if (!a->status || a->status == HTTP_UNAUTHORIZED)
		kube_certs_doubt(c->kube->certs);
	/* A token that has expired: nothing was done, so it can be sent again with a new one. */
	if (a->status == HTTP_UNAUTHORIZED && ++c->tries < KUBE_TRIES) {
		kube_auth_refused(c->kube->auth);
		c->wire.body = a->sent;
		hand_over(c);
		return;
	}
	answer(c, a);
}

enum sent { SENT, SENT_WAITS, SENT_ENDED };

/* SENT_ENDED: it was answered, and is gone. */
static enum sent send_call(struct kube_call *c)
{
	struct kube *k = c->kube;
	struct http_answer failed = { 0 };
	struct err e = ERR_INIT;
	struct str header;
	msec wait, now = loop_now(k->loop);

	if (now >= c->deadline) {
		answer(c, &(struct http_answer){ .problem = "timed out waiting for its turn", .never_sent = true });
		return SENT_ENDED;
	}

	switch (kube_auth_header(k->auth, &header, &e)) {
	case KUBE_AUTH_WAIT:
		return SENT_WAITS; /* auth_ready() sends it */
	case KUBE_AUTH_FAILED:
		failed.problem = err_msg(&e);
		answer(c, &failed);
		err_release(&e);
		return SENT_ENDED;
	case KUBE_AUTH_HAVE:
		break;
	}
	wait = pace_take(&k->pace, now);
	if (wait) {
		loop_timer_set(k->pace_timer, wait);
		return SENT_WAITS;
	}
	c->http = http_send(k->calls_pool, &(struct http_request){
						   .method = c->wire.method,
						   .path = c->wire.path,
						   .body = c->wire.body,
						   .content_type = c->wire.content_type,
						   .authorization = header,
						   .timeout = c->deadline - now,
						   .body_max = ANSWER_MAX,
						   .done = call_done,
						   .cookie = c,
					   });
	return SENT;
}

/* Bodies may be large, and many wait: there is one copy of each. */
static void hand_over(struct kube_call *c)
{
	switch (send_call(c)) {
	case SENT:
		free(c->body);
		c->body = NULL;
		c->wire.body = STR_NONE;
		break;
	case SENT_WAITS:
		if (!c->body)
			c->body = xstrndup(str_text(c->wire.body), c->wire.body.n);
		c->wire.body.p = c->body;
		break;
	case SENT_ENDED:
		break;
	}
}

/* Sends what waits, the oldest first. */
static void send_waiting(void *cookie)
{
	struct kube *k = cookie;
	struct kube_call *c = k->calls, *prev;

	while (c && c->next)
		c = c->next;
	for (; c; c = prev) {
		prev = c->prev;
		if (!c->http)
			hand_over(c);
	}
}

static void auth_ready(void *cookie)
{
	struct kube *k = cookie;

	send_waiting(k);
	kube_streams_go_on(k);
	for (size_t i = 0; i < k->n_feeds; i++)
		feed_go_on(k->feeds[i]);
}

static const struct kube_resource *kind_resource(const struct kube *k, struct str id)
{
	for (size_t i = 0; i < k->n_kinds; i++)
		if (str_eq(k->kinds[i].id, id))
			return &k->kinds[i].resource;
	return NULL;
}

static void copy_request(struct kube_call *c, const struct request *r)
{
	c->request = *r;
	c->request.kind = arena_str(&c->arena, r->kind);
	c->request.ns = arena_str(&c->arena, r->ns);
	c->request.name = arena_str(&c->arena, r->name);
	c->request.uid = arena_str(&c->arena, r->uid);
	c->request.body = STR_NONE;
}

static void submit(struct cluster *cluster, const struct request *r)
{
	struct kube *k = (struct kube *)cluster;
	struct kube_call *c = call_new(k, k->options.request_timeout);
	const struct kube_resource *kind = NULL;
	struct err e = ERR_INIT;

	copy_request(c, r);
	if (r->resource == RES_JOB)
		kind = kind_resource(k, r->kind);
	else if (resource_traits(r->resource)->optional)
		kind = &k->options.optional[r->resource];
	if (r->resource == RES_JOB && !kind)
		err_set(&e, ERR_INVALID, "kind %.*s is not served", STR_F(r->kind));
	else
		kube_wire_request(&c->wire, r, kind, &c->arena, &e);
	if (e.code) {
		/* It cannot even be said: like a server that does not know it. */
		answer(c, &(struct http_answer){ .status = HTTP_NOT_FOUND, .problem = err_msg(&e) });
		err_release(&e);
		return;
	}
	hand_over(c);
}

static bool next(struct cluster *cluster, struct cluster_event *ret)
{
	return inbox_next(&((struct kube *)cluster)->inbox, ret);
}

static const struct cluster_ops ops = { submit, next };

void kube_raw(struct kube *k, const struct kube_raw *r)
{
	struct kube_call *c = call_new(k, r->timeout ? r->timeout : k->options.request_timeout);

	c->raw = *r;
	c->wire = (struct kube_wire){ .method = r->method,
		                      .path = arena_str(&c->arena, r->path),
		                      .body = r->body,
		                      .content_type = arena_str(&c->arena, r->content_type) };
	hand_over(c);
}

static struct kube_resource where_of(const struct kube *k, enum resource resource, const struct kube_kind *kind)
{
	if (resource_traits(resource)->optional)
		return k->options.optional[resource];
	return kind ? kind->resource : *kube_builtin_resource(resource);
}

static void add_feed(struct kube *k, enum resource resource, const struct kube_kind *kind)
{
	/* Of what we make ourselves only that is of interest. */
	bool ours = resource_is_child(resource);
	struct feed_config c = {
		.loop = k->loop,
		.pool = k->watch_pool,
		.auth = k->auth,
		.certs = k->certs,
		.inbox = &k->inbox,
		.resource = resource,
		.kind = kind ? kind->id : STR_NONE,
		.where = where_of(k, resource, kind),
		.ns = resource == RES_NODE ? STR_NONE : k->options.ns,
		.label_selector = ours ? STR(LABEL_UID) : STR_NONE,
		.wake = k->options.wake,
		.trouble = k->options.trouble,
		.asked = k->options.asked,
		.back = k->options.back,
		.cookie = k->options.cookie,
		.seed = k->options.seed + k->n_feeds,
	};

	k->feeds = xrealloc(k->feeds, (k->n_feeds + 1) * sizeof(*k->feeds));
	k->feeds[k->n_feeds++] = feed_new(&c);
	feed_go_on(k->feeds[k->n_feeds - 1]);
}

static bool use_certs(void *cookie, const struct http_server *s, struct err *e)
{
	struct kube *k = cookie;

	return http_client_refresh(k->calls_pool, s, e) && http_client_refresh(k->watch_pool, s, e);
}

struct kube *kube_new(struct loop *l, const struct kube_config *c, const struct kube_options *o, struct err *e)
{
	struct kube *k = xcalloc(1, sizeof(*k));
	/* Each watch holds a connection; there are a few fixed ones and one for each kind. */
	enum { WATCHES_MAX = 256 };

	k->cluster.ops = &ops;
	k->loop = l;
	k->config = *c;
	k->config.server.user_agent = o->user_agent;
	k->options = *o;
	k->pace = pace_new(o->qps, o->burst);
	inbox_init(&k->inbox);
	k->pace_timer = loop_timer_new(l, send_waiting, k);
	k->auth = kube_auth_new(l, &k->config, auth_ready, k);
	k->certs = kube_certs_new(&(struct kube_certs_config){ .loop = l,
	                                                       .config = &k->config,
	                                                       .use = use_certs,
	                                                       .told = o->certs,
	                                                       .cookie = k,
	                                                       .told_cookie = o->cookie });
	k->calls_pool = http_client_new(l, &k->config.server, o->connections, e);
	k->watch_pool = k->calls_pool ? http_client_new(l, &k->config.server, WATCHES_MAX, e) : NULL;
	if (!k->watch_pool) {
		kube_free(k);
		return NULL;
	}
	if (o->calls_only)
		return k;
	add_feed(k, RES_POD, NULL);
	add_feed(k, RES_SERVICE, NULL);
	if (o->nodes)
		add_feed(k, RES_NODE, NULL);
	for (enum resource r = 0; r < RES_COUNT; r++)
		if (!str_empty(o->optional[r].plural))
			add_feed(k, r, NULL);
	return k;
}

void kube_free(struct kube *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n_feeds; i++)
		feed_free(k->feeds[i]);
	free(k->feeds);
	while (k->streams)
		kube_stream_close(k->streams);
	for (struct kube_call *c = k->calls, *later; c; c = later) {
		later = c->next;
		if (c->http)
			http_cancel(c->http);
		arena_release(&c->arena);
		free(c->body);
		free(c);
	}
	http_client_free(k->calls_pool);
	http_client_free(k->watch_pool);
	kube_auth_free(k->auth);
	kube_certs_free(k->certs);
	loop_timer_free(k->pace_timer);
	inbox_release(&k->inbox);
	arena_release(&k->kinds_arena);
	free(k->kinds);
	free(k);
}

struct cluster *kube_cluster(struct kube *k)
{
	return &k->cluster;
}

static void copy_kinds(struct kube *k, const struct kube_kind *kinds, size_t n)
{
	struct arena *a = &k->kinds_arena;

	k->kinds = xrealloc(k->kinds, n * sizeof(*kinds));
	k->n_kinds = n;
	for (size_t i = 0; i < n; i++)
		k->kinds[i] = (struct kube_kind){
			.id = arena_str(a, kinds[i].id),
			.resource = { .group = arena_str(a, kinds[i].resource.group),
			              .version = arena_str(a, kinds[i].resource.version),
			              .plural = arena_str(a, kinds[i].resource.plural),
			              .namespaced = kinds[i].resource.namespaced },
		};
}

void kube_set_kinds(struct kube *k, const struct kube_kind *kinds, size_t n)
{
	size_t kept = 0;

	/* The watches of the jobs begin anew; those of pods, services and nodes go on. */
	for (size_t i = 0; i < k->n_feeds; i++) {
		if (feed_resource(k->feeds[i]) == RES_JOB)
			feed_free(k->feeds[i]);
		else
			k->feeds[kept++] = k->feeds[i];
	}
	k->n_feeds = kept;
	copy_kinds(k, kinds, n);
	for (size_t i = 0; i < n; i++)
		add_feed(k, RES_JOB, &k->kinds[i]);
}
