#include "kube/request.h"

#include "object/delete_options.h"

enum { PATH_MAX_BYTES = 1 << 20 };

static const struct kube_resource builtin[RES_COUNT] = {
	[RES_POD] = { STR_INIT(""), STR_INIT("v1"), STR_INIT("pods"), true },
	[RES_SERVICE] = { STR_INIT(""), STR_INIT("v1"), STR_INIT("services"), true },
	[RES_NODE] = { STR_INIT(""), STR_INIT("v1"), STR_INIT("nodes"), false },
};

const struct kube_resource *kube_builtin_resource(enum resource r)
{
	ASSERT(r < RES_COUNT && builtin[r].plural.n);
	return &builtin[r];
}

void kube_put_escaped(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		    c == '.' || c == '_' || c == '~')
			buf_putc(b, (char)c);
		else
			buf_printf(b, "%%%02X", c);
	}
}

static void put_segment(struct buf *b, struct str s)
{
	buf_putc(b, '/');
	kube_put_escaped(b, s);
}

static void put_collection(struct buf *b, const struct kube_resource *r, struct str ns)
{
	if (str_empty(r->group)) {
		buf_put(b, STR("/api"));
	} else {
		buf_put(b, STR("/apis"));
		put_segment(b, r->group);
	}
	put_segment(b, r->version);
	if (r->namespaced && !str_empty(ns)) {
		buf_put(b, STR("/namespaces"));
		put_segment(b, ns);
	}
	put_segment(b, r->plural);
}

/* Moves it into A. */
static struct str take_text(struct buf *b, struct arena *a)
{
	struct str out;

	ASSERT(!b->overflow);
	out = arena_str(a, buf_str(b));
	buf_release(b);
	return out;
}

/* Escaping does not help: the server looks at the path after it has taken the escapes out. */
static bool check_name(const char *what, struct str s, struct err *e)
{
	if (str_empty(s))
		return err_set(e, ERR_INVALID, "the %s is empty", what);
	if (s.n > 253)
		return err_set(e, ERR_INVALID, "the %s is longer than 253 characters", what);
	if (str_eqc(s, ".") || str_eqc(s, "..") || memchr(s.p, '/', s.n) || memchr(s.p, '%', s.n) ||
	    memchr(s.p, '\0', s.n))
		return err_set(e, ERR_INVALID, "\"%.*s\" cannot be a %s", STR_F(s), what);
	return true;
}

static struct str delete_options(const struct request *r, struct arena *a)
{
	struct buf b = BUF_INIT(PATH_MAX_BYTES);

	delete_options_put(&b, &(struct delete_options){ r->grace, r->uid, STR("Background") });
	return take_text(&b, a);
}

static const struct {
	enum http_method method;
	struct str content_type;
	bool on_collection;
	bool on_status;
} verbs[] = {
	[VERB_GET] = { HTTP_GET, STR_INIT(""), false, false },
	[VERB_CREATE] = { HTTP_POST, STR_INIT("application/json"), true, false },
	[VERB_DELETE] = { HTTP_DELETE, STR_INIT("application/json"), false, false },
	[VERB_PATCH] = { HTTP_PATCH, STR_INIT("application/merge-patch+json"), false, false },
	[VERB_PATCH_STATUS] = { HTTP_PATCH, STR_INIT("application/merge-patch+json"), false, true },
};

struct str kube_object_path(const struct kube_resource *r, struct str ns, struct str name, struct arena *a)
{
	struct buf b = BUF_INIT(PATH_MAX_BYTES);

	put_collection(&b, r, ns);
	put_segment(&b, name);
	return take_text(&b, a);
}

bool kube_wire_request(struct kube_wire *ret, const struct request *r, const struct kube_resource *kind,
                       struct arena *a, struct err *e)
{
	const struct kube_resource *where = builtin[r->resource].plural.n ? &builtin[r->resource] : kind;
	struct buf path = BUF_INIT(PATH_MAX_BYTES);

	ASSERT(where && (size_t)r->verb < ARRAY_LEN(verbs));
	if (where->namespaced && !check_name("namespace", r->ns, e))
		return false;
	if (!verbs[r->verb].on_collection && !check_name("name", r->name, e))
		return false;
	put_collection(&path, where, r->ns);
	if (!verbs[r->verb].on_collection)
		put_segment(&path, r->name);
	if (verbs[r->verb].on_status)
		buf_put(&path, STR("/status"));
	*ret = (struct kube_wire){
		.method = verbs[r->verb].method,
		.path = take_text(&path, a),
		.body = r->verb == VERB_DELETE ? delete_options(r, a)
		        : r->verb == VERB_GET  ? STR_NONE
		                               : r->body,
		.content_type = verbs[r->verb].content_type,
	};
	return true;
}

static void put_query(struct buf *b, const char *key, struct str value)
{
	if (str_empty(value))
		return;
	buf_putc(b, memchr(b->p, '?', b->n) ? '&' : '?');
	buf_put(b, str_c(key));
	buf_putc(b, '=');
	kube_put_escaped(b, value);
}

static void put_query_int(struct buf *b, const char *key, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	put_query(b, key, value > 0 ? str_c(text) : STR_NONE);
}

struct str kube_list_path(const struct kube_resource *r, const struct kube_list_options *o, struct arena *a)
{
	struct buf b = BUF_INIT(PATH_MAX_BYTES);

	put_collection(&b, r, o->ns);
	put_query(&b, "watch", o->watch ? STR("true") : STR_NONE);
	put_query(&b, "allowWatchBookmarks", o->bookmarks ? STR("true") : STR_NONE);
	put_query(&b, "labelSelector", o->label_selector);
	put_query(&b, "fieldSelector", o->field_selector);
	put_query_int(&b, "limit", o->limit);
	/* The server refuses a version beside a token. */
	if (str_empty(o->continue_token)) {
		put_query(&b, "resourceVersion", o->resource_version);
		put_query(&b, "resourceVersionMatch", o->resource_version_match);
	}
	put_query(&b, "continue", o->continue_token);
	put_query_int(&b, "timeoutSeconds", o->timeout_seconds);
	return take_text(&b, a);
}
