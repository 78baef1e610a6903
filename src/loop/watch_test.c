#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "loop/loop.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test lives in a folder of its own, which is the current one. A step changes something; the loop
   then runs until the watch has told. */
struct watched {
	struct loop *loop;
	struct loop_watch *w;
	struct loop_timer *deadline;
	bool told;
};
static struct watched world;
static char scratch[64];

static void late(void *cookie)
{
	(void)cookie;
	BUG("the watch did not tell in time");
}

static void on_change(void *cookie)
{
	struct watched *w = cookie;

	w->told = true;
	loop_stop(w->loop);
}

static int setup(void **state)
{
	(void)state;
	snprintf(scratch, sizeof(scratch), "/tmp/dl-watch-XXXXXX");
	assert_non_null(mkdtemp(scratch));
	assert_int_equal(chdir(scratch), 0);
	world = (struct watched){ .loop = loop_new() };
	world.deadline = loop_timer_new(world.loop, late, NULL);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	loop_watch_free(world.w);
	loop_timer_free(world.deadline);
	loop_free(world.loop);
	assert_int_equal(chdir("/"), 0);
	return nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void watch(const char *path)
{
	struct err e = ERR_INIT;

	world.w = loop_watch_new(world.loop, path, on_change, &world, &e);
	assert_non_null(world.w);
}

static void must_tell(void)
{
	world.told = false;
	loop_timer_set(world.deadline, MINUTES(1));
	loop_run(world.loop);
	loop_timer_stop(world.deadline);
	assert_true(world.told);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_folder(void **state)
{
	(void)state;
	assert_int_equal(mkdir("kinds", 0755), 0);
	watch("kinds/");
	put("kinds/a.lua", "1");
	must_tell();
	put("kinds/a.lua", "2");
	must_tell();
	assert_int_equal(rename("kinds/a.lua", "kinds/b.lua"), 0);
	must_tell();
	assert_int_equal(unlink("kinds/b.lua"), 0);
	must_tell();
}

/* An editor writes a new file and moves it over the old one. */
static void test_file(void **state)
{
	(void)state;
	put("config", "1");
	watch("config");
	put("config", "2");
	must_tell();
	for (int i = 0; i < 3; i++) {
		put("config.tmp", "3");
		assert_int_equal(rename("config.tmp", "config"), 0);
		must_tell();
	}
	assert_int_equal(unlink("config"), 0);
	must_tell();
	put("config", "4");
	must_tell();
}

static void never(void *cookie)
{
	(void)cookie;
	BUG("another file's change was told");
}

static void test_another_file(void **state)
{
	struct err e = ERR_INIT;
	struct loop_watch *other;

	(void)state;
	put("config", "1");
	other = loop_watch_new(world.loop, "config", never, NULL, &e);
	watch(".");
	put("else", "1");
	must_tell();
	/* Both settle for the same time: another turn, so that a wrong one would have come. */
	put("else", "2");
	must_tell();
	loop_watch_free(other);
}

static void swap(const char *target, const char *link)
{
	assert_int_equal(symlink(target, "..tmp"), 0);
	assert_int_equal(rename("..tmp", link), 0);
}

/* As the kubelet writes a ConfigMap: only ..data is replaced. */
static void test_config_map(void **state)
{
	(void)state;
	assert_int_equal(mkdir("..1", 0755), 0);
	assert_int_equal(mkdir("..2", 0755), 0);
	put("..1/config", "1");
	put("..2/config", "2");
	swap("..1", "..data");
	assert_int_equal(symlink("..data/config", "config"), 0);
	watch("config");
	swap("..2", "..data");
	must_tell();
	swap("..1", "..data");
	must_tell();
}

/* The watched folder is itself a symlink that is swapped; afterwards the new one is watched. */
static void test_folder_is_a_link(void **state)
{
	(void)state;
	assert_int_equal(mkdir("one", 0755), 0);
	assert_int_equal(mkdir("two", 0755), 0);
	swap("one", "now");
	watch("now");
	put("one/a", "1");
	must_tell();
	swap("two", "now");
	must_tell();
	put("two/a", "1");
	must_tell();
}

static void test_folder_comes_and_goes(void **state)
{
	(void)state;
	watch("kinds");
	assert_int_equal(mkdir("kinds", 0755), 0);
	must_tell();
	put("kinds/a", "1");
	must_tell();
	assert_int_equal(unlink("kinds/a"), 0);
	must_tell();
	assert_int_equal(rmdir("kinds"), 0);
	must_tell();
	assert_int_equal(mkdir("kinds", 0755), 0);
	must_tell();
	put("kinds/a", "2");
	must_tell();
}

static void test_parent_comes_and_goes(void **state)
{
	(void)state;
	assert_int_equal(mkdir("etc", 0755), 0);
	put("etc/config", "1");
	watch("etc/config");
	assert_int_equal(rename("etc", "old"), 0);
	must_tell();
	assert_int_equal(mkdir("etc", 0755), 0);
	put("etc/config", "2");
	must_tell();
	put("etc/config", "3");
	must_tell();
}

static void test_nothing_to_watch(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_null(loop_watch_new(world.loop, "no/such/folder", on_change, NULL, &e));
	assert_int_equal(e.code, ERR_IO);
	assert_string_equal(err_msg(&e), "cannot watch no/such/folder: no such file or directory");
	err_release(&e);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_folder),
		TEST(test_file),
		TEST(test_another_file),
		TEST(test_config_map),
		TEST(test_folder_is_a_link),
		TEST(test_folder_comes_and_goes),
		TEST(test_parent_comes_and_goes),
		TEST(test_nothing_to_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
