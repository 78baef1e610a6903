#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"

static void test_compare(void **state)
{
	(void)state;
	assert_true(str_eq(STR_NONE, STR("")));
	assert_false(str_eq(STR("a"), STR("b")));
	assert_false(str_eq(STR("a"), STR("ab")));
	assert_true(str_eqc(str_c("ab"), "ab"));
	assert_true(str_eqc(STR_NONE, NULL));
	assert_true(str_empty(str_c(NULL)));
	assert_true(str_eq_nocase(STR("aBc1"), STR("AbC1")));
	assert_false(str_eq_nocase(STR("a"), STR("ab")));
	assert_false(str_eq_nocase(STR("a"), STR("b")));
	assert_true(str_cmp(STR("a"), STR("b")) < 0);
	assert_true(str_cmp(STR("b"), STR("a")) > 0);
	assert_true(str_cmp(STR("a"), STR("ab")) < 0);
	assert_true(str_cmp(STR("ab"), STR("a")) > 0);
	assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
}

static void test_parts(void **state)
{
	(void)state;
	assert_true(str_has_prefix(STR("abc"), STR("ab")));
	assert_true(str_has_prefix(STR("abc"), STR("")));
	assert_false(str_has_prefix(STR("a"), STR("ab")));
	assert_true(str_has_suffix(STR("abc"), STR("bc")));
	assert_false(str_has_suffix(STR("c"), STR("bc")));
	assert_false(str_has_suffix(STR("abc"), STR("ab")));
	assert_true(str_eqc(str_sub(STR("abc"), 1, 1), "b"));
	assert_true(str_eqc(str_sub(STR("abc"), 1, SIZE_MAX), "bc"));
	assert_true(str_eqc(str_sub(STR("abc"), 9, 9), ""));
	assert_true(str_eqc(str_sub(STR_NONE, 1, 1), ""));
	assert_true(str_eqc(str_trim(STR(" \t\r\na b\n ")), "a b"));
	assert_true(str_eqc(str_trim(STR(" \n ")), ""));
	assert_true(str_eqc(str_trim(STR_NONE), ""));
}

static void test_next(void **state)
{
	static const struct {
		struct str text;
		const char *want;
	} cases[] = {
		{ STR_INIT(""), "" },        { { NULL, 0 }, "" },
		{ STR_INIT("a"), "<a>" },    { STR_INIT("a,,b"), "<a><><b>" },
		{ STR_INIT("a,"), "<a><>" }, { STR_INIT(",a"), "<><a>" },
		{ STR_INIT(","), "<><>" },   { STR_INIT(",,"), "<><><>" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str rest = cases[i].text, part = STR("whatever stood there");
		struct buf b = BUF_INIT(100);

		while (str_next(&rest, ',', &part))
			buf_printf(&b, "<%.*s>", STR_F(part));
		assert_string_equal(buf_str(&b).p, cases[i].want);
		assert_false(str_next(&rest, ',', &part));
		buf_release(&b);
	}
}

static void test_int(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} cases[] = {
		{ "0", true, 0 },
		{ "-0", true, 0 },
		{ "007", true, 7 },
		{ "-12", true, -12 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "-9223372036854775809", false, 0 },
		{ "18446744073709551616", false, 0 },
		{ "99999999999999999999999", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "--1", false, 0 },
		{ "+1", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "1.0", false, 0 },
		{ "0x1", false, 0 },
		{ "\xff", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t v = 99;

		if (str_int(str_c(cases[i].text), &v) != cases[i].ok)
			fail_msg("%s", cases[i].text);
		assert_true(v == (cases[i].ok ? cases[i].want : 99));
	}
	assert_false(str_int(STR("1\0"), &(int64_t){ 0 }));
}

static void test_utf8(void **state)
{
	static const struct {
		struct str text;
		size_t want;
	} cases[] = {
		{ { NULL, 0 }, 0 },
		{ STR_INIT("a"), 1 },
		{ STR_INIT("\0"), 1 },
		{ STR_INIT("\x7f"), 1 },
		{ STR_INIT("\x80"), 0 },
		{ STR_INIT("\xc1\xbf"), 0 },
		{ STR_INIT("\xc2\x80"), 2 },
		{ STR_INIT("\xdf\xbfx"), 2 },
		{ STR_INIT("\xc2"), 0 },
		{ STR_INIT("\xc2x"), 0 },
		{ STR_INIT("\xe0\x9f\xbf"), 0 },
		{ STR_INIT("\xe0\xa0\x80"), 3 },
		{ STR_INIT("\xed\x9f\xbf"), 3 },
		{ STR_INIT("\xed\xa0\x80"), 0 },
		{ STR_INIT("\xef\xbf\xbf"), 3 },
		{ STR_INIT("\xe1\x80"), 0 },
		{ STR_INIT("\xf0\x8f\xbf\xbf"), 0 },
		{ STR_INIT("\xf0\x90\x80\x80"), 4 },
		{ STR_INIT("\xf4\x8f\xbf\xbf"), 4 },
		{ STR_INIT("\xf4\x90\x80\x80"), 0 },
		{ STR_INIT("\xf5\x80\x80\x80"), 0 },
		{ STR_INIT("\xff"), 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (str_utf8_len(cases[i].text) != cases[i].want)
			fail_msg("case %zu", i);
	assert_true(str_is_utf8(STR_NONE));
	assert_true(str_is_utf8(STR("a\xc3\xa4\0z")));
	assert_false(str_is_utf8(STR("a\xc3\xa4\xc3")));
}

static void test_hash(void **state)
{
	size_t used[64] = { 0 };

	(void)state;
	assert_true(str_hash(STR_NONE) == str_hash(STR("")));
	assert_true(str_hash(STR("a")) != str_hash(STR("b")));
	assert_true(str_hash(STR("a")) != str_hash(STR("a\0")));
	/* The low bits choose the slot: names that differ in a digit must spread. */
	for (unsigned i = 0; i < 6400; i++) {
		char name[32];

		snprintf(name, sizeof(name), "job-%u", i);
		used[str_hash(str_c(name)) % 64]++;
	}
	for (size_t i = 0; i < 64; i++)
		assert_in_range(used[i], 50, 150);
}

static void test_dns_label(void **state)
{
	char name[65];

	(void)state;
	memset(name, 'a', sizeof(name));
	assert_true(str_is_dns_label(STR("a"), true));
	assert_true(str_is_dns_label(STR("a-1"), true));
	assert_true(str_is_dns_label(STR("1a"), false));
	assert_false(str_is_dns_label(STR("1a"), true));
	assert_false(str_is_dns_label(STR(""), false));
	assert_false(str_is_dns_label(STR_NONE, true));
	assert_false(str_is_dns_label(STR("-a"), false));
	assert_false(str_is_dns_label(STR("a-"), false));
	assert_false(str_is_dns_label(STR("A"), false));
	assert_false(str_is_dns_label(STR("a.b"), false));
	assert_false(str_is_dns_label(STR("a_b"), false));
	assert_false(str_is_dns_label(STR("\xc3\xa4"), false));
	assert_true(str_is_dns_label((struct str){ name, 63 }, true));
	assert_false(str_is_dns_label((struct str){ name, 64 }, true));
}

static void test_distance(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned max, want;
	} cases[] = {
		{ "", "", 2, 0 },
		{ "", "ab", 2, 2 },
		{ "ab", "", 2, 2 },
		{ "replicas", "replicas", 2, 0 },
		{ "replicas", "Replicas", 2, 0 },
		{ "replicas", "replcas", 2, 1 },
		{ "replicas", "repllicas", 2, 1 },
		{ "replicas", "replicad", 2, 1 },
		{ "replicas", "repilcas", 2, 1 },
		{ "ca", "abc", 5, 3 },
		{ "kitten", "sitting", 5, 3 },
		{ "kitten", "sitting", 2, 3 },
		{ "abc", "abcdef", 2, 3 },
		{ "abc", "xyz", 1, 2 },
	};
	char longer[66];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str a = str_c(cases[i].a), b = str_c(cases[i].b);

		if (str_distance(a, b, cases[i].max) != cases[i].want ||
		    str_distance(b, a, cases[i].max) != cases[i].want)
			fail_msg("%s %s", cases[i].a, cases[i].b);
	}
	memset(longer, 'a', sizeof(longer));
	assert_int_equal(str_distance((struct str){ longer, 64 }, (struct str){ longer, 63 }, 3), 1);
	assert_int_equal(str_distance((struct str){ longer, 65 }, (struct str){ longer, 65 }, 3), 4);
}

static void test_dup(void **state)
{
	struct str none = str_dup(STR_NONE), copy = str_dup(str_sub(STR("abcdef"), 1, 3));

	(void)state;
	assert_true(str_eqc(copy, "bcd") && copy.p[3] == 0);
	assert_true(none.n == 0);
	str_free(copy);
	str_free(none);
	str_free(STR_NONE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dup),  cmocka_unit_test(test_compare),   cmocka_unit_test(test_parts),
		cmocka_unit_test(test_next), cmocka_unit_test(test_int),       cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_hash), cmocka_unit_test(test_dns_label), cmocka_unit_test(test_distance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
