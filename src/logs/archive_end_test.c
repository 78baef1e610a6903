/* A log that comes slowly is waited for, one that does not come is not. */
#include "logs/archive_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void logs_that_still_come(void **state)
{
	static const struct {
		msec ended, written;
		size_t left;
		msec want;
	} cases[] = {
		{ SECONDS(100), 0, 0, SECONDS(101) },
		{ SECONDS(100), SECONDS(500), 0, SECONDS(101) },
		{ SECONDS(100), 0, 3, SECONDS(160) },
		{ SECONDS(100), SECONDS(90), 3, SECONDS(160) },
		{ SECONDS(100), SECONDS(159), 3, SECONDS(219) },
		{ SECONDS(100), SECONDS(500), 1, SECONDS(560) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(archive_end_at(cases[i].ended, cases[i].written, cases[i].left), cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logs_that_still_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
