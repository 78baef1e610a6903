/* Real pods from the store to their end. */
#include "local/runner/testing.h"

#include <signal.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static bool a_ended(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Succeeded") || lab_said(l, "a", "status.phase", "Failed");
}

static bool a_runs(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Running");
}

static bool a_is_gone(struct lab *l)
{
	return lab_get(l, "pods", "a", "metadata.name").n == 0 && runner_living(l->runner) == 0;
}

static void to_its_end(struct lab *l)
{
	lab_pod(l, "a", "echo $HOSTNAME; pwd", "", "");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(lab_said(l, "a", "spec.nodeName", "this"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.exitCode", "0"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.reason", "Completed"));
	CHECK(str_eqc(lab_log(l, "a"), "a\n/\n"));
	CHECK(lab_event(l, "a", "Scheduled") && lab_event(l, "a", "Pulled") && lab_event(l, "a", "Started"));
	CHECK(runner_living(l->runner) == 0 && l->changes > 0);
}

static void exit_code(struct lab *l)
{
	lab_pod(l, "a", "exit 3", "", "");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.exitCode", "3"));
}

static void test_as_root(void **state)
{
	(void)state;
	lab_run(to_its_end, NET_ROOT);
}

static void test_as_user(void **state)
{
	(void)state;
	lab_run(to_its_end, NET_USER);
}

static void test_on_the_host(void **state)
{
	(void)state;
	lab_run(to_its_end, NET_HOST);
}

static void test_exit_code(void **state)
{
	(void)state;
	lab_run(exit_code, NET_HOST);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_root),
		cmocka_unit_test(test_as_user),
		cmocka_unit_test(test_on_the_host),
		cmocka_unit_test(test_exit_code),
	};
	int status;

	(void)a_runs;
	(void)a_is_gone;
	if (lab_is_parent(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
