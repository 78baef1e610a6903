#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"

static void test_set(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_string_equal(err_msg(&e), "no error");
	assert_string_equal(err_msg(NULL), "no error");
	assert_false(err_set(&e, ERR_IO, "%s: %d", "x", 5));
	assert_int_equal(e.code, ERR_IO);
	assert_string_equal(err_msg(&e), "x: 5");
	/* The old message may stand in the new one. */
	assert_false(err_set(&e, ERR_LIMIT, "again %s", err_msg(&e)));
	assert_string_equal(err_msg(&e), "again x: 5");
	assert_int_equal(e.code, ERR_LIMIT);
	err_release(&e);
	assert_int_equal(e.code, ERR_NONE);
	assert_string_equal(err_msg(&e), "no error");
	err_release(&e);
}

static void test_wrap(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_false(err_wrap(&e, "nothing to wrap"));
	assert_string_equal(err_msg(&e), "no error");
	err_set(&e, ERR_IO, "no such file");
	assert_false(err_wrap(&e, "reading %s", "a.yaml"));
	assert_false(err_wrap(&e, "start"));
	assert_string_equal(err_msg(&e), "start: reading a.yaml: no such file");
	assert_int_equal(e.code, ERR_IO);
	err_release(&e);
}

static void test_nobody_wants_to_know(void **state)
{
	(void)state;
	assert_false(err_set(NULL, ERR_IO, "x"));
	assert_false(err_wrap(NULL, "x"));
}

static void test_long(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	err_set(&e, ERR_IO, "%5000s", "x");
	err_wrap(&e, "%5000s", "y");
	assert_int_equal(strlen(err_msg(&e)), 10002);
	err_release(&e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_nobody_wants_to_know),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
