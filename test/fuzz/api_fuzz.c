/* Any bytes as what a stranger sends to the local API: an address, headers, a protobuf message, a column's path. */
#include "base/json.h"
#include "local/api/accept.h"
#include "local/api/protobuf.h"
#include "local/api/route.h"
#include "local/api/table_cells.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD" };
	static struct store *store;
	static yyjson_doc *object;
	struct str input = { (const char *)data, n };

	if (!store) {
		static const struct clock clock = { now, NULL };

		store = store_open(&(struct store_config){ .clock = &clock, .seed = 1 }, NULL);
		object = json_parse(STR("{\"a\":{\"b\":[{\"c\":\"d\"},1,null]},\"e.f\":\"\"}"), NULL);
		ASSERT(store && object);
	}
	if (!n)
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
