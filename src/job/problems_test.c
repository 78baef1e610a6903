#include "job/testing.h"

static const char *line(struct bench *b, const struct problems *p)
{
	return arena_printf(&b->a, "%.*s", STR_F(problems_line(p, &b->a))).p;
}

static void test_line(void **state)
{
	struct bench b = BENCH_INIT;
	struct problems p = { .arena = &b.a };

	(void)state;
	assert_string_equal(line(&b, &p), "");
	problem_warning(&p, STR("spec.w"), "beware");
	assert_string_equal(line(&b, &p), "");
	problem_error(&p, STR("spec.x"), "is %d", 7);
	assert_string_equal(line(&b, &p), "spec.x: is 7");
	problem_error(&p, STR("spec.y"), "is bad");
	assert_string_equal(line(&b, &p), "spec.x: is 7 (and 1 more problem)");
	problem_warning(&p, STR("spec.w"), "beware");
	problem_error(&p, STR("spec.z"), "is bad");
	assert_string_equal(line(&b, &p), "spec.x: is 7 (and 2 more problems)");
	assert_int_equal(p.errors, 3);
	assert_int_equal(p.list.n, 5);
	bench_release(&b);
}

static void test_no_path(void **state)
{
	struct bench b = BENCH_INIT;
	struct problems p = { .arena = &b.a };

	(void)state;
	problem_error(&p, STR_NONE, "%s", "all is lost");
	assert_string_equal(line(&b, &p), "all is lost");
	bench_release(&b);
}

/* The list is bounded; the count is not, and warnings do not push errors out. */
static void test_bounds(void **state)
{
	struct bench b = BENCH_INIT;
	struct problems p = { .arena = &b.a };

	(void)state;
	for (int i = 0; i < 1000; i++)
		problem_warning(&p, STR("w"), "%d", i);
	assert_int_equal(p.list.n, PROBLEMS_MAX / 2);
	for (int i = 0; i < 1000; i++)
		problem_error(&p, STR("e"), "%d", i);
	assert_int_equal(p.list.n, PROBLEMS_MAX);
	assert_int_equal(p.errors, 1000);
	assert_int_equal(p.dropped, 2000 - PROBLEMS_MAX);
	assert_string_equal(line(&b, &p), "e: 0 (and 999 more problems)");
	bench_release(&b);
}

/* The path may be on the caller's stack. */
static void test_copies(void **state)
{
	struct bench b = BENCH_INIT;
	struct problems p = { .arena = &b.a };
	char path[] = "spec.x";

	(void)state;
	problem_error(&p, str_c(path), "m");
	path[0] = '?';
	assert_string_equal(line(&b, &p), "spec.x: m");
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
