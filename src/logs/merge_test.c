#include "logs/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct buf out;

/* All that can be had now, as "a:text" or "a:text…" lines. */
static msec pull(struct log_merge *m, msec now)
{
	struct merge_line line;
	msec wake;

	while (merge_next(m, now, &line, &wake))
		buf_printf(&out, "%s:%.*s%s\n", (const char *)line.source->cookie, STR_F(line.text),
		           line.part ? "…" : "");
	return wake;
}

static void expect(const char *want)
{
	assert_string_equal(buf_str(&out).p, want);
	buf_clear(&out);
}

#define T(s) "2026-01-02T03:04:" s "Z "

static char a_name[] = "a", b_name[] = "b";

static int setup(void **state)
{
	(void)state;
	out = (struct buf)BUF_INIT(1 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buf_release(&out);
	return 0;
}

static void lines_come_in_the_order_of_time(void **state)
{
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);

	(void)state;
	merge_push(a, STR(T("01") "one\n" T("03.5") "three\n"), 0);
	assert_int_equal(pull(&m, 0), NEVER);
	/* Nobody knows what b has. */
	expect("");
	merge_push(b, STR(T("02") "two\n" T("03.25") "before three\n"), 0);
	merge_push(b, STR(T("03.500000001") "after three\n"), 0);
	pull(&m, 0);
	expect("a:one\nb:two\nb:before three\na:three\n");
	assert_false(merge_done(&m));
	merge_end(a, 0);
	pull(&m, 0);
	expect("b:after three\n");
	merge_end(b, 0);
	assert_true(merge_done(&m));
	merge_release(&m);
}

/* Byte by byte it is the same. */
static void however_the_bytes_come(void **state)
{
	static const char one[] = T("01") "x\n" T("02") "\n" T("04") "y z\n",
			  other[] = T("03") "w\n" T("05") "no newline";
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(one); i++) {
		merge_push(a, (struct str){ one + i, 1 }, 0);
		pull(&m, 0);
	}
	merge_end(a, 0);
	for (size_t i = 0; i + 1 < sizeof(other); i++) {
		merge_push(b, (struct str){ other + i, 1 }, 0);
		pull(&m, 0);
	}
	expect("a:x\na:\nb:w\n");
	merge_end(b, 0);
	pull(&m, 0);
	expect("a:y z\nb:no newline\n");
	assert_true(merge_done(&m));
	merge_release(&m);
}

static void a_line_waits_for_others_only_so_long(void **state)
{
	struct log_merge m = { .grace = 250 };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);

	(void)state;
	merge_push(a, STR(T("02") "late\n"), 1000);
	assert_int_equal(pull(&m, 1100), 1250);
	expect("");
	merge_push(b, STR(T("01") "early\n"), 1200);
	pull(&m, 1200);
	expect("b:early\n");
	assert_int_equal(pull(&m, 1249), 1250);
	expect("");
	pull(&m, 1250);
	expect("a:late\n");
	assert_int_equal(pull(&m, 5000), NEVER);
	merge_release(&m);
}

static void long_lines_come_in_parts(void **state)
{
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);
	struct merge_line line;
	size_t total = 0, parts = 0;
	char piece[1000];
	msec wake;

	(void)state;
	memset(piece, 'x', sizeof(piece));
	merge_push(a, STR(T("01")), 0);
	merge_push(b, STR(T("02") "other\n"), 0);
	for (int i = 0; i < 100; i++) {
		merge_push(a, (struct str){ piece, sizeof(piece) }, 0);
		while (merge_next(&m, 0, &line, &wake)) {
			/* Nobody comes between. */
			assert_ptr_equal(line.source, a);
			assert_true(line.part);
			total += line.text.n;
			parts++;
		}
		assert_true(merge_held(a) < MERGE_PART + sizeof(piece));
	}
	merge_push(a, STR("end\n"), 0);
	assert_true(merge_next(&m, 0, &line, &wake));
	assert_false(line.part);
	total += line.text.n;
	assert_true(parts >= 6);
	assert_int_equal(total, 100 * sizeof(piece) + 3);
	merge_end(a, 0);
	pull(&m, 0);
	expect("b:other\n");
	merge_release(&m);
}

static void a_long_line_that_breaks_off(void **state)
{
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);
	struct merge_line line;
	char piece[MERGE_PART];
	msec wake;

	(void)state;
	memset(piece, 'x', sizeof(piece));
	merge_push(a, STR(T("01")), 0);
	merge_push(a, (struct str){ piece, sizeof(piece) }, 0);
	merge_push(b, STR(T("02") "other\n"), 0);
	merge_end(b, 0);
	assert_true(merge_next(&m, 0, &line, &wake) && line.part);
	merge_end(a, 0);
	assert_true(merge_next(&m, 0, &line, &wake));
	assert_ptr_equal(line.source, a);
	pull(&m, 0);
	expect("b:other\n");
	assert_true(merge_done(&m));
	merge_release(&m);
}

static void a_stream_that_is_opened_again_repeats_nothing(void **state)
{
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name);

	(void)state;
	merge_push(a, STR(T("01") "one\n" T("02.5") "two\n" T("03") "half a li"), 0);
	pull(&m, 0);
	expect("a:one\na:two\n");
	merge_again(a);
	merge_push(a, STR(T("02") "not again\n" T("02.5") "two\n" T("03") "three\n"), 0);
	pull(&m, 0);
	expect("a:three\n");
	merge_release(&m);
}

/* Not even what has come and was not handed out is lost, however many lines have the same time. */
static void what_was_not_handed_out_comes_again(void **state)
{
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name);
	struct merge_line line;
	msec wake;

	(void)state;
	merge_push(a, STR(T("01") "one\n" T("02") "two\n" T("02") "three\n" T("02") "four\n" T("03") "five\n"), 0);
	for (int i = 0; i < 2; i++)
		assert_true(merge_next(&m, 0, &line, &wake));
	merge_again(a);
	merge_push(a, STR(T("02") "two\n" T("02") "three\n" T("02") "four\n" T("03") "five\n"), 0);
	pull(&m, 0);
	expect("a:three\na:four\na:five\n");
	merge_again(a);
	merge_push(a, STR(T("02") "two\n" T("02") "three\n" T("02") "four\n" T("03") "five\n" T("04") "six\n"), 0);
	pull(&m, 0);
	expect("a:six\n");
	merge_release(&m);
}

static void a_progress_bar_comes_while_it_is_drawn(void **state)
{
	struct log_merge m = { .grace = 250 };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);

	(void)state;
	merge_end(b, 0);
	merge_push(a, STR(T("01") "bar \r10%"), 0);
	merge_push(a, STR("\r20%"), 0);
	pull(&m, 0);
	expect("a:bar \r10%…\na:\r20%…\n");
	/* What another stream repeats of it is left out, in whatever pieces it comes. */
	merge_again(a);
	merge_push(a, STR(T("01") "bar \r10%"), 0);
	merge_push(a, STR("\r20%\r3"), 0);
	pull(&m, 0);
	expect("a:\r3…\n");
	merge_push(a, STR("0%\n" T("02") "after\n"), 0);
	pull(&m, 0);
	expect("a:0%\na:after\n");
	merge_release(&m);
}

/* Others do not wait for the end of a line that may never come. */
static void a_line_that_goes_on_for_ever_holds_nobody(void **state)
{
	struct log_merge m = { .grace = 250 };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);

	(void)state;
	merge_push(a, STR(T("01") "\r10%"), 0);
	merge_push(b, STR(T("02") "other\n"), 0);
	pull(&m, 0);
	expect("a:\r10%…\n");
	assert_int_equal(pull(&m, 100), 250);
	pull(&m, 250);
	expect("b:other\n");
	merge_push(a, STR("\r20%\n"), 300);
	pull(&m, 600);
	expect("a:\r20%\n");
	merge_release(&m);
}

static void lines_without_a_time_stay_where_they_are(void **state)
{
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);

	(void)state;
	merge_push(a, STR("no time\n" T("02") "two\nfailed to read log: x\n2026-01-02T03:04:02Z\n"), 0);
	merge_push(b, STR(T("01") "one\n" T("03") "three\n"), 0);
	merge_end(a, 0);
	merge_end(b, 0);
	pull(&m, 0);
	expect("a:no time\nb:one\na:two\na:failed to read log: x\na:\nb:three\n");
	merge_release(&m);
}

static void a_source_can_be_taken_out(void **state)
{
	struct log_merge m = { .grace = NEVER };
	struct merge_source *a = merge_add(&m, a_name), *b = merge_add(&m, b_name);

	(void)state;
	merge_push(b, STR(T("01") "one\n"), 0);
	pull(&m, 0);
	expect("");
	merge_remove(&m, a);
	pull(&m, 0);
	expect("b:one\n");
	merge_release(&m);
}

static void nanoseconds(void **state)
{
	static const struct {
		const char *text;
		int64_t want;
	} cases[] = {
		{ "1970-01-01T00:00:01Z", 1000000000 },
		{ "1970-01-01T00:00:01.5Z", 1500000000 },
		{ "1970-01-01T00:00:01.000000007Z", 1000000007 },
		{ "1970-01-01T01:00:01.000000007+01:00", 1000000007 },
		{ "1970-01-01T00:00:01.0000000079Z", 1000000007 },
	};
	static const char *const none[] = { "", "x", "9999-01-01T00:00:00Z", "1969-01-01T00:00:00Z", "2026-01-02" };
	int64_t got;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_true(nanoseconds_parse(str_c(cases[i].text), &got));
		assert_int_equal(got, cases[i].want);
	}
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_false(nanoseconds_parse(str_c(none[i]), &got));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_come_in_the_order_of_time),
		TEST(however_the_bytes_come),
		TEST(a_line_waits_for_others_only_so_long),
		TEST(long_lines_come_in_parts),
		TEST(a_long_line_that_breaks_off),
		TEST(a_stream_that_is_opened_again_repeats_nothing),
		TEST(what_was_not_handed_out_comes_again),
		TEST(a_progress_bar_comes_while_it_is_drawn),
		TEST(a_line_that_goes_on_for_ever_holds_nobody),
		TEST(lines_without_a_time_stay_where_they_are),
		TEST(a_source_can_be_taken_out),
		TEST(nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
