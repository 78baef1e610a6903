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
#define STARTED "\nstatus: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}"

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
	/* What the kind says its user's fields are called. */
	{ "local function read(spec)\n  return { roles = { { name = 'a', path = at(spec), count = 1, template = "
	  "spec.template,\n    fields = { cuont = 'size' } } } }\nend\n" TAIL,
	  "test.lua:3: role \"a\": unknown field \"fields.cuont\"; did you mean \"count\"?" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', path = at(spec), count = 1, template = "
	  "spec.template,\n    fields = { ['restart.polcy'] = 'size' } } } }\nend\n" TAIL,
	  "test.lua:3: role \"a\": unknown field \"fields.restart.polcy\"" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', path = at(spec), count = 1, template = "
	  "spec.template,\n    fields = { count = 'wrkers' } } } }\nend\n" TAIL,
	  "test.lua:3: role \"a\": \"fields.count\": this kind has no field spec.wrkers" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', count = 1, template = spec.template,\n"
	  "    fields = { count = 'size' } } } }\nend\n" TAIL,
	  "test.lua:3: role \"a\": \"fields.count\": this kind has no field spec.roles[0].size" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', path = at(spec), count = 1, template = "
	  "spec.template,\n    fields = { count = 5 } } } }\nend\n" TAIL,
	  "test.lua:1: role \"a\": \"fields.count\" must be a string, found a number" },
	{ "local function read(spec)\n  return { roles = { { name = 'a', count = 1, template = spec.template } },\n"
	  "    fields = { complete = 'done.by' } }\nend\n" TAIL,
	  "test.lua:3: \"fields.complete\": this kind has no field spec.done.by" },
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
			fail_msg("no mistake: %s", mistakes[i].lua);
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

/* Names that are ok, whatever stands on the way to them; the policy is everybody's. */
static void test_names(void **state)
{
	static const char *const lua =
		"return { group = 'example.org', version = 'v1', kind = 'Ring', plural = 'rings',\n"
		"spec = { 'object', fields = { template = { 'template', required = true }, free = { 'any' },\n"
		"  list = { 'array', items = { 'object', fields = { n = { 'int', also = { 'num' } } } } },\n"
		"  map = { 'map', items = { 'object', fields = { size = { 'int' } } } } } },\n"
		"read = function(spec)\n"
		"  local function role(i, path, fields)\n"
		"    return { name = 'r' .. i, path = path, count = 1, template = spec.template, fields = fields }\n"
		"  end\n"
		"  return { roles = { role(1, 'spec.list[0]', { count = 'n' }), role(2, 'spec.list[7]', { count = "
		"'num' "
		"}),\n"
		"    role(3, 'spec.map[\"a.b\"]', { name = '', count = 'size', ['restart.backoff.maxSeconds'] = 'size' "
		"}),\n"
		"    role(4, 'spec', { count = 'free.what.ever', template = 'template', ports = 'template.spec' }) },\n"
		"    fields = { complete = 'policy.complete', ['tensorboard.image'] = 'free[0]' } }\n"
		"end,\n"
		"names = function(job, role, i) return job.name .. '-' .. role.name .. '-' .. i end,\n"
		"pod = function() end, status = function() return {} end }";

	(void)state;
	fixture_release(&f);
	fixture_lua(&f, lua);
	expect_problems(&f, SPEC, "");
}

/* Checks that are newer than a job hold it up only until it has started. */
static void test_started(void **state)
{
	(void)state;
	fixture_release(&f);
	fixture_lua(&f, "local function read(spec)\n  return { roles = { { name = 'a', path = at(spec), count = 1,\n"
	                "  template = spec.template, fields = { count = 'wrkers', cuont = 'size' } } } }\nend\n" TAIL);
	fixture_read(&f, SPEC STARTED);
	assert_string_equal(
		fixture_problems(&f),
		"warning spec: test.lua: role \"a\": \"fields.count\": this kind has no field spec.wrkers\n"
		"warning spec: test.lua: role \"a\": unknown field \"fields.cuont\"; did you mean \"count\"?\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_started),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
