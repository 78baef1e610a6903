/* What the API server refuses, and names that somebody else has (refusal.c). */
#include "plan/testing.h"

static void refusals(void **state)
{
	static const struct {
		enum refusal_kind kind;
		const char *text;
	} table[] = {
		{ REFUSED_QUOTA, "forbidden, retrying: no more" },
		{ REFUSED_SERVER, "waiting for the API server: no more" },
		{ REFUSED_FOREIGN, "waiting for a name that is taken: no more" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = t_new();

		t_role(t, "worker", 1);
		t->refusal = (struct refusal){ table[i].kind, STR("no more"), 3, t->now, RES_POD,
			                       STR("worker"), .watched = true };
		t->service_refusal = t->refusal;
		t->service_refusal.resource = RES_SERVICE;
		t_plan(t);
		assert_int_equal(t->plan.n_actions, 0);
		assert_int_equal(t->plan.wake, t->now + SECONDS(4));
		assert_string_equal(t_reason(t), table[i].text);
		t_pass(t, SECONDS(4));
		t_plan(t);
		assert_int_equal(t_actions(t, ACT_CREATE, RES_SERVICE), 1);
		/* Its name comes first. */
		assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 0);
		t->service_refusal.kind = REFUSED_NOT;
		t_plan(t);
		assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 1);
		t_free(t);
	}
}

/* How soon a name is asked for again that somebody else has. */
static void names_that_are_taken(void **state)
{
	static const struct {
		msec waited;
		bool watched, going;
		int32_t times;
		msec wait;
	} table[] = {
		{ 0, false, false, 1, SECONDS(1) },
		{ SECONDS(5), false, false, 5, SECONDS(1) },
		{ SECONDS(40), false, false, 20, SECONDS(5) },
		{ MINUTES(4), false, false, 30, SECONDS(30) },
		{ MINUTES(600), false, false, 900, MINUTES(1) },
		/* The clock was set back. */
		{ -MINUTES(600), false, false, 9, SECONDS(1) },
		/* It goes soon; a finalizer may keep it for days. */
		{ SECONDS(40), false, true, 40, SECONDS(1) },
		{ MINUTES(4), false, true, 240, SECONDS(1) },
		{ MINUTES(600), false, true, 900, MINUTES(1) },
		/* A watch shows its end. */
		{ SECONDS(40), true, true, 6, SECONDS(32) },
		{ SECONDS(40), true, false, 6, SECONDS(32) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct refusal r = { .kind = REFUSED_FOREIGN,
			             .times = table[i].times,
			             .at = MINUTES(1000),
			             .since = MINUTES(1000) - table[i].waited,
			             .watched = table[i].watched,
			             .going = table[i].going };

		assert_int_equal(plan_refused_until(&r) - r.at, table[i].wait);
	}
}

/* However long somebody keeps it, the questions are few. */
static void names_that_stay_taken(void **state)
{
	struct refusal r = { .kind = REFUSED_FOREIGN, .times = 1 };
	int questions = 0;

	(void)state;
	for (; r.at < MINUTES(8); questions++)
		r.at = plan_refused_until(&r);
	assert_in_range(questions, 20, 50);
	for (questions = 0; r.at < MINUTES(68); questions++)
		r.at = plan_refused_until(&r);
	assert_in_range(questions, 58, 62);
}

/* The pods of that role were refused once more. */
static void refuse_pods(struct t *t, const char *role, enum refusal_kind kind, const char *message)
{
	t->refusal.resource = RES_POD;
	t->refusal.role = str_c(role);
	plan_refused(&t->refusal, kind, str_c(message), t->now);
}

static void refused_for_good(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1)->service = false;
	for (int i = 0; i < 7; i++) {
		assert_phase(t, i ? "Pending" : "");
		refuse_pods(t, "worker", REFUSED_INVALID, "Pod is invalid: spec.x");
		t_plan(t);
		assert_int_equal(t->plan.n_actions, 0);
		if (i < 6) {
			assert_string_equal(t_reason(t), "refused, retrying: Pod is invalid: spec.x");
			t->now = refusal_until(&t->refusal);
		}
	}
	t_settle(t);
	assert_phase(t, "Failed");
	assert_string_equal(t_reason(t), "the API server refuses the pods or services: Pod is invalid: spec.x");
	assert_int_equal(t->created, 0);
	t_free(t);
}

/* A restart of the whole job is noted in each of its roles, also in one that never had a pod. */
static void refused_beside_a_role_that_fails(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "scheduler", 1);
	t_role(t, "worker", 1)->restart = (struct restart){ .policy = RESTART_ALWAYS, .scope = SCOPE_JOB, .limit = -1 };
	t_settle(t);
	/* The scheduler was refused. */
	t->n_pods = 0;
	t->record = NULL;
	t_pod_add(t, "worker", 0, 0);
	t_run(t);
	t_plan(t);
	t_exit(t, "worker", 0, 1);
	for (int i = 0; i < 10 && !t->record->outcome; i++) {
		refuse_pods(t, "scheduler", REFUSED_INVALID, "no");
		t_plan(t);
		t->now = refusal_until(&t->refusal);
	}
	assert_int_equal(t_rec(t, "scheduler")->restarts[CAUSE_FAILED], 1);
	assert_int_equal(t->record->outcome, PHASE_FAILED);
	assert_contains(t_reason(t), "the API server refuses the pods or services: no");
	t_free(t);
}

/* A job that has trained for days does not end because somebody's policy denies a pod for a while. */
static void what_was_accepted_once_is_waited_for(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2)->restart = (struct restart){ .policy = RESTART_ALWAYS, .limit = -1 };
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_true(t_rec(t, "worker")->accepted);
	t_exit(t, "worker", 1, 137);
	for (int i = 0; i < 100; i++) {
		t_plan(t);
		for (size_t k = 0; k < t->plan.n_actions; k++)
			if (t->plan.actions[k].resource == RES_POD)
				refuse_pods(t, "worker", REFUSED_INVALID, "denied");
			else
				t_apply(t);
		t_pass(t, SECONDS(30));
	}
	assert_int_equal(t->record->outcome, PHASE_NONE);
	assert_contains(t_reason(t), "refused, retrying: denied");
	assert_int_equal(t_rec(t, "worker")->now.active, 1);
	t->refusal = (struct refusal){ 0 };
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	t_free(t);
}

/* Their first pods are seen in the very pass that suspends the job, or in one whose generation is over: they were
   accepted all the same. */
static void accepted_before_anybody_looked(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2);
	t_settle(t);
	t->record->roles[0].accepted = false;
	t->record->roles[0].seen.n = 0;
	t->job.suspend = true;
	t_settle(t);
	assert_int_equal(t->n_pods, 0);
	t->job.suspend = false;
	t_plan(t);
	for (int i = 0; i < 10; i++) {
		refuse_pods(t, "worker", REFUSED_INVALID, "denied");
		t_plan(t);
		t_pass(t, SECONDS(30));
	}
	assert_int_equal(t->record->outcome, PHASE_NONE);
	t_free(t);
}

/* Neither a quota nor a short time, nor what we cannot build, nor reasons that take turns. */
static void refusals_that_are_not_final(void **state)
{
	static const struct {
		enum refusal_kind kind, between;
		msec pause;
		int times;
	} table[] = {
		{ REFUSED_QUOTA, REFUSED_NOT, SECONDS(60), 50 },   { REFUSED_SERVER, REFUSED_NOT, SECONDS(60), 50 },
		{ REFUSED_UNBUILT, REFUSED_NOT, SECONDS(60), 50 }, { REFUSED_INVALID, REFUSED_NOT, SECONDS(1), 50 },
		{ REFUSED_INVALID, REFUSED_NOT, MINUTES(10), 4 },  { REFUSED_INVALID, REFUSED_QUOTA, SECONDS(60), 50 },
		{ REFUSED_FOREIGN, REFUSED_NOT, SECONDS(60), 50 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = t_new();

		t_role(t, "worker", 1);
		for (int n = 0; n < table[i].times; n++) {
			bool turn = table[i].between != REFUSED_NOT && n % 2;

			refuse_pods(t, "worker", turn ? table[i].between : table[i].kind, "no");
			t_plan(t);
			assert_int_equal(t->record->outcome, PHASE_NONE);
			t_pass(t, table[i].pause);
		}
		t_free(t);
	}
}

/* What was refused is there all the same: a late create, an answer that was lost. What was said of it is over, and
   counts no more; what was said of another sort is not. */
static void refusal_that_has_passed(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t->refusal = (struct refusal){ REFUSED_INVALID, STR("no"),           9, t->now, RES_POD,
		                       STR("worker"),   t->now - MINUTES(5), 9 };
	t->service_refusal = t->refusal;
	t->service_refusal.resource = RES_SERVICE;
	t->n_services = 0;
	t_plan(t);
	assert_true(t->plan.passed[0]);
	assert_false(t->plan.passed[1]);
	t->n_services = 1;
	t_plan(t);
	assert_true(t->plan.passed[0] && t->plan.passed[1]);
	t_vanish(t, "worker", 0);
	t->n_pods = 0;
	t->record->roles[0].seen.n = 0;
	t_plan(t);
	assert_false(t->plan.passed[0]);
	assert_true(t->plan.passed[1]);
	t->refusal.role = STR("ps");
	t_plan(t);
	assert_false(t->plan.passed[0]);
	t_free(t);
}

/* A job of two roles that has run. */
static struct t *two_roles(void)
{
	struct t *t = t_new();

	t_role(t, "ps", 2)->restart.policy = RESTART_ALWAYS;
	t_role(t, "worker", 2)->restart.policy = RESTART_ALWAYS;
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	return t;
}

/* One pod of each role is lost, and the server takes none of one role: the other one comes back. */
static void one_role_does_not_wait_for_another(void **state)
{
	(void)state;
	for (int other = 0; other < 2; other++) {
		struct t *t = two_roles();

		t_exit(t, "ps", 1, 1);
		t_exit(t, "worker", 1, 1);
		refuse_pods(t, other ? "worker" : "ps", REFUSED_QUOTA, "exceeded quota");
		t->refusal.at += MINUTES(10);
		t_settle(t);
		assert_null(t_pod(t, other ? "worker" : "ps", 1));
		assert_non_null(t_pod(t, other ? "ps" : "worker", 1));
		t_run(t);
		t_settle(t);
		assert_contains(t_reason(t), "forbidden, retrying: exceeded quota");
		t_free(t);
	}
}

/* A service is gone and refused. Pods of its own role come back all the same, but for the one that nobody would find.
 */
static void pods_do_not_wait_for_services_of_others(void **state)
{
	struct t *t = two_roles();

	(void)state;
	t->services[3] = t->services[--t->n_services];
	assert_int_equal(t->n_services, 3);
	t->service_refusal =
		(struct refusal){ REFUSED_QUOTA, STR("exceeded quota: services"), 9, t->now + MINUTES(500), RES_SERVICE,
		                  STR("worker") };
	t_settle(t);
	assert_phase(t, "Running");
	assert_string_equal(t_reason(t),
	                    "4 running; services of worker: forbidden, retrying: exceeded quota: services");
	t_exit(t, "ps", 1, 1);
	t_exit(t, "worker", 0, 1);
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	assert_non_null(t_pod(t, "ps", 1));
	assert_non_null(t_pod(t, "worker", 0));
	assert_null(t_pod(t, "worker", 1));
	t_run(t);
	t_settle(t);
	assert_contains(t_reason(t), "forbidden, retrying: exceeded quota: services");
	t->service_refusal.kind = REFUSED_NOT;
	t_settle(t);
	assert_non_null(t_pod(t, "worker", 1));
	t_free(t);
}

/* Somebody's policy denies our DELETE: that pod is asked for again later each time, and the others come back. */
static void one_that_cannot_be_deleted(void **state)
{
	struct t *t = two_roles();
	int asked = 0;

	(void)state;
	t->undeleted = STR("a policy denied it");
	t_exit(t, "ps", 0, 1);
	t_exit(t, "worker", 1, 1);
	for (int i = 0; i < 600; i++) {
		t_plan(t);
		for (size_t k = 0; k < t->plan.n_actions; k++)
			if (t->plan.actions[k].type == ACT_DELETE &&
			    str_eqc(t->plan.actions[k].target->name, "job-ps-0")) {
				asked++;
				plan_undeleted(&t_pod(t, "ps", 0)->pod.undeleted, t->now);
				t->plan.actions[k] = t->plan.actions[--t->plan.n_actions];
			}
		t_apply(t);
		t_run(t);
		t_pass(t, SECONDS(1));
	}
	/* Ten minutes: 1, 2, 4 … 60 s apart. */
	assert_true(asked > 8 && asked < 20);
	assert_int_equal(t_pod(t, "worker", 1)->pod.phase, POD_RUNNING);
	assert_contains(t_reason(t), "; pod job-ps-0 cannot be deleted: a policy denied it");
	assert_true(t->plan.wake < NEVER);
	/* It is let go. */
	t_pod(t, "ps", 0)->pod.undeleted.at -= MINUTES(2);
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_string_equal(t_reason(t), "4 running");
	t_free(t);
}

/* Who begins asks for the names of all: no pod before its job has them. */
static void a_job_that_begins_waits_for_all_services(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "ps", 1);
	t_role(t, "worker", 1);
	t->service_refusal = (struct refusal){ REFUSED_QUOTA, STR("exceeded quota: services"), 9, t->now, RES_SERVICE,
		                               STR("worker") };
	t_settle(t);
	assert_int_equal(t->n_services, 1);
	assert_int_equal(t->n_pods, 0);
	assert_contains(t_reason(t), "forbidden, retrying: exceeded quota: services");
	t_pass(t, MINUTES(2));
	t_settle(t);
	assert_int_equal(t->n_services, 2);
	t_free(t);
}

static void refusal_codes(void **state)
{
	static const struct {
		int code;
		const char *reason;
		enum refusal_kind kind;
	} table[] = {
		{ 201, "", REFUSED_NOT },
		{ 400, "", REFUSED_INVALID },
		{ 422, "", REFUSED_INVALID },
		{ 403, "", REFUSED_QUOTA },
		{ 404, "", REFUSED_SERVER },
		{ 409, "AlreadyExists", REFUSED_FOREIGN },
		{ 409, "Conflict", REFUSED_SERVER },
		{ 429, "", REFUSED_SERVER },
		{ 500, "", REFUSED_SERVER },
		/* whatever somebody on the way says: it is said to people, too */
		{ 405, "", REFUSED_SERVER },
		{ 413, "", REFUSED_SERVER },
		{ 418, "", REFUSED_SERVER },
		{ 302, "", REFUSED_SERVER },
		{ 401, "", REFUSED_NOT },
		{ 503, "", REFUSED_SERVER },
		{ 0, "", REFUSED_NOT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(plan_refusal(table[i].code, str_c(table[i].reason)), table[i].kind);
}

static void who_owns_a_name(void **state)
{
	const struct replica_labels w1 = { STR("worker"), 1 }, w2 = { STR("worker"), 2 }, p1 = { STR("ps"), 1 },
				    none = { 0 };
	const struct meta mine = { .owner_uid = STR("u1") }, nobodys = { 0 };
	struct str u1 = STR("u1"), u2 = STR("u2");

	(void)state;
	assert_int_equal(plan_conflict(u1, &w1, &mine, u1, &w1), CONFLICT_OURS);
	assert_int_equal(plan_conflict(u1, &w1, &mine, STR_NONE, &none), CONFLICT_ADOPT);
	assert_int_equal(plan_conflict(u1, &w1, &mine, u1, &none), CONFLICT_ADOPT);
	assert_int_equal(plan_conflict(u1, &w1, &mine, u1, &w2), CONFLICT_OTHER);
	assert_int_equal(plan_conflict(u1, &w1, &mine, u1, &p1), CONFLICT_OTHER);
	/* A PodGroup is no replica's. */
	assert_int_equal(plan_conflict(u1, &none, &mine, u1, &none), CONFLICT_OURS);
	assert_int_equal(plan_conflict(u2, &w1, &mine, u2, &w1), CONFLICT_FOREIGN);
	assert_int_equal(plan_conflict(u1, &w1, &nobodys, u1, &w1), CONFLICT_FOREIGN);
}

static void taken_by_another_replica(void **state)
{
	const struct replica_labels w1 = { STR("worker"), 1 }, w0 = { STR("worker"), 0 };
	struct meta m = { .name = STR("mnist-worker") };
	struct arena a = ARENA_INIT;

	(void)state;
	assert_string_equal(plan_taken_by("pod", &m, &w0, &w1, &a).p,
	                    "pod mnist-worker is worker-0's by its labels, and worker-1 would have the same name");
	arena_release(&a);
}

static void taken_says_whose(void **state)
{
	struct arena a = ARENA_INIT;
	struct meta m = { .name = STR("mnist-ps-0") };

	(void)state;
	assert_string_equal(plan_taken("pod", &m, &a).p, "pod mnist-ps-0 has no owner");
	m.owner_uid = STR("u1");
	assert_string_equal(plan_taken("pod", &m, &a).p, "pod mnist-ps-0 belongs to u1");
	m.owner = STR("TFJob/other");
	assert_string_equal(plan_taken("service", &m, &a).p, "service mnist-ps-0 belongs to TFJob/other");
	m.deleted = 1;
	assert_string_equal(plan_taken("pod", &m, &a).p, "pod mnist-ps-0 belongs to TFJob/other and is being deleted");
	arena_release(&a);
}

/* Somebody deletes the services as fast as they are made: the operator does not race. */
static void services_that_are_taken_away(void **state)
{
	struct t *t = t_new();
	int made = 0;

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_run(t);
	t_settle(t);
	for (int i = 0; i < 600; i++) {
		if (t->n_services) {
			t->n_services = 0;
			plan_lost(&t->losses, t->now);
		}
		t_plan(t);
		made += (int)t_actions(t, ACT_CREATE, RES_SERVICE);
		t_apply(t);
		t_pass(t, SECONDS(1));
	}
	/* Ten minutes: 1, 2, 4 … 60 s apart. */
	assert_true(made > 8 && made < 20);
	/* After a quiet time it is made at once again. */
	t_pass(t, MINUTES(10));
	t->n_services = 0;
	plan_lost(&t->losses, t->now);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_SERVICE), 1);
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(names_that_are_taken),
		cmocka_unit_test(names_that_stay_taken),
		cmocka_unit_test(refused_for_good),
		cmocka_unit_test(refused_beside_a_role_that_fails),
		cmocka_unit_test(what_was_accepted_once_is_waited_for),
		cmocka_unit_test(accepted_before_anybody_looked),
		cmocka_unit_test(refusals_that_are_not_final),
		cmocka_unit_test(refusal_that_has_passed),
		cmocka_unit_test(one_role_does_not_wait_for_another),
		cmocka_unit_test(pods_do_not_wait_for_services_of_others),
		cmocka_unit_test(a_job_that_begins_waits_for_all_services),
		cmocka_unit_test(one_that_cannot_be_deleted),
		cmocka_unit_test(refusal_codes),
		cmocka_unit_test(who_owns_a_name),
		cmocka_unit_test(taken_by_another_replica),
		cmocka_unit_test(taken_says_whose),
		cmocka_unit_test(services_that_are_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
