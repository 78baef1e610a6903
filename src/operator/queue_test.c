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
		queue_retry(&q, &a, 5000, 0, NEVER);
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
	queue_retry(&q, &a, 5000, 0, NEVER);
	assert_int_equal(queue_next(&q), 5100);
	queue_retry(&q, &a, 5000, 7000, NEVER);
	assert_int_equal(queue_next(&q), 12000);
	/* What must not be later is not. */
	queue_retry(&q, &a, 5000, 7000, 5100);
	assert_int_equal(queue_next(&q), 5100);
	queue_add(&q, &a, QUEUE_FRESH);
	assert_null(queue_take(&q, 5099));
	assert_ptr_equal(queue_take(&q, 5100), &a);
	queue_release(&q);
}

/* However many changes come, what is due has its turn, and in the end what nobody waits for. */
static void test_nobody_starves(void **state)
{
	struct queue q = fresh_queue();
	struct queue_item fresh[3] = { 0 }, due = { 0 }, resync = { 0 };
	int due_at = -1, resync_at = -1;

	(void)state;
	queue_at(&q, &due, 10);
	queue_add(&q, &resync, QUEUE_RESYNC);
	for (int i = 0; i < 30; i++) {
		struct queue_item *item;

		for (size_t k = 0; k < ARRAY_LEN(fresh); k++)
			queue_add(&q, &fresh[k], QUEUE_FRESH);
		item = queue_take(&q, 10);
		if (item == &due)
			due_at = i;
		if (item == &resync)
			resync_at = i;
	}
	assert_in_range(due_at, 0, 1);
	assert_in_range(resync_at, 0, 8);
	queue_release(&q);
}

static void test_changes_come_though_much_is_due(void **state)
{
	struct queue q = fresh_queue();
	struct queue_item due[8] = { 0 }, fresh = { 0 };
	int fresh_at = -1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(due); i++)
		queue_at(&q, &due[i], 10);
	queue_add(&q, &fresh, QUEUE_FRESH);
	for (int i = 0; i < 9; i++)
		if (queue_take(&q, 10) == &fresh)
			fresh_at = i;
	assert_in_range(fresh_at, 0, 1);
	queue_release(&q);
}

/* It has changed, many others have too, and then its time comes. */
static void test_becomes_due_while_it_is_ready(void **state)
{
	struct queue q = fresh_queue();
	struct queue_item others[5] = { 0 }, a = { 0 };
	int at = -1;

	(void)state;
	queue_at(&q, &a, 10);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		queue_add(&q, &others[i], QUEUE_FRESH);
	queue_add(&q, &a, QUEUE_FRESH);
	for (int i = 0; i < 6; i++)
		if (queue_take(&q, 10) == &a)
			at = i;
	assert_in_range(at, 0, 1);
	/* It was there once only. */
	assert_null(queue_take(&q, 10));
	assert_int_equal(queue_ready(&q), 0);
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
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_fresh_overtakes_its_own_resync),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_remove),
		cmocka_unit_test(test_nobody_starves),
		cmocka_unit_test(test_changes_come_though_much_is_due),
		cmocka_unit_test(test_becomes_due_while_it_is_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
