/*
 * Any answers of a server. The input is cut at zero bytes into answers: one byte for the status, one for how long it
 * lasted, and the body. Fed in pieces of different sizes they must have the machine tell the same; a list is never
 * called whole that is not, what is too large stops nothing, and nothing makes it ask again at once.
 */
#include "base/json.h"
#include "kube/watch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct run {
	struct watch *w;
	struct buf log;
	bool in_list, listed;
};

static void on_sync(void *cookie)
{
	struct run *r = cookie;

	r->in_list = true;
	buf_put(&r->log, STR("sync\n"));
}

static void on_object(void *cookie, yyjson_val *val)
{
	struct run *r = cookie;

	ASSERT(yyjson_is_obj(val) && (r->in_list || r->listed));
	json_write_val(val, &r->log);
}

static void on_gone(void *cookie, yyjson_val *val)
{
	struct run *r = cookie;

	ASSERT(yyjson_is_obj(val) && r->listed && !r->in_list);
	buf_putc(&r->log, '-');
	json_write_val(val, &r->log);
}

static void on_synced(void *cookie)
{
	struct run *r = cookie;

	ASSERT(r->in_list);
	r->in_list = false;
	r->listed = true;
	buf_put(&r->log, STR("synced\n"));
}

static void on_skipped(void *cookie, const struct skipped *s)
{
	struct run *r = cookie;

	/* Of one that has no name, only a list may tell. */
	ASSERT(r->in_list ? !s->gone : r->listed && s->meta.name.n);
	ASSERT(!s->meta.name.n == !s->meta.uid.n);
	buf_printf(&r->log, "%c%.*s/%.*s %.*s %.*s %.*s %.*s\n", s->gone ? '-' : '?', STR_F(s->meta.ns),
	           STR_F(s->meta.name), STR_F(s->meta.uid), STR_F(s->meta.rv), STR_F(s->job_uid),
	           STR_F(s->meta.owner_uid));
}

static void on_trouble(void *cookie, int code, struct str message)
{
	struct run *r = cookie;

	buf_printf(&r->log, "%d %.*s\n", code, STR_F(message));
}

static const int statuses[] = { 200, 200, 200, 200, 0, 400, 401, 403, 404, 410, 429, 500 };

static void answer(struct run *r, struct str text, size_t piece)
{
	int status = text.n ? statuses[(unsigned char)text.p[0] % ARRAY_LEN(statuses)] : 0;
	msec lasted = text.n > 1 ? (unsigned char)text.p[1] * 100 : 0;
	struct str body = str_sub(text, MIN(text.n, (size_t)2), text.n);
	struct watch_end end = { .status = status, .body = body, .lasted = lasted };

	if (status == 200) {
		end.body = STR_NONE;
		while (body.n && watch_data(r->w, str_sub(body, 0, piece)))
			body = str_sub(body, MIN(piece, body.n), body.n);
	}
	watch_ended(r->w, &end);
}

static void play(struct run *r, struct str input, size_t piece)
{
	struct str text;

	while (str_next(&input, '\0', &text)) {
		struct watch_wish wish = watch_next(r->w);

		if (wish.type == WISH_SLEEP) {
			ASSERT(wish.delay >= 250 && wish.delay <= 75000);
			buf_printf(&r->log, "sleep %d\n", (int)wish.delay);
			watch_slept(r->w);
			wish = watch_next(r->w);
		}
		ASSERT(wish.type == WISH_LIST || wish.type == WISH_WATCH);
		ASSERT(watch_next(r->w).type == WISH_NOTHING);
		buf_put(&r->log, wish.path);
		answer(r, text, piece);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const size_t pieces[] = { SIZE_MAX, 1, 7 };
	static const struct watch_config config = {
		.resource = { STR_INIT("x.io"), STR_INIT("v1"), STR_INIT("jobs"), true }, .page = 500, .line_max = 500
	};
	struct buf first = BUF_INIT(1 << 26);

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		struct run r = { .log = BUF_INIT(1 << 26) };
		struct watch_events ev = { on_sync, on_object, on_gone, on_synced, on_trouble, NULL, on_skipped, &r };

		r.w = watch_new(&config, &ev, rng_seed(1));
		play(&r, (struct str){ (const char *)data, n }, pieces[i]);
		if (i == 0)
			buf_put(&first, buf_str(&r.log));
		ASSERT(str_eq(buf_str(&first), buf_str(&r.log)));
		watch_free(r.w);
		buf_release(&r.log);
	}
	buf_release(&first);
	return 0;
}
