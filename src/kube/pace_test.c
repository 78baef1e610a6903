#include "kube/pace.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void no_limit(void **state)
{
	struct pace p = pace_new(0, 0);

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_int_equal(pace_take(&p, 1), 0);
}

/* After the burst as many as the rate says, over any time. */
static void rate_and_burst(void **state)
{
	struct pace p = pace_new(20, 30);
	msec now = 1000, end = now + SECONDS(10);
	int n = 0;

	(void)state;
	while (now < end) {
		msec wait = pace_take(&p, now);

		if (wait == 0)
			n++;
		assert_true(wait >= 0 && wait <= 60);
		now += wait;
	}
	assert_in_range(n, 30 + 190, 30 + 200);
}

static void a_clock_that_goes_back(void **state)
{
	struct pace p = pace_new(1, 1);

	(void)state;
	assert_int_equal(pace_take(&p, 5000), 0);
	assert_true(pace_take(&p, 1000) > 0);
	assert_int_equal(pace_take(&p, 6000), 0);
	/* less than one a second, and a burst of at least one */
	p = pace_new(0.5, 0);
	assert_int_equal(pace_take(&p, 1), 0);
	assert_in_range(pace_take(&p, 1), 1900, 2100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_limit),
		cmocka_unit_test(rate_and_burst),
		cmocka_unit_test(a_clock_that_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
