#include "local/api/strict.h"

#include "base/json.h"
#include "kind/kind.h"

enum { WARNINGS_MAX = 20, ANSWER_MAX = 16 << 10 };

static const struct kind *kind_of(const struct api_answering *q)
{
	const struct store_type *t = q->route->request.type;
	struct str api_version;

	if (!q->api->config.kinds || !t->custom)
		return NULL;
	api_version = arena_printf(&q->api->arena, "%.*s/%.*s", STR_F(t->group), STR_F(t->version));
	return kinds_find(q->api->config.kinds, api_version, t->kind);
}

static bool is_pod(const struct store_type *t)
{
	return !t->custom && str_eqc(t->plural, "pods");
}

/* Of a pod only what a template has, too. */
static void check_pod(const struct pod_fields_check *c, yyjson_val *pod)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	CLEANUP(json_docp) yyjson_doc *part = NULL;
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	static const char *const keys[] = { "metadata", "spec" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (json_get(pod, keys[i]))
			yyjson_mut_obj_add_val(doc, root, keys[i], yyjson_val_mut_copy(doc, json_get(pod, keys[i])));
	yyjson_mut_doc_set_root(doc, root);
	part = yyjson_mut_doc_imut_copy(doc, NULL);
	pod_fields_check(c, yyjson_doc_get_root(part), STR_NONE);
}

static struct str problem_words(const struct problems *p)
{
	struct buf b = BUF_INIT(ANSWER_MAX);
	struct str ret = STR("the body has too many errors");
	size_t told = 0;

	for (size_t i = 0; i < p->list.n && told < WARNINGS_MAX; i++)
		if (p->list.v[i].severity == PROBLEM_ERROR)
			buf_printf(&b, "%s%.*s: %.*s", told++ ? ", " : "", STR_F(p->list.v[i].path),
			           STR_F(p->list.v[i].message));
	if (p->errors > told)
		buf_printf(&b, ", and %zu more", p->errors - told);
	if (!b.overflow)
		ret = arena_str(p->arena, buf_str(&b));
	buf_release(&b);
	return ret;
}

static void refuse_fields(struct api_answering *q, const struct problems *p)
{
	const struct store_type *t = q->route->request.type;
	struct str kind = t->kind, version = t->version, words = problem_words(p);
	struct buf b = BUF_INIT(2 * ANSWER_MAX);

	api_status(&b, HTTP_BAD_REQUEST,
	           arena_printf(p->arena,
	                        "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: %.*s",
	                        STR_F(kind), STR_F(version), STR_F(kind), STR_F(words)));
	answer_json(q, HTTP_BAD_REQUEST, &b);
}

static void warn(struct api_answering *q, const struct problems *p)
{
	for (size_t i = 0; i < p->list.n && i < WARNINGS_MAX; i++)
		http_warn(q->x, arena_printf(&q->api->arena, "%.*s: %.*s", STR_F(p->list.v[i].path),
		                             STR_F(p->list.v[i].message)));
}

/* False: there is nothing to check of this request. */
static bool is_checked(const struct api_answering *q)
{
	const struct store_request *r = &q->route->request;
	bool writes = r->verb == STORE_CREATE || r->verb == STORE_UPDATE || r->verb == STORE_PATCH;

	return writes && !r->status && (is_pod(r->type) || kind_of(q));
}

static void check_body(const struct api_answering *q, yyjson_val *root, bool patch, struct problems *ret)
{
	const struct pod_fields_check c = { ret, q->route->unknown, patch };
	const struct kind *kind = kind_of(q);

	if (kind)
		kind_check_body(kind, root, &c);
	else
		check_pod(&c, root);
}

/* A JSON patch is a list of operations: only what it makes of an object can be looked at. */
static bool is_operations(const struct store_request *r)
{
	return r->verb == STORE_PATCH && r->patch == STORE_PATCH_JSON;
}

bool strict_check(struct api_answering *q, struct str body)
{
	struct problems p = { .arena = &q->api->arena };
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	yyjson_val *root;

	/* What no JSON is the store refuses. */
	if (!is_checked(q) || is_operations(&q->route->request))
		return true;
	doc = json_parse(body, NULL);
	root = yyjson_doc_get_root(doc);
	if (!yyjson_is_obj(root))
		return true;
	check_body(q, root, q->route->request.verb == STORE_PATCH, &p);
	if (p.errors) {
		refuse_fields(q, &p);
		return false;
	}
	warn(q, &p);
	return true;
}

static bool has_problem(const struct problems *p, const struct problem *one)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (str_eq(p->list.v[i].path, one->path) && str_eq(p->list.v[i].message, one->message))
			return true;
	return false;
}

/* What was wrong before is no fault of the patch. */
static bool judge_patched(void *cookie, yyjson_val *before, yyjson_val *after, struct str *why)
{
	struct api_answering *q = cookie;
	struct problems old = { .arena = &q->api->arena }, all = old, fresh = old;

	check_body(q, before, false, &old);
	check_body(q, after, false, &all);
	for (size_t i = 0; i < all.list.n; i++)
		if (!has_problem(&old, &all.list.v[i]))
			problems_add(&fresh, all.list.v[i].severity, all.list.v[i].path, "%.*s",
			             STR_F(all.list.v[i].message));
	if (fresh.errors)
		*why = problem_words(&fresh);
	else
		warn(q, &fresh);
	return !fresh.errors;
}

void strict_patch(struct api_answering *q, struct store_request *r)
{
	if (!is_checked(q) || !is_operations(r))
		return;
	r->judge = judge_patched;
	r->judge_cookie = q;
}
