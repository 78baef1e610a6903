/* Folders that stand for images. */
#include "local/pod/pod.h"

#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char top[32];
static struct arena arena;

static const char *in(const char *name)
{
	return arena_printf(&arena, "%s/%s", top, name).p;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/pod_image_XXXXXX");
	assert_non_null(mkdtemp(top));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(in("config.json"));
	rmdir(in("rootfs"));
	assert_int_equal(rmdir(top), 0);
	arena_release(&arena);
	return 0;
}

static void write_config(const char *text)
{
	FILE *f = fopen(in("config.json"), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void test_plain_tree(void **state)
{
	struct pod_image image;

	(void)state;
	/* A config.json in a plain tree is a file like any other. */
	write_config("what");
	assert_true(pod_image_read(&image, top, &arena, NULL));
	assert_string_equal(image.dir.p, top);
	assert_int_equal(image.entrypoint.n + image.cmd.n, 0);
	assert_false(pod_image_read(&image, in("none"), &arena, NULL));
}

static void test_image_config(void **state)
{
	struct pod_image image;

	(void)state;
	assert_int_equal(mkdir(in("rootfs"), 0755), 0);
	assert_true(pod_image_read(&image, top, &arena, NULL));
	assert_string_equal(image.dir.p, in("rootfs"));
	write_config("{\"config\":{\"Entrypoint\":[\"/e\"],\"Cmd\":[\"a\",\"b\"],\"Env\":[\"A=b=c\",\"E=\"],"
	             "\"WorkingDir\":\"/w\"}}");
	assert_true(pod_image_read(&image, top, &arena, NULL));
	assert_int_equal(image.entrypoint.n, 1);
	assert_int_equal(image.cmd.n, 2);
	assert_string_equal(image.cwd.p, "/w");
	assert_true(str_eqc(image.env.v[0].name, "A"));
	assert_true(str_eqc(image.env.v[0].value, "b=c"));
	assert_int_equal(image.env.v[1].value.n, 0);
	write_config("{\"process\":{\"args\":[\"/run\"],\"env\":[\"A=b\"],\"cwd\":\"/c\"}}");
	assert_true(pod_image_read(&image, top, &arena, NULL));
	assert_string_equal(image.cmd.v[0].p, "/run");
	assert_string_equal(image.cwd.p, "/c");
}

static void test_bad_config(void **state)
{
	static const char *const bad[] = { "",
		                           "{}",
		                           "[]",
		                           "{\"config\":{\"Cmd\":\"a\"}}",
		                           "{\"config\":{\"Cmd\":[1]}}",
		                           "{\"config\":{\"Env\":[\"=x\"]}}",
		                           "{\"process\":{\"env\":[\"x\"]}}" };
	struct pod_image image;

	(void)state;
	assert_int_equal(mkdir(in("rootfs"), 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = ERR_INIT;

		write_config(bad[i]);
		assert_false(pod_image_read(&image, top, &arena, &e));
		assert_non_null(strstr(err_msg(&e), "config.json: "));
		err_release(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain_tree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_image_config, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_config, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
