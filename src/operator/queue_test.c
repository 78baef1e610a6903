#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/queue.h"

static struct queue fresh_queue(void)
{
	return (struct queue){ .retry_initial = 100, .retry_max = 1000 };
}

static void test_order(void **state)
{
	struct queue q = fresh_queue();
	struct queue_item a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	queue_add(&q, &a, QUEUE_RESYNC);
	queue_add(&q, &b, QUEUE_FRESH);
	queue_add(&q, &c, QUEUE_FRESH);
	queue_add(&q, &b, QUEUE_FRESH);
	assert_int_equal(queue_next(&q), 0);
	assert_ptr_equal(queue_take(&q, 1), &b);
	assert_ptr_equal(queue_take(&q, 1), &c);
	assert_ptr_equal(queue_take(&q, 1), &a);
	assert_null(queue_take(&q, 1));
	assert_true(queue_next(&q) == NEVER);
	queue_release(&q);
}

static void test_fresh_overtakes_its_own_resync(void **state)
{
	struct queue q = fresh_queue();
	struct queue_item a = { 0 }, b = { 0 };

	(void)state;
	queue_add(&q, &a, QUEUE_RESYNC);
	queue_add(&q, &b, QUEUE_RESYNC);
	queue_add(&q, &b, QUEUE_FRESH);
	/* … and is not set back by a later resync. */
	queue_add(&q, &b, QUEUE_RESYNC);
	assert_ptr_equal(queue_take(&q, 1), &b);
	assert_ptr_equal(queue_take(&q, 1), &a);
	assert_null(queue_take(&q, 1));
	queue_release(&q);
}

static void test_delay(void **state)
{
	struct queue q = fresh_queue();
	struct queue_item a = { 0 };

	(void)state;
	queue_at(&q, &a, NEVER);
	assert_true(queue_next(&q) == NEVER);
	queue_at(&q, &a, 500);
	queue_at(&q, &a, 900);
	assert_int_equal(queue_next(&q), 500);
	queue_at(&q, &a, 300);
	assert_int_equal(queue_next(&q), 300);
	assert_null(queue_take(&q, 299));
	assert_ptr_equal(queue_take(&q, 300), &a);
	assert_null(queue_take(&q, 1000));
	/* A change does not wait for the time. */
	queue_at(&q, &a, 500);
	queue_add(&q, &a, QUEUE_FRESH);
	assert_ptr_equal(queue_take(&q, 301), &a);
	assert_null(queue_take(&q, 1000));
	queue_release(&q);
}

static void test_backoff(void **state)
{
	static const msec want[] = { 100, 200, 400, 800, 1000, 1000 };
	struct queue q = fresh_queue();
	struct queue_item a = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		queue_retry(&q, &a, 5000, 0);
		assert_int_equal(queue_next(&q), 5000 + want[i]);
		/* Changes do not break into it. */
		queue_add(&q, &a, QUEUE_FRESH);
		queue_at(&q, &a, 5001);
		assert_null(queue_take(&q, 5000 + want[i] - 1));
		assert_ptr_equal(queue_take(&q, 5000 + want[i]), &a);
		/* Once it is over they are seen at once again. */
		queue_add(&q, &a, QUEUE_FRESH);
		assert_ptr_equal(queue_take(&q, 5000 + want[i]), &a);
	}
	queue_forget(&a);
	queue_retry(&q, &a, 5000, 0);
	assert_int_equal(queue_next(&q), 5100);
	queue_retry(&q, &a, 5000, 7000);
	assert_int_equal(queue_next(&q), 12000);
	queue_release(&q);
}

static void test_remove(void **state)
{
	struct queue q = fresh_queue();
	struct queue_item a = { 0 }, b = { 0 };

	(void)state;
	queue_add(&q, &a, QUEUE_FRESH);
	queue_at(&q, &b, 10);
	queue_remove(&q, &a);
	queue_remove(&q, &b);
	queue_remove(&q, &b);
	assert_null(queue_take(&q, 100));
	queue_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),  cmocka_unit_test(test_fresh_overtakes_its_own_resync),
		cmocka_unit_test(test_delay),  cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
