#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
