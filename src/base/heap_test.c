#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/heap.h"
#include "base/rng.h"

struct job {
	struct heap_node due;
	int name;
	bool in;
};

static int take(struct heap *h)
{
	struct heap_node *first = heap_first(h);

	heap_remove(h, first);
	return heap_entry(first, struct job, due)->name;
}

static void test_order(void **state)
{
	struct job jobs[6] = {
		{ .name = 0 }, { .name = 1 }, { .name = 2 }, { .name = 3 }, { .name = 4 }, { .name = 5 }
	};
	static const int64_t keys[] = { 5, 3, INT64_MAX, 3, INT64_MIN, 3 };
	static const int want[] = { 4, 1, 3, 5, 0, 2 };
	struct heap h = HEAP_INIT;

	(void)state;
	assert_null(heap_first(&h));
	for (size_t i = 0; i < 6; i++)
		heap_put(&h, &jobs[i].due, keys[i]);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(take(&h), want[i]);
	assert_null(heap_first(&h));
	heap_release(&h);
}

static void test_move_and_remove(void **state)
{
	struct job a = { .name = 1 }, b = { .name = 2 }, c = { .name = 3 };
	struct heap h = HEAP_INIT;

	(void)state;
	heap_remove(&h, &a.due);
	heap_put(&h, &a.due, 1);
	heap_put(&h, &b.due, 2);
	heap_put(&h, &c.due, 3);
	heap_put(&h, &c.due, 0);
	assert_ptr_equal(heap_first(&h), &c.due);
	/* Put again with the same key: it stands behind the others of that key. */
	heap_put(&h, &a.due, 2);
	heap_remove(&h, &c.due);
	heap_remove(&h, &c.due);
	assert_int_equal(c.due.at, 0);
	assert_int_equal(take(&h), 2);
	assert_int_equal(take(&h), 1);
	assert_int_equal(h.n, 0);
	heap_release(&h);
}

/* Against the plainest way to find the first one. */
static void test_random(void **state)
{
	static struct job jobs[64];
	struct heap h = HEAP_INIT;
	struct rng r = rng_seed(11);

	(void)state;
	for (int step = 0; step < 20000; step++) {
		struct job *j = &jobs[rng_below(&r, ARRAY_LEN(jobs))], *best = NULL;

		j->in = !rng_one_in(&r, 3);
		if (j->in)
			heap_put(&h, &j->due, rng_between(&r, 0, 9));
		else
			heap_remove(&h, &j->due);
		for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
			struct job *k = &jobs[i];

			if (k->in && (!best || k->due.key < best->due.key ||
			              (k->due.key == best->due.key && k->due.order < best->due.order)))
				best = k;
		}
		assert_ptr_equal(heap_first(&h), best ? &best->due : NULL);
	}
	heap_release(&h);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_move_and_remove),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
