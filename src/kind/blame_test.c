/* What a kind's author got wrong is told with the line of his file, and never as a field of the user's manifest. */
#include "kind/testing.h"

#define TAIL                                                                                                           \
	"return { group = 'example.org', version = 'v1', kind = 'Ring', plural = 'rings',\n"                           \
	"spec = { 'object', fields = { size = { 'int' }, template = { 'template', required = true } } },\n"            \
	"read = read, names = function(job, role, i) return job.name .. '-' .. i end,\n"                               \
	"pod = function() end, status = function() return {} end }"
#define SPEC                                                                                                           \
	"apiVersion: example.org/v1\nkind: Ring\nmetadata: {name: demo}\n"                                             \
	"spec: {template: {spec: {containers: [{name: c, image: img}]}}}"

static struct fixture f = FIXTURE_INIT;

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
	return 0;
}

static const struct {
	const char *lua, *message;
} mistakes[] = {
	/* The line of the word, in `read` or wherever it stands alone. */
	{ "-- a servce\nlocal function read(spec)\n  return { roles = { { name = 'master', count = 1,\n"
	  "    servce = true, template = spec.template } } }\nend\n" TAIL,
	  "test.lua:4: role \"master\": unknown field \"servce\"; did you mean \"service\"?" },
	{ "local function role(t)\n  return { name = 'a', count = 1, template = t, default = { compete = 'Any' } "
	  "}\nend\n"
	  "local function read(spec)\n  return { roles = { role(spec.template) } }\nend\n" TAIL,
	  "test.lua:2: role \"a\": unknown field \"compete\"; did you mean \"complete\"?" },
	/* Several lines have it: where `read` begins. */
	{ "local function read(spec)\n  local t = { name = 'a', template = spec.template,\n  cont = 1 }\n"
	  "  t.cont = t.cont + 1\n  return { roles = { t } }\nend\n" TAIL,
	  "test.lua:1: role \"a\": unknown field \"cont\"; did you mean \"count\"?" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', count = 1, template = spec.template,\n"
	  "    own = { restart = { polcy = 'Never' } } } } }\nend\n" TAIL,
	  "test.lua:3: role \"a\": unknown field \"restart.polcy\"; did you mean \"policy\"?" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', count = 1, template = spec.template,\n"
	  "    ports = { { name = 'p', prt = 80 } } } } }\nend\n" TAIL,
	  "test.lua:3: role \"a\": unknown field \"prt\"; did you mean \"port\"?" },
	/* Values that are the kind's own. */
	{ "local function read(spec)\n  return { roles = { { name = 'a', count = 1, template = spec.template,\n"
	  "    env = 'everywhere' } } }\nend\n" TAIL,
	  "test.lua:3: role \"a\": \"env\" must be counting or all, found \"everywhere\"" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', count = 1, template = spec.template } },\n"
	  "    default = { cleanPods = true } }\nend\n" TAIL,
	  "test.lua:3: \"cleanPods\" must be a string, found a boolean" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', template = spec.template } } }\nend\n" TAIL,
	  "test.lua:1: role \"a\": has no \"count\"" },
	{ "local function read(spec)\n  return {\n    roles = { a = {} } }\nend\n" TAIL,
	  "test.lua:3: \"roles\" must be a list, found an object" },
	{ "local function read(spec)\n  return { rols = {} }\nend\n" TAIL,
	  "test.lua:2: unknown field \"rols\"; did you mean \"roles\"?" },
};

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		fixture_release(&f);
		fixture_lua(&f, mistakes[i].lua);
		if (fixture_try(&f, SPEC))
			fail_msg("well: %s", mistakes[i].lua);
		assert_string_equal(err_msg(&f.e), mistakes[i].message);
		assert_int_equal(f.e.code, ERR_LUA);
	}
}

/* A field that the kind says the name of is the user's, and so is everything once read() found a mistake of his. */
static void test_users(void **state)
{
	(void)state;
	fixture_release(&f);
	fixture_lua(
		&f,
		"local function read(spec)\n  return { roles = { { name = 'a', path = at(spec), count = spec.size,\n"
		"    template = spec.template, fields = { count = 'size' } } } }\nend\n" TAIL);
	expect_problems(&f, SPEC, "error spec.size: is missing\n");
	fixture_release(&f);
	fixture_lua(&f,
	            "local function read(spec)\n  invalid(spec, 'size', 'must be odd')\n"
	            "  return { roles = { { name = 'a', path = at(spec), template = spec.template } } }\nend\n" TAIL);
	expect_problems(&f, SPEC, "error spec.size: must be odd\nerror spec.count: is missing\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_users),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
