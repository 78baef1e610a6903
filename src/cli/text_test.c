/* Tests of table.c and uid.c. */
#include "cli/table.h"
#include "cli/uid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void columns_are_as_wide_as_their_cells(void **state)
{
	const struct str rows[][3] = {
		{ STR_INIT("A"), STR_INIT("B"), STR_INIT("C") },
		{ STR_INIT("long"), { NULL, 0 }, STR_INIT("x") },
		{ STR_INIT("ö"), STR_INIT("yes"), STR_INIT("a\nb\tc\001") },
	};
	struct table t = { .columns = 3 };
	char text[256] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		table_fit(&t, rows[i]);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		table_print(&t, rows[i], f);
	fclose(f);
	assert_string_equal(text, "A     B    C\n"
	                          "long  -    x\n"
	                          "ö     yes  a\\nb\\tc\\x01\n");
}

static void a_row_that_was_not_fitted_keeps_its_blanks(void **state)
{
	const struct str row[] = { STR_INIT("longer than the column"), STR_INIT("x") };
	struct table t = { .columns = 2 };
	char text[64] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	table_print(&t, row, f);
	fclose(f);
	assert_string_equal(text, "longer than the column  x\n");
}

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
		cmocka_unit_test(columns_are_as_wide_as_their_cells),
		cmocka_unit_test(a_row_that_was_not_fitted_keeps_its_blanks),
		cmocka_unit_test(a_uid_is_derived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
