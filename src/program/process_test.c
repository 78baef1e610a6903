#include "program/process.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void test_numbers_of_this_process(void **state)
{
	struct metrics_process p = process_numbers();
	double now = (double)clock_now(&clock_wall) / 1000;

	(void)state;
	assert_true(p.resident > 100000 && p.resident <= p.virtual_size);
	assert_true(p.open_fds >= 3 && p.open_fds <= p.max_fds);
	assert_true(p.start_seconds > now - 86400 && p.start_seconds < now + 60);
	assert_true(p.cpu_seconds >= 0 && p.cpu_seconds < 3600);
}

static void test_no_two_have_the_same_identity(void **state)
{
	char a[512], b[512];

	(void)state;
	setenv("MY_POD_NAME", "operator-7", 1);
	assert_string_not_equal(process_identity(a, sizeof(a)), process_identity(b, sizeof(b)));
	assert_ptr_equal(strstr(a, "operator-7_"), a);
	unsetenv("MY_POD_NAME");
	assert_true(strlen(process_identity(a, sizeof(a))) > 17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_of_this_process),
		cmocka_unit_test(test_no_two_have_the_same_identity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
