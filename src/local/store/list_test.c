#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

static void make(struct fixture *f, const char *name, const char *labels)
{
	assert_int_equal(
		create(f, "configmaps", fmt(f, "{\"metadata\":{\"name\":\"%s\",\"labels\":%s}}", name, labels)), 201);
}

/* The names that a list shows, with blanks between. */
static const char *names(struct fixture *f, const char *plural, const char *labels, const char *fields)
{
	struct buf b = BUF_INIT(1 << 20);
	yyjson_val *one, *items;
	const char *ret;
	size_t i, max;

	assert_int_equal(list(f, plural, labels, fields), 200);
	items = json_get(yyjson_doc_get_root(f->doc), "items");
	yyjson_arr_foreach(items, i, max, one)
	{
		if (i)
			buf_putc(&b, ' ');
		buf_put(&b, json_str(json_at(one, "metadata", "name", NULL)));
	}
	ret = arena_str(&f->arena, buf_str(&b)).p;
	buf_release(&b);
	return ret;
}

static void label_selectors(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *selector, *names;
	} cases[] = {
		{ "", "a b c d" },
		{ "x", "a b c" },
		{ "!x", "d" },
		{ "x=1", "a" },
		{ "x==1", "a" },
		{ "x = 1", "a" },
		{ "x!=1", "b c d" },
		{ "x in (1,2)", "a b" },
		{ "x in ( 1 , 2 )", "a b" },
		{ "x in (1)", "a" },
		{ "x notin (1, 2)", "c d" },
		{ "x,y", "b" },
		{ "x,!y", "a c" },
		{ "x in (2,3),y=1", "b" },
		{ "x=", "c" },
		{ "x in (,1)", "a c" },
		{ "e.org/k=v", "d" },
		{ "in=1", "" },
		{ "x>1", "b" },
		{ "x<2", "a" },
		{ "x > 0,y", "b" },
		{ " x ", "a b c" },
	};

	make(f, "a", "{\"x\":\"1\"}");
	make(f, "b", "{\"x\":\"2\",\"y\":\"1\"}");
	make(f, "c", "{\"x\":\"\"}");
	make(f, "d", "{\"e.org/k\":\"v\"}");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *found = names(f, "configmaps", cases[i].selector, NULL);

		if (strcmp(found, cases[i].names) != 0)
			fail_msg("%s: %s", cases[i].selector, found);
	}
}

static void bad_selectors_are_refused(void **state)
{
	struct fixture *f = *state;
	static const char *const labels[] = { "=",
		                              "a=b=c",
		                              "a in",
		                              "a in b",
		                              "a in (b",
		                              "a in (b))",
		                              "a b",
		                              ",",
		                              "!",
		                              "!a=b",
		                              "a>b",
		                              "a<",
		                              "a,",
		                              "(a)",
		                              "a!b",
		                              "a=="
		                              "=b",
		                              "a notin" };
	static const char *const fields[] = { "x=1", "metadata.name", "=a", "!=a", "status.phase=Running" };

	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		if (list(f, "configmaps", labels[i], NULL) != 400)
			fail_msg("%s: %d", labels[i], f->answer.code);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (list(f, "configmaps", NULL, fields[i]) != 400)
			fail_msg("%s: %d", fields[i], f->answer.code);
	assert_said(f, "reason", "BadRequest");
	assert_said(f, "message",
	            "\"status.phase\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
	assert_int_equal(list(f, "pods", NULL, "foo=1"), 400);
	assert_said(f, "message", "field label not supported: foo");
}

static void field_selectors(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "pods", POD("a")), 201);
	assert_int_equal(create(f, "pods", POD("b")), 201);
	assert_int_equal(merge_patch(f, "pods", "b", "{\"spec\":{\"nodeName\":\"n\",\"hostNetwork\":true}}"), 200);
	assert_string_equal(names(f, "pods", NULL, "metadata.name=a"), "a");
	assert_string_equal(names(f, "pods", NULL, "metadata.namespace=ml,metadata.name!=a"), "b");
	assert_string_equal(names(f, "pods", NULL, "spec.nodeName="), "a");
	assert_string_equal(names(f, "pods", NULL, "spec.nodeName==n"), "b");
	assert_string_equal(names(f, "pods", NULL, "spec.hostNetwork=false"), "a");
	assert_string_equal(names(f, "pods", NULL, "status.phase=Pending"), "a b");
	assert_string_equal(names(f, "pods", NULL, "status.phase!=Pending"), "");
	assert_int_equal(
		create(f, "events",
	               "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"a\"},\"type\":"
	               "\"Normal\",\"reason\":\"Started\",\"source\":{\"component\":\"us\"}}"),
		201);
	assert_string_equal(names(f, "events", NULL, "involvedObject.name=a,involvedObject.kind=Pod,type!=Warning"),
	                    "e");
	assert_string_equal(names(f, "events", NULL, "source=us,reason=Started"), "e");
	assert_string_equal(names(f, "events", NULL, "involvedObject.name=b"), "");
	assert_int_equal(create(f, "secrets", "{\"metadata\":{\"name\":\"s\"}}"), 201);
	assert_string_equal(names(f, "secrets", NULL, "type=Opaque"), "s");
}

static int page(struct fixture *f, const char *ns, size_t limit, const char *token)
{
	return ask(f, (struct store_request){ .verb = STORE_LIST,
	                                      .type = type_named(f, "configmaps"),
	                                      .ns = str_c(ns),
	                                      .limit = limit,
	                                      .continue_token = str_c(token) });
}

static void lists_come_in_pages(void **state)
{
	struct fixture *f = *state;
	const char *token;
	uint64_t rv;

	for (int i = 0; i < 5; i++)
		make(f, fmt(f, "c%d", i), "{}");
	rv = store_version(f->store);
	assert_int_equal(page(f, NULL, 2, NULL), 200);
	assert_said(f, "kind", "ConfigMapList");
	assert_said(f, "metadata.remainingItemCount", "3");
	assert_said(f, "items.1.metadata.name", "c1");
	assert_unsaid(f, "items.2");
	token = fmt(f, "%s", said(f, "metadata.continue"));
	/* What happens between does not change the version: a watch from there sees it. */
	make(f, "c9", "{}");
	assert_int_equal(delete_one(f, "configmaps", "c2", NULL), 200);
	assert_int_equal(page(f, "ml", 2, token), 200);
	assert_said(f, "items.0.metadata.name", "c3");
	assert_said(f, "metadata.remainingItemCount", "1");
	assert_said(f, "metadata.resourceVersion", fmt(f, "%llu", (unsigned long long)rv));
	assert_true(f->answer.rv == rv);
	token = fmt(f, "%s", said(f, "metadata.continue"));
	assert_int_equal(page(f, NULL, 2, token), 200);
	assert_said(f, "items.0.metadata.name", "c9");
	assert_unsaid(f, "metadata.continue");
	assert_unsaid(f, "metadata.remainingItemCount");
	assert_int_equal(page(f, NULL, 5, NULL), 200);
	assert_unsaid(f, "metadata.continue");
}

static void bad_tokens_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(page(f, NULL, 1, "x"), 400);
	assert_int_equal(page(f, NULL, 1, "e30="), 400); /* {} */
	assert_int_equal(page(f, NULL, 1, "WzFd"), 400); /* [1] */
	assert_int_equal(page(f, NULL, 1, "////"), 400);
	/* {"rv":99,"ns":"","name":"a"}: of another database */
	assert_int_equal(page(f, NULL, 1, "eyJydiI6OTksIm5zIjoiIiwibmFtZSI6ImEifQ=="), 410);
	assert_said(f, "reason", "Expired");
}

static void old_tokens_expire(void **state)
{
	struct fixture *f = *state;
	const char *token;

	make(f, "a", "{}");
	make(f, "b", "{}");
	assert_int_equal(page(f, NULL, 1, NULL), 200);
	token = fmt(f, "%s", said(f, "metadata.continue"));
	for (int i = 0; i < 4097; i++)
		assert_int_equal(merge_patch(f, "configmaps", "a", fmt(f, "{\"data\":{\"i\":\"%d\"}}", i)), 200);
	assert_int_equal(page(f, NULL, 1, token), 410);
}

static void a_list_is_of_one_namespace_or_all(void **state)
{
	struct fixture *f = *state;
	struct store_request r = { .verb = STORE_CREATE,
		                   .type = type_named(f, "configmaps"),
		                   .ns = STR("default"),
		                   .body = STR("{\"metadata\":{\"name\":\"z\"}}") };

	make(f, "a", "{}");
	assert_int_equal(ask(f, r), 201);
	assert_string_equal(names(f, "configmaps", NULL, NULL), "z a");
	assert_int_equal(page(f, "ml", 0, NULL), 200);
	assert_said(f, "items.0.metadata.name", "a");
	assert_unsaid(f, "items.1");
	assert_int_equal(page(f, "no", 0, NULL), 200);
	assert_said(f, "items", "[]");
}

static void many_objects(void **state)
{
	struct fixture *f = *state;
	enum { MANY = 10000 };
	size_t seen = 0;
	const char *token = NULL;

	for (int i = 0; i < MANY; i++)
		make(f, fmt(f, "c%05d", i), i % 100 ? "{\"x\":\"1\"}" : "{\"x\":\"2\"}");
	assert_int_equal(list(f, "configmaps", "x=2", NULL), 200);
	assert_int_equal(yyjson_arr_size(json_get(yyjson_doc_get_root(f->doc), "items")), MANY / 100);
	do {
		assert_int_equal(page(f, "ml", 500, token), 200);
		seen += yyjson_arr_size(json_get(yyjson_doc_get_root(f->doc), "items"));
		token = said(f, "metadata.continue");
		token = token ? fmt(f, "%s", token) : NULL;
	} while (token);
	assert_int_equal(seen, MANY);
	assert_int_equal(
		ask(f, (struct store_request){ .verb = STORE_DELETE_ALL, .type = type_named(f, "configmaps") }), 200);
	assert_int_equal(list(f, "configmaps", NULL, NULL), 200);
	assert_said(f, "items", "[]");
}

static void what_a_list_shows_can_be_deleted(void **state)
{
	struct fixture *f = *state;
	struct store_request r = { .verb = STORE_DELETE_ALL,
		                   .type = type_named(f, "configmaps"),
		                   .ns = STR("ml"),
		                   .label_selector = STR("x=1") };

	make(f, "a", "{\"x\":\"1\"}");
	make(f, "b", "{\"x\":\"2\"}");
	r.dry_run = true;
	assert_int_equal(ask(f, r), 200);
	r.dry_run = false;
	assert_int_equal(ask(f, r), 200);
	assert_said(f, "kind", "ConfigMapList");
	assert_said(f, "items.0.metadata.name", "a");
	assert_string_equal(names(f, "configmaps", NULL, NULL), "b");
	r.label_selector = STR("((");
	assert_int_equal(ask(f, r), 400);
	assert_string_equal(names(f, "configmaps", NULL, NULL), "b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(label_selectors),
		STORE_TEST(bad_selectors_are_refused),
		STORE_TEST(field_selectors),
		STORE_TEST(lists_come_in_pages),
		STORE_TEST(bad_tokens_are_refused),
		STORE_TEST(old_tokens_expire),
		STORE_TEST(a_list_is_of_one_namespace_or_all),
		STORE_TEST(many_objects),
		STORE_TEST(what_a_list_shows_can_be_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
