#include "kube/testing.h"

/* Closed at once, again and again: it waits longer and longer, but never longer than ten seconds. */
static void test_no_spinning(void **state)
{
	struct bench *b = *state;
	msec all = 0, last = 0;

	to_watch(b);
	for (int i = 0; i < 20; i++) {
		assert_true(data(b, EVENT("BOOKMARK", "", "10")));
		ended(b, 200, "", 20);
		last = expect_sleep(b);
		assert_true(last >= 250 && last <= 10000);
		all += last;
		expect_watch(b, "10");
	}
	assert_true(all >= 80000 && last >= 5000);
	ended(b, 200, "", SECONDS(30));
	expect_watch(b, "10");
	ended(b, 200, "", 20);
	assert_true(expect_sleep(b) <= 500);
}

/* A server that comes back after a while, and has forgotten: it was waited for once, not twice. */
static void test_back_again(void **state)
{
	struct bench *b = *state;

	to_watch(b);
	for (int i = 0; i < 10; i++) {
		ended(b, 0, "", 1);
		expect_sleep(b);
		expect_watch(b, "10");
	}
	assert_false(data(b, ERROR_EVENT("410")));
	ended(b, 200, "", 500);
	assert_true(expect_sleep(b) <= 500);
	to_watch_anew(b);
}

/* List, refused watch, list …: the same. */
static void test_no_spinning_lists(void **state)
{
	struct bench *b = *state;
	msec last = 0;

	to_watch(b);
	for (int i = 0; i < 10; i++) {
		assert_false(data(b, ERROR_EVENT("410")));
		ended(b, 200, "", 20);
		last = expect_sleep(b);
		expect_list(b, "2");
		page(b, PAGE("10", "", ""));
		expect_watch(b, "10");
	}
	assert_true(last >= 5000 && last <= 10000);
}

static void test_back_off(void **state)
{
	static const msec most[] = { 500, 1000, 2000, 4000, 8000, 10000, 10000, 10000 };
	struct bench *b = *state, *other = bench_new(2);
	bool differs = false;

	expect_list(other, "2");
	for (size_t i = 0; i < ARRAY_LEN(most); i++) {
		msec delay;

		expect_list(b, "2");
		ended(b, 503, "", 5);
		delay = expect_sleep(b);
		assert_true(delay >= most[i] / 2 && delay <= most[i]);
		ended(other, 503, "", 5);
		differs |= delay != expect_sleep(other);
		expect_list(other, "2");
	}
	assert_true(differs);
	/* What has worked is forgiven. */
	expect_list(b, "2");
	page(b, PAGE("10", "t", ""));
	expect_list(b, "2&continue=t");
	ended(b, 503, "", 5);
	assert_true(expect_sleep(b) <= 500);
	teardown((void **)&other);
}

static void test_retry_after(void **state)
{
	static const struct {
		msec header;
		const char *body;
		msec least, most;
	} cases[] = {
		{ 7000, "", 7000, 8750 },
		{ 0, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":8}}", 8000, 10000 },
		{ 7000, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":20}}", 7000, 8750 },
		{ 10, "", 250, 500 },
		{ INT64_MAX, "", 60000, 75000 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		struct watch_end end = { .status = 429,
			                 .body = str_c(cases[i / 2].body),
			                 .retry_after = cases[i / 2].header };
		struct bench *b = bench_new(i);
		msec delay;

		if (i % 2)
			to_watch(b);
		else
			expect_list(b, "2");
		watch_ended(b->w, &end);
		delay = expect_sleep(b);
		assert_true(delay >= cases[i / 2].least && delay <= cases[i / 2].most);
		teardown((void **)&b);
	}
}

/* A place that the server refuses again and again is given up; a server that is away is waited for. */
static void test_refused_watches(void **state)
{
	struct bench *b = *state;

	to_watch(b);
	for (int i = 0; i < 20; i++) {
		ended(b, 0, "connection refused", 5);
		expect_sleep(b);
		expect_watch(b, "10");
	}
	for (int i = 0; i < 4; i++) {
		ended(b, 504, "", 5);
		expect_sleep(b);
		expect_watch(b, "10");
	}
	ended(b, 504, "", 5);
	expect_sleep(b);
	to_watch_anew(b);
	/* A list, or a stream that began, and the count starts again. */
	for (int i = 0; i < 4; i++) {
		ended(b, 504, "", 5);
		expect_sleep(b);
		expect_watch(b, "10");
	}
	ended(b, 200, "", SECONDS(30));
	expect_watch(b, "10");
	for (int i = 0; i < 4; i++) {
		ended(b, 504, "", 5);
		expect_sleep(b);
		expect_watch(b, "10");
	}
	ended(b, 200, "", 5);
	assert_true(expect_sleep(b) <= 500);
	expect_watch(b, "10");
	ended(b, 504, "", 5);
	assert_true(expect_sleep(b) <= 1000);
	expect_watch(b, "10");
}

static void test_error_asks_to_wait(void **state)
{
	struct bench *b = *state;
	msec delay;

	to_watch(b);
	assert_false(data(b, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":429,\"message\":\"m\","
	                     "\"details\":{\"retryAfterSeconds\":20}}}\n"));
	ended(b, 200, "", 5);
	delay = expect_sleep(b);
	assert_true(delay >= 20000 && delay <= 25000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_spinning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_back_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_spinning_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(test_back_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_watches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_error_asks_to_wait, setup, teardown),
		cmocka_unit_test(test_retry_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
