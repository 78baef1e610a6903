#include "object/needs.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void test_sums(void **state)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(STR("{\"b\":\"1m\",\"a\":2,\"bc\":1}"), NULL);
	struct arena a = ARENA_INIT;
	struct needs one = needs_of_list(yyjson_doc_get_root(doc), &a), sum = { 0 };

	(void)state;
	assert_int_equal(one.n, 3);
	assert_true(needs_eq(&one, &one));
	assert_false(needs_eq(&one, &sum));
	needs_add(&sum, &one, 3, &a);
	assert_int_equal(needs_get(&sum, STR("a")).whole, 6);
	assert_int_equal(needs_get(&sum, STR("b")).milli, 3);
	assert_int_equal(needs_get(&sum, STR("none")).whole, 0);
	assert_false(needs_eq(&one, &sum));
	arena_release(&a);
}

static void test_write(void **state)
{
	static const struct {
		struct need need;
		const char *text;
	} cases[] = {
		{ { STR_INIT("memory"), { 1 << 30, 0 } }, "1Gi" },
		{ { STR_INIT("hugepages-2Mi"), { 4 << 20, 0 } }, "4Mi" },
		{ { STR_INIT("ephemeral-storage"), { 1024, 0 } }, "1Ki" },
		{ { STR_INIT("cpu"), { 1024, 0 } }, "1024" },
		{ { STR_INIT("cpu"), { 0, 100 } }, "100m" },
		{ { STR_INIT("nvidia.com/gpu"), { 2048, 0 } }, "2048" },
	};
	char text[QUANTITY_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(need_write(&cases[i].need, text).p, cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
