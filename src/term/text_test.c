/* Tests of bytes.c, plain.c and table.c. */
#include "term/bytes.h"
#include "term/plain.h"
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

/* Nothing that comes from an object moves a cursor, sets a title, turns text around or begins a line. */
static void others_text_is_shown_and_not_done(void **state)
{
	static const struct {
		struct str text;
		const char *shown, *json;
	} t[] = {
		{ STR_INIT("plain ö 字 \xf0\x9f\x98\x80"), "plain ö 字 \xf0\x9f\x98\x80",
		  "plain ö 字 \xf0\x9f\x98\x80" },
		{ STR_INIT("a\033[2J\033]0;t\007b"), "a\\x1b[2J\\x1b]0;t\\x07b", "a\\u001b[2J\\u001b]0;t\\u0007b" },
		{ STR_INIT("a\rb\nc\td"), "a\\x0db\\nc\\td", "a\\u000db\nc\\u0009d" },
		{ STR_INIT("a\xc2\x9b"
		           "2Jb\x7f"),
		  "a\\x9b2Jb\\x7f", "a\\u009b2Jb\\u007f" },
		{ STR_INIT("a\xe2\x80\xae"
		           "b\xe2\x81\xa6"),
		  "a\\u202eb\\u2066", "a\\u202eb\\u2066" },
		{ STR_INIT("a\x9b"
		           "2J\xff"),
		  "a\\x9b2J\\xff", "a\\u009b2J\\u00ff" },
		{ STR_INIT("a\0b"), "a\\x00b", "a\\u0000b" },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		FILE *f = fmemopen(text, sizeof(text), "w");

		plain_printf(f, "%s|", "\b");
		plain_put(t[i].text, f);
		fputc('|', f);
		plain_put_json(t[i].text, f);
		plain_printf(f, "|%s\n", "\n");
		fclose(f);
		assert_memory_equal(text, "\\x08|", 5);
		assert_memory_equal(text + 5, t[i].shown, strlen(t[i].shown));
		assert_int_equal(text[5 + strlen(t[i].shown)], '|');
		assert_memory_equal(text + 6 + strlen(t[i].shown), t[i].json, strlen(t[i].json));
		assert_string_equal(text + 6 + strlen(t[i].shown) + strlen(t[i].json), "|\\n\n");
	}
	assert_int_equal(plain_columns(STR("ö\033\n字")), 8);
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
		cmocka_unit_test(others_text_is_shown_and_not_done),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
