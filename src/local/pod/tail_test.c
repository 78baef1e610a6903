/* What is written is read, while it is written: rotation, runs, damage. */
#include "local/pod/tail.h"

#include "base/arena.h"
#include "local/pod/log.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char folder[32], path[96];
static struct pod_log writer;
static struct pod_tail *tail;

static int64_t at(void)
{
	return 1767323045678901234;
}
#define TIME "2026-01-02T03:04:05.678901234Z"

static int set_up(void **state)
{
	char text[64];

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/pod_tail_XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(text, sizeof(text), "%s/logs", folder);
	assert_int_equal(mkdir(text, 0700), 0);
	snprintf(text, sizeof(text), "%s/logs/c", folder);
	assert_int_equal(mkdir(text, 0700), 0);
	snprintf(path, sizeof(path), "%s/logs/c/0.log", folder);
	return 0;
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(name);
}

static int tear_down(void **state)
{
	(void)state;
	pod_tail_free(tail);
	tail = NULL;
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *text)
{
	pod_log_add(&writer, POD_STDOUT, str_c(text));
}

static void expect(const char *text)
{
	struct pod_tail_line l;

	if (!pod_tail_next(tail, &l))
		fail_msg("no line, but \"%s\" was expected", text);
	if (!str_eqc(l.text, text))
		fail_msg("\"%.*s\" instead of \"%s\"", STR_F(l.text), text);
	assert_true(str_eqc(l.time, TIME));
}

static void expect_none(void)
{
	struct pod_tail_line l;

	if (pod_tail_next(tail, &l))
		fail_msg("\"%.*s\" instead of nothing", STR_F(l.text));
}

static void lines_as_they_come(void **state)
{
	struct pod_tail_line l;

	(void)state;
	tail = pod_tail_new(folder, STR("c"), 0);
	expect_none();
	assert_int_equal(pod_tail_runs(folder, STR("c")), -1);
	pod_log_open(&writer, path, 1 << 20, 5, at);
	put("one\ntwo\n\nthr");
	expect("one");
	expect("two");
	expect("");
	expect_none();
	put("ee\n");
	expect("three");
	pod_log_add(&writer, POD_STDERR, STR("a word\n"));
	assert_true(pod_tail_next(tail, &l));
	assert_true(l.is_stderr && !l.part && str_eqc(l.text, "a word"));
	expect_none();
	pod_log_close(&writer);
	assert_int_equal(pod_tail_runs(folder, STR("c")), 0);
}

/* However far the reader is behind, as long as the files are there. */
static void rotation(void **state)
{
	char text[32];

	(void)state;
	pod_log_open(&writer, path, 100, 1000, at);
	tail = pod_tail_new(folder, STR("c"), 0);
	for (int i = 0, seen = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "line %d\n", i);
		put(text);
		if (i % 7)
			continue;
		for (; seen <= i; seen++) {
			snprintf(text, sizeof(text), "line %d", seen);
			expect(text);
		}
		expect_none();
	}
	pod_log_close(&writer);
}

static void rotated_away(void **state)
{
	struct pod_tail_line l;

	(void)state;
	pod_log_open(&writer, path, 60, 2, at);
	tail = pod_tail_new(folder, STR("c"), 0);
	put("a\n");
	expect("a");
	put("b\n");
	put("c\n");
	put("d\n");
	put("e\n");
	/* b and c are lost. */
	assert_true(pod_tail_next(tail, &l));
	assert_true(str_eqc(l.text, "d"));
	assert_int_equal(l.lost, 2);
	assert_true(pod_tail_next(tail, &l));
	assert_true(str_eqc(l.text, "e"));
	assert_int_equal(l.lost, 0);
	expect_none();
	/* Who comes late misses them, too, unless he wants no more than the last lines. */
	pod_tail_free(tail);
	tail = pod_tail_new(folder, STR("c"), 0);
	assert_true(pod_tail_next(tail, &l));
	assert_int_equal(l.lost, 3);
	for (size_t n = 1; n < 4; n++) {
		pod_tail_free(tail);
		tail = pod_tail_new(folder, STR("c"), 0);
		pod_tail_last(tail, n);
		assert_true(pod_tail_next(tail, &l));
		assert_int_equal(l.lost, 0);
	}
	pod_log_close(&writer);
}

/* Of a program that writes while nobody reads, and of one that is started again and goes on with its file. */
static void what_is_lost_is_counted(void **state)
{
	struct pod_tail_line l;
	int64_t lines = 0, lost = 0;

	(void)state;
	tail = pod_tail_new(folder, STR("c"), 0);
	for (int run = 0; run < 3; run++) {
		pod_log_open(&writer, path, 1024, 3, at);
		for (int i = 0; i < 300; i++) {
			put(i % 3 ? "some text\n" : "in parts\rone\r");
			if (i % 3 == 0)
				put("end\n");
			if (i % 130 == 0)
				assert_true(pod_tail_next(tail, &l)), lines += !l.part, lost += l.lost;
		}
		pod_log_close(&writer);
	}
	while (pod_tail_next(tail, &l))
		lines += !l.part, lost += l.lost;
	assert_true(lost > 300);
	assert_int_equal(lines + lost, 900);
}

static void one_run_after_the_other(void **state)
{
	(void)state;
	pod_log_open(&writer, path, 1 << 20, 5, at);
	put("first\n");
	tail = pod_tail_new(folder, STR("c"), -1);
	expect("first");
	pod_log_close(&writer);
	snprintf(path, sizeof(path), "%s/logs/c/1.log", folder);
	pod_log_open(&writer, path, 1 << 20, 5, at);
	put("second\n");
	expect("second");
	expect_none();
	pod_tail_free(tail);
	tail = pod_tail_new(folder, STR("c"), 0);
	expect("first");
	expect_none();
	pod_tail_free(tail);
	tail = pod_tail_new(folder, STR("c"), -1);
	pod_tail_last(tail, 1);
	expect("second");
	assert_int_equal(pod_tail_runs(folder, STR("c")), 1);
	pod_log_close(&writer);
}

static void long_lines_come_in_parts(void **state)
{
	struct buf text = BUF_INIT(1 << 20);
	struct pod_tail_line l;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 50000; i++)
		buf_putc(&text, 'x');
	buf_putc(&text, '\n');
	pod_log_open(&writer, path, 1 << 20, 5, at);
	put("before\n");
	put(text.p);
	put("after\n");
	tail = pod_tail_new(folder, STR("c"), 0);
	expect("before");
	do {
		assert_true(pod_tail_next(tail, &l));
		n += l.text.n;
	} while (l.part);
	assert_int_equal(n, 50000);
	expect("after");
	pod_tail_free(tail);
	tail = pod_tail_new(folder, STR("c"), 0);
	pod_tail_last(tail, 1);
	expect("after");
	pod_log_close(&writer);
	buf_release(&text);
}

/* A full disk can leave half a line; somebody may have put anything there. */
static void damage(void **state)
{
	struct buf text = BUF_INIT(1 << 20);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	(void)state;
	buf_printf(&text, TIME " stdout F good\n" TIME " std\nnonsense\n\n" TIME " stdout X tag\n");
	for (int i = 0; i < 200000; i++)
		buf_putc(&text, 'x');
	buf_printf(&text, "\n" TIME " stdout F last\n");
	assert_int_equal(write(fd, text.p, text.n), (ssize_t)text.n);
	close(fd);
	tail = pod_tail_new(folder, STR("c"), 0);
	expect("good");
	expect("last");
	expect_none();
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_as_they_come, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rotation, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rotated_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_lost_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_run_after_the_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_lines_come_in_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damage, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
