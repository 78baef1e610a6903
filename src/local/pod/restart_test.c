/* The kubelet's back-off and policies, by the clock of the test. */
#include "local/pod/container.h"
#include "local/pod/parent.h"
#include "local/pod/restart.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void test_back_off(void **state)
{
	static const int seconds[] = { 0, 10, 20, 40, 80, 160, 300, 300 };
	struct proc_pod p = { .spec = { .backoff = 0 } };
	struct proc_container c = { .pod = &p };
	msec now = SECONDS(1000);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
		msec at = restart_at(&c, now);

		assert_int_equal(at - now, SECONDS(seconds[i]));
		c.last_restart = at;
		now = at + SECONDS(1);
	}
	/* It lived for more than ten minutes: all is forgotten. */
	now = c.last_restart + MINUTES(10) + 1;
	assert_int_equal(restart_at(&c, now), now);
	c.last_restart = now;
	assert_int_equal(restart_at(&c, now + SECONDS(1)), now + SECONDS(11));
}

static void test_policies(void **state)
{
	static const struct {
		enum pod_restart policy;
		bool init, sidecar, after_success, after_failure;
	} cases[] = {
		{ POD_RESTART_ALWAYS, false, false, true, true },
		{ POD_RESTART_ON_FAILURE, false, false, false, true },
		{ POD_RESTART_NEVER, false, false, false, false },
		{ POD_RESTART_ALWAYS, true, false, false, true },
		{ POD_RESTART_ON_FAILURE, true, false, false, true },
		{ POD_RESTART_NEVER, true, false, false, false },
		{ POD_RESTART_NEVER, true, true, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct pod_container c = { .init = cases[i].init, .sidecar = cases[i].sidecar };

		assert_int_equal(restart_wanted(cases[i].policy, &c, 0), cases[i].after_success);
		assert_int_equal(restart_wanted(cases[i].policy, &c, 1), cases[i].after_failure);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_back_off),
		cmocka_unit_test(test_policies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
