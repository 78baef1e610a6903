/* Does what docs/adding-a-kind.md says, with the very blocks of that page. */
#include "kind/testing.h"

static struct fixture f = FIXTURE_INIT;
static struct buf page = BUF_INIT(1 << 20);
static struct arena a = ARENA_INIT;

static int setup(void **state)
{
	char part[4096];
	FILE *file = fopen(DOCS_PAGE, "re");
	size_t n;

	(void)state;
	if (!file)
		return -1;
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		buf_put(&page, (struct str){ part, n });
	fclose(file);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
	buf_release(&page);
	arena_release(&a);
	return 0;
}

/* The block that begins with ```INFO. */
static const char *block(const char *info)
{
	struct str fence = arena_printf(&a, "\n```%s\n", info);
	const char *from = strstr(page.p, fence.p), *to;

	if (!from)
		fail_msg("the page has no block `%s`", info);
	from += fence.n;
	to = strstr(from, "\n```");
	if (!to)
		fail_msg("block `%s` has no end", info);
	return arena_str(&a, (struct str){ from, (size_t)(to - from) + 1 }).p;
}

static void load(const char *info)
{
	fixture_release(&f);
	f.kinds = kinds_new(NULL);
	if (!kinds_load_text(f.kinds, str_c(info + strlen("lua ")), str_c(block(info)), &f.e))
		fail_msg("%s", err_msg(&f.e));
}

/* The object equals the YAML of a block. */
static void expect_block(yyjson_val *got, const char *info)
{
	struct yaml_file *want = yaml_parse(str_c(info), str_c(block(info)), &f.e);
	struct buf text = BUF_INIT(1 << 20);

	if (!want)
		fail_msg("%s", err_msg(&f.e));
	if (!json_eq(got, yaml_root(want, 0))) {
		yaml_write(got, &text);
		fail_msg("block `%s` does not say what comes out:\n%s", info, text.p);
	}
	yaml_close(want);
	buf_release(&text);
}

static yyjson_val *pod(int32_t index)
{
	buf_clear(&f.text);
	if (!kind_pod(f.job, 0, index, 0, 0, &f.text, &f.e))
		fail_msg("%s", err_msg(&f.e));
	return fixture_parse(&f);
}

static void test_smallest(void **state)
{
	(void)state;
	load("lua small.lua");
	fixture_read(&f, block("yaml job.yaml"));
	assert_string_equal(fixture_problems(&f), "");
	assert_int_equal(kind_job(f.job)->roles[0].count, 2);
	assert_false(kind_job(f.job)->roles[0].service);
	expect_block(pod(1), "yaml small-pod.yaml");
}

static void test_ring(void **state)
{
	yyjson_arr_iter it;
	yyjson_val *v;
	struct buf env = BUF_INIT(1 << 16);

	(void)state;
	load("lua ring.lua");
	fixture_read(&f, block("yaml job.yaml"));
	assert_string_equal(fixture_problems(&f), "");
	assert_int_equal(kind_job(f.job)->roles[0].complete, END_RANK0);
	assert_int_equal(kind_job(f.job)->roles[0].restart.scope, SCOPE_JOB);
	expect_block(fixture_service(&f, 0, 1), "yaml service.yaml");
	it = yyjson_arr_iter_with(json_get(yyjson_arr_get_first(json_at(pod(1), "spec", "containers", NULL)), "env"));
	while ((v = yyjson_arr_iter_next(&it)))
		buf_printf(&env, "%s=%s\n", yyjson_get_str(json_get(v, "name")), yyjson_get_str(json_get(v, "value")));
	assert_string_equal(env.p, block("text env"));
	buf_release(&env);
}

static void test_mistakes(void **state)
{
	(void)state;
	load("lua ring.lua");
	expect_problems(&f, block("yaml bad.yaml"), block("text problems"));
	assert_false(kinds_load_text(f.kinds, STR("bad.lua"), str_c(block("lua bad.lua")), &f.e));
	assert_string_equal(arena_printf(&a, "%s\n", err_msg(&f.e)).p, block("text load"));
	load("lua wrong.lua");
	assert_false(fixture_try(&f, block("yaml job.yaml")));
	assert_string_equal(arena_printf(&a, "%s\n", err_msg(&f.e)).p, block("text read"));
}

static void test_status_and_crd(void **state)
{
	struct record_role role = { .name = STR("worker"), .now = { .active = 2 } };
	struct record r = { .version = RECORD_VERSION, .phase = PHASE_RUNNING, .roles = &role, .n_roles = 1 };
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *status;

	(void)state;
	load("lua ring.lua");
	fixture_read(&f, block("yaml job.yaml"));
	status = kind_status(f.job, &r, doc, &f.e);
	if (!status)
		fail_msg("%s", err_msg(&f.e));
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_obj_get(status, "running")), "2/2");
	assert_non_null(kind_crd(f.kinds, kinds_at(f.kinds, 0), doc, &f.e));
	/* A spec that cannot be read has no roles. */
	fixture_read(&f, "apiVersion: example.org/v1\nkind: RingJob\nmetadata: {name: x}\nspec: null");
	assert_non_null(kind_status(f.job, &r, doc, &f.e));
	yyjson_mut_doc_free(doc);
}

/* The page names everything that the sandbox has: a file that uses each is loaded. */
static void test_offered_names(void **state)
{
	static const char *const names[] = { "split",  "join",           "replace", "lower", "upper", "trim",
		                             "starts", "ends",           "json",    "hash",  "list",  "at",
		                             "spelt",  "restart_policy", "invalid", "warn" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct kinds *k = kinds_new(NULL);

		assert_non_null(strstr(page.p, arena_printf(&a, "`%s", names[i]).p));
		kinds_load_text(k, STR("a.lua"), arena_printf(&a, "assert(type(%s) == 'function')", names[i]), &f.e);
		assert_string_equal(err_msg(&f.e), "a.lua:1: the file must return a table");
		kinds_free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest),      cmocka_unit_test(test_ring),
		cmocka_unit_test(test_mistakes),      cmocka_unit_test(test_status_and_crd),
		cmocka_unit_test(test_offered_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
