#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"

static void test_put(void **state)
{
	struct buf b = BUF_INIT(1000);

	(void)state;
	assert_string_equal(buf_str(&b).p, "");
	buf_clear(&b);
	buf_put(&b, STR_NONE);
	assert_string_equal(b.p, "");
	buf_put(&b, STR("ab"));
	buf_putc(&b, 'c');
	buf_printf(&b, "-%d", 42);
	assert_string_equal(b.p, "abc-42");
	assert_true(str_eqc(buf_str(&b), "abc-42"));
	buf_clear(&b);
	assert_string_equal(b.p, "");
	for (int n = 250; n < 260; n++) {
		buf_clear(&b);
		buf_printf(&b, "%*s", n, "x");
		assert_int_equal(b.n, n);
		assert_int_equal(strlen(b.p), n);
	}
	buf_release(&b);
	assert_int_equal(b.max, 1000);
	buf_putc(&b, 'x');
	assert_string_equal(b.p, "x");
	buf_release(&b);
}

static void test_maximum(void **state)
{
	struct buf b = BUF_INIT(5);

	(void)state;
	buf_put(&b, STR("abcde"));
	assert_false(b.overflow);
	buf_putc(&b, 'f');
	assert_true(b.overflow);
	assert_string_equal(b.p, "abcde");
	/* Remembered, though this would fit. */
	b.n = 1;
	b.p[1] = 0;
	buf_putc(&b, 'x');
	assert_string_equal(b.p, "a");
	buf_clear(&b);
	assert_false(b.overflow);
	buf_put(&b, STR("abcdef"));
	assert_true(b.overflow);
	assert_string_equal(b.p, "");
	buf_clear(&b);
	buf_printf(&b, "%300s", "x");
	assert_true(b.overflow);
	assert_int_equal(b.n, 0);
	buf_release(&b);
}

static void test_json_str(void **state)
{
	static const struct {
		struct str text;
		const char *want;
	} cases[] = {
		{ STR_INIT(""), "\"\"" },
		{ STR_INIT("a\"b\\c/"), "\"a\\\"b\\\\c/\"" },
		{ STR_INIT("\n\t\r\x01\x1f\x7f"), "\"\\n\\t\\u000d\\u0001\\u001f\x7f\"" },
		{ STR_INIT("a\0b"), "\"a\\u0000b\"" },
		{ STR_INIT("\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80"), "\"\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80\"" },
		{ STR_INIT("\xff\xc3"), "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ STR_INIT("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf b = BUF_INIT(100);

		buf_json_str(&b, cases[i].text);
		assert_string_equal(b.p, cases[i].want);
		buf_release(&b);
	}
}

static void test_utf8(void **state)
{
	struct buf b = BUF_INIT(100);

	(void)state;
	buf_utf8(&b, STR("a\xff\xc3\xa4\xe4\xb8"));
	assert_string_equal(b.p, "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd");
	buf_release(&b);
}

static void test_base64(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: refused */
	} cases[] = {
		{ "", "" },        { "YQ==", "a" },         { "YWI=", "ab" },
		{ "YWJj", "abc" }, { "YW\nJj\r\n", "abc" }, { "+/+/", "\xfb\xff\xbf" },
		{ "YQ", NULL },    { "YQ=", NULL },         { "Y===", NULL },
		{ "YQ=a", NULL },  { "YQ==YQ==", NULL },    { "Y Q=", NULL },
		{ "-_-_", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf b = BUF_INIT(100);

		assert_int_equal(buf_base64(&b, str_c(cases[i].text)), cases[i].want != NULL);
		if (cases[i].want) {
			struct buf again = BUF_INIT(100);

			assert_string_equal(buf_str(&b).p, cases[i].want);
			buf_base64_encode(&again, str_c(cases[i].want));
			if (!strpbrk(cases[i].text, "\r\n"))
				assert_string_equal(buf_str(&again).p, cases[i].text);
			buf_release(&again);
		}
		buf_release(&b);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put),  cmocka_unit_test(test_maximum), cmocka_unit_test(test_json_str),
		cmocka_unit_test(test_utf8), cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
