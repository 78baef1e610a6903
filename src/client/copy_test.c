/* What a pod sent is looked at before it gets its place. */
#include "base/file.h"
#include "client/copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char *fresh(char path[static 64])
{
	snprintf(path, 64, "/tmp/copy_test_XXXXXX");
	assert_non_null(mkdtemp(path));
	assert_int_equal(chdir(path), 0);
	return path;
}

static void test_links_that_lead_out(void **state)
{
	static const struct {
		const char *name, *to;
		bool stays;
	} links[] = {
		{ "a", "file", true },         { "b", "folder/file", true },     { "c", "./file", true },
		{ "d", "/etc/passwd", false }, { "folder/e", "../file", false }, { "f", "..", false },
		{ "g", "folder/../x", false }, { "folder/h", "..x", true },      { "i", "x/..", false },
	};
	char path[64];
	size_t gone;
	struct stat st;

	(void)state;
	fresh(path);
	assert_int_equal(mkdir("folder", 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		assert_int_equal(symlink(links[i].to, links[i].name), 0);
	assert_true(copy_check(path, &gone, NULL));
	assert_int_equal(gone, 5);
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		assert_int_equal(lstat(links[i].name, &st) == 0, links[i].stays);
	assert_true(file_remove_tree(path, false, NULL));
}

static void test_modes_and_devices(void **state)
{
	struct err e = ERR_INIT;
	char path[64];
	size_t gone;
	struct stat st;
	int fd;

	(void)state;
	fresh(path);
	fd = open("program", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_true(fd >= 0 && fchmod(fd, 06755) == 0 && close(fd) == 0);
	assert_true(copy_check(path, &gone, &e));
	assert_true(stat("program", &st) == 0 && (st.st_mode & 07777) == 0755);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_false(copy_check(path, &gone, &e));
	assert_string_equal(err_msg(&e), "pipe is no file, folder or link");
	err_release(&e);
	assert_true(file_remove_tree(path, false, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_that_lead_out),
		cmocka_unit_test(test_modes_and_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
