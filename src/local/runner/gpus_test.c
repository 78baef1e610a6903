#include "local/runner/gpus.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static struct gpu_set set(const char *text)
{
	struct gpu_set s;

	assert_true(gpus_parse(&s, str_c(text)));
	return s;
}

static void assert_set(struct gpu_set s, const char *want)
{
	char text[GPUS_TEXT];

	assert_string_equal(gpus_write(&s, text), want);
}

static void test_text(void **state)
{
	static const char *const bad[] = { "a", "0,", "-1", "0,0", "1;2", "100000" };
	struct gpu_set s;

	(void)state;
	assert_set(set(""), "");
	assert_set(set("3, 1"), "3,1");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(gpus_parse(&s, str_c(bad[i])));
}

static void test_pick(void **state)
{
	struct gpu_set all = set("0,2,5,7"), taken = set("2"), s = set("9");

	(void)state;
	assert_true(gpus_pick(&s, &all, &taken, 2));
	assert_set(s, "0,5");
	gpus_add(&taken, &s);
	assert_set(taken, "2,0,5");
	assert_false(gpus_pick(&s, &all, &taken, 2));
	assert_set(s, "0,5");
	assert_true(gpus_pick(&s, &all, &taken, 1));
	assert_set(s, "7");
	assert_true(gpus_pick(&s, &all, &taken, 0));
	assert_set(s, "");
}

static void test_parts(void **state)
{
	struct gpu_set pod = set("4,5,6");

	(void)state;
	assert_set(gpus_part(&pod, 0, 2), "4,5");
	assert_set(gpus_part(&pod, 2, 2), "6");
	assert_set(gpus_part(&pod, 9, 1), "");
}

static void test_chosen(void **state)
{
	struct gpu_set given = set("4,6");

	(void)state;
	assert_set(gpus_chosen(&given, STR("1,0")), "6,4");
	assert_set(gpus_chosen(&given, STR("0,2,1")), "4");
	assert_set(gpus_chosen(&given, STR("-1")), "");
	assert_set(gpus_chosen(&given, STR("GPU-8932f937")), "");
	assert_set(gpus_chosen(&given, STR("")), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_pick),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
