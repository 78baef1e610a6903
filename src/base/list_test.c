#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"

struct thing {
	struct thing *prev, *next;
};

static void are(const struct thing *first, const struct thing *const *want)
{
	const struct thing *before = NULL;

	for (; *want; want++, before = first, first = first->next) {
		assert_ptr_equal(first, *want);
		assert_ptr_equal(first->prev, before);
	}
	assert_null(first);
}

static void test_push_and_drop(void **state)
{
	struct thing a, b, c, *first = NULL;

	(void)state;
	list_push(&first, &a);
	list_push(&first, &b);
	list_push(&first, &c);
	are(first, (const struct thing *const[]){ &c, &b, &a, NULL });
	list_drop(&first, &b);
	are(first, (const struct thing *const[]){ &c, &a, NULL });
	/* Whoever stood there goes on. */
	assert_ptr_equal(b.next, &a);
	list_drop(&first, &c);
	are(first, (const struct thing *const[]){ &a, NULL });
	list_drop(&first, &a);
	assert_null(first);
}

static void test_both_ends(void **state)
{
	struct thing a, b, c, *first = NULL, *last = NULL;

	(void)state;
	deque_append(&first, &last, &b);
	deque_append(&first, &last, &c);
	deque_push(&first, &last, &a);
	are(first, (const struct thing *const[]){ &a, &b, &c, NULL });
	assert_ptr_equal(last, &c);
	deque_drop(&first, &last, &b);
	are(first, (const struct thing *const[]){ &a, &c, NULL });
	deque_drop(&first, &last, &c);
	are(first, (const struct thing *const[]){ &a, NULL });
	assert_ptr_equal(last, &a);
	deque_drop(&first, &last, &a);
	assert_null(first);
	assert_null(last);
	deque_push(&first, &last, &a);
	assert_ptr_equal(first, &a);
	assert_ptr_equal(last, &a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_push_and_drop), cmocka_unit_test(test_both_ends) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
