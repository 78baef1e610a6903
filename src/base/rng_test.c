#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"

static void test_same_seed_same_run(void **state)
{
	struct rng a = rng_seed(42), b = rng_seed(42), c = rng_seed(43);
	bool differs = false;

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint64_t x = rng_next(&a);

		assert_true(x == rng_next(&b));
		differs |= x != rng_next(&c);
	}
	assert_true(differs);
}

/* Seeds that were printed must reproduce their runs for ever, so the numbers themselves are fixed. */
static void test_known_numbers(void **state)
{
	struct rng r = { { 1, 2, 3, 4 } };

	(void)state;
	assert_true(rng_next(&r) == 11520);
	assert_true(rng_next(&r) == 0);
	assert_true(rng_next(&r) == 1509978240);
	assert_true(rng_next(&r) == 1215971899390074240);
	r = rng_seed(0);
	assert_true(r.s[0] == 0xe220a8397b1dcdaf);
	assert_true(r.s[1] == 0x6e789e6aa1b965f4);
}

static void test_below(void **state)
{
	struct rng r = rng_seed(1);
	int count[7] = { 0 };

	(void)state;
	for (int i = 0; i < 70000; i++)
		count[rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(count[i], 9500, 10500);
	assert_int_equal(rng_below(&r, 1), 0);
	assert_true(rng_one_in(&r, 1));
	for (int i = 0; i < 1000; i++)
		assert_true(rng_below(&r, (1ull << 63) + 1) <= 1ull << 63);
}

static void test_between(void **state)
{
	struct rng r = rng_seed(1);
	bool low = false, high = false, negative = false, positive = false;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t v = rng_between(&r, -2, 2), w = rng_between(&r, INT64_MIN, INT64_MAX);

		assert_true(v >= -2 && v <= 2);
		low |= v == -2;
		high |= v == 2;
		negative |= w < 0;
		positive |= w > 0;
		assert_true(rng_between(&r, INT64_MIN, INT64_MAX - 1) < INT64_MAX);
	}
	assert_true(low && high && negative && positive);
	assert_int_equal(rng_between(&r, INT64_MAX, INT64_MAX), INT64_MAX);
	assert_int_equal(rng_between(&r, INT64_MIN, INT64_MIN), INT64_MIN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_seed_same_run),
		cmocka_unit_test(test_known_numbers),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
