/* Files of an archive, as somebody who was killed has left them. */
#include "logs/archive_file.h"

#include "base/buf.h"
#include "logs/testing.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH "ns/kind/job/uid/worker-0/0.main.log"
#define T(s) "2026-01-02T03:04:" s "Z "

static char *whole_path(char to[static 256])
{
	snprintf(to, 256, "%s/" PATH, root);
	return to;
}

static void expect(const char *want)
{
	struct arena a = ARENA_INIT;
	struct str got;
	char path[256];

	assert_int_equal(file_read(&got, whole_path(path), &a, NULL), FILE_READ);
	assert_int_equal(got.n, strlen(want));
	assert_memory_equal(got.p, want, got.n);
	arena_release(&a);
}

/* What a stream brings. */
static void stream(const char *text, bool complete)
{
	struct archive_file f;

	assert_true(archive_file_open(&f, root, STR(PATH), NULL));
	assert_true(archive_file_put(&f, str_c(text), NULL));
	if (complete)
		assert_true(archive_file_complete(&f, NULL));
	archive_file_close(&f);
}

static void a_log_goes_on(void **state)
{
	(void)state;
	stream(T("01") "one\n" T("02") "tw", false);
	expect(T("01") "one\n" T("02") "tw");
	/* Nothing came: what was not ended is not there, and will be asked for again. */
	stream("", true);
	expect(T("01") "one\n");
	stream(T("01") "one\n" T("02") "two\n" T("02") "two again", true);
	expect(T("01") "one\n" T("02") "two\n" T("02") "two again\n");
	/* The next time it is there, with or without its end. */
	stream(T("02") "two\n" T("02") "two again", true);
	expect(T("01") "one\n" T("02") "two\n" T("02") "two again\n");
	stream(T("02") "two\n" T("02") "two again\n" T("03") "three\n", true);
	expect(T("01") "one\n" T("02") "two\n" T("02") "two again\n" T("03") "three\n");
}

/* More lines of one time, and longer ones, than are read at first. */
static void a_large_file(void **state)
{
	enum { LINES = 3000, LONG = 200000 };
	struct buf all = BUF_INIT(4 << 20);
	struct archive_file f;
	char path[256];
	struct stat st;

	(void)state;
	buf_put(&all, STR(T("01") "first\n"));
	for (int i = 0; i < LINES; i++)
		buf_printf(&all, T("02") "line %d of one time, which is long enough to fill a window soon\n", i);
	buf_put(&all, STR(T("02")));
	for (int i = 0; i < LONG; i++)
		buf_putc(&all, 'x');
	buf_putc(&all, '\n');
	for (int i = 0; i < 3; i++) {
		assert_true(archive_file_open(&f, root, STR(PATH), NULL));
		assert_true(i == 0 || f.resume.point.lines == LINES + 1);
		assert_true(archive_file_put(&f, buf_str(&all), NULL));
		assert_int_equal(f.size, all.n);
		archive_file_close(&f);
		assert_int_equal(stat(whole_path(path), &st), 0);
		assert_int_equal(st.st_size, all.n);
	}
	buf_release(&all);
}

/* A last line that is longer than anything that is read at once, and one of its time before it. */
static void a_very_long_line(void **state)
{
	enum { LONG = 20 << 20 };
	struct buf all = BUF_INIT(32 << 20);
	struct archive_file f;

	(void)state;
	buf_put(&all, STR(T("01") "first\n" T("02") "second\n" T("02")));
	for (int i = 0; i < LONG; i += 64)
		buf_put(&all, STR("0123456789012345678901234567890123456789012345678901234567890123"));
	buf_putc(&all, '\n');
	for (int i = 0; i < 2; i++) {
		assert_true(archive_file_open(&f, root, STR(PATH), NULL));
		assert_int_equal(f.resume.point.lines, i ? 2 : 0);
		assert_int_equal(f.size, i ? all.n : 0);
		assert_true(archive_file_put(&f, buf_str(&all), NULL));
		assert_int_equal(f.size, all.n);
		archive_file_close(&f);
	}
	buf_release(&all);
}

/* The line that the file consists of loses its older half, and keeps its time. */
static void half_of_a_line(void **state)
{
	struct archive_file f;

	(void)state;
	assert_true(archive_file_open(&f, root, STR(PATH), NULL));
	assert_true(archive_file_put(&f, STR(T("01") "x\n" T("02") "0123456789012345678901234567890123456789"), NULL));
	assert_true(archive_file_halve(&f, NULL));
	expect(T("02") "0123456789012345678901234567890123456789");
	assert_true(archive_file_put(&f, STR("end\n"), NULL));
	assert_true(archive_file_halve(&f, NULL));
	archive_file_close(&f);
	stream(T("01") "x\n" T("02") "all of it again\n" T("03") "three\n", true);
	expect(T("02") "012345678901234567890123456789end\n" T("03") "three\n");
}

/* Killed between the two names. */
static void a_half_that_was_left(void **state)
{
	char path[256], other[300];
	struct stat st;

	(void)state;
	stream(T("01") "one\n", true);
	snprintf(other, sizeof(other), "%s.new", whole_path(path));
	assert_int_equal(link(path, other), 0);
	stream("", true);
	assert_int_equal(stat(other, &st), -1);
	expect(T("01") "one\n");
}

static void half_of_it(void **state)
{
	struct archive_file f;
	struct err e = ERR_INIT;

	(void)state;
	assert_true(archive_file_open(&f, root, STR(PATH), NULL));
	assert_true(archive_file_put(&f, STR(T("01") "one\n" T("02") "two\n" T("03") "three\n" T("04") "fo"), NULL));
	assert_true(archive_file_halve(&f, &e));
	/* It goes on in the middle of a line. */
	assert_true(archive_file_put(&f, STR("ur\n"), NULL));
	assert_int_equal(f.size, strlen(T("03") "three\n" T("04") "four\n"));
	expect(T("03") "three\n" T("04") "four\n");
	/* Of one line there is always something. */
	for (int i = 0; i < 3; i++)
		assert_true(archive_file_halve(&f, &e));
	expect(T("04") "four\n");
	archive_file_close(&f);
	stream(T("04") "four\n" T("05") "five\n", true);
	expect(T("04") "four\n" T("05") "five\n");
}

static void what_cannot_be_opened(void **state)
{
	struct archive_file f;
	struct err e = ERR_INIT;
	char path[256], *slash = strrchr(whole_path(path), '/');

	(void)state;
	stream("", false);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_false(archive_file_open(&f, root, STR(PATH), &e));
	assert_non_null(strstr(err_msg(&e), PATH));
	assert_int_equal(f.fd, -1);
	err_release(&e);
	assert_int_equal(unlink(path), 0);
	*slash = '\0';
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("/nowhere", path), 0);
	assert_false(archive_file_open(&f, root, STR(PATH), &e));
	err_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_log_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_file, setup, teardown),
		cmocka_unit_test_setup_teardown(a_very_long_line, setup, teardown),
		cmocka_unit_test_setup_teardown(half_of_a_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_half_that_was_left, setup, teardown),
		cmocka_unit_test_setup_teardown(half_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_opened, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
