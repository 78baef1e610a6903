/* write(): a spec from what people say on a command line. */
#include "kind/testing.h"

static const char with[] = "local function nothing() return {} end\n"
			   "return { group = 'example.org', version = 'v1', kind = 'A', plural = 'as',\n"
			   "spec = { 'object', fields = { size = { 'int' } } },\n"
			   "read = nothing, names = nothing, pod = nothing, status = nothing, write = ";
static const char *const template = "{\"spec\":{\"containers\":[{\"name\":\"main\",\"env\":[]}]}}";

/* What write() returns as JSON, or the message. */
static struct str written(struct fixture *f, const char *write)
{
	static const struct kind_role roles[] = { { STR_INIT("ps"), 1 }, { STR_INIT("worker"), 3 } };
	struct arena a = ARENA_INIT;
	CLEANUP(json_docp) yyjson_doc *t = json_parse(str_c(template), NULL);
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *spec;

	f->kinds = kinds_new(&small_limits);
	assert_true(kinds_load_text(f->kinds, STR("a.lua"), arena_printf(&a, "%s%s }", with, write), &f->e));
	assert_true(kind_writes(kinds_at(f->kinds, 0)) == (strcmp(write, "nil") != 0));
	spec = kind_write(f->kinds, kinds_at(f->kinds, 0), roles, ARRAY_LEN(roles), yyjson_doc_get_root(t), doc, &f->e);
	buf_clear(&f->text);
	if (spec)
		json_write(spec, &f->text);
	else
		buf_put(&f->text, str_c(err_msg(&f->e)));
	arena_release(&a);
	return buf_str(&f->text);
}

static void expect(const char *write, const char *want)
{
	struct fixture f = FIXTURE_INIT;
	struct str got = written(&f, write);

	if (!strstr(got.p, want))
		fail_msg("%s: %.*s", write, STR_F(got));
	fixture_release(&f);
}

static void test_what_it_gets_and_gives(void **state)
{
	(void)state;
	expect("function(roles, t) return { size = roles[2].count, first = roles[1].name, t = t, n = #roles } end",
	       "{\"first\":\"ps\",\"n\":2,\"size\":3,\"t\":{\"spec\":{\"containers\":[{\"env\":[],\"name\":\"main\"}]}}"
	       "}");
	/* It may change the template: it is a table of its own. */
	expect("function(roles, t) t.spec.containers[1].name = 'x' return { t.spec.containers[1].name } end",
	       "[\"x\"]");
}

static void test_mistakes(void **state)
{
	(void)state;
	expect("function() return 'spec' end", "a.lua:4: `write` must return the spec, it returned a string");
	expect("function() end", "a.lua:4: `write` must return the spec, it returned a nil");
	expect("function() return { f = function() end } end", "a.lua:4: ");
	expect("function(roles, t) return t.nothing.name end", "a.lua:4: ");
	expect("function() while true do end end", "a.lua");
	expect("nil", "A.example.org has no `write` function");
}

/* Whoever wrote the file is told where, and not whoever ran the command. */
static void test_blame(void **state)
{
	static const struct {
		const char *path, *message, *want;
	} cases[] = {
		{ "spec.sise", "unknown field", "a.lua:5: write: spec.sise: unknown field" },
		{ "spec[\"si.ze\"]", "unknown field", "a.lua:6: write: spec[\"si.ze\"]: unknown field" },
		{ "spec.hosts[0]", "must be a string, found a number",
		  "a.lua:4: write: spec.hosts[0]: must be a string, found a number" },
		/* It is not there: a line that has the word is another one. */
		{ "spec.size", "is missing", "a.lua:4: write: spec.size: is missing" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f = FIXTURE_INIT;
		struct problem p = { PROBLEM_ERROR, str_c(cases[i].path), str_c(cases[i].message) };

		written(&f, "function(roles)\n  return { sise = 1,\n    ['si.ze'] = 1 }\nend");
		kind_blame_write(f.kinds, kinds_at(f.kinds, 0), &p, &f.e);
		assert_string_equal(err_msg(&f.e), cases[i].want);
		fixture_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_it_gets_and_gives),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_blame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
