#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/container_restarts.h"

#define RULE(action, op, values)                                                                                       \
	"{\"action\":\"" action "\",\"exitCodes\":{\"operator\":\"" op "\",\"values\":" values "}}"

/* Of a container that ended with that code. */
static void test_who_comes_back(void **state)
{
	static const struct {
		const char *own; /* fields of the container's spec */
		int32_t code;
		bool back;
	} table[] = {
		{ "\"image\":\"i\"", 0, false },
		{ "\"image\":\"i\"", 1, false },
		{ "\"restartPolicy\":\"Always\"", 0, true },
		{ "\"restartPolicy\":\"Always\"", 1, true },
		{ "\"restartPolicy\":\"OnFailure\"", 0, false },
		{ "\"restartPolicy\":\"OnFailure\"", 1, true },
		{ "\"restartPolicy\":\"Never\"", 1, false },
		/* the first rule that matches, then the policy */
		{ "\"restartPolicy\":\"Never\",\"restartPolicyRules\":[" RULE("Restart", "In", "[42,43]") "]", 43,
		  true },
		{ "\"restartPolicy\":\"Never\",\"restartPolicyRules\":[" RULE("Restart", "In", "[42]") "]", 1, false },
		{ "\"restartPolicy\":\"Never\",\"restartPolicyRules\":[" RULE("Restart", "NotIn", "[42]") "]", 1,
		  true },
		{ "\"restartPolicy\":\"Never\",\"restartPolicyRules\":[" RULE("Restart", "NotIn", "[42]") "]", 42,
		  false },
		{ "\"restartPolicy\":\"OnFailure\",\"restartPolicyRules\":[" RULE("Restart", "In", "[0]") "]", 0,
		  true },
		/* nonsense */
		{ "\"restartPolicy\":7,\"restartPolicyRules\":{\"a\":1}", 1, false },
		{ "\"restartPolicyRules\":[7,{\"exitCodes\":[]}," RULE("Restart", "In", "[\"1\"]") "]", 1, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct container c = { .name = STR("a"), .state = CONTAINER_TERMINATED, .exit_code = table[i].code };
		struct arena a = ARENA_INIT;
		struct str text = arena_printf(&a, "[{\"name\":\"a\",%s}]", table[i].own);
		yyjson_doc *doc = json_parse(text, NULL);

		assert_non_null(doc);
		container_restarts_read(&c, 1, yyjson_doc_get_root(doc));
		if (c.comes_back != table[i].back)
			fail_msg("row %zu", i);
		yyjson_doc_free(doc);
		arena_release(&a);
	}
}

/* Only what has ended, by its own name; init containers are another matter. */
static void test_each_for_itself(void **state)
{
	static const char spec[] = "[{\"name\":\"a\"},{\"name\":\"b\",\"restartPolicy\":\"Always\"},"
				   "{\"name\":\"c\",\"restartPolicy\":\"Always\"},7,{\"name\":[\"a\"]}]";
	struct container c[] = {
		{ .name = STR("b"), .state = CONTAINER_TERMINATED, .init = true },
		{ .name = STR("a"), .state = CONTAINER_TERMINATED },
		{ .name = STR("b"), .state = CONTAINER_TERMINATED },
		{ .name = STR("c"), .state = CONTAINER_RUNNING },
	};
	yyjson_doc *doc = json_parse(str_c(spec), NULL);

	(void)state;
	container_restarts_read(c, ARRAY_LEN(c), yyjson_doc_get_root(doc));
	assert_false(c[0].comes_back);
	assert_false(c[1].comes_back);
	assert_true(c[2].comes_back);
	assert_false(c[3].comes_back);
	yyjson_doc_free(doc);
	container_restarts_read(c, ARRAY_LEN(c), NULL);
}

/* One container may bring back the whole pod. */
static void test_all_of_them(void **state)
{
	static const char spec[] = "[{\"name\":\"a\"},{\"name\":\"b\",\"restartPolicyRules\":[" RULE(
		"RestartAllContainers", "In", "[88]") "]}]";
	struct container c[] = {
		{ .name = STR("i"), .state = CONTAINER_TERMINATED, .init = true },
		{ .name = STR("a"), .state = CONTAINER_TERMINATED },
		{ .name = STR("b"), .state = CONTAINER_TERMINATED, .exit_code = 88 },
	};
	yyjson_doc *doc = json_parse(str_c(spec), NULL);

	(void)state;
	container_restarts_read(c, ARRAY_LEN(c), yyjson_doc_get_root(doc));
	assert_false(c[0].comes_back);
	assert_true(c[1].comes_back);
	assert_true(c[2].comes_back);
	yyjson_doc_free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_comes_back),
		cmocka_unit_test(test_each_for_itself),
		cmocka_unit_test(test_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
