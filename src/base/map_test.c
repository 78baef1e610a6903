#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/rng.h"

static void test_basics(void **state)
{
	struct map m = MAP_INIT;
	int a = 1, b = 2;
	char key[] = "k";

	(void)state;
	assert_null(map_get(&m, STR("k")));
	assert_null(map_del(&m, STR("k")));
	assert_null(map_put(&m, STR("k"), &a));
	assert_ptr_equal(map_get(&m, str_c(key)), &a);
	/* The key that is kept is the new one. */
	assert_ptr_equal(map_put(&m, str_c(key), &b), &a);
	assert_int_equal(m.n, 1);
	assert_null(map_put(&m, STR_NONE, &a));
	assert_ptr_equal(map_get(&m, STR("")), &a);
	assert_null(map_get(&m, STR("k\0")));
	assert_ptr_equal(map_del(&m, STR("k")), &b);
	assert_null(map_del(&m, STR("k")));
	assert_int_equal(m.n, 1);
	map_release(&m);
	assert_null(map_get(&m, STR("")));
	map_release(&m);
}

static void test_kept_key(void **state)
{
	struct map m = MAP_INIT;
	char first[] = "k", second[] = "k";
	size_t at = 0;
	struct str key;
	void *value;
	int v = 0;

	(void)state;
	map_put(&m, str_c(first), &v);
	map_put(&m, str_c(second), &v);
	assert_true(map_next(&m, &at, &key, &value));
	assert_ptr_equal(key.p, second);
	assert_ptr_equal(value, &v);
	assert_false(map_next(&m, &at, NULL, NULL));
	map_release(&m);
}

/* Against an array: puts, deletions, and a full round after each thousand. */
static void test_random(void **state)
{
	enum { KEYS = 300 };
	struct arena a = ARENA_INIT;
	struct map m = MAP_INIT;
	struct rng r = rng_seed(2);
	struct str keys[KEYS];
	void *want[KEYS] = { NULL };
	char values[7];

	(void)state;
	for (size_t i = 0; i < KEYS; i++)
		keys[i] = arena_printf(&a, "key-%zu", i);
	for (int step = 0; step < 30000; step++) {
		size_t i = rng_below(&r, KEYS), n = 0, at = 0;
		void *value = &values[rng_below(&r, sizeof(values))], *got;
		struct str key;

		if (rng_one_in(&r, 2)) {
			assert_ptr_equal(map_put(&m, keys[i], value), want[i]);
			want[i] = value;
		} else {
			assert_ptr_equal(map_del(&m, keys[i]), want[i]);
			want[i] = NULL;
		}
		i = rng_below(&r, KEYS);
		assert_ptr_equal(map_get(&m, keys[i]), want[i]);
		if (step % 1000)
			continue;
		while (map_next(&m, &at, &key, &got)) {
			assert_ptr_equal(map_get(&m, key), got);
			n++;
		}
		assert_int_equal(n, m.n);
		for (i = 0; i < KEYS; i++)
			assert_ptr_equal(map_get(&m, keys[i]), want[i]);
	}
	map_release(&m);
	arena_release(&a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_kept_key),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
