/* Real objects in which any value has any other type, as the API shows them: tables, discovery, schemas. What comes of
   them is JSON. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/api/discovery.h"
#include "local/api/openapi.h"
#include "local/api/table.h"
#include "local/store/testing.h"

#define DEFINITION "aitrainingjobs.elasticdeeplearning.ai"
static const struct str group = STR_INIT("elasticdeeplearning.ai");

static void is_json(struct buf *b)
{
	struct err e = ERR_INIT;
	yyjson_doc *doc = json_parse(buf_str(b), &e);

	if (!doc)
		fail_msg("%s: %s", err_msg(&e), b->p);
	yyjson_doc_free(doc);
	buf_clear(b);
}

/* What the store has answered last, as a table. */
static void is_shown(struct fixture *f, const struct store_type *type)
{
	static const char *const include[] = { "None", "Metadata", "Object" };
	struct api_table *t = table_new(f->store, type);
	struct buf b = BUF_INIT(1 << 22);

	for (size_t i = 0; i < ARRAY_LEN(include); i++) {
		table_write(t, yyjson_doc_get_root(f->doc),
		            &(struct table_style){ .include = str_c(include[i]), .now = f->now, .columns = i == 0 },
		            &b);
		is_json(&b);
	}
	table_free(t);
	buf_release(&b);
}

static const char *plural;

static void object(struct fixture *f, const char *text)
{
	if (create(f, plural, text) != 201)
		return;
	is_shown(f, type_named(f, plural));
	list(f, plural, "", "");
	is_shown(f, type_named(f, plural));
	merge_patch(f, plural, "a", "{\"metadata\":{\"finalizers\":null}}");
	delete_one(f, plural, "a", "{\"gracePeriodSeconds\":0}");
	settle(f);
}

static void objects(void **state)
{
	static const char *const samples[][2] = {
		{ "pod", "pods" },           { "service", "services" },     { "node", "nodes" },
		{ "job", "aitrainingjobs" }, { "namespace", "namespaces" }, { "configmap", "configmaps" },
		{ "secret", "secrets" },     { "event", "events" },         { "lease", "leases" },
	};
	struct fixture *f = *state;

	assert_int_equal(create(f, "customresourcedefinitions", sample(f, "crd")), 201);
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		plural = samples[i][1];
		each_retyped(f, samples[i][0], object);
		assert_int_equal(create(f, plural, sample(f, samples[i][0])), 201);
	}
}

static void is_discovered(struct fixture *f)
{
	static const struct str versions[] = { STR_INIT("v1"), STR_INIT("v2") };
	struct buf b = BUF_INIT(1 << 22);

	discovery_paths(&b, f->store);
	is_json(&b);
	discovery_groups(&b, f->store);
	is_json(&b);
	discovery_all(&b, f->store, false, ACCEPT_DISCOVERY);
	is_json(&b);
	openapi_index(&b, f->store);
	is_json(&b);
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		discovery_resources(&b, f->store, group, versions[i]);
		is_json(&b);
		openapi_group(&b, f->store, group, versions[i]);
		is_json(&b);
	}
	buf_release(&b);
}

static void is_served(struct fixture *f, const char *text)
{
	const struct store_type *t;

	if (create(f, "customresourcedefinitions", text) != 201)
		return;
	is_shown(f, type_named(f, "customresourcedefinitions"));
	is_discovered(f);
	t = store_type(f->store, group, STR("v1"), STR("aitrainingjobs"));
	if (t && create(f, "aitrainingjobs", sample(f, "job")) == 201)
		is_shown(f, t);
	merge_patch(f, "customresourcedefinitions", DEFINITION, "{\"metadata\":{\"finalizers\":null}}");
	delete_one(f, "customresourcedefinitions", DEFINITION, "");
	settle(f);
}

static void crds(void **state)
{
	each_retyped(*state, "crd", is_served);
}

/* They stand in addresses and in keys, as they are. */
static void names_of_crds(void **state)
{
	static const char *const wrong[] = {
		"\"kind\":\"a\\\"b\"",
		"\"kind\":\"a b\"",
		"\"kind\":\"\\u00e4\"",
		"\"kind\":\"A\",\"listKind\":\"a\\\"b\"",
		"\"kind\":\"A\",\"singular\":\"a\\\"b\"",
		"\"kind\":\"A\",\"shortNames\":[\"a\\\"b\"]",
		"\"kind\":\"A\",\"categories\":[7]",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(create(f, "customresourcedefinitions",
		                        fmt(f,
		                            "{\"metadata\":{\"name\":\"as.b.c\"},\"spec\":{\"group\":\"b.c\",\"scope\":"
		                            "\"Cluster\",\"names\":{\"plural\":\"as\",%s},\"versions\":[{\"name\":"
		                            "\"v1\",\"served\":true,"
		                            "\"storage\":true}]}}",
		                            wrong[i])),
		                 422);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(objects),
		STORE_TEST(crds),
		STORE_TEST(names_of_crds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
