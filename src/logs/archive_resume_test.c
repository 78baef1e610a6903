/* A log that goes on: whatever is cut where, each line is there once. */
#include "logs/archive_resume.h"
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define T(s) "2026-01-02T03:04:" s "Z "

/* With lines of one time, without a time, empty ones, one that begins like a time. */
static const char whole[] = T("01") "one\n" T("02.000000001") "two\n" T("02.000000001") "two again\n" T(
	"02.000000001") "\n"
			"no time\n"
			"\n" T("02.000000002") "2026-01-02T03:04:09Z in the text\n" T("03") "\n" T(
				"03") "three\n"
				      "2026 is no time that one could read, and this one is longer than a head can be "
				      "at all\n" T("04") "four\n" T("05") "not ended";

/* In pieces of N bytes. */
static bool scan(struct str end, bool all, size_t n, struct resume_point *ret, size_t *keep)
{
	struct resume_scan s = resume_scan_begin(all);

	for (size_t at = 0; at < end.n; at += n)
		resume_scan(&s, str_sub(end, at, n));
	*ret = s.point;
	*keep = (size_t)s.keep;
	return resume_scan_ok(&s);
}

/* Feeds S in pieces of N bytes. */
static void feed(struct archive_resume *r, struct str s, size_t n, struct buf *out)
{
	for (size_t at = 0; at < s.n; at += n) {
		struct str head, rest = resume_feed(r, str_sub(s, at, n), &head);

		buf_put(out, head);
		buf_put(out, rest);
	}
}

static void killed_anywhere_nothing_is_lost_or_twice(void **state)
{
	struct str all = str_c(whole);
	struct str complete = str_sub(all, 0, (size_t)((const char *)memrchr(all.p, '\n', all.n) - all.p + 1));

	(void)state;
	for (size_t cut = 0; cut <= all.n; cut++) {
		for (size_t n = 1; n < 12; n += 5) {
			struct buf file = BUF_INIT(1 << 16);
			struct resume_point p;
			struct archive_resume r;
			size_t keep;

			assert_true(scan(str_sub(all, 0, cut), true, n, &p, &keep));
			assert_true(keep <= cut);
			assert_true(keep == 0 || all.p[keep - 1] == '\n');
			buf_put(&file, str_sub(all, 0, keep));
			r = resume_after(p);
			feed(&r, all, n, &file);
			/* A head that is not ended yet is not written: the line is not, either. */
			assert_true(file.n >= complete.n);
			assert_memory_equal(file.p, all.p, complete.n);
			assert_true(file.n <= all.n);
			buf_release(&file);
		}
	}
}

/* The server's answer begins at the second of the last line, not at the beginning. */
static void the_answer_begins_later(void **state)
{
	struct buf out = BUF_INIT(4096);
	struct resume_point p;
	struct archive_resume r;
	size_t keep;

	(void)state;
	assert_true(scan(STR(T("01") "a\n" T("02.1") "b\n" T("02.1") "c\n" T("02.1") "d"), true, 5, &p, &keep));
	assert_int_equal(p.lines, 2);
	r = resume_after(p);
	feed(&r, STR(T("02.05") "old\n" T("02.1") "b\n" T("02.1") "c\n" T("02.1") "d\n" T("02.1") "e\n"), 7, &out);
	assert_string_equal(buf_str(&out).p, T("02.1") "d\n" T("02.1") "e\n");
	buf_release(&out);
}

/* Only later lines: the log was rotated meanwhile, or it is that of another pod. */
static void only_new_lines(void **state)
{
	struct archive_resume r = resume_after((struct resume_point){ .time = 1767323041000000000, .lines = 3 });
	struct buf out = BUF_INIT(4096);

	(void)state;
	feed(&r, STR(T("09") "x\n" T("01") "y\n"), 3, &out);
	assert_string_equal(buf_str(&out).p, T("09") "x\n" T("01") "y\n");
	buf_release(&out);
}

static void nothing_there(void **state)
{
	struct resume_point p;
	struct archive_resume r;
	struct str head;
	size_t keep;

	(void)state;
	assert_true(scan(STR("half a li"), true, 5, &p, &keep));
	assert_int_equal(keep, 0);
	assert_int_equal(p.time, 0);
	r = resume_after(p);
	assert_true(str_eqc(resume_feed(&r, STR("anything"), &head), "anything"));
	assert_int_equal(head.n, 0);
	assert_int_equal(resume_feed(&r, STR_NONE, &head).n, 0);
}

/* The end of a large file: lines of the last time may stand before it. */
static void an_end_that_is_too_short(void **state)
{
	struct resume_point p;
	size_t keep;

	(void)state;
	/* The line in which it begins does not count. */
	assert_false(scan(STR("cut\n" T("05") "x\n" T("05") "y\n"), false, 4, &p, &keep));
	assert_int_equal(p.lines, 2);
	assert_false(scan(STR(T("04") "cut\n" T("05") "x\n"), false, 4, &p, &keep));
	assert_false(scan(STR("cut\nno time\nnone\n"), false, 4, &p, &keep));
	assert_false(scan(STR("one long line"), false, 4, &p, &keep));
	/* It may be of the same time as what follows. */
	assert_false(scan(STR("cut\nno time\n" T("05") "x\n"), false, 4, &p, &keep));
	assert_true(scan(STR("cut\n" T("04") "w\n" T("05") "x\n" T("05") "y\n"), false, 4, &p, &keep));
	assert_int_equal(p.lines, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_anywhere_nothing_is_lost_or_twice),
		cmocka_unit_test(the_answer_begins_later),
		cmocka_unit_test(only_new_lines),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(an_end_that_is_too_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
