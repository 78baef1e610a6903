#include "run/local_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAKERS = 4, ROUNDS = 400 };

#define TOP "/tmp/local_folder_XXXXXX"

static char top[] = TOP;

static const char *in_top(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static int make_top(void **state)
{
	(void)state;
	memcpy(top, TOP, sizeof(top));
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
	struct err e = ERR_INIT;
	bool ok = file_remove_tree(top, false, &e);

	(void)state;
	err_release(&e);
	return ok ? 0 : -1;
}

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

struct maker {
	pthread_t thread;
	pthread_barrier_t *start;
	int failed;
	char why[256];
};

/* What each `up` does first. Asserting is left to the thread of the test. */
static void *make_all(void *cookie)
{
	struct maker *m = cookie;
	char path[128];

	for (int i = 0; i < ROUNDS; i++) {
		struct err e = ERR_INIT;

		snprintf(path, sizeof(path), "%s/%d", top, i);
		pthread_barrier_wait(m->start);
		if (!local_folder_make(path, &e)) {
			m->failed++;
			snprintf(m->why, sizeof(m->why), "%s", err_msg(&e));
		}
		err_release(&e);
	}
	return NULL;
}

static void several_make_it_at_once(void **state)
{
	struct maker makers[MAKERS] = { 0 };
	pthread_barrier_t start;

	(void)state;
	assert_int_equal(pthread_barrier_init(&start, NULL, MAKERS), 0);
	for (int i = 0; i < MAKERS; i++) {
		makers[i].start = &start;
		assert_int_equal(pthread_create(&makers[i].thread, NULL, make_all, &makers[i]), 0);
	}
	for (int i = 0; i < MAKERS; i++) {
		assert_int_equal(pthread_join(makers[i].thread, NULL), 0);
		assert_string_equal(makers[i].why, "");
		assert_int_equal(makers[i].failed, 0);
	}
	pthread_barrier_destroy(&start);
}

static void made_and_emptied(void **state)
{
	struct err e = ERR_INIT;
	struct stat st;
	bool there, left;

	(void)state;
	assert_true(local_folder_check(in_top("new"), true, &there, &e));
	assert_false(there);
	assert_true(local_folder_make(in_top("new"), &e));
	assert_int_equal(stat(in_top("new"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(access(in_top("new/dljob-cluster"), F_OK), 0);
	write_file(in_top("new/store.db"));
	assert_true(local_folder_empty(in_top("new"), &left, &e));
	assert_false(left);
	assert_int_equal(rmdir(in_top("new")), 0);
}

static void files_of_others_are_refused(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(mkdir(in_top("theirs"), 0700), 0);
	write_file(in_top("theirs/thesis.tex"));
	assert_false(local_folder_make(in_top("theirs"), &e));
	assert_non_null(strstr(err_msg(&e), "contains files that are not a cluster's"));
	assert_int_equal(access(in_top("theirs/dljob-cluster"), F_OK), -1);
	err_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(several_make_it_at_once, make_top, remove_top),
		cmocka_unit_test_setup_teardown(made_and_emptied, make_top, remove_top),
		cmocka_unit_test_setup_teardown(files_of_others_are_refused, make_top, remove_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
