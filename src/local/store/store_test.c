#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

static void a_new_object_gets_its_metadata(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		create(f, "configmaps",
	               "{\"metadata\":{\"name\":\"a\",\"uid\":\"mine\",\"generation\":9,\"selfLink\":\"x\","
	               "\"deletionTimestamp\":\"2020-01-01T00:00:00Z\",\"managedFields\":[]},\"data\":{\"k\":\"v\"}}"),
		201);
	assert_said(f, "apiVersion", "v1");
	assert_said(f, "kind", "ConfigMap");
	assert_said(f, "metadata.namespace", "ml");
	assert_said(f, "metadata.creationTimestamp", "2027-01-15T08:00:00Z");
	assert_said(f, "metadata.resourceVersion", fmt(f, "%llu", (unsigned long long)store_version(f->store)));
	assert_int_equal(f->answer.rv, store_version(f->store));
	assert_int_equal(strlen(said(f, "metadata.uid")), 36);
	assert_unsaid(f, "metadata.generation");
	assert_unsaid(f, "metadata.selfLink");
	assert_unsaid(f, "metadata.managedFields");
	assert_unsaid(f, "metadata.deletionTimestamp");
	assert_int_equal(get(f, "configmaps", "a"), 200);
	assert_said(f, "data.k", "v");
}

static void versions_rise_and_uids_differ(void **state)
{
	struct fixture *f = *state;
	const char *uid;
	uint64_t rv;

	assert_int_equal(create(f, "pods", POD("a")), 201);
	rv = f->answer.rv;
	uid = fmt(f, "%s", said(f, "metadata.uid"));
	assert_int_equal(create(f, "pods", POD("b")), 201);
	assert_true(f->answer.rv == rv + 1);
	assert_string_not_equal(said(f, "metadata.uid"), uid);
	assert_said(f, "metadata.generation", "1");
	assert_said(f, "status.phase", "Pending");
}

static void names_are_made_up(void **state)
{
	struct fixture *f = *state;
	const char *body = "{\"metadata\":{\"generateName\":\"x-\"}}";
	const char *first;

	assert_int_equal(create(f, "configmaps", body), 201);
	first = fmt(f, "%s", said(f, "metadata.name"));
	assert_int_equal(strlen(first), 7);
	assert_int_equal(strncmp(first, "x-", 2), 0);
	assert_int_equal(create(f, "configmaps", body), 201);
	assert_string_not_equal(said(f, "metadata.name"), first);
	/* The whole stays within a label. */
	assert_int_equal(create(f, "configmaps",
	                        "{\"metadata\":{\"generateName\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}"),
	                 201);
	assert_int_equal(strlen(said(f, "metadata.name")), 63);
	assert_int_equal(create(f, "configmaps", "{}"), 422);
	assert_said(f, "details.causes.0.field", "metadata.name");
}

static void the_words_of_refusals(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(get(f, "pods", "x"), 404);
	assert_said(f, "kind", "Status");
	assert_said(f, "status", "Failure");
	assert_said(f, "reason", "NotFound");
	assert_said(f, "message", "pods \"x\" not found");
	assert_said(f, "details.kind", "pods");
	assert_said(f, "details.name", "x");
	assert_said(f, "code", "404");
	assert_int_equal(get(f, "leases", "x"), 404);
	assert_said(f, "message", "leases.coordination.k8s.io \"x\" not found");
	assert_said(f, "details.group", "coordination.k8s.io");
	assert_int_equal(create(f, "pods", POD("x")), 201);
	assert_int_equal(create(f, "pods", POD("x")), 409);
	assert_said(f, "reason", "AlreadyExists");
	assert_said(f, "message", "pods \"x\" already exists");
	assert_int_equal(create(f, "pods", POD("X_")), 422);
	assert_said(f, "reason", "Invalid");
	assert_int_equal(
		strncmp(said(f, "message"), "Pod \"X_\" is invalid: metadata.name: Invalid value: \"X_\": a low", 60),
		0);
}

static void namespaces_must_exist(void **state)
{
	struct fixture *f = *state;
	struct store_request r = {
		.verb = STORE_CREATE, .type = type_named(f, "pods"), .ns = STR("no"), .body = STR(POD("a"))
	};

	assert_int_equal(ask(f, r), 404);
	assert_said(f, "message", "namespaces \"no\" not found");
	r.ns = STR("default");
	assert_int_equal(ask(f, r), 201);
	assert_int_equal(get(f, "pods", "a"), 404); /* in another one */
	r.ns = STR_NONE;
	assert_int_equal(ask(f, r), 400);
	r.ns = STR("ml");
	r.body = STR("{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"},\"spec\":{\"containers\":[{\"name\":"
	             "\"c\"}]}}");
	assert_int_equal(ask(f, r), 400);
	assert_int_equal(get(f, "namespaces", "ml"), 200);
	assert_said(f, "status.phase", "Active");
	assert_unsaid(f, "metadata.namespace");
}

static void a_dry_run_changes_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t rv = store_version(f->store);
	struct store_request r = { .verb = STORE_CREATE,
		                   .type = type_named(f, "pods"),
		                   .ns = STR("ml"),
		                   .dry_run = true,
		                   .body = STR(POD("a")) };

	assert_int_equal(ask(f, r), 201);
	assert_said(f, "metadata.name", "a");
	assert_int_equal(get(f, "pods", "a"), 404);
	assert_true(store_version(f->store) == rv);
	assert_int_equal(create(f, "pods", POD("a")), 201);
	assert_true(store_version(f->store) == rv + 1);
}

static void secrets_are_kept_in_base64(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "secrets", "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"k\":\"hello\"}}"), 201);
	assert_said(f, "data.k", "aGVsbG8=");
	assert_said(f, "type", "Opaque");
	assert_unsaid(f, "stringData");
	assert_int_equal(create(f, "secrets", "{\"metadata\":{\"name\":\"t\"},\"stringData\":{\"k\":1}}"), 400);
}

/* A pod would get them empty. */
static void config_holds_strings(void **state)
{
	static const char wrong[] = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"LR\":0.1}}",
			  right[] = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"LR\":\"MC4x\",\"NONE\":null}}";
	static const char *const types[] = { "configmaps", "secrets" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		assert_int_equal(create(f, types[i], wrong), 400);
		assert_non_null(strstr(f->answer.body.p, "data.LR: must be a string, found a number: quote it"));
		assert_int_equal(create(f, types[i], right), 201);
		assert_int_equal(update(f, types[i], "a", wrong), 400);
		assert_int_equal(merge_patch(f, types[i], "a", "{\"data\":{\"LR\":true}}"), 422);
		assert_int_equal(patch_as(f, STORE_PATCH_JSON, types[i], "a",
		                          "[{\"op\":\"replace\",\"path\":\"/data/LR\",\"value\":1}]"),
		                 422);
		assert_int_equal(merge_patch(f, types[i], "a", "{\"binaryData\":[]}"), 422);
		assert_int_equal(get(f, types[i], "a"), 200);
		assert_said(f, "data.LR", "MC4x");
	}
}

static void the_types_are_known(void **state)
{
	struct fixture *f = *state;
	const struct store_type *t = store_type(f->store, STR("coordination.k8s.io"), STR("v1"), STR("leases"));

	assert_non_null(t);
	assert_true(str_eqc(t->kind, "Lease"));
	assert_null(store_type(f->store, STR(""), STR("v1"), STR("leases")));
	assert_null(store_type(f->store, STR(""), STR("v2"), STR("pods")));
	assert_null(store_type_at(f->store, 9));
	assert_non_null(store_type_at(f->store, 8));
}

/* Bodies that nobody should send. */
static void bad_bodies_are_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int code;
		const char *body;
	} cases[] = {
		{ 400, "" },
		{ 400, "{" },
		{ 400, "null" },
		{ 400, "[]" },
		{ 400, "\"x\"" },
		{ 400, "{\"metadata\":[]}" },
		{ 400, "{\"metadata\":\"x\"}" },
		{ 400, "{\"metadata\":{\"name\":1}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"labels\":[]}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":1}}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"a\":null}}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"finalizers\":{}}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"finalizers\":[1]}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"ownerReferences\":{}}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[1]}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"generation\":\"x\"}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\"}}" },
		{ 400, "{\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}" },
		{ 400, "{\"apiVersion\":\"v2\",\"metadata\":{\"name\":\"a\"}}" },
		{ 400, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}" },
		{ 400, "{\"kind\":7,\"metadata\":{\"name\":\"a\"}}" },
		{ 422, "{\"metadata\":{\"name\":\"a\",\"ownerReferences\":[{\"uid\":\"u\"}]}}" },
		{ 422, "{\"metadata\":{\"name\":\"a/b\"}}" },
		{ 422, "{\"metadata\":{\"name\":\"..\"}}" },
		{ 422, "{\"metadata\":{\"name\":\".a\"}}" },
		{ 422, "{\"metadata\":{\"name\":\"a.\"}}" },
		{ 422, "{\"metadata\":{\"name\":\"a-\"}}" },
		{ 422, "{\"metadata\":{\"name\":\"a\\u0000\"}}" },
		{ 422, "{\"metadata\":{\"name\":\"\xc3\xa4\"}}" },
		{ 422, "{\"metadata\":{\"generateName\":\"A\"}}" },
		{ 422, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a b\":\"c\"}}}" },
		{ 422, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"/a\":\"c\"}}}" },
		{ 422, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"b c\"}}}" },
		{ 422, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"-\"}}}" },
		{ 422, "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"\"]}}" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int code = create(f, "configmaps", cases[i].body);

		if (code != cases[i].code)
			fail_msg("%s: %d %s", cases[i].body, code, buf_str(&f->answer.body).p);
	}
	assert_int_equal(list(f, "configmaps", NULL, NULL), 200);
	assert_said(f, "items", "[]");
	assert_int_equal(create(f, "pods", "{\"metadata\":{\"name\":\"a\"}}"), 422);
	assert_int_equal(create(f, "pods", "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[1]}}"), 422);
	assert_int_equal(create(f, "services", "{\"metadata\":{\"name\":\"1a\"}}"), 422);
	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"a.b\"}}"), 422);
}

static char *filled(const char *before, size_t n, const char *after)
{
	char *body = xmalloc(n + strlen(before) + strlen(after) + 1), *at = body;

	memcpy(at, before, strlen(before));
	memset(at += strlen(before), 'x', n);
	memcpy(at + n, after, strlen(after) + 1);
	return body;
}

static void large_objects_have_a_limit(void **state)
{
	struct fixture *f = *state;
	char *body CLEANUP(freep) = filled("{\"metadata\":{\"name\":\"a\",\"annotations\":{\"a\":\"", 1 << 20, "\"}}}");
	char *data CLEANUP(freep) = filled("{\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":\"", 1 << 20, "\"}}");
	char *huge CLEANUP(freep) = filled("{\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":\"", 3 << 20, "\"}}");

	assert_int_equal(create(f, "configmaps", body), 422);
	assert_int_equal(create(f, "configmaps", huge), 413);
	assert_int_equal(create(f, "configmaps", data), 201);
	assert_int_equal(get(f, "configmaps", "a"), 200);
	assert_true(f->answer.body.n > 1 << 20);
}

static void deep_objects_have_a_limit(void **state)
{
	struct fixture *f = *state;
	struct buf b = BUF_INIT(1 << 20);

	buf_put(&b, STR("{\"metadata\":{\"name\":\"a\"},\"data\":"));
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		buf_putc(&b, '[');
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		buf_putc(&b, ']');
	buf_putc(&b, '}');
	assert_int_equal(create(f, "configmaps", b.p), 400);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_new_object_gets_its_metadata),
		STORE_TEST(versions_rise_and_uids_differ),
		STORE_TEST(names_are_made_up),
		STORE_TEST(the_words_of_refusals),
		STORE_TEST(namespaces_must_exist),
		STORE_TEST(a_dry_run_changes_nothing),
		STORE_TEST(secrets_are_kept_in_base64),
		STORE_TEST(config_holds_strings),
		STORE_TEST(the_types_are_known),
		STORE_TEST(bad_bodies_are_refused),
		STORE_TEST(large_objects_have_a_limit),
		STORE_TEST(deep_objects_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
