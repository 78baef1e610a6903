/* Tests of bytes.c and table.c. */
#include "term/bytes.h"
#include "term/table.h"

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

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "0", 0 }, { "1048576", 1 << 20 }, { "1Mi", 1 << 20 }, { "500M", 500000000 }, { "1.5Ki", 1536 } };
	static const char *const bad[] = { "", "x", "-1", "1MB", "1 Mi", "99999Ei" };
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(bytes_parse(good[i].text, &n));
		assert_int_equal(n, good[i].bytes);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(bytes_parse(bad[i], &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_cells),
		cmocka_unit_test(a_row_that_was_not_fitted_keeps_its_blanks),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
