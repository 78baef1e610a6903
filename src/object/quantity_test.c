#include "object/quantity.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void test_read(void **state)
{
	static const struct {
		const char *json;
		int64_t milli; /* -1: none */
	} cases[] = {
		{ "\"500m\"", 500 },
		{ "2", 2000 },
		{ "0.1", 100 },
		{ "\"0.5\"", 500 },
		{ "\"1Gi\"", 1073741824000 },
		{ "\"1.5Ki\"", 1536000 },
		{ "\"2e3\"", 2000000 },
		{ "\"2E3\"", 2000000 },
		{ "\"1E\"", -1 }, /* too large in thousandths */
		{ "\"1k\"", 1000000 },
		{ "\"100u\"", 1 }, /* rounded up */
		{ "\"+3\"", 3000 },
		{ "\"0\"", 0 },
		{ "\"-1\"", -1 },
		{ "\"1K\"", -1 },
		{ "\"1 Gi\"", -1 },
		{ "\"\"", -1 },
		{ "\".\"", -1 },
		{ "\"1.2.3\"", -1 },
		{ "\"m\"", -1 },
		{ "\"1e99\"", -1 },
		{ "\"9999999999999999999999999999999999999999999999\"", -1 },
		{ "true", -1 },
		{ "-5", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(cases[i].json), NULL);
		int64_t milli = -1;

		if (quantity_read(yyjson_doc_get_root(doc), &milli) != (cases[i].milli >= 0) || milli != cases[i].milli)
			fail_msg("%s: got %lld", cases[i].json, (long long)milli);
	}
}

static const struct quantity most = { INT64_MAX, 0 };

static void test_sums(void **state)
{
	struct quantity a = quantity_of(1600), b = quantity_of(700), sum = quantity_sum(a, b);

	(void)state;
	assert_int_equal(sum.whole, 2);
	assert_int_equal(sum.milli, 300);
	sum = quantity_times(b, 3);
	assert_int_equal(sum.whole, 2);
	assert_int_equal(sum.milli, 100);
	assert_int_equal(quantity_times(b, 0).milli, 0);
	assert_int_equal(quantity_cmp(a, b), 1);
	assert_int_equal(quantity_cmp(b, a), -1);
	assert_int_equal(quantity_cmp((struct quantity){ 1, 5 }, (struct quantity){ 1, 6 }), -1);
	assert_int_equal(quantity_cmp(a, a), 0);
	/* 100,000 pods of 1 Ti each are more than 64 bits of thousandths. */
	sum = quantity_times(quantity_of(1099511627776000), 100000);
	assert_true(sum.whole == 109951162777600000);
	assert_int_equal(quantity_cmp(quantity_sum(most, quantity_of(1000)), most), 0);
	assert_int_equal(quantity_cmp(quantity_sum(most, most), most), 0);
	assert_int_equal(quantity_cmp(quantity_times((struct quantity){ INT64_MAX / 2, 999 }, 3), most), 0);
	assert_int_equal(quantity_cmp(quantity_times((struct quantity){ INT64_MAX, 999 }, 1000), most), 0);
}

static void test_write(void **state)
{
	static const struct {
		struct quantity q;
		bool binary;
		const char *text;
	} cases[] = {
		{ { 0, 0 }, false, "0" },
		{ { 0, 0 }, true, "0" },
		{ { 4, 0 }, false, "4" },
		{ { 0, 500 }, false, "500m" },
		{ { 1, 5 }, false, "1005m" },
		{ { 2048, 0 }, false, "2048" },
		{ { 2048, 0 }, true, "2Ki" },
		{ { 1536, 0 }, true, "1536" },
		{ { 3LL << 30, 0 }, true, "3Gi" },
		{ { (3LL << 30) + 1024, 0 }, true, "3145729Ki" },
		{ { 1LL << 62, 0 }, true, "4Ei" },
		{ { 1, 1 }, true, "1001m" },
		{ { INT64_MAX - 1, 1 }, false, "9223372036854775807" },
		{ { INT64_MAX, 1 }, false, "9223372036854775807" },
	};
	char text[QUANTITY_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(quantity_write(cases[i].q, cases[i].binary, text).p, cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
