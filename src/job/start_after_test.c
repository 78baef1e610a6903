/* startAfter: who waits for whom. */
#include "job/testing.h"

#define ROLES "{'roles':[" ROLE("ps", 1) "}," ROLE("worker", 2) "}," ROLE("eval", 1) "}," ROLE("tb", 1) ",'aux':true}]}"

static void test_who_waits(void **state)
{
	struct bench b = BENCH_INIT;
	const struct job *job = read_job(&b, ROLES, "{'startAfter':{'worker':['PS'],'eval':['ps','worker']}}");

	(void)state;
	assert_string_equal(problems_text(&b, &job->problems), "");
	assert_int_equal(job->roles[0].after, 0);
	assert_int_equal(job->roles[1].after, 1);
	assert_int_equal(job->roles[2].after, 3);
	bench_release(&b);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *policy, *problems;
	} cases[] = {
		{ "{'startAfter':{}}", "" },
		{ "{'startAfter':{'worker':[]}}", "" },
		{ "{'startAfter':null}", "" },
		{ "{'startAfter':['ps']}",
		  "spec.policy.startAfter: must be an object such as {worker: [ps]}, found a list" },
		{ "{'startAfter':{'worker':'ps'}}",
		  "spec.policy.startAfter.worker: must be a list of roles such as [ps], found a string" },
		{ "{'startAfter':{'worker':[1]}}",
		  "spec.policy.startAfter.worker[0]: must be the name of a role, found a number" },
		{ "{'startAfter':{'wroker':['ps']}}",
		  "spec.policy.startAfter.wroker: there is no role \"wroker\"; did you mean \"worker\"?" },
		{ "{'startAfter':{'worker':['ps','pss']}}",
		  "spec.policy.startAfter.worker[1]: there is no role \"pss\"; did you mean \"ps\"?" },
		{ "{'startAfter':{'worker':['tb']}}", "spec.policy.startAfter.worker[0]: role \"tb\" does not count: "
		                                      "nothing waits for it, and it waits for "
		                                      "nothing" },
		{ "{'startAfter':{'worker':['worker']}}",
		  "spec.policy.startAfter.worker[0]: a role cannot start after itself" },
		{ "{'startAfter':{'worker':['ps'],'ps':['eval'],'eval':['worker']}}",
		  "spec.policy.startAfter: role \"ps\" would wait for itself: a circle" },
		{ "{'startAfter':{'worker':['ps']},'schedulingPolicy':{'minAvailable':2}}",
		  "spec.policy.startAfter: cannot be set together with schedulingPolicy: the pods of a gang start all "
		  "at "
		  "once" },
		{ "{'runningDeadlineSeconds':0}", "spec.policy.runningDeadlineSeconds: must be at least 1, found 0" },
		{ "{'runningDeadlineSeconds':'1h'}",
		  "spec.policy.runningDeadlineSeconds: must be a whole number, found a string" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench b = BENCH_INIT;
		const struct job *job = read_job(&b, ROLES, cases[i].policy);

		assert_string_equal(problems_text(&b, &job->problems), cases[i].problems);
		bench_release(&b);
	}
}

static void test_probes(void **state)
{
	struct bench b = BENCH_INIT;
	const struct job *job = read_job(
		&b,
		"{'roles':[" ROLE(
			"ps", 1) "},{'name':'worker','path':'spec.w','count':1,'template':{'spec':{'containers':"
				 "[{'name':'main','image':'i','readinessProbe':{'exec':{'command':['true']}}}]}}}]}",
		"{'runningDeadlineSeconds':600}");

	(void)state;
	assert_string_equal(problems_text(&b, &job->problems), "");
	assert_false(job->roles[0].probed);
	assert_true(job->roles[1].probed);
	assert_int_equal(job->running_deadline, 600);
	assert_int_equal(read_job(&b, ROLES, NULL)->running_deadline, -1);
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_waits),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
