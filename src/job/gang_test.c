/* gang.c, and the policy that it goes by: scheduling.c. */
#include "base/json.h"
#include "job/gang.h"
#include "job/pod_needs.h"
#include "job/testing.h"

/* "3: cpu=2 memory=1Gi" */
static const char *gang_text(struct bench *b, struct job *job)
{
	struct str out;
	char text[QUANTITY_TEXT];
	struct gang g;

	for (size_t i = 0; i < job->n_roles; i++)
		job->roles[i].needs = needs_of_pod(json_get(job->roles[i].template, "spec"), &b->a);
	job->scheduling.needs = needs_of_list(job->scheduling.min_resources, &b->a);
	g = gang_of(job, NULL, &b->a);
	out = arena_printf(&b->a, "%d:", g.members);

	for (size_t i = 0; i < g.needs.n; i++)
		out = arena_printf(&b->a, "%.*s %.*s=%s", STR_F(out), STR_F(g.needs.v[i].name),
		                   need_write(&g.needs.v[i], text).p);
	return out.p;
}

#define ASKS(name, count, text)                                                                                        \
	"{'name':'" name "','path':'spec.r." name "','count':" #count                                                  \
	",'template':{'spec':{'containers':[{'name':'main','image':'i','resources':{'requests':{" text "}}}]}}"

static void test_gang(void **state)
{
	static const struct {
		const char *roles, *policy, *gang;
	} cases[] = {
		{ ROLE("w", 3) "}", NULL, "3:" },
		{ ASKS("ps", 1, "'cpu':'500m'") "}," ASKS("w", 2, "'cpu':4,'memory':'1Gi'") "}", NULL,
		  "3: cpu=8500m memory=2Gi" },
		{ ASKS("ps", 2, "'cpu':1") "}," ASKS("w", 2, "'cpu':10") "}", "{'schedulingPolicy':{'minAvailable':3}}",
		  "3: cpu=12" },
		{ ASKS("ps", 2, "'cpu':1") "}," ASKS("w", 2, "'cpu':10") "}", "{'schedulingPolicy':{'minAvailable':1}}",
		  "1: cpu=1" },
		{ ASKS("w", 2, "'cpu':10") "}",
		  "{'schedulingPolicy':{'minResources':{'nvidia.com/gpu':16,'memory':'4Ti'}}}",
		  "2: memory=4Ti nvidia.com/gpu=16" },
		{ ASKS("w", 2, "'cpu':10") "}", "{'schedulingPolicy':{'minResources':{}}}", "2:" },
		/* What does not count is not waited for, and not asked for. */
		{ ASKS("tb", 1, "'cpu':7") ",'aux':true}," ASKS("w", 2, "'cpu':1") "}", NULL, "2: cpu=2" },
		/* Elastic: the least that can run; min without elastic says nothing. */
		{ ASKS("w", 4, "'cpu':1") ",'elastic':true,'min':2,'max':8}," ASKS("x", 1, "'cpu':100") "}", NULL,
		  "3: cpu=102" },
		{ ASKS("w", 4, "'cpu':1") ",'elastic':true,'min':2,'max':8}," ASKS("x", 1, "'cpu':100") "}",
		  "{'schedulingPolicy':{'minAvailable':4}}", "4: cpu=103" },
		{ ASKS("w", 4, "'cpu':1") ",'min':2,'max':8}", NULL, "4: cpu=4" },
		{ ASKS("w", 4, "'cpu':1") ",'elastic':true,'min':0,'max':8}", NULL, "1: cpu=1" },
		{ ASKS("w", 4, "'cpu':1") ",'elastic':true,'max':8}", NULL, "4: cpu=4" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench b = BENCH_INIT;
		struct job *job = read_job(&b, arena_printf(&b.a, "{'roles':[%s]}", cases[i].roles).p, cases[i].policy);

		assert_string_equal(problems_text(&b, &job->problems), "");
		assert_string_equal(gang_text(&b, job), cases[i].gang);
		bench_release(&b);
	}
}

/* Of those that are left to run. */
static void test_left(void **state)
{
	static const struct {
		int32_t left[2];
		int32_t members, cpu, of_two;
	} cases[] = {
		{ { 2, 4 }, 4, 22, 2 }, { { 0, 4 }, 2, 20, 2 }, { { 1, 1 }, 2, 11, 2 },
		{ { 0, 1 }, 1, 10, 1 }, { { 0, 0 }, 1, 0, 1 },  { { 9, 9 }, 4, 22, 2 },
	};
	struct bench b = BENCH_INIT;
	struct job *job = read_job(
		&b, "{'roles':[" ASKS("ps", 2, "'cpu':1") "}," ASKS("w", 4, "'cpu':10") ",'elastic':true,'min':2}]}",
		NULL);

	(void)state;
	gang_text(&b, job);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct gang g;

		job->scheduling.min_available = -1;
		g = gang_of(job, cases[i].left, &b.a);
		assert_int_equal(g.members, cases[i].members);
		assert_int_equal(needs_get(&g.needs, STR("cpu")).whole, cases[i].cpu);
		job->scheduling.min_available = 2;
		assert_int_equal(gang_of(job, cases[i].left, &b.a).members, cases[i].of_two);
	}
	bench_release(&b);
}

static void test_policy(void **state)
{
	struct bench b = BENCH_INIT;
	struct job *job = read_job(&b, "{'roles':[" ROLE("w", 3) "}]}",
	                           "{'schedulingPolicy':{'minAvailable':2,'queue':'team-a.gpu','priorityClass':'high',"
	                           "'scheduleTimeoutSeconds':30}}");

	(void)state;
	assert_string_equal(problems_text(&b, &job->problems), "");
	assert_int_equal(job->scheduling.min_available, 2);
	assert_int_equal(job->scheduling.timeout, 30);
	assert_true(str_eqc(job->scheduling.queue, "team-a.gpu"));
	assert_true(str_eqc(job->scheduling.priority_class, "high"));
	job = read_job(&b, "{'roles':[" ROLE("w", 3) "}]}", "{'schedulingPolicy':null}");
	assert_int_equal(job->scheduling.min_available, -1);
	assert_int_equal(job->scheduling.timeout, -1);
	assert_null(job->scheduling.min_resources);
	bench_release(&b);
}

static void test_mistakes(void **state)
{
#define AT_POLICY "spec.policy.schedulingPolicy"
#define NAME "must be the name of an object: lower case letters, digits, '-' and '.'"
	static const struct {
		const char *policy, *problem;
	} cases[] = {
		{ "{'minAvailable':4}", AT_POLICY ".minAvailable: must be at most 3, the number of replicas, found 4" },
		{ "{'minAvailable':0}", AT_POLICY ".minAvailable: must be at least 1, found 0" },
		{ "{'minAvailable':'2'}", AT_POLICY ".minAvailable: must be a whole number, found a string" },
		{ "{'queue':'Team A'}", AT_POLICY ".queue: " NAME },
		{ "{'queue':''}", AT_POLICY ".queue: " NAME },
		{ "{'queue':'a..b'}", AT_POLICY ".queue: " NAME },
		{ "{'queue':'a.'}", AT_POLICY ".queue: " NAME },
		{ "{'priorityClass':7}", AT_POLICY ".priorityClass: " NAME },
		{ "{'minResources':{'cpu':'lots','memory':'1Gi','x':-1}}",
		  AT_POLICY ".minResources.cpu: must be a quantity such as 500m, 4 or 8Gi\n" AT_POLICY
		            ".minResources.x: must be a quantity such as 500m, 4 or 8Gi" },
		{ "{'minResources':'4'}",
		  AT_POLICY ".minResources: must be a list of resources such as {cpu: 4, memory: "
		            "8Gi}, found a string" },
		{ "{'scheduleTimeoutSeconds':0}", AT_POLICY ".scheduleTimeoutSeconds: must be at least 1, found 0" },
		{ "{'minMember':1}", AT_POLICY ".minMember: unknown field; must be minAvailable, queue, priorityClass, "
		                               "minResources or scheduleTimeoutSeconds" },
		{ "[]", AT_POLICY ": must be an object, found a list" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench b = BENCH_INIT;
		struct job *job = read_job(&b, "{'roles':[" ROLE("w", 3) "}," ROLE("tb", 1) ",'aux':true}]}",
		                           arena_printf(&b.a, "{'schedulingPolicy':%s}", cases[i].policy).p);

		assert_string_equal(problems_text(&b, &job->problems), cases[i].problem);
		bench_release(&b);
	}
	/* It is the user's alone. */
	{
		struct bench b = BENCH_INIT;
		struct job *job =
			read_job(&b, "{'roles':[" ROLE("w", 3) "}],'own':{'schedulingPolicy':{'queue':'q'}}}", NULL);

		assert_non_null(strstr(problems_text(&b, &job->problems), "schedulingPolicy: unknown field"));
		bench_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gang),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
