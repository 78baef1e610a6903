#include "local/api/strict.h"

#include "base/json.h"
#include "kind/kind.h"

enum { WARNINGS_MAX = 20, ANSWER_MAX = 16 << 10 };

static const struct kind *kind_of(const struct answering *q)
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

static void refuse_fields(struct answering *q, const struct problems *p)
{
	const struct store_type *t = q->route->request.type;
	struct buf text = BUF_INIT(ANSWER_MAX);
	struct buf b = BUF_INIT(2 * ANSWER_MAX);
	size_t told = 0;

	buf_printf(&text,
	           "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: ", STR_F(t->kind),
	           STR_F(t->version), STR_F(t->kind));
	for (size_t i = 0; i < p->list.n && told < WARNINGS_MAX; i++)
		if (p->list.v[i].severity == PROBLEM_ERROR)
			buf_printf(&text, "%s%.*s: %.*s", told++ ? ", " : "", STR_F(p->list.v[i].path),
			           STR_F(p->list.v[i].message));
	if (p->errors > told)
		buf_printf(&text, ", and %zu more", p->errors - told);
	api_status(&b, HTTP_BAD_REQUEST, text.overflow ? STR("the body has too many errors") : buf_str(&text));
	answer_json(q, HTTP_BAD_REQUEST, &b);
	buf_release(&text);
}

static void warn(struct answering *q, const struct problems *p)
{
	for (size_t i = 0; i < p->list.n && i < WARNINGS_MAX; i++)
		http_warn(q->x, arena_printf(&q->api->arena, "%.*s: %.*s", STR_F(p->list.v[i].path),
		                             STR_F(p->list.v[i].message)));
}

bool strict_check(struct answering *q, struct str body)
{
	const struct store_request *r = &q->route->request;
	bool writes = r->verb == STORE_CREATE || r->verb == STORE_UPDATE || r->verb == STORE_PATCH;
	struct problems p = { .arena = &q->api->arena };
	struct pod_fields_check c = { &p, q->route->unknown, r->verb == STORE_PATCH };
	const struct kind *kind = writes ? kind_of(q) : NULL;
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	yyjson_val *root;

	/* A JSON patch is a list of operations; what no JSON is the store refuses. */
	if (!writes || r->status || (!kind && !is_pod(r->type)) || (c.patch && r->patch == STORE_PATCH_JSON))
		return true;
	doc = json_parse(body, NULL);
	root = yyjson_doc_get_root(doc);
	if (!yyjson_is_obj(root))
		return true;
	if (kind)
		kind_check_body(kind, root, &c);
	else
		check_pod(&c, root);
	if (p.errors) {
		refuse_fields(q, &p);
		return false;
	}
	warn(q, &p);
	return true;
}
