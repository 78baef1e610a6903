/* The kubelet's lines, parts of long ones, rotation, and a disk that takes nothing. */
#include "local/pod/log.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char folder[32], path[64];
static struct arena arena;

static int64_t at(void)
{
	return 1767323045678901234;
}
#define FRONT "2026-01-02T03:04:05.678901234Z "

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/pod_log_XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/0.log", folder);
	return 0;
}

static int tear_down(void **state)
{
	char other[80];

	(void)state;
	unlink(path);
	for (int i = 1; i < 9; i++) {
		snprintf(other, sizeof(other), "%s.%d", path, i);
		unlink(other);
	}
	assert_int_equal(rmdir(folder), 0);
	arena_release(&arena);
	return 0;
}

static struct str text(const char *suffix)
{
	struct str s = STR_NONE;

	if (file_read(&s, arena_printf(&arena, "%s%s", path, suffix).p, &arena, NULL) != FILE_READ)
		return STR("(none)");
	return s;
}

static void test_lines(void **state)
{
	struct pod_log l;

	(void)state;
	pod_log_open(&l, path, 1 << 20, 5, at);
	pod_log_add(&l, POD_STDOUT, STR("one\ntw"));
	pod_log_add(&l, POD_STDERR, STR("\nerr\n"));
	pod_log_add(&l, POD_STDOUT, STR("o\nend"));
	assert_string_equal(text("").p,
	                    FRONT "stdout F one\n" FRONT "stderr F \n" FRONT "stderr F err\n" FRONT "stdout F two\n");
	pod_log_close(&l);
	assert_true(str_has_suffix(text(""), STR("\n" FRONT "stdout F end\n")));
	assert_int_equal(l.dropped, 0);
	assert_int_equal(l.problem, 0);
}

static void test_long_line(void **state)
{
	struct pod_log l;
	char *big = xmalloc(POD_LOG_LINE * 2 + 10);
	struct str got, line;
	size_t parts = 0, bytes = 0;

	(void)state;
	memset(big, 'x', POD_LOG_LINE * 2 + 9);
	big[POD_LOG_LINE * 2 + 9] = '\n';
	pod_log_open(&l, path, 1 << 20, 5, at);
	pod_log_add(&l, POD_STDOUT, (struct str){ big, 5 });
	pod_log_add(&l, POD_STDOUT, (struct str){ big + 5, POD_LOG_LINE * 2 + 5 });
	pod_log_close(&l);
	got = text("");
	while (str_next(&got, '\n', &line) && line.n) {
		assert_int_equal(line.p[38], ++parts < 3 ? 'P' : 'F');
		bytes += line.n - 40;
	}
	assert_int_equal(parts, 3);
	assert_int_equal(bytes, POD_LOG_LINE * 2 + 9);
	free(big);
}

static void test_rotation(void **state)
{
	struct pod_log l;

	(void)state;
	/* One line is 42 bytes. */
	pod_log_open(&l, path, 90, 3, at);
	for (char c = '0'; c <= '8'; c++) {
		char line[2] = { c, '\n' };

		pod_log_add(&l, POD_STDOUT, (struct str){ line, 2 });
	}
	pod_log_close(&l);
	assert_string_equal(text("").p, "#8\n" FRONT "stdout F 8\n");
	assert_string_equal(text(".1").p, "#6\n" FRONT "stdout F 6\n" FRONT "stdout F 7\n");
	assert_string_equal(text(".2").p, "#4\n" FRONT "stdout F 4\n" FRONT "stdout F 5\n");
	assert_string_equal(text(".3").p, "(none)");
}

/* A progress bar is there while it draws, and is one line in the end. */
static void test_carriage_returns(void **state)
{
	struct pod_log l;

	(void)state;
	pod_log_open(&l, path, 1 << 20, 5, at);
	pod_log_add(&l, POD_STDERR, STR("step\n\r 1%"));
	pod_log_add(&l, POD_STDERR, STR("\r 2%"));
	pod_log_add(&l, POD_STDOUT, STR("no bar"));
	assert_string_equal(text("").p, FRONT "stderr F step\n" FRONT "stderr P \r 1%\n" FRONT "stderr P \r 2%\n");
	pod_log_add(&l, POD_STDERR, STR("\r 3%\n"));
	assert_true(str_has_suffix(text(""), STR("P \r 2%\n" FRONT "stderr F \r 3%\n")));
	pod_log_close(&l);
	assert_true(str_has_suffix(text(""), STR(FRONT "stdout F no bar\n")));
}

/* A limit on the size of files stands for a full disk. */
static void test_full_disk(void **state)
{
	struct rlimit before, little;
	struct pod_log l;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	pod_log_open(&l, path, 1 << 20, 5, at);
	pod_log_add(&l, POD_STDOUT, STR("before\n"));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	little = before;
	little.rlim_cur = 60;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	pod_log_add(&l, POD_STDOUT, STR("lost\nlost too\n"));
	pod_log_add(&l, POD_STDOUT, STR("and this\n"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	pod_log_add(&l, POD_STDOUT, STR("after\n"));
	assert_int_equal(l.dropped, 3);
	assert_int_equal(l.problem, EFBIG);
	pod_log_close(&l);
	assert_true(str_has_prefix(text(""), STR(FRONT "stdout F before\n")));
	assert_true(str_has_suffix(text(""), STR("\n" FRONT "stdout F after\n")));
}

static void test_no_folder(void **state)
{
	struct pod_log l;

	(void)state;
	pod_log_open(&l, "/no/such/folder/0.log", 1 << 20, 5, at);
	pod_log_add(&l, POD_STDOUT, STR("a\nb\n"));
	assert_int_equal(l.dropped, 2);
	assert_int_equal(l.problem, ENOENT);
	pod_log_close(&l);
}

static void test_tail(void **state)
{
	struct pod_log l;
	struct buf out = BUF_INIT(4096);
	char line[64];

	(void)state;
	pod_log_open(&l, path, 1 << 20, 5, at);
	for (int i = 0; i < 1000; i++) {
		int n = snprintf(line, sizeof(line), "line %d\n", i);

		pod_log_add(&l, POD_STDERR, (struct str){ line, (size_t)n });
	}
	pod_log_close(&l);
	pod_log_tail(path, &out);
	assert_true(str_has_prefix(buf_str(&out), STR("line 920\n")));
	assert_true(str_has_suffix(buf_str(&out), STR("line 999\n")));
	buf_clear(&out);
	pod_log_tail("/no/such/file", &out);
	assert_int_equal(out.n, 0);
	/* Few long ones: as many as fit into 2048 bytes. */
	pod_log_open(&l, path, 1 << 20, 5, at);
	for (int i = 0; i < 10; i++) {
		char big[501];

		memset(big, 'a' + i, 500);
		big[500] = '\n';
		pod_log_add(&l, POD_STDERR, (struct str){ big, sizeof(big) });
	}
	pod_log_close(&l);
	pod_log_tail(path, &out);
	assert_int_equal(out.n, 4 * 501);
	assert_int_equal(out.p[0], 'g');
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_long_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rotation, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_carriage_returns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tail, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
