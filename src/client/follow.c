#include "client/follow.h"

#include "kube/watch.h"

enum { PAGE = 500 };

struct follow {
	struct remote *remote;
	struct follow_events ev;
	struct watch *machine;
	struct kube_stream *stream;
	struct loop_timer *timer;
	bool listed;
	int refused;
	struct buf message;
};

static void go_on(struct follow *f);

static void on_sync(void *cookie)
{
	(void)cookie;
}

static void on_object(void *cookie, yyjson_val *val)
{
	struct follow *f = cookie;

	f->ev.put(f->ev.cookie, val);
}

static void on_object_gone(void *cookie, yyjson_val *val)
{
	struct follow *f = cookie;

	if (f->ev.gone)
		f->ev.gone(f->ev.cookie, val);
}

static void on_synced(void *cookie)
{
	struct follow *f = cookie;

	f->listed = true;
	if (f->ev.listed)
		f->ev.listed(f->ev.cookie);
}

static void on_trouble(void *cookie, int code, struct str message)
{
	struct follow *f = cookie;

	buf_clear(&f->message);
	buf_put(&f->message, message);
	if (code == HTTP_UNAUTHORIZED || code == HTTP_FORBIDDEN || code == HTTP_NOT_FOUND || code == HTTP_NOT_ALLOWED)
		f->refused = code;
	else if (!code && !f->listed)
		f->refused = FOLLOW_SILENT;
	if (code)
		remote_heard(f->remote);
	else
		remote_doubt(f->remote);
}

static bool on_data(void *cookie, struct str piece)
{
	struct follow *f = cookie;
	bool more = watch_data(f->machine, piece);

	remote_heard(f->remote);

	remote_wake(f->remote);
	return more;
}

static void on_done(void *cookie, const struct outcome *o, msec took)
{
	struct follow *f = cookie;

	f->stream = NULL;
	watch_ended(f->machine,
	            &(struct watch_end){
			    .status = o->code, .body = o->message, .retry_after = o->retry_after, .lasted = took });
	remote_wake(f->remote);
	if (!f->refused)
		go_on(f);
}

static void on_time(void *cookie)
{
	struct follow *f = cookie;

	watch_slept(f->machine);
	go_on(f);
}

static void go_on(struct follow *f)
{
	struct watch_wish wish = watch_next(f->machine);

	if (wish.type == WISH_LIST)
		remote_doubt(f->remote);
	switch (wish.type) {
	case WISH_LIST:
	case WISH_WATCH:
		f->stream =
			kube_stream_open(f->remote->kube, &(struct kube_stream_spec){ .path = wish.path,
		                                                                      .idle_timeout = wish.idle_timeout,
		                                                                      .data = on_data,
		                                                                      .done = on_done,
		                                                                      .cookie = f });
		break;
	case WISH_SLEEP:
		loop_timer_set(f->timer, wish.delay);
		break;
	case WISH_NOTHING:
		break;
	}
}

struct follow *follow_new(struct remote *r, struct kube_resource resource, struct str ns, struct str labels,
                          struct str fields, const struct follow_events *ev)
{
	struct follow *f = xcalloc(1, sizeof(*f));
	struct watch_config c = { .resource = resource,
		                  .ns = ns,
		                  .label_selector = labels,
		                  .field_selector = fields,
		                  .page = PAGE,
		                  .line_max = OBJECT_READ_MAX };
	struct watch_events we = { .sync = on_sync,
		                   .object = on_object,
		                   .gone = on_object_gone,
		                   .synced = on_synced,
		                   .trouble = on_trouble,
		                   .cookie = f };

	f->remote = r;
	f->ev = *ev;
	f->message = (struct buf)BUF_INIT(4096);
	f->timer = loop_timer_new(r->loop, on_time, f);
	f->machine = watch_new(&c, &we, rng_seed((uint64_t)clock_now(&clock_wall)));
	remote_listen(r);
	go_on(f);
	return f;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	remote_listen_end(f->remote);
	kube_stream_close(f->stream);
	loop_timer_free(f->timer);
	watch_free(f->machine);
	buf_release(&f->message);
	free(f);
}

int follow_refused(const struct follow *f, struct str *message)
{
	*message = buf_str(&f->message);
	return f->refused;
}
