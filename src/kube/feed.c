#include "kube/feed.h"

#include "base/json.h"

enum { PAGE = 500, REFUSAL_MAX = 1 << 20 };

struct feed {
	struct feed_config config;
	struct watch *machine;
	struct http_call *call;
	struct loop_timer *timer;
	struct inbox_batch *batch; /* while the machine is handed something */
	bool pushed;               /* something was put into the inbox */
	bool busy;                 /* a request or a sleep is under way */
};

static void report_trouble(const struct feed *f, int code, struct str message)
{
	bool list = watch_state(f->machine) == WATCH_LISTING;

	if (f->config.trouble)
		f->config.trouble(f->config.cookie, f->config.resource, f->config.kind, list, code, message);
}

static struct cluster_event *push(struct feed *f, enum cluster_event_type type)
{
	struct cluster_event *ev = inbox_push(f->config.inbox, f->batch);

	ev->type = type;
	ev->resource = f->config.resource;
	ev->kind = arena_str(&f->batch->arena, f->config.kind);
	f->pushed = true;
	return ev;
}

static void skip(struct feed *f, const struct skipped *s)
{
	struct arena *a = &f->batch->arena;
	struct skipped *to = &push(f, EVENT_SKIPPED)->skipped;

	*to = *s;
	to->meta.ns = arena_str(a, s->meta.ns);
	to->meta.name = arena_str(a, s->meta.name);
	to->meta.uid = arena_str(a, s->meta.uid);
	to->meta.rv = arena_str(a, s->meta.rv);
	to->meta.owner_uid = arena_str(a, s->meta.owner_uid);
	to->job_uid = arena_str(a, s->job_uid);
}

static void event(struct feed *f, enum cluster_event_type type, yyjson_val *val)
{
	struct object object = { 0 };
	struct err e = ERR_INIT;

	/* One odd object does not stop the others: it has no name, and so nobody knows which one it is. */
	if (val && !inbox_object(f->batch, &object, f->config.resource, f->config.kind, val, &e)) {
		report_trouble(f, 0, str_c(err_msg(&e)));
		err_release(&e);
		skip(f, &(struct skipped){ .gone = type == EVENT_GONE });
		return;
	}
	push(f, type)->object = object;
}

static void on_sync(void *cookie)
{
	event(cookie, EVENT_SYNC, NULL);
}

static void on_object(void *cookie, yyjson_val *val)
{
	event(cookie, EVENT_PUT, val);
}

static void on_object_gone(void *cookie, yyjson_val *val)
{
	event(cookie, EVENT_GONE, val);
}

static void on_synced(void *cookie)
{
	event(cookie, EVENT_SYNCED, NULL);
}

static void on_trouble(void *cookie, int code, struct str message)
{
	struct feed *f = cookie;

	if (code == HTTP_UNAUTHORIZED)
		kube_auth_refused(f->config.auth);
	report_trouble(f, code, message);
}

static void on_back(void *cookie)
{
	const struct feed *f = cookie;

	if (f->config.back)
		f->config.back(f->config.cookie);
}

static void on_skipped(void *cookie, const struct skipped *s)
{
	skip(cookie, s);
}

/* Whatever the machine says while it is handed something shares one batch. */
static void hand_begin(struct feed *f)
{
	f->batch = inbox_begin(f->config.inbox);
	f->pushed = false;
}

static void hand_end(struct feed *f)
{
	inbox_end(f->config.inbox, f->batch);
	f->batch = NULL;
	if (f->pushed)
		f->config.wake(f->config.cookie);
}

static bool stream_data(void *cookie, struct str piece)
{
	struct feed *f = cookie;
	bool more;

	hand_begin(f);
	more = watch_data(f->machine, piece);
	hand_end(f);
	return more;
}

static void stream_done(void *cookie, const struct http_answer *a)
{
	struct feed *f = cookie;
	bool watch = watch_state(f->machine) == WATCH_WATCHING;
	int code;

	f->call = NULL;
	f->busy = false;
	if (!a->status || a->status == HTTP_UNAUTHORIZED)
		kube_certs_doubt(f->config.certs);
	hand_begin(f);
	code = watch_ended(f->machine, &(struct watch_end){ .status = a->status,
	                                                    .body = a->status ? a->body : str_c(a->problem),
	                                                    .retry_after = a->retry_after,
	                                                    .lasted = a->took });
	hand_end(f);
	if (f->config.asked)
		f->config.asked(f->config.cookie, watch, code, a->began);
	feed_go_on(f);
}

static void slept(void *cookie)
{
	struct feed *f = cookie;

	f->busy = false;
	watch_slept(f->machine);
	feed_go_on(f);
}

static void request(struct feed *f, const struct watch_wish *wish, struct str header)
{
	f->call = http_send(f->config.pool, &(struct http_request){
						    .method = HTTP_GET,
						    .path = wish->path,
						    .authorization = header,
						    .idle_timeout = wish->idle_timeout,
						    .body_max = REFUSAL_MAX,
						    .data = stream_data,
						    .done = stream_done,
						    .cookie = f,
					    });
	f->busy = true;
}

void feed_go_on(struct feed *f)
{
	struct err e = ERR_INIT;
	struct watch_wish wish;
	struct str header;

	if (f->busy)
		return;
	switch (kube_auth_header(f->config.auth, &header, &e)) {
	case KUBE_AUTH_FAILED:
		on_trouble(f, 0, str_c(err_msg(&e)));
		err_release(&e);
		return;
	case KUBE_AUTH_WAIT:
		return;
	case KUBE_AUTH_HAVE:
		break;
	}
	hand_begin(f);
	wish = watch_next(f->machine);
	hand_end(f);
	switch (wish.type) {
	case WISH_LIST:
	case WISH_WATCH:
		request(f, &wish, header);
		break;
	case WISH_SLEEP:
		f->busy = true;
		loop_timer_set(f->timer, wish.delay);
		break;
	case WISH_NOTHING:
		break;
	}
}

struct feed *feed_new(const struct feed_config *c)
{
	struct feed *f = xcalloc(1, sizeof(*f));
	struct watch_config w = { .resource = c->where,
		                  .ns = c->ns,
		                  .label_selector = c->label_selector,
		                  .page = PAGE,
		                  .line_max = OBJECT_READ_MAX };
	struct watch_events ev = { on_sync, on_object, on_object_gone, on_synced, on_trouble, on_back, on_skipped, f };

	f->config = *c;
	f->timer = loop_timer_new(c->loop, slept, f);
	f->machine = watch_new(&w, &ev, rng_seed(c->seed));
	return f;
}

void feed_free(struct feed *f)
{
	if (f->call)
		http_cancel(f->call);
	loop_timer_free(f->timer);
	watch_free(f->machine);
	free(f);
}

enum resource feed_resource(const struct feed *f)
{
	return f->config.resource;
}
