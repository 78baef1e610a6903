/* effective.c and policy.c: three documents on two levels in, one policy or the exact problems out. */
#include "job/testing.h"

/* What the kind's job and role say on their three layers, and the user's policy; and what comes of
   it for the role "worker". */
static const struct effective_case {
	const char *own, *by_default;           /* of the job */
	const char *own_role, *by_default_role; /* of the role */
	const char *policy;
	const char *want, *problems;
} cases[] = {
	/* Nothing said anywhere. */
	{ .want = "Never Pod limit -1 backoff 10/300; complete All fail Any" },
	{ .policy = "null", .want = "Never Pod limit -1 backoff 10/300; complete All fail Any" },
	{ .policy = "{'restart':null,'roles':null}",
	  .want = "Never Pod limit -1 backoff 10/300; complete All fail Any" },
	{ .own = "[]",
	  .own_role = "[]",
	  .by_default = "{}",
	  .want = "Never Pod limit -1 backoff 10/300; complete All fail Any" },

	/* Each layer yields to the nearer one. */
	{ .by_default = "{'restart':{'limit':1,'policy':'Always'}}",
	  .want = "Always Pod limit 1 backoff 10/300; complete All fail Any" },
	{ .by_default = "{'restart':{'limit':1,'policy':'Always'}}",
	  .by_default_role = "{'restart':{'limit':2}}",
	  .want = "Always Pod limit 2 backoff 10/300; complete All fail Any" },
	{ .by_default = "{'restart':{'limit':1,'policy':'Always'}}",
	  .by_default_role = "{'restart':{'limit':2}}",
	  .own = "{'restart':{'limit':3}}",
	  .want = "Always Pod limit 3 backoff 10/300; complete All fail Any" },
	{ .by_default_role = "{'restart':{'limit':2,'policy':'Always'}}",
	  .own = "{'restart':{'scope':'Job'}}",
	  .policy = "{'restart':{'limit':4}}",
	  .want = "Always Job limit 4 backoff 10/300; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'Always'}}",
	  .policy = "{'restart':{'limit':4,'scope':'Job'}}",
	  .own_role = "{'restart':{'limit':5,'scope':'Role'}}",
	  .want = "Always Role limit 5 backoff 10/300; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'Always'}}",
	  .own_role = "{'restart':{'scope':'Role'}}",
	  .policy = "{'restart':{'limit':4,'scope':'Job'},'roles':{'worker':{'restart':{'limit':6}}}}",
	  .want = "Always Role limit 6 backoff 10/300; complete All fail Any" },

	/* What the job says of its own end is not its roles'. */
	{ .by_default = "{'complete':'Any','fail':'All'}",
	  .own = "{'complete':'Any'}",
	  .policy = "{'fail':'All'}",
	  .want = "Never Pod limit -1 backoff 10/300; complete All fail Any" },
	{ .by_default_role = "{'complete':'Rank0','fail':'None'}",
	  .want = "Never Pod limit -1 backoff 10/300; complete Rank0 fail None" },
	{ .by_default_role = "{'complete':'Rank0','fail':'None'}",
	  .own_role = "{'complete':'Any'}",
	  .policy = "{'roles':{'Worker':{'fail':'Rank0'}}}",
	  .want = "Never Pod limit -1 backoff 10/300; complete Any fail Rank0" },

	/* Back-off: what was said counts. */
	{ .policy = "{'restart':{'policy':'OnFailure','backoff':{'initialSeconds':400}}}",
	  .want = "OnFailure Pod limit -1 backoff 400/400; complete All fail Any" },
	{ .policy = "{'restart':{'policy':'OnFailure','backoff':{'maxSeconds':5}}}",
	  .want = "OnFailure Pod limit -1 backoff 5/5; complete All fail Any" },
	{ .policy = "{'restart':{'policy':'OnFailure','backoff':{'initialSeconds':0,'maxSeconds':0}}}",
	  .want = "OnFailure Pod limit -1 backoff 0/0; complete All fail Any" },
	{ .policy = "{'restart':{'backoff':{'initialSeconds':9,'maxSeconds':8}}}",
	  .problems = "spec.policy.restart.backoff: initialSeconds 9 is more than maxSeconds 8" },

	/* Codes without a policy mean ExitCode, and keep the node failures of the policy below. */
	{ .policy = "{'restart':{'exitCodes':'137, 143'}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 137,143; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'OnFailure'}}",
	  .policy = "{'restart':{'exitCodes':137}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'Always'}}",
	  .policy = "{'restart':{'exitCodes':137}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'OnNodeFail'}}",
	  .policy = "{'restart':{'exitCodes':137}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .by_default = "{'restart':{'policy':'OnNodeFailWithExitCode'}}",
	  .own = "{'restart':{'exitCodes':137}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .own = "{'restart':{'policy':'Always'}}",
	  .policy = "{'roles':{'worker':{'restart':{'exitCodes':[1,'3-4']}}}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 1,3-4; complete All fail Any" },
	/* A nearer policy stands; the codes wait. */
	{ .own_role = "{'restart':{'policy':'OnFailure'}}",
	  .own = "{'restart':{'exitCodes':'137,128'}}",
	  .want = "OnFailure Pod limit -1 backoff 10/300 codes 128,137; complete All fail Any" },
	{ .own_role = "{'restart':{'policy':'OnNodeFailWithExitCode'}}",
	  .own = "{'restart':{'exitCodes':'137,128'}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 128,137; complete All fail Any" },
	/* On one level they must fit. */
	{ .own_role = "{'restart':{'policy':'OnNodeFailWithExitCode'}}",
	  .policy = "{'roles':{'worker':{'restart':{'exitCodes':137}}}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .own_role = "{'restart':{'exitCodes':137}}",
	  .policy = "{'restart':{'policy':'Always'},'roles':{'worker':{'restart':{'policy':'ExitCode'}}}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .policy = "{'restart':{'policy':'ExitCode','exitCodes':137}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .policy = "{'restart':{'policy':'OnFailure','exitCodes':137}}",
	  .problems = "spec.policy.restart.exitCodes: has no effect while spec.policy.restart.policy is OnFailure; set "
	              "that to ExitCode or OnNodeFailWithExitCode, or remove one of them" },
	{ .own_role = "{'restart':{'policy':'Always'}}",
	  .policy = "{'roles':{'worker':{'restart':{'exitCodes':137}}}}",
	  .problems = "spec.policy.roles.worker.restart.exitCodes: has no effect while spec.r.worker.restartPolicy is "
	              "Always; set that to ExitCode or OnNodeFailWithExitCode, or remove one of them" },
	{ .own = "{'restart':{'exitCodes':137}}",
	  .policy = "{'restart':{'policy':'Never'}}",
	  .problems = "spec.restartingExitCode: has no effect while spec.policy.restart.policy is Never; set that "
	              "to ExitCode or OnNodeFailWithExitCode, or remove one of them" },
	/* No codes anywhere: those that a signal makes, but for memory. */
	{ .policy = "{'restart':{'policy':'ExitCode'}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 128-255 oom; complete All fail Any" },
	{ .own_role = "{'restart':{'policy':'OnNodeFailWithExitCode'}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 128-255 oom; complete All fail Any" },
	/* Codes that a kind says as an empty list. */
	{ .own = "{'restart':{'exitCodes':[]}}",
	  .own_role = "{'restart':{'policy':'ExitCode'}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300; complete All fail Any",
	  .problems = "warning spec.r.worker.restartPolicy: ExitCode without any exit code never restarts" },
	{ .own = "{'restart':{'exitCodes':{}}}",
	  .own_role = "{'restart':{'policy':'OnNodeFailWithExitCode'}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300; complete All fail Any",
	  .problems =
	          "warning spec.r.worker.restartPolicy: OnNodeFailWithExitCode without any exit code restarts after "
	          "node failures only" },
	{ .own = "{'restart':{'exitCodes':''}}", .want = "Never Pod limit -1 backoff 10/300; complete All fail Any" },
	{ .own = "{'restart':{'exitCodes':[]}}",
	  .policy = "{'restart':{'policy':'Always'}}",
	  .want = "Always Pod limit -1 backoff 10/300; complete All fail Any" },
	{ .policy = "{'restart':{'exitCodes':[]}}",
	  .problems = "spec.policy.restart.exitCodes: is empty; leave it out, or set restart.policy: Never" },
	{ .policy = "{'restart':{'exitCodes':{}}}",
	  .problems = "spec.policy.restart.exitCodes: must be exit codes such as 137, \"137,143\" or \"128-255\", or a "
	              "list "
	              "of these, found an object" },

	/* OOMKilled: with the kind's codes as the kind says, with the user's as the user's list says. */
	{ .by_default_role = "{'restart':{'policy':'ExitCode','exitCodes':'128-255','oomPermanent':true}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 128-255 oom; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'ExitCode','exitCodes':'128-255','oomPermanent':true}}",
	  .policy = "{'restart':{'exitCodes':137}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 137; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'ExitCode','exitCodes':'128-255','oomPermanent':true}}",
	  .policy = "{'restart':{'policy':'OnNodeFailWithExitCode'}}",
	  .want = "OnNodeFailWithExitCode Pod limit -1 backoff 10/300 codes 128-255 oom; complete All fail Any" },
	{ .own_role = "{'restart':{'exitCodes':9,'oomPermanent':true}}",
	  .by_default = "{'restart':{'oomPermanent':false}}",
	  .want = "ExitCode Pod limit -1 backoff 10/300 codes 9 oom; complete All fail Any" },
	{ .by_default_role = "{'restart':{'policy':'OnFailure','oomPermanent':true}}",
	  .want = "OnFailure Pod limit -1 backoff 10/300 oom; complete All fail Any" },
	{ .policy = "{'restart':{'oomPermanent':true}}",
	  .problems =
	          "spec.policy.restart.oomPermanent: unknown field; must be policy, scope, limit, window, backoff or "
	          "exitCodes" },

	/* A limit of nothing. */
	{ .policy = "{'roles':{'worker':{'restart':{'limit':3}}}}",
	  .problems = "warning spec.policy.roles.worker.restart.limit: has no effect: the restart policy of role "
	              "\"worker\" "
	              "is Never" },
	{ .own_role = "{'restart':{'limit':3,'policy':'Never'}}",
	  .problems = "warning spec.r.worker.restart.limit: has no effect: the restart policy of role \"worker\" is "
	              "Never" },
	{ .own_role = "{'restart':{'limit':-1}}",
	  .problems = "warning spec.r.worker.restart.limit: has no effect: the restart policy of role \"worker\" is "
	              "Never" },
	{ .own_role = "{'restart':{'limit':0,'policy':'Never'}}",
	  .want = "Never Pod limit 0 backoff 10/300; complete All fail Any" },
	{ .policy = "{'restart':{'limit':3}}",
	  .problems = "warning spec.policy.restart.limit: has no effect: the restart policy is Never" },
	{ .own = "{'restart':{'limit':-1}}",
	  .problems = "warning spec.restart.limit: has no effect: the restart policy is Never" },
	{ .policy = "{'restart':{'limit':3},'roles':{'ps':{'restart':{'policy':'Always'}}}}",
	  .want = "Never Pod limit 3 backoff 10/300; complete All fail Any" },
	{ .by_default = "{'restart':{'limit':6}}", .want = "Never Pod limit 6 backoff 10/300; complete All fail Any" },
	{ .policy = "{'restart':{'limit':0}}", .want = "Never Pod limit 0 backoff 10/300; complete All fail Any" },
};

static void test_effective(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct effective_case *c = &cases[i];
		struct bench b = BENCH_INIT;
		struct job *job = read_job(
			&b,
			arena_printf(&b.a,
		                     "{'roles':[" ROLE(
					     "worker",
					     2) ",'own':%s,'default':%s,'fields':{"
		                                "'restart.policy':'restartPolicy'}}," ROLE(
							"ps", 1) "}],'own':%s,'default':%s,"
		                                                 "'fields':{'restart.exitCodes':'restartingExitCode'}}",
		                     c->own_role ? c->own_role : "null",
		                     c->by_default_role ? c->by_default_role : "null", c->own ? c->own : "null",
		                     c->by_default ? c->by_default : "null")
				.p,
			c->policy);

		if (strcmp(problems_text(&b, &job->problems), c->problems ? c->problems : "") != 0)
			print_error("case %zu\n", i);
		assert_string_equal(problems_text(&b, &job->problems), c->problems ? c->problems : "");
		if (c->want)
			assert_string_equal(role_text(&b, &job->roles[0]), c->want);
		bench_release(&b);
	}
}

/* The same thing said twice, in the kind's own field and in the policy. */
static const struct conflict_case {
	const char *own, *policy;
	bool role;
	const char *problems;
} conflicts[] = {
	{ "{'restart':{'policy':'Always'}}", "{'restart':{'policy':'OnFailure'}}", false,
	  "spec.policy.restart.policy: is OnFailure, but spec.restart.policy is Always; set only one of them" },
	{ "{'restart':{'scope':'Role','policy':'Always'}}", "{'restart':{'scope':'Job'}}", false,
	  "spec.policy.restart.scope: is Job, but spec.restart.scope is Role; set only one of them" },
	{ "{'restart':{'limit':1,'policy':'Always'}}", "{'restart':{'limit':2}}", false,
	  "spec.policy.restart.limit: is 2, but spec.restart.limit is 1; set only one of them" },
	{ "{'restart':{'backoff':{'initialSeconds':1,'maxSeconds':2}}}",
	  "{'restart':{'backoff':{'initialSeconds':3,'maxSeconds':4}}}", false,
	  "spec.policy.restart.backoff.initialSeconds: is 3, but spec.restart.backoff.initialSeconds is 1; set "
	  "only one of them\n"
	  "spec.policy.restart.backoff.maxSeconds: is 4, but spec.restart.backoff.maxSeconds is 2; set only "
	  "one of them" },
	{ "{'restart':{'exitCodes':'1,2'}}", "{'restart':{'exitCodes':[1,2,3]}}", false,
	  "spec.policy.restart.exitCodes: is 1-3, but spec.restartingExitCode is 1-2; set only one of them" },
	{ "{'complete':'All'}", "{'complete':{'role':'worker'}}", false,
	  "spec.policy.complete: is {role: worker, index: 0}, but spec.complete is All; set only one of them" },
	{ "{'complete':{'role':'worker'}}", "{'complete':{'role':'worker','index':1}}", false,
	  "spec.policy.complete: is {role: worker, index: 1}, but spec.complete is {role: worker, index: 0}; set only "
	  "one of them" },
	{ "{'fail':'All'}", "{'fail':'Any'}", false,
	  "spec.policy.fail: is Any, but spec.fail is All; set only one of them" },
	{ "{'timeLimit':1,'activeDeadlineSeconds':2,'ttlSecondsAfterFinished':0}",
	  "{'timeLimit':4,'activeDeadlineSeconds':5,'ttlSecondsAfterFinished':6}", false,
	  "spec.policy.timeLimit: is 4, but spec.timeLimit is 1; set only one of them\n"
	  "spec.policy.activeDeadlineSeconds: is 5, but spec.activeDeadlineSeconds is 2; set only one of them\n"
	  "spec.policy.ttlSecondsAfterFinished: is 6, but spec.ttlSecondsAfterFinished is 0; set only one of them" },
	{ "{'cleanPods':'All'}", "{'cleanPods':'None'}", false,
	  "spec.policy.cleanPods: is None, but spec.cleanPods is All; set only one of them" },
	{ "{'suspend':false}", "{'suspend':true}", false,
	  "spec.policy.suspend: is true, but spec.suspend is false; set only one of them" },
	{ "{'restart':{'backoff':{'initialSeconds':9,'maxSeconds':2}}}", NULL, false,
	  "spec.restart.backoff: initialSeconds 9 is more than maxSeconds 2" },
	{ "{'complete':'Any','fail':'None'}", "{'complete':'All','fail':'Rank0'}", true,
	  "spec.policy.roles.worker.complete: is All, but spec.r.worker.complete is Any; set only one of them\n"
	  "spec.policy.roles.worker.fail: is Rank0, but spec.r.worker.fail is None; set only one of them" },
	/* The same twice is no conflict; neither is another level. */
	{ "{'complete':{'role':'WORKER'},'fail':'Any','restart':{'exitCodes':'1,2','limit':3},'suspend':true}",
	  "{'complete':{'role':'worker','index':0},'fail':'Any','restart':{'exitCodes':[1,2],'limit':3},'suspend':"
	  "true}",
	  false, "" },
	{ "{'complete':'Any','fail':'None','restart':{'scope':'Job'}}",
	  "{'complete':'Any','fail':'None','restart':{'scope':'Job'}}", true, "" },
};

static void test_conflicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(conflicts); i++) {
		const struct conflict_case *c = &conflicts[i];
		const char *policy = c->policy ? c->policy : "{}";
		struct bench b = BENCH_INIT;
		struct str doc, user;

		doc = arena_printf(
			&b.a,
			"{'roles':[" ROLE("worker", 2) ",'own':%s}],'own':%s,"
						       "'fields':{'restart.exitCodes':'restartingExitCode'}}",
			c->role ? c->own : "{}", c->role ? "{}" : c->own);
		user = c->role ? arena_printf(&b.a, "{'roles':{'worker':%s}}", policy) : str_c(policy);
		assert_string_equal(problems_text(&b, &read_job(&b, doc.p, user.p)->problems), c->problems);
		bench_release(&b);
	}
}

/* The job's own policy. */
static const char *job_text(struct bench *b, const struct job *job)
{
	struct str complete = job->complete == JOB_END_CHIEF
	                              ? arena_printf(&b->a, "%zu[%d]", job->chief_role, job->chief_index)
	                              : str_c(job_end_name(job->complete));

	return arena_printf(&b->a, "complete %.*s fail %s clean %s limits %lld %lld ttl %lld%s", STR_F(complete),
	                    job_end_name(job->fail), clean_name(job->clean), (long long)job->time_limit,
	                    (long long)job->active_deadline, (long long)job->ttl, job->suspend ? " suspended" : "")
	        .p;
}

static const struct job_case {
	const char *own, *by_default, *policy, *want, *problems;
} jobs[] = {
	{ .want = "complete All fail Any clean Running limits -1 -1 ttl -1" },
	{ .by_default = "{'complete':{'role':'MASTER','index':1},'cleanPods':'All'}",
	  .want = "complete 1[1] fail Any clean All limits -1 -1 ttl -1" },
	{ .by_default = "{'complete':{'role':'Boss'}}",
	  .policy = "{'complete':{'role':'worker','index':1}}",
	  .want = "complete 0[1] fail Any clean Running limits -1 -1 ttl -1" },
	{ .by_default = "{'complete':{'role':'master','index':1}}",
	  .policy = "{'complete':'Any','fail':'All'}",
	  .want = "complete Any fail All clean Running limits -1 -1 ttl -1" },
	{ .by_default = "{'cleanPods':'All','timeLimit':1}",
	  .own = "{'cleanPods':'None','activeDeadlineSeconds':2}",
	  .policy = "{'ttlSecondsAfterFinished':0,'suspend':true,'timeLimit':3}",
	  .want = "complete All fail Any clean None limits 3 2 ttl 0 suspended" },
	/* A role's title is as good as its name. */
	{ .policy = "{'complete':{'role':'chief','index':1}}",
	  .want = "complete 1[1] fail Any clean Running limits -1 -1 ttl -1" },

	{ .policy = "{'complete':{'role':'mster'}}",
	  .want = "complete All fail Any clean Running limits -1 -1 ttl -1",
	  .problems = "spec.policy.complete: the chief's role \"mster\" does not exist; the roles are worker, Chief or "
	              "board" },
	{ .policy = "{'complete':{'role':'workr'}}",
	  .want = "complete All fail Any clean Running limits -1 -1 ttl -1",
	  .problems = "spec.policy.complete: the chief's role \"workr\" does not exist; did you mean \"worker\"?" },
	{ .own = "{'complete':{'role':'worker','index':2}}",
	  .want = "complete All fail Any clean Running limits -1 -1 ttl -1",
	  .problems = "spec.complete: the chief's index 2 does not exist: role \"worker\" has 2 replicas" },
	{ .policy = "{'complete':{'role':'board'}}",
	  .problems = "spec.policy.complete: role \"board\" does not take part in the job's end, so it cannot be the "
	              "chief" },
	{ .policy = "{'complete':{'index':1}}",
	  .problems = "spec.policy.complete: a chief needs the name of a role: {role, index}" },
	{ .policy = "{'complete':{'role':'worker','index':-1}}",
	  .problems = "spec.policy.complete.index: must be at least 0, found -1" },
	{ .policy = "{'complete':{'role':'worker','rank':1}}",
	  .problems = "spec.policy.complete.rank: unknown field; must be role or index" },
	{ .policy = "{'complete':'Rank0'}", .problems = "spec.policy.complete: must be Any or All, found \"Rank0\"" },
	{ .policy = "{'complete':1}",
	  .problems = "spec.policy.complete: must be Any, All or a chief {role, index}, found a number" },
	{ .policy = "{'fail':'None'}", .problems = "spec.policy.fail: must be Any or All, found \"None\"" },
	{ .policy = "{'fail':'any'}",
	  .problems = "spec.policy.fail: must be Any or All, found \"any\"; did you mean \"Any\"?" },
	{ .policy = "{'cleanPods':'runing'}",
	  .problems =
	          "spec.policy.cleanPods: must be All, Running or None, found \"runing\"; did you mean \"Running\"?" },
	{ .policy = "{'timeLimit':0,'activeDeadlineSeconds':-5,'ttlSecondsAfterFinished':2147483648}",
	  .problems = "spec.policy.timeLimit: must be at least 1, found 0\n"
	              "spec.policy.activeDeadlineSeconds: must be at least 1, found -5\n"
	              "spec.policy.ttlSecondsAfterFinished: must be at most 2147483647, found 2147483648" },
	{ .policy = "{'timeLimit':'60','activeDeadlineSeconds':1.5,'ttlSecondsAfterFinished':1e300}",
	  .problems = "spec.policy.timeLimit: must be a whole number, found a string\n"
	              "spec.policy.activeDeadlineSeconds: must be a whole number between 1 and 2147483647\n"
	              "spec.policy.ttlSecondsAfterFinished: must be a whole number between 0 and 2147483647" },
	{ .policy = "{'suspend':'yes'}", .problems = "spec.policy.suspend: must be true or false, found a string" },
	{ .policy = "{'doNotDisrupt':1}",
	  .problems = "spec.policy.doNotDisrupt: must be true or false, found a number" },
	{ .policy = "[]", .problems = "spec.policy: must be an object, found a list" },
	{ .policy = "{'restart':{'limit':1000001,'scope':'All','policy':'onfailure'}}",
	  .problems = "spec.policy.restart.limit: must be at most 1000000, found 1000001\n"
	              "spec.policy.restart.scope: must be Pod, Role or Job, found \"All\"\n"
	              "spec.policy.restart.policy: must be Never, Always, OnFailure, OnNodeFail, ExitCode or "
	              "OnNodeFailWithExitCode, found \"onfailure\"; did you mean \"OnFailure\"?" },
	{ .policy = "{'restrat':{},'colour':1,'roles':{'worker':{'suspend':true}}}",
	  .problems = "spec.policy.restrat: unknown field; did you mean \"restart\"?\n"
	              "spec.policy.colour: unknown field; must be restart, complete, fail, timeLimit, "
	              "activeDeadlineSeconds, ttlSecondsAfterFinished, cleanPods, suspend, doNotDisrupt, "
	              "runningDeadlineSeconds, startAfter, "
	              "schedulingPolicy, tensorboard or roles\n"
	              "spec.policy.roles.worker.suspend: unknown field; must be restart, complete or fail" },
	{ .policy = "{'roles':{'wroker':{},'x':{},'worker':null,'WORKER':{'restart':{}},'Worker':{'restart':1}}}",
	  .problems = "spec.policy.roles.wroker: there is no such role; did you mean \"worker\"?\n"
	              "spec.policy.roles.x: there is no such role; the roles are worker, Chief or board\n"
	              "spec.policy.roles.WORKER: names the same role as spec.policy.roles.worker\n"
	              "spec.policy.roles.Worker: names the same role as spec.policy.roles.worker" },
	/* Of two that are near, the nearer; of two that are as near, the first. */
	{ .policy = "{'roles':{'chieg':{},'bard':{}},'fail':'An'}",
	  .problems = "spec.policy.fail: must be Any or All, found \"An\"; did you mean \"Any\"?\n"
	              "spec.policy.roles.chieg: there is no such role; did you mean \"Chief\"?\n"
	              "spec.policy.roles.bard: there is no such role; did you mean \"board\"?" },
	{ .policy = "{'cleanPods':'Al','fail':'Al','roles':{'worker':{'fail':'Al'}}}",
	  .problems = "spec.policy.cleanPods: must be All, Running or None, found \"Al\"; did you mean \"All\"?\n"
	              "spec.policy.fail: must be Any or All, found \"Al\"; did you mean \"All\"?\n"
	              "spec.policy.roles.worker.fail: must be Any, Rank0, All or None, found \"Al\"; did you mean "
	              "\"All\"?" },
	{ .own = "{'restart':{'policy':'OnNodeFale','scope':'Roe'}}",
	  .problems = "spec.restart.policy: must be Never, Always, OnFailure, OnNodeFail, ExitCode or "
	              "OnNodeFailWithExitCode, "
	              "found \"OnNodeFale\"; did you mean \"OnNodeFail\"?\n"
	              "spec.restart.scope: must be Pod, Role or Job, found \"Roe\"; did you mean \"Role\"?" },
	{ .policy = "{'restart':{'scope':'Jod'}}",
	  .problems = "spec.policy.restart.scope: must be Pod, Role or Job, found \"Jod\"; did you mean \"Pod\"?" },
	{ .policy = "{'roles':['worker']}",
	  .problems = "spec.policy.roles: must be an object with a role's name for each key, found a list" },
	{ .policy = "{'restart':{'bakoff':1,'backoff':{'initalSeconds':1}}}",
	  .problems = "spec.policy.restart.bakoff: unknown field; did you mean \"backoff\"?\n"
	              "spec.policy.restart.backoff.initalSeconds: unknown field; did you mean \"initialSeconds\"?" },
	/* A kind's mistakes are found, too; only users have roles. */
	{ .own = "{'roles':{}}",
	  .by_default = "{'clean':'All'}",
	  .problems = "spec.roles: unknown field; must be restart, complete, fail, timeLimit, activeDeadlineSeconds, "
	              "ttlSecondsAfterFinished, cleanPods, suspend or tensorboard\n"
	              "spec.clean: unknown field; must be restart, complete, fail, timeLimit, activeDeadlineSeconds, "
	              "ttlSecondsAfterFinished, cleanPods, suspend or tensorboard" },
};

static void test_job(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		const struct job_case *c = &jobs[i];
		struct bench b = BENCH_INIT;
		struct job *job = read_job(
			&b,
			arena_printf(&b.a,
		                     "{'roles':[" ROLE("worker", 2) "}," ROLE("master", 2) ",'title':'Chief'}," ROLE(
					     "board", 1) ",'aux':true}],'own':%s,'default':%s}",
		                     c->own ? c->own : "null", c->by_default ? c->by_default : "null")
				.p,
			c->policy);

		assert_string_equal(problems_text(&b, &job->problems), c->problems ? c->problems : "");
		if (c->want)
			assert_string_equal(job_text(&b, job), c->want);
		bench_release(&b);
	}
}

/* What a kind says of the chief holds for that one replica, and only as a default. */
static void test_chief(void **state)
{
	static const struct {
		const char *policy;
		enum restart_policy role, chief;
		bool code_3;
	} table[] = {
		{ NULL, RESTART_ALWAYS, RESTART_EXIT_CODE, false },
		{ "{'restart':{'policy':'Never'}}", RESTART_NEVER, RESTART_NEVER, false },
		{ "{'roles':{'worker':{'restart':{'policy':'OnFailure'}}}}", RESTART_ON_FAILURE, RESTART_ON_FAILURE,
		  false },
		{ "{'restart':{'exitCodes':3}}", RESTART_ON_NODE_FAIL_WITH_EXIT_CODE, RESTART_EXIT_CODE, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct bench b = BENCH_INIT;
		struct job *job = read_job(
			&b,
			"{'roles':[" ROLE("worker",
		                          2) ",'default':{'restart':{'policy':'Always'}},"
					     "'chief':{'restart':{'policy':'ExitCode','exitCodes':'128-255'}}}],"
					     "'default':{'complete':{'role':'worker'},'restart':{'limit':6}}}",
			table[i].policy);

		assert_string_equal(problems_text(&b, &job->problems), "");
		assert_int_equal(job->roles[0].restart.policy, table[i].role);
		assert_int_equal(job->chief_restart.policy, table[i].chief);
		assert_int_equal(job->chief_restart.limit, 6);
		assert_int_equal(code_set_has(&job->chief_restart.codes, 3), table[i].code_3);
		bench_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effective),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_chief),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
