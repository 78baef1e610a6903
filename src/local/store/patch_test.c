#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

/* In a field that nobody looks into. */
static void make(struct fixture *f)
{
	assert_int_equal(
		create(f, "configmaps",
	               "{\"metadata\":{\"name\":\"c\",\"labels\":{\"a\":\"1\"}},\"free\":{\"a\":\"1\",\"b/c\":\"2\","
	               "\"l\":[1,2,3]}}"),
		201);
}

static int json(struct fixture *f, const char *patch)
{
	return patch_as(f, STORE_PATCH_JSON, "configmaps", "c", patch);
}

static void a_json_patch_does_what_it_says(void **state)
{
	struct fixture *f = *state;

	make(f);
	assert_int_equal(json(f, "[{\"op\":\"test\",\"path\":\"/free/a\",\"value\":\"1\"},"
	                         "{\"op\":\"replace\",\"path\":\"/free/a\",\"value\":\"x\"},"
	                         "{\"op\":\"add\",\"path\":\"/free/l/1\",\"value\":9},"
	                         "{\"op\":\"add\",\"path\":\"/free/l/-\",\"value\":4},"
	                         "{\"op\":\"remove\",\"path\":\"/free/b~1c\"},"
	                         "{\"op\":\"copy\",\"from\":\"/free/a\",\"path\":\"/free/d\"},"
	                         "{\"op\":\"move\",\"from\":\"/free/l\",\"path\":\"/free/m\"},"
	                         "{\"op\":\"add\",\"path\":\"/free/d\",\"value\":\"y\"},"
	                         "{\"op\":\"move\",\"from\":\"/free/d\",\"path\":\"/free/d\"}]"),
	                 200);
	assert_said(f, "free", "{\"a\":\"x\",\"d\":\"y\",\"m\":[1,9,2,3,4]}");
}

static void a_json_patch_is_done_whole_or_not(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int code;
		const char *patch;
	} cases[] = {
		{ 422, "[{\"op\":\"replace\",\"path\":\"/free/a\",\"value\":\"x\"},"
		       "{\"op\":\"test\",\"path\":\"/free/a\",\"value\":\"1\"}]" },
		{ 422, "[{\"op\":\"remove\",\"path\":\"/free/no\"}]" },
		{ 422, "[{\"op\":\"replace\",\"path\":\"/free/no\",\"value\":1}]" },
		{ 422, "[{\"op\":\"add\",\"path\":\"/no/no\",\"value\":1}]" },
		{ 422, "[{\"op\":\"add\",\"path\":\"/free/l/9\",\"value\":1}]" },
		{ 422, "[{\"op\":\"add\",\"path\":\"/free/a/x\",\"value\":1}]" },
		{ 422, "[{\"op\":\"remove\",\"path\":\"\"}]" },
		{ 422, "[{\"op\":\"move\",\"from\":\"/free\",\"path\":\"/free/x\"}]" },
		{ 422, "[{\"op\":\"copy\",\"from\":\"/no\",\"path\":\"/free/x\"}]" },
		{ 422, "[{\"op\":\"add\",\"path\":\"/free/x\"}]" },
		{ 422, "[{\"op\":\"swap\",\"path\":\"/free/x\"}]" },
		{ 422, "[{\"op\":\"add\",\"path\":\"free\",\"value\":1}]" },
		{ 422, "[{\"op\":\"add\",\"path\":7,\"value\":1}]" },
		{ 422, "[{\"op\":\"move\",\"path\":\"/x\"}]" },
		{ 422, "[1]" },
		{ 400, "{}" },
		{ 400, "x" },
		{ 422, "[{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]" },
		{ 422, "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":[]}]" },
		{ 400, "[{\"op\":\"replace\",\"path\":\"/metadata/name\",\"value\":\"d\"}]" },
	};

	make(f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int code = json(f, cases[i].patch);

		if (code != cases[i].code)
			fail_msg("%s: %d %s", cases[i].patch, code, buf_str(&f->answer.body).p);
	}
	assert_int_equal(get(f, "configmaps", "c"), 200);
	assert_said(f, "free.a", "1");
}

/* Each operation doubles what there is. */
static void copies_are_bounded(void **state)
{
	struct fixture *f = *state;
	struct buf b = BUF_INIT(1 << 20);

	make(f);
	buf_putc(&b, '[');
	for (int i = 0; i < 64; i++)
		buf_printf(&b, "%s{\"op\":\"copy\",\"from\":\"/free\",\"path\":\"/free/x%d\"}", i ? "," : "", i);
	buf_putc(&b, ']');
	assert_int_equal(json(f, b.p), 422);
	buf_clear(&b);
	/* … and nests it deeper. */
	buf_putc(&b, '[');
	for (int i = 0; i < 3; i++)
		buf_printf(&b, "%s{\"op\":\"copy\",\"from\":\"\",\"path\":\"/free/x\"}", i ? "," : "");
	buf_putc(&b, ']');
	assert_int_equal(json(f, b.p), 200);
	buf_release(&b);
}

static void a_merge_patch_removes_with_null(void **state)
{
	struct fixture *f = *state;

	make(f);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"free\":{\"a\":null,\"n\":{\"x\":null,\"y\":1}}}"), 200);
	assert_said(f, "free", "{\"b/c\":\"2\",\"l\":[1,2,3],\"n\":{\"y\":1}}");
	assert_int_equal(merge_patch(f, "configmaps", "c", "[]"), 400);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{"), 400);
	assert_int_equal(merge_patch(f, "configmaps", "no", "{}"), 404);
}

static int strategic(struct fixture *f, const char *patch)
{
	return patch_as(f, STORE_PATCH_STRATEGIC, "pods", "p", patch);
}

static void make_pod(struct fixture *f)
{
	assert_int_equal(create(f, "pods",
	                        "{\"metadata\":{\"name\":\"p\",\"finalizers\":[\"a\",\"b\"]},\"spec\":{\"containers\":["
	                        "{\"name\":\"x\",\"image\":\"1\",\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
	                        "\"B\",\"value\":"
	                        "\"2\"}],\"ports\":[{\"containerPort\":1}],\"args\":[\"1\",\"2\"]},{\"name\":\"y\"}],"
	                        "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}"),
	                 201);
}

static void containers_are_merged_by_name(void **state)
{
	struct fixture *f = *state;

	make_pod(f);
	assert_int_equal(
		strategic(f, "{\"spec\":{\"containers\":[{\"name\":\"x\",\"image\":\"2\",\"env\":[{\"name\":\"A\","
	                     "\"value\":\"3\"},{\"name\":\"C\",\"value\":\"4\"}],\"ports\":[{\"containerPort\":2}],"
	                     "\"args\":[\"3\"]},{\"name\":\"z\"}]}}"),
		200);
	assert_said(f, "spec.containers.0",
	            "{\"name\":\"x\",\"image\":\"2\",\"env\":[{\"name\":\"A\",\"value\":\"3\"},{\"name\":\"B\","
	            "\"value\":\"2\"},"
	            "{\"name\":\"C\",\"value\":\"4\"}],\"ports\":[{\"containerPort\":1},{\"containerPort\":2}],"
	            "\"args\":[\"3\"]}");
	assert_said(f, "spec.containers.1.name", "y");
	assert_said(f, "spec.containers.2.name", "z");
	assert_unsaid(f, "spec.containers.3");
}

static void directives_are_followed(void **state)
{
	struct fixture *f = *state;

	make_pod(f);
	assert_int_equal(strategic(f,
	                           "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a\"]},\"spec\":{"
	                           "\"$setElementOrder/containers\":[{\"name\":\"y\"},{\"name\":\"x\"}],"
	                           "\"containers\":[{\"name\":\"x\",\"env\":[{\"name\":\"A\",\"$patch\":\"delete\"}]}],"
	                           "\"volumes\":[{\"name\":\"v\",\"$retainKeys\":[\"name\",\"hostPath\"],\"hostPath\":{"
	                           "\"path\":\"/x\"}}]}}"),
	                 200);
	assert_said(f, "metadata.finalizers", "[\"b\"]");
	assert_said(f, "spec.containers.0.name", "y");
	assert_said(f, "spec.containers.1.env", "[{\"name\":\"B\",\"value\":\"2\"}]");
	assert_said(f, "spec.volumes", "[{\"name\":\"v\",\"hostPath\":{\"path\":\"/x\"}}]");
	assert_int_equal(strategic(f, "{\"metadata\":{\"finalizers\":[\"b\",\"c\"]}}"), 200);
	assert_said(f, "metadata.finalizers", "[\"b\",\"c\"]");
	assert_int_equal(strategic(f,
	                           "{\"spec\":{\"containers\":[{\"$patch\":\"replace\"},{\"name\":\"q\"}],"
	                           "\"volumes\":[{\"name\":\"v\",\"hostPath\":null}],\"x\":{\"$patch\":\"delete\"}}}"),
	                 200);
	assert_said(f, "spec", "{\"containers\":[{\"name\":\"q\"}],\"volumes\":[{\"name\":\"v\"}]}");
	assert_int_equal(strategic(f, "{\"spec\":{\"$patch\":\"replace\",\"containers\":[{\"name\":\"r\"}]}}"), 200);
	assert_said(f, "spec", "{\"containers\":[{\"name\":\"r\"}]}");
}

static void conditions_are_merged_by_type(void **state)
{
	struct fixture *f = *state;
	struct store_request r = { .verb = STORE_PATCH,
		                   .type = type_named(f, "pods"),
		                   .ns = STR("ml"),
		                   .name = STR("p"),
		                   .status = true,
		                   .patch = STORE_PATCH_STRATEGIC };

	make_pod(f);
	r.body = STR("{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":"
	             "\"True\"}]}}");
	assert_int_equal(ask(f, r), 200);
	r.body = STR("{\"status\":{\"conditions\":[{\"type\":\"B\",\"status\":\"False\"}]}}");
	assert_int_equal(ask(f, r), 200);
	assert_said(f, "status.conditions",
	            "[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"False\"}]");
}

static void a_strategic_patch_needs_its_keys(void **state)
{
	struct fixture *f = *state;

	make_pod(f);
	assert_int_equal(strategic(f, "{\"spec\":{\"containers\":[{\"image\":\"2\"}]}}"), 400);
	assert_int_equal(strategic(f, "{\"spec\":{\"containers\":[7]}}"), 400);
	assert_int_equal(strategic(f, "[]"), 400);
	assert_int_equal(strategic(f, "{\"spec\":{\"containers\":\"x\"}}"), 422);
	/* What is no list becomes one. */
	assert_int_equal(strategic(f, "{\"spec\":{\"volumes\":{}}}"), 200);
	assert_int_equal(strategic(f, "{\"spec\":{\"volumes\":[{\"name\":\"v\"}]}}"), 200);
	assert_said(f, "spec.volumes", "[{\"name\":\"v\"}]");
	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"w\"}}"), 201);
	assert_int_equal(patch_as(f, STORE_PATCH_STRATEGIC, "widgets", "w", "{}"), 415);
	assert_said(f, "reason", "UnsupportedMediaType");
}

static void services_merge_ports_by_port(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "services",
	                        "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":1},{\"port\":2}]}}"),
	                 201);
	assert_int_equal(
		patch_as(f, STORE_PATCH_STRATEGIC, "services", "s",
	                 "{\"spec\":{\"ports\":[{\"port\":2,\"name\":\"b\"},{\"port\":1,\"$patch\":\"delete\"}]}}"),
		200);
	assert_said(f, "spec.ports", "[{\"port\":2,\"name\":\"b\"}]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_json_patch_does_what_it_says),
		STORE_TEST(a_json_patch_is_done_whole_or_not),
		STORE_TEST(copies_are_bounded),
		STORE_TEST(a_merge_patch_removes_with_null),
		STORE_TEST(containers_are_merged_by_name),
		STORE_TEST(directives_are_followed),
		STORE_TEST(conditions_are_merged_by_type),
		STORE_TEST(a_strategic_patch_needs_its_keys),
		STORE_TEST(services_merge_ports_by_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
