#include "client/uid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct str uid(struct arena *a, const char *ns, const char *name)
{
	return uid_derive(a, str_c(ns), str_c(name));
}

static void a_uid_is_derived(void **state)
{
	struct arena a = ARENA_INIT;
	struct str u = uid(&a, "default", "demo");

	(void)state;
	assert_int_equal(u.n, 36);
	assert_int_equal(u.p[14], '8');
	for (size_t i = 0; i < u.n; i++)
		assert_non_null(strchr(i == 8 || i == 13 || i == 18 || i == 23 ? "-" : "0123456789abcdef", u.p[i]));
	assert_true(str_eq(u, uid(&a, "default", "demo")));
	assert_false(str_eq(u, uid(&a, "default", "demo2")));
	assert_false(str_eq(u, uid(&a, "ml", "demo")));
	assert_false(str_eq(uid(&a, "ab", "c"), uid(&a, "a", "bc")));
	/* Users see names that come from it: it must never change. */
	assert_string_equal(u.p, "2e13c68b-faa9-8e98-ab68-e17f18d3182e");
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_uid_is_derived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
