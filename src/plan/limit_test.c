/* The restart limit: whose count it is, and when it begins anew. */
#include "plan/testing.h"

static struct t *workers(int32_t count, enum scope scope, int32_t limit, int32_t window)
{
	struct t *t = t_new();
	struct role *r = t_role(t, "worker", count);

	r->restart = (struct restart){
		.policy = RESTART_ALWAYS, .scope = scope, .limit = limit, .window = window, .backoff_max = 1
	};
	t_settle(t);
	t_run(t);
	t_settle(t);
	return t;
}

/* It runs for that long, fails, and what starts again runs. */
static void fail_after(struct t *t, int32_t index, msec ran)
{
	t_pass(t, ran);
	t_exit(t, "worker", index, 3);
	t_settle(t);
	t_pass(t, SECONDS(2));
	t_settle(t);
	t_run(t);
	t_settle(t);
}

/* Eight workers that each fail once are no reason to give up. */
static void by_replica(void **state)
{
	struct t *t = workers(8, SCOPE_POD, 1, 3600);

	(void)state;
	for (int32_t i = 0; i < 8; i++)
		fail_after(t, i, SECONDS(10));
	assert_phase(t, "Running");
	assert_int_equal(t->record->restarts, 8);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 8);
	assert_int_equal(t_rec(t, "worker")->limit.counted, 1);
	assert_int_equal(t_rec(t, "worker")->limit.of, 1);
	assert_int_equal(t_rec(t, "worker")->limit.by, SCOPE_POD);
	assert_int_equal(t_rec(t, "worker")->limit.window, 3600);
	fail_after(t, 3, SECONDS(10));
	assert_int_equal(t->record->outcome, PHASE_FAILED);
	assert_contains(t_reason(t), "worker-3 exited with code 3; the restart limit of 1 is reached");
	t_free(t);
}

/* What starts again together is counted together. */
static void by_role_and_by_job(void **state)
{
	(void)state;
	for (enum scope scope = SCOPE_ROLE; scope <= SCOPE_JOB; scope++) {
		struct t *t = workers(3, scope, 2, 3600);

		fail_after(t, 0, SECONDS(10));
		fail_after(t, 1, SECONDS(10));
		assert_int_equal(t_rec(t, "worker")->limit.counted, 2);
		assert_int_equal(t_rec(t, "worker")->limit.by, scope);
		fail_after(t, 2, SECONDS(10));
		assert_int_equal(t->record->outcome, PHASE_FAILED);
		t_free(t);
	}
}

/* AITrainingJob's own limit: of the role, for its whole life, whatever starts again. */
static void of_the_role_for_its_life(void **state)
{
	(void)state;
	for (enum scope scope = SCOPE_POD; scope <= SCOPE_JOB; scope++) {
		struct t *t = workers(3, scope, 2, 0);

		t->roles[0].restart.limit_by_role = true;
		fail_after(t, 0, MINUTES(600));
		fail_after(t, 1, MINUTES(600));
		assert_int_equal(t_rec(t, "worker")->limit.counted, 2);
		assert_int_equal(t_rec(t, "worker")->limit.by, SCOPE_ROLE);
		fail_after(t, 2, MINUTES(600));
		assert_int_equal(t->record->outcome, PHASE_FAILED);
		t_free(t);
	}
}

/* An attempt that ran for a whole window begins anew; what is shown as restarts counts on. */
static void window(void **state)
{
	(void)state;
	for (enum scope scope = SCOPE_POD; scope <= SCOPE_JOB; scope++) {
		struct t *t = workers(2, scope, 2, 3600);

		for (int i = 0; i < 5; i++) {
			fail_after(t, 1, SECONDS(3600));
			assert_int_equal(t_rec(t, "worker")->limit.counted, 1);
		}
		assert_int_equal(t->record->restarts, 5);
		assert_int_equal(t_rec(t, "worker")->counted_ever, 5);
		fail_after(t, 1, SECONDS(3590));
		assert_int_equal(t_rec(t, "worker")->limit.counted, 2);
		fail_after(t, 1, SECONDS(3590));
		assert_int_equal(t->record->outcome, PHASE_FAILED);
		t_free(t);
	}
}

/* The limit of 0 is 0, however long it ran. */
static void no_restart_at_all(void **state)
{
	struct t *t = workers(1, SCOPE_POD, 0, 60);

	(void)state;
	fail_after(t, 0, MINUTES(60));
	assert_int_equal(t->record->outcome, PHASE_FAILED);
	t_free(t);
}

/* Of a lost node nobody says when the container ended: the pod's age counts. */
static void window_on_a_lost_node(void **state)
{
	static const struct {
		msec ran;
		int32_t counted;
	} table[] = { { MINUTES(30), 2 }, { MINUTES(60), 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = workers(2, SCOPE_POD, 5, 3600);

		t_node(t, "node-1", true);
		t_node(t, "node-2", true);
		fail_after(t, 1, SECONDS(10));
		t_on_node(t, "worker", 1, "node-2");
		t_pass(t, table[i].ran);
		t_node(t, "node-2", false);
		t_pass(t, SECONDS(40));
		t_plan(t);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_NODE_FAIL], 1);
		assert_int_equal(t_rec(t, "worker")->limit.counted, table[i].counted);
		t_free(t);
	}
}

/* The kubelet does not find its container any more when it writes the pod's last status. */
static void window_of_a_lost_container(void **state)
{
	static const struct {
		msec ran;
		bool has_run;
		int32_t counted;
	} table[] = {
		{ MINUTES(60 * 24), true, 1 },
		{ MINUTES(59), true, 2 },
		{ MINUTES(60 * 24), false, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = workers(1, SCOPE_POD, 5, 3600);
		struct t_pod *p;

		fail_after(t, 0, SECONDS(10));
		t_pass(t, table[i].ran);
		p = t_pod(t, "worker", 0);
		p->pod.phase = POD_FAILED;
		if (table[i].has_run) {
			p->pod.reason = STR("Evicted");
			p->containers[0].state = CONTAINER_WAITING;
			p->containers[0].ran = true;
		} else {
			/* A container that nobody ever started. */
			p->containers[0].state = CONTAINER_TERMINATED;
			p->containers[0].exit_code = 137;
		}
		p->containers[0].started = 0;
		t_settle(t);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_FAILED], 2);
		assert_int_equal(t_rec(t, "worker")->limit.counted, table[i].counted);
		t_free(t);
	}
}

/* One that ended before it started: its pod knows better. Nobody knows that one without a start has run. */
static void times_that_make_no_sense(void **state)
{
	static const struct {
		msec started, finished; /* before now */
		int32_t counted;
	} table[] = { { 0, 1, 2 },
		      { MINUTES(1), MINUTES(90), 2 },
		      { MINUTES(1), MINUTES(30), 1 },
		      /* at once, and its pod was long in coming */
		      { MINUTES(1), MINUTES(1), 2 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = workers(1, SCOPE_POD, 5, 3600);
		struct t_pod *p;

		fail_after(t, 0, SECONDS(10));
		t_pass(t, MINUTES(120));
		t_exit(t, "worker", 0, 3);
		p = t_pod(t, "worker", 0);
		p->containers[0].started = table[i].started ? t->now - table[i].started : 0;
		p->containers[0].finished = t->now - table[i].finished;
		t_settle(t);
		assert_int_equal(t_rec(t, "worker")->limit.counted, table[i].counted);
		t_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_replica),
		cmocka_unit_test(by_role_and_by_job),
		cmocka_unit_test(of_the_role_for_its_life),
		cmocka_unit_test(window),
		cmocka_unit_test(no_restart_at_all),
		cmocka_unit_test(window_on_a_lost_node),
		cmocka_unit_test(window_of_a_lost_container),
		cmocka_unit_test(times_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
