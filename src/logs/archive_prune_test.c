/* What goes when an archive is full, and what is not touched. */
#include "logs/archive_prune.h"

#include "base/buf.h"
#include "logs/testing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of SIZE bytes that was changed at the second WHEN. */
static void file(const char *path, off_t size, time_t when)
{
	struct buf whole = BUF_INIT(4096);
	const struct timespec times[] = { { .tv_sec = when }, { .tv_sec = when } };
	int fd;

	buf_printf(&whole, "%s/%s", root, path);
	for (char *at = whole.p + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(whole.p, 0700);
		*at = '/';
	}
	fd = open(whole.p, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	buf_release(&whole);
}

static bool is_there(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	return access(whole, F_OK) == 0;
}

/* The path that COOKIE is, or is below. */
static bool active(void *cookie, struct str path)
{
	struct str busy = str_c(cookie);

	return str_eq(busy, path) || (path.n < busy.n && str_has_prefix(busy, path) && busy.p[path.n] == '/');
}

static uint64_t prune(uint64_t bytes, msec age, char *busy)
{
	struct archive_limits l = { bytes, age };
	struct archive_use u = { active, busy };
	struct err e = ERR_INIT;
	uint64_t left;

	assert_true(archive_prune(root, &l, busy ? &u : NULL, SECONDS(1000), &left, &e));
	return left;
}

enum {
	SIZE = 1 << 20,            /* of a file: it has no blocks, so that its size counts */
	FOLDER = 4096,             /* for each */
	ONE = SIZE + 3 * FOLDER,   /* one file, its replica's folder, the run's and the job's */
	TWO = ONE + SIZE + FOLDER, /* one more, of another replica */
};

static void three(void)
{
	file("a/K.g/old/u1/w-0/0.main.log", SIZE, 100);
	file("a/K.g/old/u1/w-1/0.main.log", SIZE, 300);
	file("b/K.g/middle/u2/w-0/0.main.log", SIZE, 400);
	file("b/K.g/new/u3/w-0/0.main.log", SIZE, 500);
	file("b/K.g/new/u3/w-0/1.main.log", SIZE, 200);
}

static void the_oldest_jobs_go_first(void **state)
{
	enum { NEW = ONE + SIZE };

	(void)state;
	three();
	assert_int_equal(prune(TWO + ONE + NEW, 0, NULL), TWO + ONE + NEW);
	assert_true(is_there("a/K.g/old/u1/w-0/0.main.log"));
	assert_int_equal(prune(TWO + ONE + NEW - 1, 0, NULL), ONE + NEW);
	/* With the folders that are empty then. */
	assert_false(is_there("a"));
	assert_true(is_there("b/K.g/middle/u2/w-0/0.main.log"));
	assert_int_equal(prune(NEW, 0, NULL), NEW);
	assert_false(is_there("b/K.g/middle"));
	assert_true(is_there("b/K.g/new/u3/w-0/1.main.log"));
	assert_int_equal(prune(1, 0, NULL), 0);
	assert_true(is_there(""));
}

/* However the folder is named, also by a link. */
static void names_of_the_folder(void **state)
{
	static const char *const ends[] = { "", "/", "//", "/.", "/./", ".link", ".link/" };
	struct archive_limits l = { 1, 0 };
	char name[64], link[64];
	uint64_t left;

	(void)state;
	snprintf(link, sizeof(link), "%s.link", root);
	assert_int_equal(symlink(root, link), 0);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		char busy[] = "b/K.g/new/u3/w-0/0.main.log";
		struct archive_use u = { active, busy };

		three();
		snprintf(name, sizeof(name), "%s%s", root, ends[i]);
		assert_true(archive_prune(name, &l, &u, SECONDS(1000), &left, NULL));
		assert_int_equal(left, ONE);
		assert_false(is_there("a"));
		assert_false(is_there("b/K.g/middle"));
		assert_true(is_there(busy));
	}
	assert_int_equal(unlink(link), 0);
}

/* Blocks count, where they are more than bytes. */
static void small_files(void **state)
{
	char path[256];
	struct stat st;
	int fd;

	(void)state;
	file("a/K.g/job/u1/w-0/0.main.log", 0, 100);
	snprintf(path, sizeof(path), "%s/a/K.g/job/u1/w-0/0.main.log", root);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0 && write(fd, "x", 1) == 1 && fsync(fd) == 0 && fstat(fd, &st) == 0);
	close(fd);
	assert_int_equal(prune(0, 0, NULL), 3 * FOLDER + MAX((uint64_t)st.st_blocks * 512, (uint64_t)1));
}

static void those_that_are_too_old(void **state)
{
	(void)state;
	three();
	assert_int_equal(prune(0, SECONDS(650), NULL), 2 * ONE + SIZE);
	assert_false(is_there("a"));
	assert_true(is_there("b/K.g/middle"));
	assert_int_equal(prune(0, 0, NULL), 2 * ONE + SIZE);
}

/* Of a job that writes still: what is not open. */
static void a_job_that_is_active(void **state)
{
	char busy[] = "b/K.g/new/u3/w-0/0.main.log";

	(void)state;
	three();
	assert_int_equal(prune(1, 0, busy), ONE);
	assert_false(is_there("a"));
	assert_false(is_there("b/K.g/middle"));
	assert_false(is_there("b/K.g/new/u3/w-0/1.main.log"));
	assert_true(is_there(busy));
	/* Its age does not matter. */
	three();
	assert_int_equal(prune(0, SECONDS(1), busy), ONE + SIZE);
	assert_false(is_there("b/K.g/middle"));
	assert_true(is_there("b/K.g/new/u3/w-0/1.main.log"));
}

static void what_is_not_ours_stays(void **state)
{
	char outside[256];

	(void)state;
	three();
	file("notes.log", 5000, 1);
	file("x/y/notes.log", 5000, 1);
	file(".snapshot/K.g/old/u1/w-0/0.main.log", 5000, 1);
	file("outside.d/file", 5, 1);
	snprintf(outside, sizeof(outside), "%s/b/K.g/new/link", root);
	assert_int_equal(symlink("../../../outside.d", outside), 0);
	assert_int_equal(prune(1, 0, NULL), 0);
	assert_true(is_there("notes.log"));
	assert_true(is_there("x/y/notes.log"));
	assert_true(is_there(".snapshot/K.g/old/u1/w-0/0.main.log"));
	assert_true(is_there("outside.d/file"));
}

static void a_folder_that_is_not_there(void **state)
{
	struct archive_limits l = { 1, 0 };
	struct err e = ERR_INIT;
	uint64_t left = 1;

	(void)state;
	archive_prune("/nonexistent/archive", &l, NULL, 0, &left, &e);
	assert_int_equal(left, 0);
	err_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_oldest_jobs_go_first, setup, teardown),
		cmocka_unit_test_setup_teardown(names_of_the_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(small_files, setup, teardown),
		cmocka_unit_test_setup_teardown(those_that_are_too_old, setup, teardown),
		cmocka_unit_test_setup_teardown(a_job_that_is_active, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_ours_stays, setup, teardown),
		cmocka_unit_test(a_folder_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
