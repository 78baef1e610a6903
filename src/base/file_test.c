#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_real_files(void **state)
{
	char path[] = "/tmp/base_file_test.XXXXXX";
	int fd = mkstemp(path);
	struct err e = ERR_INIT;
	struct arena arena = ARENA_INIT;
	struct str text;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a\0b", 3), 3);
	assert_int_equal(file_read(&text, path, &arena, &e), FILE_READ);
	assert_true(str_eq(text, STR("a\0b")));
	assert_int_equal(ftruncate(fd, FILE_MAX + 1), 0);
	assert_int_equal(file_read(&text, path, &arena, &e), FILE_FAILED);
	assert_non_null(strstr(err_msg(&e), ": larger than 4 MiB"));
	close(fd);
	unlink(path);
	assert_int_equal(file_read(&text, path, &arena, &e), FILE_MISSING);
	assert_int_equal(file_read(&text, "/tmp", &arena, &e), FILE_FAILED);
	assert_string_equal(err_msg(&e), "/tmp: Is a directory");
	err_release(&e);
	arena_release(&arena);
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void test_remove_tree(void **state)
{
	char top[] = "/tmp/base_file_XXXXXX", path[64], outside[] = "/tmp/base_file_outside_XXXXXX";
	int fd = mkstemp(outside);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/a", top);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/a/file", top);
	touch(path);
	snprintf(path, sizeof(path), "%s/a/link", top);
	assert_int_equal(symlink(outside, path), 0);
	/* A folder that nobody may enter. */
	snprintf(path, sizeof(path), "%s/a/shut", top);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/a/shut/file", top);
	touch(path);
	snprintf(path, sizeof(path), "%s/a/shut", top);
	assert_int_equal(chmod(path, 0), 0);
	snprintf(path, sizeof(path), "%s/up", top);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_true(file_remove_tree(top, true, NULL));
	assert_int_equal(access(top, F_OK), 0);
	snprintf(path, sizeof(path), "%s/a", top);
	assert_int_equal(access(path, F_OK), -1);
	touch(path);
	assert_true(file_remove_tree(top, false, NULL));
	assert_int_equal(access(top, F_OK), -1);
	assert_true(file_remove_tree(top, false, NULL));
	assert_int_equal(access(outside, F_OK), 0);
	assert_int_equal(unlink(outside), 0);
	assert_false(file_remove_tree("/proc/self/status", false, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_remove_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
