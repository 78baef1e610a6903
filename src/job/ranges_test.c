#include "job/ranges.h"

#include "base/rng.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void reads_what_it_writes(void **state)
{
	static const char *const good[] = { "", "0", "0-4", "0-4,7", "1,3,5-9,99" };
	static const char *const bad[] = { "x",  "-1",  "4-2",   "1,1", "1-3,2", "1-3,4", "1,",
		                           ",1", "100", "0-100", "1-",  "3-x",   " 1",    "99999999999" };
	struct arena a = ARENA_INIT;
	struct ranges r = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(ranges_parse(&r, &a, str_c(good[i]), 100));
		assert_string_equal(ranges_format(&r, &a).p ? arena_str(&a, ranges_format(&r, &a)).p : "", good[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (ranges_parse(&r, &a, str_c(bad[i]), 100))
			fail_msg("\"%s\" was taken", bad[i]);
	arena_release(&a);
}

/* Beside a plain array of flags, through many random changes. */
static void like_a_set(void **state)
{
	enum { SIZE = 40, ROUNDS = 20000 };
	struct arena a = ARENA_INIT;
	struct ranges r = { 0 };
	bool plain[SIZE] = { false };
	struct rng rng = rng_seed(7);

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		int32_t i = (int32_t)rng_below(&rng, SIZE);
		int32_t count = 0;
		struct ranges copy, again;

		switch (rng_below(&rng, 8)) {
		case 0:
			ranges_cut(&r, i);
			for (int32_t k = i; k < SIZE; k++)
				plain[k] = false;
			break;
		case 1:
		case 2:
		case 3:
			assert_int_equal(ranges_del(&r, &a, i), plain[i]);
			plain[i] = false;
			break;
		default:
			assert_int_equal(ranges_add(&r, &a, i), !plain[i]);
			plain[i] = true;
			break;
		}
		for (int32_t k = 0; k < SIZE; k++) {
			assert_int_equal(ranges_has(&r, k), plain[k]);
			count += plain[k];
		}
		assert_int_equal(ranges_count(&r), count);
		copy = ranges_copy(&r, &a);
		assert_true(ranges_eq(&r, &copy));
		/* What it writes is in order and apart, so it is read back as the same. */
		assert_true(ranges_parse(&again, &a, ranges_format(&r, &a), SIZE));
		assert_true(ranges_eq(&r, &again));
		ranges_add(&copy, &a, SIZE + 5);
		assert_false(ranges_eq(&r, &copy));
	}
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_it_writes),
		cmocka_unit_test(like_a_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
