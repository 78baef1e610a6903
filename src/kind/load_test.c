#include "kind/testing.h"

#include <sys/stat.h>
#include <unistd.h>

/* A whole kind, but for what is put in: more fields of its table, and its spec. */
#define KIND_HEAD                                                                                                      \
	"local function nothing() return {} end\n"                                                                     \
	"return { group = 'example.org', version = 'v1', kind = 'Ring', plural = 'rings',\n"
#define KIND_FNS "read = nothing, names = nothing, pod = nothing, status = nothing,\n"
#define KIND_SPEC "spec = { 'object', fields = { size = { 'int' } } },\n"
#define KIND(more) KIND_HEAD KIND_FNS KIND_SPEC more "}"
#define KIND_OF(spec) KIND_HEAD KIND_FNS "spec = " spec "}"

static const struct {
	const char *lua, *message;
} mistakes[] = {
	{ "", "ring.lua:1: the file must return a table" },
	{ "return 1", "ring.lua:1: the file must return a table" },
	{ "return {}", "ring.lua:1: missing field `group`" },
	{ KIND("nams = nothing"), "ring.lua:5: unknown field `nams`, did you mean `names`?" },
	{ KIND("Names = nothing"), "ring.lua:5: unknown field `Names`, did you mean `names`?" },
	{ KIND("colour = 1"), "ring.lua:5: unknown field `colour`" },
	{ KIND("zebra = 1, apple = 1"), "ring.lua:5: unknown field `apple`" },
	{ KIND("once = {}"), "ring.lua:5: `once` must be a function, not a table" },
	{ KIND("once = 'x'"), "ring.lua:5: `once` must be a function, not a text" },
	{ KIND("short = 'r'"), "ring.lua:5: `short` must be a table, not a text" },
	{ KIND("short = { 1 }"), "ring.lua:5: `short` must be a list of strings" },
	{ KIND("short = { a = 'x' }"), "ring.lua:5: `short` must be a list of strings" },
	{ KIND("short = { 'Ring' }"), "ring.lua:5: `short` has \"Ring\", which is not a name" },
	{ KIND("job_labels = 'yes'"), "ring.lua:5: `job_labels` must be true or false, not a text" },
	{ KIND("endings = 'no'"), "ring.lua:5: `endings` must be a table, not a text" },
	{ KIND("endings = { 'Failed' }"), "ring.lua:5: `endings` must be a table of annotation = final phase" },
	{ KIND("endings = { lost = 1 }"), "ring.lua:5: `endings` must be a table of annotation = final phase" },
	{ KIND("endings = { lost = 'NodeFail' }"), "ring.lua:5: `endings.lost` must be Preempted, Failed, NodeFailed, "
	                                           "Succeeded or TimedOut" },
	{ KIND("[1] = 2"), "ring.lua:2: a key that is not a name" },
	{ KIND("columns = { {} }"), "ring.lua:5: columns[1]: missing field `name`" },
	{ KIND("columns = { 1 }"), "ring.lua:2: columns[1] must be a table" },
	{ KIND("columns = { { name = 'X', type = 'string', path = '.x', typ = 1 } }"),
	  "ring.lua:5: columns[1]: unknown field `typ`, did you mean `type`?" },
	{ KIND("singular = 'Ring'"), "ring.lua:2: `plural` and `singular` must be lower case letters and digits" },
	{ "local function nothing() end return { group = 'example', version = 'v1', kind = 'Ring', plural = "
	  "'rings', " KIND_FNS KIND_SPEC "}",
	  "ring.lua:1: `group` must be a domain such as example.org, not \"example\"" },
	{ "local function nothing() end return { group = 'a.b', version = '1', kind = 'Ring', plural = "
	  "'rings', " KIND_FNS KIND_SPEC "}",
	  "ring.lua:1: `version` must be like v1 or v1beta1, not \"1\"" },
	{ "local function nothing() end return { group = 'a.b', version = 'v1', kind = '2x', plural = "
	  "'rings', " KIND_FNS KIND_SPEC "}",
	  "ring.lua:1: `kind` must be letters and digits, not \"2x\"" },
	{ "local function nothing() end return { group = "
	  "'a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', "
	  "version = 'v1', kind = 'Ring', plural = 'rings', " KIND_FNS KIND_SPEC "}",
	  "has 66 characters and is used as a label's value: at most 63" },
	{ KIND_HEAD "read = nothing, names = nothing, status = nothing, " KIND_SPEC "}",
	  "ring.lua:2: missing field `pod`" },
	{ KIND_HEAD KIND_FNS "}", "ring.lua:2: missing field `spec`" },
	/* Names that are not there, in functions that nobody has called yet. */
	{ "local function f(x)\n  local y = lowr(x)\nend\n" KIND(""),
	  "ring.lua:2: there is no `lowr`, did you mean `lower`?" },
	{ "local function f()\n\n\n  return function() return function() return os.time() end end\nend\n" KIND(""),
	  "ring.lua:4: there is no `os`" },
	{ "local function f()\n  count = 1\nend\n" KIND(""),
	  "ring.lua:2: `count` would be a global; write `local count`" },
	{ "local function f(lower)\n  local print = lower\n  return print(1), tonumber(nope)\nend\n" KIND(""),
	  "ring.lua:3: there is no `nope`" },
	/* The schema. */
	{ KIND_OF("{}"),
	  "ring.lua:4: `spec` must begin with its type: object, array, map, string, int, bool, enum, template or any" },
	{ KIND_OF("{ 'int' }"), "ring.lua:4: `spec` must be an object or an array" },
	{ KIND_OF("{ 'objekt' }"), "ring.lua:4: `spec` has the unknown type `objekt`, did you mean `object`?" },
	{ KIND_OF("{ 'list' }"), "ring.lua:4: `spec` has the unknown type `list`; there are object, array" },
	{ KIND_OF("{ 'object' }"), "ring.lua:4: `spec` is an object without `fields`" },
	{ KIND_OF("{ 'array' }"), "ring.lua:4: `spec` is an array without `items`" },
	{ KIND_OF("{ 'object', fields = { policy = { 'any' } } }"),
	  "ring.lua:4: `spec.policy` is common to all kinds and cannot be declared" },
	{ KIND_OF("{ 'object', fields = { { 'int' } } }"),
	  "ring.lua:4: `spec.fields` must be a table of name = { type, … }" },
	{ KIND_OF("{ 'object', fields = { a = 'int' } }"),
	  "ring.lua:4: `spec.fields` must be a table of name = { type, … }" },
	{ KIND_OF("{ 'object', fields = { a = { 'map' } } }"), "ring.lua:4: `spec.a` is a map without `items`" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', defalt = 1 } } }"),
	  "ring.lua:4: spec.a: unknown field `defalt`, did you mean `default`?" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', values = { 'x' } } } }"),
	  "ring.lua:4: spec.a: unknown field `values`" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', default = 'x' } } }"),
	  "ring.lua:4: `spec.a` has a default that is not valid itself" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', default = 0, min = 1 } } }"),
	  "ring.lua:4: `spec.a` has a default that is not valid itself" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', default = 1.5 } } }"),
	  "ring.lua:4: `spec.a` has a default that is not valid itself" },
	{ KIND_OF("{ 'object', fields = { a = { 'bool', default = 'x' } } }"),
	  "ring.lua:4: `spec.a` has a default that is not valid itself" },
	{ KIND_OF("{ 'object', fields = { a = { 'enum', values = { 'x' }, default = 'y' } } }"),
	  "ring.lua:4: `spec.a` has a default that is not valid itself" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', default = 1, required = true } } }"),
	  "ring.lua:4: `spec.a` has a default, so it cannot be required" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', min = 2, max = 1 } } }"),
	  "ring.lua:4: `spec.a` has a min above its max" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', min = 1.5 } } }"),
	  "ring.lua:4: `spec.a`: min and max must be whole numbers" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', max = 1.5 } } }"),
	  "ring.lua:4: `spec.a`: min and max must be whole numbers" },
	{ KIND_OF("{ 'object', fields = { a = { 'enum' } } }"), "ring.lua:4: `spec.a` is an enum without `values`" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', also = 'b' } } }"),
	  "ring.lua:4: spec.a: `also` must be a table, not a text" },
	{ KIND_OF("{ 'object', fields = { a = { 'int', also = { 'b' } }, b = { 'int' } } }"),
	  "ring.lua:4: `spec.b` is also a spelling of `a`" },
	{ KIND_OF("{ 'array', items = { 'object', fields = { a = { 'int', required = 1 } } } }"),
	  "ring.lua:4: spec[].a: `required` must be true or false, not a number" },
	/* The line of the word; where several have it, of what is around it. */
	{ KIND_OF("{ 'object', fields = {\n a = { 'int', defalt = 1 },\n b = { 'int', default = 1 } } }"),
	  "ring.lua:5: spec.a: unknown field `defalt`" },
	{ KIND_OF("{ 'object', fields = {\n a = { 'object', fields = { n = { 'int' } } },\n"
	          " b = { 'object', fields = {\n n = { 'int', min = 2, max = 1 } } } } }"),
	  "ring.lua:6: `spec.b.n` has a min above its max" },
	{ KIND_OF("{ 'object', fields = {\n a = { 'int', default = 'x' }, default = { 'int' } } }"),
	  "ring.lua:5: `spec.a` has a default that is not valid itself" },
	/* What is missing stands nowhere, or it is another thing. */
	{ "-- has no pod\n" KIND_HEAD "read = nothing, names = nothing, status = nothing, " KIND_SPEC "}",
	  "ring.lua:3: missing field `pod`" },
	{ "local f = { 'object' } f.fields = { x = f }\n" KIND_OF("f"), "is nested too deep" },
};

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		struct kinds *k = kinds_new(&small_limits);
		struct err e = ERR_INIT;

		if (kinds_load_text(k, STR("ring.lua"), str_c(mistakes[i].lua), &e))
			fail_msg("loaded: %s", mistakes[i].lua);
		if (!strstr(err_msg(&e), mistakes[i].message))
			fail_msg("%s\ngave: %s\nwant: %s", mistakes[i].lua, err_msg(&e), mistakes[i].message);
		assert_int_equal(kinds_count(k), 0);
		err_release(&e);
		kinds_free(k);
	}
}

/* Lua writes line numbers out only now and then. */
static void test_line_in_a_long_function(void **state)
{
	struct kinds *k = kinds_new(NULL);
	struct buf lua = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;

	(void)state;
	buf_put(&lua, STR("local function f(x)\n"));
	for (int i = 0; i < 500; i++)
		buf_put(&lua, i % 100 == 50 ? STR("\n\nx = x + 1\n") : STR("x = x * 2 + x\n"));
	buf_put(&lua, STR("frobnicate(x)\nend\n"));
	assert_false(kinds_load_text(k, STR("a.lua"), buf_str(&lua), &e));
	assert_string_equal(err_msg(&e), "a.lua:512: there is no `frobnicate`");
	buf_release(&lua);
	err_release(&e);
	kinds_free(k);
}

static void test_two_files_for_one_kind(void **state)
{
	struct kinds *k = kinds_new(NULL);
	struct err e = ERR_INIT;

	(void)state;
	assert_true(kinds_load_text(k, STR("a.lua"), STR(KIND("")), &e));
	assert_false(kinds_load_text(k, STR("b.lua"), STR(KIND("")), &e));
	assert_string_equal(err_msg(&e), "b.lua:2: Ring.example.org is already defined in a.lua");
	assert_false(kinds_load_text(
		k, STR("c.lua"),
		STR("local function nothing() end return { group = 'example.org', version = 'v1', kind = 'Ring2', "
	            "plural = 'rings', " KIND_FNS KIND_SPEC "}"),
		&e));
	assert_string_equal(err_msg(&e), "c.lua:1: the plural rings.example.org is already used in a.lua");
	assert_int_equal(kinds_count(k), 1);
	err_release(&e);
	kinds_free(k);
}

static void test_find(void **state)
{
	struct kinds *k = kinds_new(NULL);
	struct err e = ERR_INIT;
	const struct kind *kind;

	(void)state;
	assert_true(kinds_load_text(k, STR("a.lua"), STR(KIND("short = { 'rg', 'rn' }")), &e));
	kind = kinds_find(k, STR("example.org/v1"), STR("Ring"));
	assert_non_null(kind);
	assert_ptr_equal(kind, kinds_at(k, 0));
	assert_ptr_equal(kind, kinds_by_id(k, STR("Ring.example.org")));
	assert_true(str_eqc(kind->singular, "ring"));
	assert_true(str_eqc(kind->file, "a.lua"));
	assert_int_equal(kind->n_short_names, 2);
	assert_true(str_eqc(kind->short_names[1], "rn"));
	assert_false(kind->spec_is_array);
	assert_null(kinds_find(k, STR("example.org/v2"), STR("Ring")));
	assert_null(kinds_find(k, STR("example.orgx/v1"), STR("Ring")));
	assert_null(kinds_find(k, STR("v1"), STR("Ring")));
	assert_null(kinds_find(k, STR("example.org/v1"), STR("ring")));
	assert_null(kinds_by_id(k, STR("Ring.example.com")));
	kinds_free(k);
}

static void test_names(void **state)
{
	static const char *const its[] = {
		"Ring", "RINGS", "ring", "rg", "ring.example.org", "Rings.example.org", "RING.Example.Org"
	};
	static const char *const others[] = {
		"", "r", "rin", "ring.", "ring.example", "rg.example.org", ".example.org"
	};
	struct kinds *k = kinds_new(NULL);

	(void)state;
	assert_true(kinds_load_text(k, STR("a.lua"), STR(KIND("short = { 'rg', 'rn' }")), NULL));
	for (size_t i = 0; i < ARRAY_LEN(its); i++)
		assert_true(kind_is_named(kinds_at(k, 0), str_c(its[i])));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(kind_is_named(kinds_at(k, 0), str_c(others[i])));
	kinds_free(k);
}

static void test_builtin(void **state)
{
	static const char *const ids[] = { "AITrainingJob.elasticdeeplearning.ai", "MXJob.fioravanzo.org",
		                           "TfJob.mlkube.io", "MXJob.mpba.fbk.eu", "TFJob.mpba.fbk.eu" };
	struct fixture f = FIXTURE_INIT;

	(void)state;
	fixture_builtin(&f);
	assert_int_equal(kinds_count(f.kinds), ARRAY_LEN(ids));
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		assert_non_null(kinds_by_id(f.kinds, str_c(ids[i])));
	assert_true(kinds_find(f.kinds, STR("mpba.fbk.eu/v1"), STR("MXJob"))->spec_is_array);
	fixture_release(&f);
}

static void put_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* In the order of names; what is no *.lua is not looked at. */
static void test_folder(void **state)
{
	char dir[] = "/tmp/kinds-XXXXXX", path[256];
	struct kinds *k = kinds_new(NULL);
	struct err e = ERR_INIT;

	(void)state;
	assert_non_null(mkdtemp(dir));
	put_file(dir, "b.lua", KIND(""));
	put_file(dir, "a.lua",
	         "local function nothing() end return { group = 'a.org', version = 'v1', kind = 'A', plural = "
	         "'as', " KIND_FNS KIND_SPEC "}");
	put_file(dir, "readme.md", "not Lua");
	put_file(dir, ".hidden.lua", "not Lua");
	assert_true(kinds_load_dir(k, dir, &e));
	assert_int_equal(kinds_count(k), 2);
	assert_true(str_eqc(kinds_at(k, 0)->kind, "A"));
	put_file(dir, "c.lua", "error('no')");
	assert_false(kinds_load_dir(k, dir, &e));
	snprintf(path, sizeof(path), "%s/none.lua", dir);
	assert_false(kinds_load_file(k, path, &e));
	assert_non_null(strstr(err_msg(&e), "none.lua: No such file"));
	assert_int_equal(e.code, ERR_IO);
	for (size_t i = 0; i < 5; i++) {
		static const char *const names[] = { "a.lua", "b.lua", "c.lua", "readme.md", ".hidden.lua" };

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
	assert_false(kinds_load_dir(k, dir, &e));
	err_release(&e);
	kinds_free(k);
}

/* In a folder of kinds nothing is waited for and nothing but a regular file is read, links to one included. */
static void test_odd_files(void **state)
{
	static const struct {
		const char *target, *says;
	} links[] = {
		{ "/dev/zero", "is not a regular file" },
		{ "pipe", "is not a regular file" },
		{ "/", "is not a regular file" },
		{ "nowhere", "No such file" },
		{ "real", NULL },
	};
	char dir[] = "/tmp/kinds-XXXXXX", link[256], pipe[256], real[256];
	struct err e = ERR_INIT;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/a.lua", dir);
	snprintf(pipe, sizeof(pipe), "%s/pipe", dir);
	snprintf(real, sizeof(real), "%s/real", dir);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	put_file(dir, "real", KIND(""));
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		struct kinds *k = kinds_new(NULL);

		assert_int_equal(symlink(links[i].target, link), 0);
		assert_int_equal(kinds_load_dir(k, dir, &e), !links[i].says);
		if (links[i].says && (!strstr(err_msg(&e), "a.lua: ") || !strstr(err_msg(&e), links[i].says)))
			fail_msg("%s: %s", links[i].target, err_msg(&e));
		assert_int_equal(unlink(link), 0);
		kinds_free(k);
	}
	assert_int_equal(rename(pipe, link), 0);
	assert_false(kinds_load_file(NULL, link, &e));
	assert_non_null(strstr(err_msg(&e), "a.lua: is not a regular file"));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(unlink(real), 0);
	assert_int_equal(rmdir(dir), 0);
	err_release(&e);
}

static void test_large_file(void **state)
{
	struct kinds *k = kinds_new(NULL);
	struct err e = ERR_INIT;
	char *text = xcalloc(1, (1 << 20) + 1);

	(void)state;
	memset(text, ' ', (1 << 20) + 1);
	assert_false(kinds_load_text(k, STR("a.lua"), (struct str){ text, (1 << 20) + 1 }, &e));
	assert_string_equal(err_msg(&e), "a.lua: larger than 1 MiB");
	free(text);
	err_release(&e);
	kinds_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_line_in_a_long_function),
		cmocka_unit_test(test_two_files_for_one_kind),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_builtin),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_odd_files),
		cmocka_unit_test(test_large_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
