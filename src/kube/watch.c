#include "kube/watch.h"

#include "base/json.h"
#include "cluster/decode.h"
#include "kube/split.h"

enum {
	LIST_IDLE = 60, /* seconds; the server itself gives up then */
	/* Bookmarks come once a minute, on every watch. */
	WATCH_IDLE = 90,
	WATCH_LEAST = 300, /* the server ends a watch somewhere between, so that not all end together */
	WATCH_MOST = 600,
	STEADY = 10, /* a watch that lived so long was a good one */

	BACKOFF_FIRST = 500, /* milliseconds */
	BACKOFF_MOST = 10000,
	RETRY_AFTER_MOST = 60000,

	PAGE_MOST = 8000,
	REFUSED_MOST = 5, /* after so many refused watches the place to go on from is doubtful */
	VERSION_MAX = 256,
	TOKEN_MAX = 32 << 10,
	MESSAGE_MAX = 300,
};

/* What the stream itself has said. */
enum stream_verdict {
	STREAM_OK,
	STREAM_EXPIRED, /* the version that the watch began with is not there: too old, or of a future */
	STREAM_REFUSED, /* an ERROR event of another kind */
	STREAM_BROKEN,  /* no JSON, no object, too long */
};

struct watch {
	struct watch_config config;
	struct watch_events ev;
	struct rng rng;
	struct arena names; /* of CONFIG */
	struct arena path;
	enum watch_state state;
	enum watch_state then; /* WAITING: goes on with */
	bool busy;             /* a wish has not been answered yet */
	bool in_list;          /* `sync` was told, `synced` was not */
	bool heard;            /* this watch has said something */
	enum stream_verdict verdict;
	struct splitter split;
	struct buf version; /* to watch from */
	struct buf token;   /* of the next page; empty: the first one */
	int page;
	unsigned failures; /* requests, one after the other */
	unsigned rounds;   /* lists and watches that came to nothing since the last steady watch */
	unsigned refused;  /* watches that the server answered, but not with a stream */
	unsigned silent;   /* watches, one after the other, that never said anything */
	msec delay;
	msec retry_after; /* of an ERROR event */
	int code;         /* … its code; 0: there was none */
};

struct watch *watch_new(const struct watch_config *c, const struct watch_events *ev, struct rng rng)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	ASSERT(c->page > 0 && c->line_max > 0);
	w->config = *c;
	w->config.resource.group = arena_str(&w->names, c->resource.group);
	w->config.resource.version = arena_str(&w->names, c->resource.version);
	w->config.resource.plural = arena_str(&w->names, c->resource.plural);
	w->config.ns = arena_str(&w->names, c->ns);
	w->config.label_selector = arena_str(&w->names, c->label_selector);
	w->config.field_selector = arena_str(&w->names, c->field_selector);
	w->ev = *ev;
	w->rng = rng;
	w->page = c->page;
	w->split = splitter_make(c->line_max);
	w->version = (struct buf)BUF_INIT(VERSION_MAX);
	w->token = (struct buf)BUF_INIT(TOKEN_MAX);
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	splitter_release(&w->split);
	buf_release(&w->version);
	buf_release(&w->token);
	arena_release(&w->names);
	arena_release(&w->path);
	free(w);
}

enum watch_state watch_state(const struct watch *w)
{
	return w->state;
}

static struct watch_wish wish_list(struct watch *w)
{
	struct kube_list_options o = {
		.ns = w->config.ns,
		.label_selector = w->config.label_selector,
		.field_selector = w->config.field_selector,
		.continue_token = buf_str(&w->token),
		.limit = w->page,
	};

	w->state = WATCH_LISTING;
	return (struct watch_wish){ .type = WISH_LIST,
		                    .path = kube_list_path(&w->config.resource, &o, &w->path),
		                    .idle_timeout = SECONDS(LIST_IDLE) };
}

static struct watch_wish wish_watch(struct watch *w)
{
	struct kube_list_options o = {
		.ns = w->config.ns,
		.label_selector = w->config.label_selector,
		.field_selector = w->config.field_selector,
		.resource_version = buf_str(&w->version),
		.watch = true,
		.bookmarks = true,
		.timeout_seconds = (int)rng_between(&w->rng, WATCH_LEAST, WATCH_MOST),
	};
	unsigned doubled = MIN(w->silent, 4U);
	msec idle = MIN(SECONDS(WATCH_IDLE) << doubled, SECONDS(WATCH_MOST));

	w->state = WATCH_WATCHING;
	return (struct watch_wish){ .type = WISH_WATCH,
		                    .path = kube_list_path(&w->config.resource, &o, &w->path),
		                    .idle_timeout = idle };
}

struct watch_wish watch_next(struct watch *w)
{
	if (w->busy)
		return (struct watch_wish){ .type = WISH_NOTHING };
	w->busy = true;
	w->verdict = STREAM_OK;
	w->retry_after = 0;
	w->code = 0;
	w->heard = false;
	splitter_reset(&w->split);
	arena_reset(&w->path);
	switch (w->state) {
	case WATCH_EMPTY:
		buf_clear(&w->token);
		w->in_list = false;
		return wish_list(w);
	case WATCH_LISTING:
		return wish_list(w);
	case WATCH_LISTED:
		return wish_watch(w);
	case WATCH_WAITING:
		return (struct watch_wish){ .type = WISH_SLEEP, .delay = w->delay };
	case WATCH_WATCHING:
		break;
	}
	BUG("nothing to do in state %d", (int)w->state);
}

static void trouble(const struct watch *w, int code, struct str message)
{
	w->ev.trouble(w->ev.cookie, code, str_sub(message, 0, MESSAGE_MAX));
}

/* Longer each time, never the same for two; half of it is certain. */
static void wait_before(struct watch *w, enum watch_state then, msec retry_after)
{
	unsigned level = w->failures + w->rounds;
	msec most = BACKOFF_FIRST;

	for (unsigned i = 1; i < level && most < BACKOFF_MOST; i++)
		most *= 2;
	most = MIN(most, (msec)BACKOFF_MOST);
	w->delay = rng_between(&w->rng, most / 2, most);
	retry_after = MIN(retry_after, (msec)RETRY_AFTER_MOST);
	if (retry_after > w->delay)
		w->delay = rng_between(&w->rng, retry_after, retry_after + retry_after / 4);
	w->state = WATCH_WAITING;
	w->then = then;
}

/* Lists. */

static bool broken(struct watch *w, const char *why)
{
	w->verdict = STREAM_BROKEN;
	trouble(w, 0, str_c(why));
	return false;
}

static bool is_known(const struct skim *s)
{
	return skim_get(s, SKIM_NAME).n && skim_get(s, SKIM_UID).n;
}

static void skip(struct watch *w, const struct skim *s, bool gone, bool large)
{
	struct skipped what = { .gone = gone, .large = large };

	if (is_known(s)) {
		what.meta = (struct meta){ .ns = skim_get(s, SKIM_NAMESPACE),
			                   .name = skim_get(s, SKIM_NAME),
			                   .uid = skim_get(s, SKIM_UID),
			                   .rv = skim_get(s, SKIM_VERSION),
			                   .owner_uid = skim_get(s, SKIM_OWNER) };
		what.job_uid = skim_get(s, SKIM_JOB);
	}
	if (w->ev.skipped)
		w->ev.skipped(w->ev.cookie, &what);
}

static bool skip_item(void *cookie, const struct skim *s)
{
	skip(cookie, s, false, true);
	return true;
}

/* A text that is no object: whose it is may stand in it all the same. */
static struct skim skim_text(struct str text, bool event)
{
	struct skim s = skim_make(event);

	skim_read(&s, text);
	return s;
}

static bool odd_item(struct watch *w, struct str text)
{
	struct skim s = skim_text(text, false);

	if (!is_known(&s))
		return broken(w, "an item of the list is not an object");
	skip(w, &s, false, false);
	return true;
}

static bool take_item(void *cookie, struct str text)
{
	struct watch *w = cookie;
	CLEANUP(json_docp) yyjson_doc *doc = yyjson_read(text.p, text.n, 0);

	if (!yyjson_is_obj(yyjson_doc_get_root(doc)))
		return odd_item(w, text);
	w->ev.object(w->ev.cookie, yyjson_doc_get_root(doc));
	return true;
}

static void begin_list(struct watch *w)
{
	if (w->in_list)
		return;
	w->in_list = true;
	w->ev.sync(w->ev.cookie);
}

static void list_failed(struct watch *w, msec retry_after)
{
	w->failures++;
	/* The first page, asked for again, shows a later moment: what came of it before says nothing. */
	wait_before(w, w->token.n ? WATCH_LISTING : WATCH_EMPTY, retry_after);
}

/* The server is there and has said that the place to go on from is not: nothing is won by waiting as long as for
   a server that is away. */
static void list_anew(struct watch *w, msec retry_after)
{
	w->rounds++;
	w->failures = w->refused = 0;
	wait_before(w, WATCH_EMPTY, retry_after);
}

/* Only of numbers it can be said. */
static bool is_before(struct str a, struct str b)
{
	int64_t x, y;

	return str_int(a, &x) && str_int(b, &y) && x < y;
}

/* A page has come whole; its items were handed on. */
static void page_done(struct watch *w)
{
	struct str rest = buf_str(&w->split.rest);
	CLEANUP(json_docp) yyjson_doc *doc = w->split.done ? yyjson_read(rest.p, rest.n, 0) : NULL;
	yyjson_val *metadata = json_get(yyjson_doc_get_root(doc), "metadata");
	struct str version = json_str(json_get(metadata, "resourceVersion"));
	struct str token = json_str(json_get(metadata, "continue"));

	if (!doc || str_empty(version) || version.n > VERSION_MAX || token.n > TOKEN_MAX) {
		broken(w, w->split.done ? "the answer is not a list" : "the list was cut off");
		list_failed(w, 0);
		return;
	}
	if (!str_empty(token) && str_eq(token, buf_str(&w->token))) {
		broken(w, "the pages of the list repeat themselves");
		list_anew(w, 0);
		return;
	}
	w->failures = 0;
	buf_clear(&w->token);
	buf_put(&w->token, token);
	if (!str_empty(token))
		return;
	if (is_before(version, buf_str(&w->version)) && w->ev.back)
		w->ev.back(w->ev.cookie);
	buf_clear(&w->version);
	buf_put(&w->version, version);
	w->page = w->config.page;
	w->in_list = false;
	w->state = WATCH_LISTED;
	w->ev.synced(w->ev.cookie);
}

/* Watches. */

static void go_on_from(struct watch *w, struct str version)
{
	if (str_empty(version) || version.n > VERSION_MAX)
		return;
	buf_clear(&w->version);
	buf_put(&w->version, version);
}

/* Somebody has put an older state of the cluster back: the server does not have that version yet. */
static bool is_future(yyjson_val *status)
{
	yyjson_val *causes = json_at(status, "details", "causes", NULL), *one;
	struct str message = json_str(json_get(status, "message"));
	size_t i, max;

	yyjson_arr_foreach(causes, i, max, one)
	{
		if (str_eqc(json_str(json_get(one, "reason")), "ResourceVersionTooLarge"))
			return true;
	}
	return message.n && memmem(message.p, message.n, "Too large resource version", 26);
}

static bool take_error(struct watch *w, yyjson_val *status)
{
	struct outcome o = { .message = STR("the watch ended with an error") };
	int64_t code = 0;

	json_int(json_get(status, "code"), &code);
	decode_status(&o, status);
	w->verdict = code == HTTP_GONE || is_future(status) ? STREAM_EXPIRED : STREAM_REFUSED;
	w->retry_after = o.retry_after;
	w->code = code >= 400 && code < 600 ? (int)code : HTTP_SERVER_ERROR;
	if (code != HTTP_GONE)
		trouble(w, code > 0 && code < 1000 ? (int)code : 0, o.message);
	return false;
}

static void hear(struct watch *w)
{
	w->heard = true;
	w->silent = 0;
}

/* Of an object that nobody can name anything may have become: a list must tell. */
static bool skip_event(struct watch *w, const struct skim *s, bool large)
{
	struct str type = skim_get(s, SKIM_TYPE);
	bool gone = str_eqc(type, "DELETED");

	if (!is_known(s) || !(gone || str_eqc(type, "ADDED") || str_eqc(type, "MODIFIED")))
		return broken(w, large ? "an event of the watch is too large" : "a line of the watch is not an event");
	hear(w);
	skip(w, s, gone, large);
	go_on_from(w, skim_get(s, SKIM_VERSION));
	return true;
}

static bool skip_line(void *cookie, const struct skim *s)
{
	return skip_event(cookie, s, true);
}

static bool odd_line(struct watch *w, struct str text)
{
	struct skim s = skim_text(text, true);

	return skip_event(w, &s, false);
}

static bool take_line(void *cookie, struct str text)
{
	struct watch *w = cookie;
	CLEANUP(json_docp) yyjson_doc *doc = yyjson_read(text.p, text.n, 0);
	yyjson_val *root = yyjson_doc_get_root(doc), *object = json_get(root, "object");
	struct str type = json_str(json_get(root, "type"));

	if (!yyjson_is_obj(object))
		return odd_line(w, text);
	hear(w);
	if (str_eqc(type, "ERROR"))
		return take_error(w, object);
	if (str_eqc(type, "ADDED") || str_eqc(type, "MODIFIED"))
		w->ev.object(w->ev.cookie, object);
	else if (str_eqc(type, "DELETED"))
		w->ev.gone(w->ev.cookie, object);
	else if (!str_eqc(type, "BOOKMARK"))
		return broken(w, "an event of the watch has an unknown type");
	go_on_from(w, json_str(json_at(object, "metadata", "resourceVersion", NULL)));
	return true;
}

bool watch_data(struct watch *w, struct str piece)
{
	struct split_to items = { take_item, skip_item, w }, lines = { take_line, skip_line, w };
	enum split got;

	if (!w->busy || w->verdict != STREAM_OK || (w->state != WATCH_LISTING && w->state != WATCH_WATCHING))
		return false;
	if (w->state == WATCH_LISTING) {
		begin_list(w);
		got = split_list(&w->split, piece, &items);
	} else {
		got = split_lines(&w->split, piece, &lines);
	}
	if (got == SPLIT_TOO_LONG)
		broken(w, "an object is too large");
	return got == SPLIT_MORE;
}

/* Ends. */

/* *FUTURE: the version that was asked for has not come yet. May be NULL. */
static void report_end(const struct watch *w, const struct watch_end *end, msec *retry_after, bool *future)
{
	CLEANUP(json_docp) yyjson_doc *doc = end->body.n ? yyjson_read(end->body.p, end->body.n, 0) : NULL;
	struct outcome o = { .message = end->body, .retry_after = end->retry_after };

	decode_status(&o, yyjson_doc_get_root(doc));
	/* The header is the server's last word. */
	*retry_after = end->retry_after ? end->retry_after : o.retry_after;
	if (future)
		*future = is_future(yyjson_doc_get_root(doc));
	trouble(w, end->status, o.message);
}

static bool is_success(const struct watch_end *end)
{
	return http_is_good(end->status);
}

static void list_ended(struct watch *w, const struct watch_end *end)
{
	msec retry_after;

	if (w->verdict != STREAM_OK) {
		list_failed(w, 0);
	} else if (is_success(end)) {
		page_done(w);
	} else {
		report_end(w, end, &retry_after, NULL);
		if (w->token.n && (end->status == HTTP_GONE || end->status == HTTP_BAD_REQUEST)) {
			/* The token has expired. The server offers one that goes on with later objects: what is missing
			   in such a list is not gone. Fewer pages take less time. */
			w->page = MIN(w->page * 2, MAX(w->config.page, (int)PAGE_MOST));
			list_anew(w, retry_after);
		} else {
			list_failed(w, retry_after);
		}
	}
}

static bool may_go_on(int status)
{
	return status == 0 || status == HTTP_UNAUTHORIZED || status == HTTP_FORBIDDEN || status == HTTP_TIMEOUT ||
	       status == HTTP_TOO_MANY || status >= HTTP_SERVER_ERROR;
}

/* The watch was refused, but what it wanted to go on from may well be there. */
static void watch_again(struct watch *w, bool answered, msec retry_after)
{
	w->failures++;
	w->refused += answered;
	if (w->refused >= REFUSED_MOST)
		list_anew(w, retry_after);
	else
		wait_before(w, WATCH_LISTED, retry_after);
}

static void stream_ended(struct watch *w, const struct watch_end *end)
{
	switch (w->verdict) {
	case STREAM_EXPIRED:
	case STREAM_BROKEN:
		list_anew(w, w->retry_after);
		return;
	case STREAM_REFUSED:
		watch_again(w, true, w->retry_after);
		return;
	case STREAM_OK:
		break;
	}
	/* A watch from a version that has not come yet is taken, and says nothing, not even bookmarks. */
	if (!w->heard && end->lasted >= SECONDS(WATCH_IDLE)) {
		w->silent++;
		list_anew(w, 0);
		return;
	}
	w->failures = 0;
	w->refused = 0;
	w->state = WATCH_LISTED;
	/* Whoever closes at once, again and again, is not asked at once again and again. */
	if (end->lasted < SECONDS(STEADY)) {
		w->rounds++;
		wait_before(w, WATCH_LISTED, 0);
	}
}

static void watching_ended(struct watch *w, const struct watch_end *end)
{
	msec retry_after;
	bool future;

	if (end->lasted >= SECONDS(STEADY) && is_success(end))
		w->failures = w->rounds = w->refused = 0;
	if (is_success(end)) {
		stream_ended(w, end);
		return;
	}
	if (end->status == HTTP_GONE) {
		list_anew(w, end->retry_after);
		return;
	}
	report_end(w, end, &retry_after, &future);
	if (may_go_on(end->status) && !future)
		watch_again(w, end->status != 0, retry_after);
	else
		list_anew(w, retry_after);
}

int watch_ended(struct watch *w, const struct watch_end *end)
{
	ASSERT(w->busy && (w->state == WATCH_LISTING || w->state == WATCH_WATCHING));
	w->busy = false;
	if (w->state == WATCH_LISTING)
		list_ended(w, end);
	else
		watching_ended(w, end);
	splitter_reset(&w->split);
	return w->code ? w->code : end->status;
}

void watch_slept(struct watch *w)
{
	ASSERT(w->busy && w->state == WATCH_WAITING);
	w->busy = false;
	w->state = w->then;
}
