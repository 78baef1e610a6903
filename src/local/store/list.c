#include "local/store/list.h"

#include "local/store/answer.h"
#include "local/store/delete.h"
#include "local/store/select.h"

enum { LIST_MAX = 1 << 30 };

/*
 * A page after the first shows what there is now, under the version of the first: whoever watches from there sees
 * every change that the pages may have mixed. It is refused once the history does not reach back so far.
 */
struct token {
	uint64_t rv;
	struct str ns, name; /* the last that was shown */
};

struct store_listing {
	struct store_call *call;
	const struct selector *selector;
	struct buf items;
	struct str last_ns, last_name;
	size_t n;
	bool more;
	VEC(int64_t) ids; /* only with WANT_IDS */
	bool want_ids;
};

static bool refuse_token(struct store_call *c)
{
	return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "continue key is not valid");
}

static bool read_token(struct store_call *c, struct token *ret)
{
	struct buf b = BUF_INIT(4096);
	struct err e = ERR_INIT;
	yyjson_doc *doc = NULL;
	yyjson_val *root;
	int64_t rv = 0;

	*ret = (struct token){ .rv = c->s->version };
	if (str_empty(c->r->continue_token))
		return true;
	if (buf_base64(&b, c->r->continue_token) && !b.overflow)
		doc = store_parse(c->s, buf_str(&b), &e);
	buf_release(&b);
	err_release(&e);
	root = yyjson_doc_get_root(doc);
	if (!json_int(json_get(root, "rv"), &rv) || rv <= 0 || str_empty(json_str(json_get(root, "name"))))
		return refuse_token(c);
	*ret = (struct token){ (uint64_t)rv, json_str(json_get(root, "ns")), json_str(json_get(root, "name")) };
	if (ret->rv < c->s->history.since || ret->rv > c->s->version)
		return answer_refusal(
			c, HTTP_GONE, "Expired",
			"The provided continue parameter is too old to display a consistent list result. You must "
			"start a new list without the continue parameter.");
	return true;
}

static struct str write_token(struct store_call *c, const struct token *t)
{
	struct buf json = BUF_INIT(4096), b = BUF_INIT(8192);
	struct str ret;

	buf_printf(&json, "{\"rv\":%llu,\"ns\":", (unsigned long long)t->rv);
	buf_json_str(&json, t->ns);
	buf_put(&json, STR(",\"name\":"));
	buf_json_str(&json, t->name);
	buf_putc(&json, '}');
	buf_base64_encode(&b, buf_str(&json));
	ret = arena_str(&c->s->arena, buf_str(&b));
	buf_release(&json);
	buf_release(&b);
	return ret;
}

static bool selected(const struct selector *sel, struct str text)
{
	yyjson_doc *doc CLEANUP(json_docp) = NULL;

	if (selector_empty(sel))
		return true;
	doc = yyjson_read(text.p, text.n, 0);
	return selector_matches(sel, yyjson_doc_get_root(doc));
}

static void put_item(struct store_listing *l, struct str text)
{
	if (l->items.n)
		buf_putc(&l->items, ',');
	buf_put(&l->items, answer_in_version(l->call->s, l->call->type, text));
}

static bool show(void *cookie, const struct db_row *row)
{
	struct store_listing *l = cookie;
	struct arena *a = &l->call->s->arena;
	size_t limit = l->call->r->limit;

	if (!selected(l->selector, row->text))
		return true;
	if (limit && l->n == limit) {
		l->more = true;
		return false;
	}
	l->n++;
	if (l->want_ids)
		*vec_push(a, &l->ids) = row->id;
	else
		put_item(l, row->text);
	if (limit && l->n == limit) {
		l->last_ns = arena_str(a, row->ns);
		l->last_name = arena_str(a, row->name);
	}
	return true;
}

static bool answer_list(struct store_listing *l, uint64_t rv, struct str token, int64_t remaining)
{
	struct store_call *c = l->call;
	struct buf *b = &c->ret->body;

	c->ret->code = HTTP_OK;
	c->ret->rv = rv;
	*b = (struct buf)BUF_INIT(LIST_MAX);
	buf_put(b, STR("{\"kind\":"));
	buf_json_str(b, c->type->pub.list_kind);
	buf_put(b, STR(",\"apiVersion\":"));
	buf_json_str(b, answer_api_version(c->type, &c->s->arena));
	buf_printf(b, ",\"metadata\":{\"resourceVersion\":\"%llu\"", (unsigned long long)rv);
	if (token.n)
		buf_printf(b, ",\"continue\":\"%.*s\"", STR_F(token));
	if (remaining > 0)
		buf_printf(b, ",\"remainingItemCount\":%lld", (long long)remaining);
	buf_put(b, STR("},\"items\":["));
	buf_put(b, buf_str(&l->items));
	buf_put(b, STR("]}"));
	if (b->overflow || l->items.overflow)
		return answer_refusal(c, HTTP_TOO_LARGE, "RequestEntityTooLarge",
		                      "the list is too large: ask for pages");
	return true;
}

static bool find_objects(struct store_listing *l, struct db_range *range, struct token *from)
{
	struct store_call *c = l->call;
	struct err e = ERR_INIT;

	l->selector = selector_new(c->type, c->r->label_selector, c->r->field_selector, &c->s->arena, &e);
	if (!l->selector) {
		answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	if (!read_token(c, from))
		return false;
	*range = (struct db_range){ .resource = c->type->resource,
		                    .ns = c->type->pub.namespaced ? c->r->ns : STR_NONE,
		                    .after_ns = from->ns,
		                    .after_name = from->name };
	db_each(c->s->db, range, show, l);
	return true;
}

bool store_verb_list(struct store_call *c)
{
	struct store_listing l = { .call = c, .items = BUF_INIT(LIST_MAX) };
	struct str token = STR_NONE;
	struct token from, next;
	struct db_range range;
	int64_t remaining = 0;
	bool ok = find_objects(&l, &range, &from);

	if (ok && l.more) {
		next = (struct token){ from.rv, l.last_ns, l.last_name };
		token = write_token(c, &next);
		range.after_ns = l.last_ns;
		range.after_name = l.last_name;
		/* As Kubernetes: with a selector nobody counts. */
		remaining = selector_empty(l.selector) ? db_count(c->s->db, &range) : 0;
	}
	ok = ok && answer_list(&l, from.rv, token, remaining);
	buf_release(&l.items);
	return ok;
}

bool store_verb_delete_all(struct store_call *c)
{
	struct store_listing l = { .call = c, .items = BUF_INIT(LIST_MAX), .want_ids = true };
	struct delete_wish o;
	struct token from;
	struct db_range range;
	bool ok = delete_read_options(c, &o, NULL) && find_objects(&l, &range, &from);

	for (size_t i = 0; ok && i < l.ids.n; i++) {
		struct delete_done done;
		struct db_row row;

		if (!db_get_id(c->s->db, l.ids.v[i], &row, &c->s->arena))
			continue;
		ok = delete_allowed(c, &row) && store_delete_object(c, &row, &o, &done);
		if (ok)
			put_item(&l, done.text);
	}
	ok = ok && answer_list(&l, c->s->version, STR_NONE, 0);
	buf_release(&l.items);
	return ok;
}
