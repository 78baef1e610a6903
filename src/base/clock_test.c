#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		msec want;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T00:00:01.5Z", 1500 },
		{ "1969-12-31T23:59:59.999Z", -1 },
		{ "2026-11-15T12:00:00Z", 1794744000000 },
		{ "2026-11-15t12:00:00z", 1794744000000 },
		{ "2026-11-15T12:00:00.123456789Z", 1794744000123 },
		{ "2026-11-15T14:30:00+02:30", 1794744000000 },
		{ "2026-11-15T09:30:00-02:30", 1794744000000 },
		{ "2026-11-15T11:59:60Z", 1794744000000 },
		{ "2000-02-29T00:00:00Z", 951782400000 },
		{ "2024-02-29T00:00:00Z", 1709164800000 },
		{ "0001-01-01T00:00:00Z", -62135596800000 },
		{ "9999-12-31T23:59:59Z", 253402300799000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		msec t = 7;

		if (!time_parse(str_c(cases[i].text), &t))
			fail_msg("%s", cases[i].text);
		assert_int_equal(t, cases[i].want);
	}
}

static void test_parse_refuses(void **state)
{
	static const char *const cases[] = {
		"",
		"2026",
		"2026-11-15",
		"2026-11-15T12:00:00",
		"2026-11-15 12:00:00Z",
		"2026-11-15T12:00Z",
		"2026-11-15T12:00:00Zx",
		" 2026-11-15T12:00:00Z",
		"2026-11-15T12:00:00.Z",
		"2026-11-15T12:00:00.x",
		"2026-11-15T12:00:00.5",
		"2026-13-15T12:00:00Z",
		"2026-00-15T12:00:00Z",
		"2026-11-00T12:00:00Z",
		"2026-11-31T12:00:00Z",
		"2026-02-29T12:00:00Z",
		"1900-02-29T12:00:00Z",
		"2026-12-32T00:00:00Z",
		"2026-11-15T24:00:00Z",
		"2026-11-15T12:60:00Z",
		"2026-11-15T12:00:61Z",
		"2026-11-15T12:00:00+24:00",
		"2026-11-15T12:00:00+02:60",
		"2026-11-15T12:00:00+0200",
		"2026-11-15T12:00:00+2",
		"-026-11-15T12:00:00Z",
		"2026--1-15T12:00:00Z",
		"2026-11-15T-1:00:00Z",
		"20261115T120000Z",
		"2026-11-15T12:00:00\xc3\xa4",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		msec t = 7;

		if (time_parse(str_c(cases[i]), &t))
			fail_msg("%s", cases[i]);
		assert_int_equal(t, 7);
	}
	assert_false(time_parse(STR_NONE, &(msec){ 0 }));
	assert_false(time_parse(STR("2026-11-15T12:00:00\0"), &(msec){ 0 }));
}

static void test_format(void **state)
{
	char text[TIME_TEXT];

	(void)state;
	assert_string_equal(time_format(1794744000999, text), "2026-11-15T12:00:00Z");
	assert_string_equal(time_format(0, text), "1970-01-01T00:00:00Z");
	assert_string_equal(time_format(-1, text), "1969-12-31T23:59:59Z");
	assert_string_equal(time_format(-62135596800000, text), "0001-01-01T00:00:00Z");
	assert_string_equal(time_format(NEVER, text), "9999-12-31T23:59:59Z");
	assert_string_equal(time_format(INT64_MIN, text), "0000-01-01T00:00:00Z");
}

static void test_format_and_parse(void **state)
{
	struct rng r = rng_seed(5);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		msec t = rng_between(&r, -62167219200, 253402300799) * 1000, back = 0;
		char text[TIME_TEXT];

		assert_true(time_parse(str_c(time_format(t, text)), &back));
		assert_int_equal(back, t);
	}
}

static msec one_more(void *cookie)
{
	return ++*(msec *)cookie;
}

static void test_clock(void **state)
{
	msec t = 41;
	struct clock c = { one_more, &t };

	(void)state;
	assert_int_equal(clock_now(&c), 42);
	/* After this was written, and before the century ends. */
	assert_true(clock_now(&clock_wall) > 1700000000000 && clock_now(&clock_wall) < 4102444800000);
}

static void test_ages(void **state)
{
	static const struct {
		msec age;
		const char *text;
	} cases[] = {
		{ -SECONDS(5), "<invalid>" },
		{ -SECONDS(1), "0s" },
		{ SECONDS(59), "59s" },
		{ SECONDS(119), "119s" },
		{ SECONDS(120), "2m" },
		{ SECONDS(123), "2m3s" },
		{ MINUTES(10), "10m" },
		{ MINUTES(179), "179m" },
		{ MINUTES(195), "3h15m" },
		{ MINUTES(60 * 9), "9h" },
		{ MINUTES(60 * 50), "2d2h" },
		{ MINUTES(60 * 24 * 30), "30d" },
		{ MINUTES(60 * 24 * 800), "2y70d" },
		{ MINUTES(60 * 24 * 365 * 9), "9y" },
	};
	char text[AGE_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(age_format(cases[i].age, text), cases[i].text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ages),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_format_and_parse),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
