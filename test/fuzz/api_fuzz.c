/* Any bytes as what a stranger sends to the local API: an address, headers, a protobuf message, a column's path. Or an
   object, which is stored and shown in every form that the API has, checked as strictly as one that comes, and taken
   for the options of a deletion. */
#include "kind/kind.h"
#include "local/api/discovery.h"
#include "local/api/openapi.h"
#include "local/api/protobuf.h"
#include "local/api/route.h"
#include "local/api/table_cells.h"
#include "retype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static msec now(void *cookie)
{
	(void)cookie;
	return SECONDS(1800000000);
}

static void check_name(struct str s)
{
	ASSERT(str_empty(s) || (!memchr(s.p, '/', s.n) && !memchr(s.p, 0, s.n) && str_is_utf8(s)));
}

static void check_route(const struct store *s, struct str method, struct str address, struct str type)
{
	const char *mark = address.n ? memchr(address.p, '?', address.n) : NULL;
	size_t cut = mark ? (size_t)(mark - address.p) : address.n;
	struct api_ask ask = { method, str_sub(address, 0, cut), str_sub(address, cut + 1, address.n), type };
	struct arena a = ARENA_INIT;
	struct api_route r;
	yyjson_doc *doc;

	if (api_route(&r, s, &ask, &a)) {
		check_name(r.request.ns);
		check_name(r.request.name);
		ASSERT(r.action != API_STORE || r.request.type);
		ASSERT(r.action != API_WATCH || r.watch.type);
	} else {
		doc = json_parse(r.body, NULL);
		ASSERT(r.code >= 400 && doc);
		yyjson_doc_free(doc);
	}
	arena_release(&a);
}

static void check_protobuf(struct str kind, struct str body)
{
	struct buf out = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	yyjson_doc *doc;

	if (protobuf_to_json(kind, body, &out, &e)) {
		doc = yyjson_read(out.p, out.n, 0);
		ASSERT(doc);
		yyjson_doc_free(doc);
	} else {
		ASSERT(e.code && out.n == 0);
	}
	err_release(&e);
	buf_release(&out);
}

static void check_json(struct buf *b)
{
	yyjson_doc *doc = json_parse(buf_str(b), NULL);

	ASSERT(doc);
	yyjson_doc_free(doc);
	buf_clear(b);
}

static void show_table(struct store *s, const struct store_request *r, struct buf *b)
{
	static const struct str include[] = { STR_INIT("None"), STR_INIT("Metadata"), STR_INIT("Object") };
	struct api_table *t = table_new(s, r->type);
	struct store_answer a;
	yyjson_doc *doc;

	store_call(s, r, &a);
	doc = json_parse(buf_str(&a.body), NULL);
	ASSERT(doc && a.code >= 200 && a.code < 500);
	for (size_t i = 0; a.code < 300 && i < ARRAY_LEN(include); i++) {
		struct table_style style = { .include = include[i], .now = now(NULL), .columns = true };

		table_write(t, yyjson_doc_get_root(doc), &style, b);
		check_json(b);
	}
	yyjson_doc_free(doc);
	store_answer_release(&a);
	table_free(t);
}

static void show_types(struct store *s, struct buf *b)
{
	const struct store_type *t;

	discovery_paths(b, s);
	check_json(b);
	discovery_groups(b, s);
	check_json(b);
	discovery_all(b, s, false, ACCEPT_DISCOVERY);
	check_json(b);
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (!t->custom)
			continue;
		discovery_resources(b, s, t->group, t->version);
		check_json(b);
		openapi_group(b, s, t->group, t->version);
		check_json(b);
	}
}

/* As a pod, and as a job of every kind. */
static void check_strictly(yyjson_val *object)
{
	static struct kinds *kinds;

	if (!kinds) {
		kinds = kinds_new(NULL);
		ASSERT(kinds_load_builtin(kinds, NULL));
	}
	for (int patch = 0; patch < 2; patch++) {
		struct arena a = ARENA_INIT;
		struct problems p = { .arena = &a };
		const struct pod_fields_check c = { &p, patch ? UNKNOWN_WARN : UNKNOWN_STRICT, patch };

		pod_fields_check(&c, object, STR_NONE);
		for (size_t i = 0; i < kinds_count(kinds); i++)
			kind_check_body(kinds_at(kinds, i), object, &c);
		for (size_t i = 0; i < p.list.n; i++)
			ASSERT(p.list.v[i].message.n && str_is_utf8(p.list.v[i].path));
		arena_release(&a);
	}
}

/* What an eviction brings is the body of a deletion. */
static void delete_with(struct store *s, struct str options)
{
	struct store_request r = {
		.verb = STORE_CREATE,
		.type = store_type(s, STR_NONE, STR("v1"), STR("pods")),
		.ns = STR("default"),
		.body = STR(
			"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"),
	};
	struct store_answer a;

	store_call(s, &r, &a);
	ASSERT(a.code == 201);
	store_answer_release(&a);
	r.verb = STORE_DELETE;
	r.name = STR("p");
	r.body = options;
	store_call(s, &r, &a);
	ASSERT(a.code >= 200 && a.code < 500);
	store_answer_release(&a);
}

static bool show_object(const struct clock *clock, struct str text)
{
	yyjson_doc *object = text.n && text.p[0] == '{' ? json_parse(text, NULL) : NULL;
	struct store_request r = { .verb = STORE_CREATE, .ns = STR("default"), .body = STR(JOB_DEFINITION) };
	struct buf b = BUF_INIT(1 << 26);
	struct store *s;

	if (!object)
		return false;
	s = store_open(&(struct store_config){ .clock = clock, .seed = 1 }, NULL);
	r.type = store_type(s, STR("apiextensions.k8s.io"), STR("v1"), STR("customresourcedefinitions"));
	/* Unless it is one itself, which would be there twice. */
	if (type_said(s, yyjson_doc_get_root(object)) != r.type)
		show_table(s, &r, &b);
	r.type = type_said(s, yyjson_doc_get_root(object));
	r.body = text;
	show_table(s, &r, &b);
	r.verb = STORE_LIST;
	show_table(s, &r, &b);
	show_types(s, &b);
	check_strictly(yyjson_doc_get_root(object));
	delete_with(s, text);
	store_close(s);
	buf_release(&b);
	yyjson_doc_free(object);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct clock clock = { now, NULL };
	static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD" };
	static struct store *store;
	static yyjson_doc *object;
	struct str input = { (const char *)data, n };

	if (!store) {
		store = store_open(&(struct store_config){ .clock = &clock, .seed = 1 }, NULL);
		object = json_parse(STR("{\"a\":{\"b\":[{\"c\":\"d\"},1,null]},\"e.f\":\"\"}"), NULL);
		ASSERT(store && object);
	}
	if (!n || show_object(&clock, input))
		return 0;
	input = str_sub(input, 1, n);
	check_route(store, str_c(methods[data[0] % ARRAY_LEN(methods)]), input, STR("application/merge-patch+json"));
	check_route(store, STR("POST"), STR("/api/v1/namespaces"), input);
	check_protobuf(STR("Secret"), input);
	check_protobuf(STR("Namespace"), input);
	column_value(yyjson_doc_get_root(object), input);
	accept_form(input, data[0]);
	return 0;
}
