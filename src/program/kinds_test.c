#include "program/kinds.h"

#include "base/str.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

static struct kinds *load(const char *names, struct err *e)
{
	struct operator_flags f;

	operator_flags_init(&f);
	f.kinds = names;
	return operator_kinds_load(&f, NULL, NULL, e);
}

static void test_all_unless_named(void **state)
{
	struct kinds *k = load(NULL, NULL);

	(void)state;
	assert_non_null(k);
	assert_int_equal(kinds_count(k), 5);
	kinds_free(k);
}

static void test_by_name(void **state)
{
	static const struct {
		const char *names;
		size_t n;
	} t[] = {
		{ "AITrainingJob", 1 },    { "aitrainingjobs", 1 },         { "TfJob.mlkube.io", 1 },
		{ "tfjobs.mlkube.io", 1 }, { "TfJob.mlkube.io, mxjob", 3 }, { "TfJob", 2 },
		{ "TfJob,TfJob", 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct kinds *k = load(t[i].names, NULL);

		assert_non_null(k);
		if (kinds_count(k) != t[i].n)
			fail_msg("%s: %zu", t[i].names, kinds_count(k));
		kinds_free(k);
	}
}

static bool only_arrays(void *cookie, const struct kind *k)
{
	(void)cookie;
	return k->spec_is_array;
}

static void test_choose(void **state)
{
	struct operator_flags f;
	struct kinds *k;

	(void)state;
	operator_flags_init(&f);
	k = operator_kinds_load(&f, only_arrays, NULL, NULL);
	assert_non_null(k);
	for (size_t i = 0; i < kinds_count(k); i++)
		assert_true(kinds_at(k, i)->spec_is_array);
	assert_true(kinds_count(k) < 5);
	kinds_free(k);
}

static void test_wrong_names_and_folders(void **state)
{
	struct operator_flags f;
	struct err e = ERR_INIT;

	(void)state;
	assert_null(load("TfJob,NoJob", &e));
	assert_non_null(strstr(err_msg(&e), "there is no kind 'NoJob'"));
	operator_flags_init(&f);
	opt_list_add(&f.kinds_dirs, "/does/not/exist");
	assert_null(operator_kinds_load(&f, NULL, NULL, &e));
	assert_non_null(strstr(err_msg(&e), "/does/not/exist: "));
	operator_flags_release(&f);
	err_release(&e);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_changes_are_seen(void **state)
{
	char dir[] = "/tmp/kinds.XXXXXX", lua[64], other[64];
	struct operator_flags f;
	uint64_t was, is;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(lua, sizeof(lua), "%s/a.lua", dir);
	snprintf(other, sizeof(other), "%s/a.txt", dir);
	operator_flags_init(&f);
	opt_list_add(&f.kinds_dirs, dir);
	was = operator_kinds_hash(&f);
	put(other, "no kind");
	assert_true(operator_kinds_hash(&f) == was);
	put(lua, "one");
	is = operator_kinds_hash(&f);
	assert_true(is != was);
	assert_true(is == operator_kinds_hash(&f));
	put(lua, "two");
	assert_true(operator_kinds_hash(&f) != is);
	unlink(lua);
	assert_true(operator_kinds_hash(&f) == was);
	unlink(other);
	rmdir(dir);
	operator_flags_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_unless_named), cmocka_unit_test(test_by_name),
		cmocka_unit_test(test_choose),           cmocka_unit_test(test_wrong_names_and_folders),
		cmocka_unit_test(test_changes_are_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
