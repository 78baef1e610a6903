#include "kind/testing.h"

static const char kind_of[] =
	"local function role(name, spec)\n"
	"  return { name = name, path = at(spec, name), count = spec[name], service = true, template = spec.template "
	"}\n"
	"end\n"
	"local function read(spec)\n"
	"  return { roles = { role('boss', spec), role('worker', spec) } }\n"
	"end\n"
	"local function names(job, role, index)\n"
	"  if job.spec.how == 'roles' then return job.name .. '-' .. index, job.name .. '-' .. role.name .. '-' .. "
	"index end\n"
	"  if job.spec.how == 'all' then return job.name, job.name end\n"
	"  if job.spec.how == 'fails' and index == 2 then error('no name for ' .. index) end\n"
	"  if job.spec.how == 'last' and index == 9999 then index = 4 end\n"
	"  local name = job.name .. '-' .. role.name .. '-' .. index\n"
	"  return name, job.spec.how == 'services' and job.name or name\n"
	"end\n"
	"return {\n"
	"  group = 'test.org', version = 'v1', kind = 'TestJob', plural = 'testjobs',\n"
	"  spec = { 'object', fields = { boss = { 'int', default = 1 }, worker = { 'int', default = 2 },\n"
	"    how = { 'string' }, template = { 'template', required = true } } },\n"
	"  read = read, names = names, pod = function() return {} end, status = function() return {} end,\n"
	"}\n";

#define HEAD "apiVersion: test.org/v1\nkind: TestJob\nmetadata: {name: demo}\n"
#define TEMPLATE "template: {spec: {containers: [{name: a, image: img}]}}"
#define TAIL ": every replica must have its own"

static const struct {
	const char *yaml, *problems;
} cases[] = {
	{ HEAD "spec: {how: none, " TEMPLATE "}", "" },
	/* Across roles; pods and services are two worlds. */
	{ HEAD "spec: {how: roles, " TEMPLATE "}",
	  "test.lua:7: `names` gives the pods of boss-0 and worker-0 one name, \"demo-0\"" TAIL },
	{ HEAD "spec: {how: roles, worker: 0, " TEMPLATE "}", "" },
	{ HEAD "spec: {how: services, " TEMPLATE "}",
	  "test.lua:7: `names` gives the services of boss-0 and worker-0 one name, \"demo\"" TAIL },
	/* The first is enough, however many there are. */
	{ HEAD "spec: {how: all, boss: 5, worker: 5000, " TEMPLATE "}",
	  "test.lua:7: `names` gives the pods of boss-0 and boss-1 one name, \"demo\"" TAIL },
	/* Every replica is looked at. */
	{ HEAD "spec: {how: last, worker: 10000, " TEMPLATE "}",
	  "test.lua:7: `names` gives the pods of worker-4 and worker-9999 one name, \"demo-worker-4\"" TAIL },
	/* One that runs is not held up by it; one that was never brought up is. */
	{ HEAD "spec: {how: all, " TEMPLATE "}\n"
	       "status: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}",
	  "warning spec.worker: `names` in test.lua gives the pods of boss-0 and worker-0 one name, \"demo\"" TAIL "\n"
	  "warning spec.worker: `names` in test.lua gives the services of boss-0 and worker-0 one name, \"demo\"" TAIL
	  "\n" },
	{ HEAD "spec: {how: last, worker: 10000, " TEMPLATE "}\n"
	       "status: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}",
	  "" },
	{ HEAD "spec: {how: fails, worker: 5, " TEMPLATE "}\n"
	       "status: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}",
	  "warning spec.worker: test.lua:10: no name for 2 (in `names`)\n" },
	/* What another operator has brought up runs as well. */
	{ HEAD "spec: {how: services, " TEMPLATE "}\nstatus: {phase: Running}",
	  "warning spec.worker: `names` in test.lua gives the services of boss-0 and worker-0 one name, \"demo\"" TAIL
	  "\n" },
	{ HEAD "spec: {how: services, " TEMPLATE "}\nstatus: {}",
	  "test.lua:7: `names` gives the services of boss-0 and worker-0 one name, \"demo\"" TAIL },
	{ HEAD "spec: {how: roles, " TEMPLATE "}\n"
	       "status: {dlOperator: {version: 1, phase: Invalid}}",
	  "test.lua:7: `names` gives the pods of boss-0 and worker-0 one name, \"demo-0\"" TAIL },
};

static void test_doubles(void **state)
{
	struct fixture f = FIXTURE_INIT;

	(void)state;
	fixture_lua(&f, kind_of);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (fixture_try(&f, cases[i].yaml))
			assert_string_equal(fixture_problems(&f), cases[i].problems);
		else
			assert_string_equal(err_msg(&f.e), cases[i].problems);
	}
	fixture_release(&f);
}

/* TensorBoard's name is nobody's either. */
static void test_board(void **state)
{
	struct fixture f = FIXTURE_INIT;

	(void)state;
	fixture_builtin(&f);
	expect_problems(&f,
	                "apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\nmetadata: {name: demo}\n"
	                "spec: {policy: {tensorboard: {logDir: /logs}}, replicaSpecs: {a: {template: {spec: "
	                "{containers: [{name: aitj-a, image: img}]}}}}}",
	                "");
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_board),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
