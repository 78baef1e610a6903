/* Paths of an archive, and what somebody might want them to be. */
#include "logs/archive_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct archive_name good = { STR_INIT("ml"),
	                                  STR_INIT("TfJob.mlkube.io"),
	                                  STR_INIT("mnist"),
	                                  STR_INIT("1c9d"),
	                                  STR_INIT("WORKER"),
	                                  STR_INIT("tensorflow"),
	                                  3,
	                                  12 };

static void a_path_and_back(void **state)
{
	struct buf b = BUF_INIT(ARCHIVE_PATH_MAX);
	struct str role, container;
	int64_t generation;
	int32_t index;
	size_t run;

	(void)state;
	assert_true(archive_path(&b, &good, &run));
	assert_string_equal(b.p, "ml/TfJob.mlkube.io/mnist/1c9d/WORKER-3/12.tensorflow.log");
	assert_int_equal(run, strlen("ml/TfJob.mlkube.io/mnist/1c9d"));
	buf_release(&b);
	assert_true(archive_replica_read(STR("a-b-3"), &role, &index));
	assert_true(str_eqc(role, "a-b"));
	assert_int_equal(index, 3);
	assert_true(archive_file_read(STR("12.tensor.flow.log"), &generation, &container));
	assert_int_equal(generation, 12);
	assert_true(str_eqc(container, "tensor.flow"));
}

static void nobody_is_led_elsewhere(void **state)
{
	static const char *const bad[] = { "", ".", "..", "../x", "a/b", "/etc", ".hidden", "-rf", "a\nb", "a b", "ü" };
	struct buf b = BUF_INIT(ARCHIVE_PATH_MAX);
	char much[300];
	size_t run;

	(void)state;
	memset(much, 'a', sizeof(much));
	for (size_t i = 0; i <= ARRAY_LEN(bad); i++) {
		struct str s = i < ARRAY_LEN(bad) ? str_c(bad[i]) : (struct str){ much, sizeof(much) };

		for (size_t part = 0; part < 6; part++) {
			struct archive_name n = good;
			struct str *const at[] = { &n.ns, &n.kind, &n.job, &n.uid, &n.role, &n.container };

			*at[part] = s;
			assert_false(archive_path(&b, &n, &run));
			assert_int_equal(b.n, 0);
		}
	}
	for (size_t i = 0; i < 2; i++) {
		struct archive_name n = good;

		if (i)
			n.index = -1;
		else
			n.generation = -1;
		assert_false(archive_path(&b, &n, &run));
	}
}

static void what_is_not_ours(void **state)
{
	static const char *const replicas[] = {
		"", "worker", "worker-", "-1", "worker-01", "worker-x", "worker-99999999999", "..-1", "worker--"
	};
	static const char *const files[] = { "",           ".log",        "0.log",
		                             "0..log",     "x.main.log",  "01.main.log",
		                             "0.main.txt", "-1.main.log", "0.main.log.new",
		                             "0.-.log" };
	struct str s;
	int64_t generation;
	int32_t index;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(replicas); i++)
		assert_false(archive_replica_read(str_c(replicas[i]), &s, &index));
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		assert_false(archive_file_read(str_c(files[i]), &generation, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_and_back),
		cmocka_unit_test(nobody_is_led_elsewhere),
		cmocka_unit_test(what_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
