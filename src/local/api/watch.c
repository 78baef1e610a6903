/* Watches: what changes, as a stream of JSON lines, or of Table rows. */
#include "base/list.h"
#include "base/json.h"
#include "local/api/internal.h"
#include "local/api/table.h"

enum { TIMEOUT_S = 45 * 60, EVENT_MAX = 16 << 20, INITIAL_MAX = 1 << 30, KEEP_LINE = 64 << 10 };

struct watcher {
	struct api *api;
	struct http_exchange *x;
	struct store_watch *watch;
	struct loop_timer *timer;
	const struct store_type *type;
	bool bookmarks, over;
	struct api_table *table; /* NULL: whole objects */
	struct str include;
	bool columns_said;
	uint64_t said; /* the newest version that the reader knows of */
	struct buf line;
	bool starting; /* what comes is collected in LINE */
	struct arena arena;
	struct watcher *prev, *next;
};

static const char *const changes[] = {
	[STORE_ADDED] = "ADDED", [STORE_MODIFIED] = "MODIFIED", [STORE_DELETED] = "DELETED"
};

static void end(struct watcher *w)
{
	if (w->over)
		return;
	w->over = true;
	store_watch_free(w->watch);
	w->watch = NULL;
	http_stream_end(w->x);
}

static void put_event_line(struct watcher *w)
{
	if (w->starting)
		return;
	/* One that is too slow is cut off, and comes back with a list. */
	if (!http_stream_put(w->x, buf_str(&w->line))) {
		w->over = true;
		store_watch_free(w->watch);
		w->watch = NULL;
	}
	buf_clear(&w->line);
	if (w->line.cap > KEEP_LINE)
		buf_release(&w->line);
}

static void put_object(struct watcher *w, const struct store_event *ev)
{
	struct table_style style = { .include = w->include, .now = clock_now(w->api->config.clock) };
	yyjson_val *root = w->table ? store_event_root(ev) : NULL;

	if (!root) {
		buf_put(&w->line, ev->object);
		return;
	}
	style.columns = !w->columns_said;
	w->columns_said = true;
	table_write(w->table, root, &style, &w->line);
}

static void on_event(void *cookie, const struct store_event *ev)
{
	struct watcher *w = cookie;

	if (w->over)
		return;
	w->said = ev->rv;
	buf_printf(&w->line, "{\"type\":\"%s\",\"object\":", changes[ev->change]);
	put_object(w, ev);
	buf_put(&w->line, STR("}\n"));
	put_event_line(w);
}

static void put_bookmark(struct watcher *w, bool initial_end)
{
	const struct store_type *t = w->type;
	struct buf meta = BUF_INIT(1024);

	w->said = store_version(w->api->config.store);
	buf_printf(&meta, "{\"resourceVersion\":\"%llu\"%s}", (unsigned long long)w->said,
	           initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	buf_put(&w->line, STR("{\"type\":\"BOOKMARK\",\"object\":"));
	if (w->table) {
		table_write_empty(buf_str(&meta), &w->line);
	} else {
		buf_printf(&w->line, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s%s%.*s\",\"metadata\":%.*s}",
		           STR_F(t->kind), STR_F(t->group), t->group.n ? "/" : "", STR_F(t->version),
		           STR_F(buf_str(&meta)));
	}
	buf_put(&w->line, STR("}\n"));
	buf_release(&meta);
	put_event_line(w);
}

static void put_error(struct watcher *w, int code, const char *message)
{
	buf_put(&w->line, STR("{\"type\":\"ERROR\",\"object\":"));
	api_status(&w->line, code, str_c(message));
	buf_put(&w->line, STR("}\n"));
}

void watch_on_bookmarks(void *cookie)
{
	struct api *a = cookie;

	for (struct watcher *w = a->watchers; w; w = w->next)
		if (!w->over && w->bookmarks && w->said != store_version(a->config.store))
			put_bookmark(w, false);
	if (a->watchers)
		loop_timer_set(a->bookmarks, BOOKMARK_MS);
}

static void on_timeout(void *cookie)
{
	end(cookie);
}

static void on_client_gone(void *cookie)
{
	struct watcher *w = cookie;
	struct api *a = w->api;

	store_watch_free(w->watch);
	loop_timer_free(w->timer);
	table_free(w->table);
	buf_release(&w->line);
	arena_release(&w->arena);
	list_drop(&a->watchers, w);
	a->streams--;
	free(w);
}

static struct watcher *new_watcher(struct api_answering *q)
{
	const struct api_watch_options *o = &q->route->watch;
	struct watcher *w = xcalloc(1, sizeof(*w));
	struct api *a = q->api;

	w->api = a;
	w->x = q->x;
	w->type = o->type;
	w->bookmarks = o->bookmarks;
	w->include = arena_str(&w->arena, q->route->include_object);
	w->line = (struct buf)BUF_INIT(INITIAL_MAX);
	w->table = q->form == ACCEPT_TABLE ? table_new(a->config.store, o->type) : NULL;
	w->timer = loop_timer_new(a->config.loop, on_timeout, w);
	if (!a->watchers)
		loop_timer_set(a->bookmarks, BOOKMARK_MS);
	list_push(&a->watchers, w);
	a->streams++;
	http_stream(q->x, &(struct http_stream_config){ .content_type = "application/json",
	                                                .max = STREAM_WAITING,
	                                                .gone = on_client_gone,
	                                                .cookie = w });
	return w;
}

void answer_watch(struct api_answering *q)
{
	const struct api_watch_options *o = &q->route->watch;
	struct store *s = q->api->config.store;
	struct err e = ERR_INIT;
	struct watcher *w;

	if (o->from > store_version(s) && o->initial_events) {
		answer_status(q, HTTP_GATEWAY_TIMEOUT, "Too large resource version: %llu", (unsigned long long)o->from);
		return;
	}
	if (!may_stream(q))
		return;
	w = new_watcher(q);
	w->starting = true;
	w->watch = store_watch_new(s,
	                           &(struct store_watch_config){ .type = o->type,
	                                                         .ns = o->ns,
	                                                         .label_selector = o->label_selector,
	                                                         .field_selector = o->field_selector,
	                                                         .from = o->initial_events ? 0 : o->from,
	                                                         .event = on_event,
	                                                         .cookie = w },
	                           &e);
	if (!w->watch)
		put_error(w,
		          e.code == ERR_LIMIT     ? HTTP_GONE
		          : e.code == ERR_INVALID ? HTTP_BAD_REQUEST
		                                  : HTTP_SERVER_ERROR,
		          err_msg(&e));
	else if (o->initial_events)
		put_bookmark(w, true);
	w->starting = false;
	if (w->line.n)
		put_event_line(w);
	if (!w->watch) {
		end(w);
	} else {
		w->line.max = EVENT_MAX;
		loop_timer_set(w->timer, SECONDS(o->timeout_s ? MIN(o->timeout_s, (int64_t)24 * 3600) : TIMEOUT_S));
	}
	err_release(&e);
}
