#include "local/store/watch.h"

#include "local/store/answer.h"
#include "local/store/meta.h"
#include "local/store/select.h"

enum { HISTORY_BYTES = 4 << 20 };

struct store_watch {
	struct store *store;
	const struct stored_type *type;
	struct str ns;
	const struct selector *selector;
	bool selects;
	void (*event)(void *cookie, const struct store_event *ev);
	void *cookie;
	struct arena arena;
	bool ended;
	struct store_watch *next;
};

struct history_event *history_event_new(enum store_change change, const struct stored_type *t, struct str ns,
                                        uint64_t rv, struct str text, struct str before)
{
	size_t size = sizeof(struct history_event) + ns.n + text.n + before.n;
	struct history_event *ev = xmalloc(size);
	char *at = (char *)(ev + 1);

	*ev = (struct history_event){ .change = change, .rv = rv, .type = t, .size = size };
	ev->ns = (struct str){ at, ns.n };
	ev->now.text = (struct str){ at + ns.n, text.n };
	ev->before.text = (struct str){ at + ns.n + text.n, before.n };
	memcpy(at, str_text(ns), ns.n);
	memcpy(at + ns.n, str_text(text), text.n);
	memcpy(at + ns.n + text.n, str_text(before), before.n);
	return ev;
}

/* Trees */

static yyjson_val *read_root(struct store_read *r)
{
	if (!r->doc)
		r->doc = json_parse(r->text, NULL);
	return yyjson_doc_get_root(r->doc);
}

static void read_end(struct store_read *r)
{
	if (!r->taken)
		yyjson_doc_free(r->doc);
	*r = (struct store_read){ .text = r->text };
}

yyjson_val *store_event_root(const struct store_event *ev)
{
	return read_root(ev->read);
}

yyjson_doc *store_event_take(const struct store_event *ev)
{
	if (ev->read->taken)
		return json_parse(ev->object, NULL);
	ev->read->taken = read_root(ev->read);
	return ev->read->doc;
}

static void told(struct history_event *ev)
{
	read_end(&ev->now);
	read_end(&ev->before);
}

void history_event_free(struct history_event *ev)
{
	told(ev);
	free(ev);
}

/* The history */

void store_history_init(struct store_history *h, size_t cap, uint64_t since)
{
	*h = (struct store_history){ .v = xcalloc(cap, sizeof(*h->v)), .cap = cap, .since = since };
}

void store_history_release(struct store_history *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[(h->first + i) % h->cap]);
	free(h->v);
	*h = (struct store_history){ 0 };
}

static void forget_first(struct store_history *h)
{
	struct history_event *ev = h->v[h->first];

	h->since = ev->rv;
	h->bytes -= ev->size;
	h->first = (h->first + 1) % h->cap;
	h->n--;
	free(ev);
}

static void remember(struct store_history *h, struct history_event *ev)
{
	while (h->n && (h->n == h->cap || h->bytes + ev->size > HISTORY_BYTES))
		forget_first(h);
	h->v[(h->first + h->n++) % h->cap] = ev;
	h->bytes += ev->size;
}

/* Telling */

static void send_event(const struct store_watch *w, enum store_change change, uint64_t rv, struct store_read *r)
{
	struct store_read other = { .text = answer_in_version(w->store, w->type, r->text) };
	bool same = other.text.p == r->text.p;

	w->event(w->cookie, &(struct store_event){ change, rv, other.text, same ? r : &other });
	read_end(&other);
}

/* It stopped to match: the state before, with the version at which that was. */
static void tell_left(const struct store_watch *w, struct history_event *ev)
{
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
	yyjson_val *before = read_root(&ev->before);
	struct buf b = BUF_INIT(SIZE_MAX / 4);
	struct store_read left;
	char rv[24];

	ASSERT(before);
	snprintf(rv, sizeof(rv), "%llu", (unsigned long long)ev->rv);
	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, before));
	meta_put_str(doc, meta_of(doc), "resourceVersion", str_c(rv));
	json_write(yyjson_mut_doc_get_root(doc), &b);
	left = (struct store_read){ .text = buf_str(&b) };
	send_event(w, STORE_DELETED, ev->rv, &left);
	read_end(&left);
	buf_release(&b);
}

static void tell_selected(const struct store_watch *w, struct history_event *ev)
{
	bool now = selector_matches(w->selector, read_root(&ev->now));
	bool before = ev->before.text.n ? selector_matches(w->selector, read_root(&ev->before)) : now;

	switch (ev->change) {
	case STORE_ADDED:
		if (now)
			send_event(w, STORE_ADDED, ev->rv, &ev->now);
		return;
	case STORE_MODIFIED:
		if (now)
			send_event(w, before ? STORE_MODIFIED : STORE_ADDED, ev->rv, &ev->now);
		else if (before)
			tell_left(w, ev);
		return;
	case STORE_DELETED:
		if (before)
			send_event(w, STORE_DELETED, ev->rv, &ev->now);
		return;
	}
}

static void tell_watch(const struct store_watch *w, struct history_event *ev)
{
	if (w->ended || !str_eq(w->type->resource, ev->type->resource) || (w->ns.n && !str_eq(w->ns, ev->ns)))
		return;
	if (w->selects)
		tell_selected(w, ev);
	else
		send_event(w, ev->change, ev->rv, &ev->now);
}

static void free_watch(struct store_watch *w)
{
	arena_release(&w->arena);
	free(w);
}

void watches_sweep(struct store *s)
{
	for (struct store_watch **at = &s->watches; *at;) {
		struct store_watch *w = *at;

		if (w->ended) {
			*at = w->next;
			free_watch(w);
		} else {
			at = &w->next;
		}
	}
	s->watches_ended = false;
}

void watches_tell(struct store *s)
{
	s->telling = true;
	for (size_t i = 0; i < s->events.n; i++) {
		for (const struct store_watch *w = s->watches; w; w = w->next)
			tell_watch(w, s->events.v[i]);
		told(s->events.v[i]);
	}
	s->telling = false;
	for (size_t i = 0; i < s->events.n; i++)
		remember(&s->history, s->events.v[i]);
	if (s->watches_ended)
		watches_sweep(s);
}

/* A new watch */

static bool tell_row(void *cookie, const struct db_row *row)
{
	const struct store_watch *w = cookie;
	struct store_read r = { .text = row->text };

	if (!w->selects || selector_matches(w->selector, read_root(&r)))
		send_event(w, STORE_ADDED, row->rv, &r);
	read_end(&r);
	return !w->ended;
}

static bool tell_all(struct store_watch *w, struct err *e)
{
	struct store *s = w->store;
	struct db_range range = { .resource = w->type->resource, .ns = w->ns };

	store_begin(s);
	s->telling = true;
	db_each(s->db, &range, tell_row, w);
	s->telling = false;
	return store_end(s, false, e);
}

static void tell_history(struct store_watch *w, uint64_t from)
{
	struct store *s = w->store;

	s->telling = true;
	for (size_t i = 0; i < s->history.n; i++) {
		struct history_event *ev = s->history.v[(s->history.first + i) % s->history.cap];

		if (ev->rv > from)
			tell_watch(w, ev);
		told(ev);
	}
	s->telling = false;
	arena_reset(&s->arena);
}

struct store_watch *store_watch_new(struct store *s, const struct store_watch_config *c, struct err *e)
{
	struct store_watch *w;
	struct err fault = ERR_INIT;

	ASSERT(!s->telling);
	if (c->from && (c->from < s->history.since || c->from > s->stored)) {
		err_set(e, ERR_LIMIT, "too old resource version: %llu (%llu)", (unsigned long long)c->from,
		        (unsigned long long)s->stored);
		return NULL;
	}
	w = xcalloc(1, sizeof(*w));
	w->store = s;
	w->type = (const struct stored_type *)(const void *)c->type;
	w->ns = w->type->pub.namespaced ? arena_str(&w->arena, c->ns) : STR_NONE;
	w->event = c->event;
	w->cookie = c->cookie;
	w->selector = selector_new(w->type, arena_str(&w->arena, c->label_selector),
	                           arena_str(&w->arena, c->field_selector), &w->arena, &fault);
	w->selects = w->selector && !selector_empty(w->selector);
	if (w->selector && !c->from && !tell_all(w, &fault))
		w->selector = NULL;
	if (!w->selector) {
		err_set(e, (enum err_code)fault.code, "%s", err_msg(&fault));
		err_release(&fault);
		free_watch(w);
		return NULL;
	}
	if (c->from)
		tell_history(w, c->from);
	w->next = s->watches;
	s->watches = w;
	return w;
}

void store_watch_free(struct store_watch *w)
{
	struct store *s;

	if (!w)
		return;
	s = w->store;
	w->ended = true;
	if (s->telling)
		s->watches_ended = true;
	else
		watches_sweep(s);
}
