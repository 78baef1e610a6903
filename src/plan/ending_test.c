/* Endings by policy (ending.c) and from outside (external.c), and that what has completed does not run again (judge.c).
 */
#include "plan/testing.h"

static struct t *running(int32_t ps, int32_t workers)
{
	struct t *t = t_new();

	t_role(t, "ps", ps);
	t_role(t, "worker", workers);
	t_settle(t);
	t_run(t);
	t_settle(t);
	return t;
}

/* Which replicas end how, and what that means for the job: c completes, f fails, . goes on. */
static void policies(void **state)
{
	static const struct {
		enum job_end job_complete, job_fail;
		enum role_end complete, fail; /* of the workers; ps: None/None unless said by ps_* */
		enum role_end ps_complete, ps_fail;
		const char *ps, *workers;
		enum phase outcome;
	} table[] = {
		/* role All: every worker */
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_ANY, END_NONE, END_NONE, ".", "cc", PHASE_SUCCEEDED },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_ANY, END_NONE, END_NONE, ".", "c.", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_ANY, END_NONE, END_NONE, ".", "cf", PHASE_FAILED },
		/* role Any, Rank0, None */
		{ JOB_END_ALL, JOB_END_ANY, END_ANY, END_ANY, END_NONE, END_NONE, ".", ".c", PHASE_SUCCEEDED },
		{ JOB_END_ALL, JOB_END_ANY, END_RANK0, END_ANY, END_NONE, END_NONE, ".", ".c", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ANY, END_RANK0, END_ANY, END_NONE, END_NONE, ".", "c.", PHASE_SUCCEEDED },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_RANK0, END_NONE, END_NONE, ".", ".f", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_RANK0, END_NONE, END_NONE, ".", "f.", PHASE_FAILED },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_ALL, END_NONE, END_ANY, ".", "f.", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_ALL, END_NONE, END_NONE, ".", "ff", PHASE_FAILED },
		/* completion is looked at before failure */
		{ JOB_END_ALL, JOB_END_ANY, END_ANY, END_ANY, END_NONE, END_NONE, ".", "cf", PHASE_SUCCEEDED },
		/* job All and Any over two roles */
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_ANY, END_ALL, END_ANY, ".", "cc", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_ANY, END_ALL, END_ANY, "c", "cc", PHASE_SUCCEEDED },
		{ JOB_END_ANY, JOB_END_ANY, END_ALL, END_ANY, END_ALL, END_ANY, ".", "cc", PHASE_SUCCEEDED },
		{ JOB_END_ALL, JOB_END_ALL, END_ALL, END_ANY, END_ALL, END_ANY, ".", "f.", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ALL, END_ALL, END_ANY, END_ALL, END_ANY, "f", "f.", PHASE_FAILED },
		/* mixed endings that can no longer change */
		{ JOB_END_ALL, JOB_END_ALL, END_ALL, END_ALL, END_ALL, END_ALL, "c", "cf", PHASE_FAILED },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_NONE, END_NONE, END_NONE, ".", "f.", PHASE_FAILED },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_NONE, END_NONE, END_ANY, ".", "f.", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ANY, END_ALL, END_NONE, END_NONE, END_ANY, ".", "fc", PHASE_FAILED },
		/* nobody completes it: it goes on until nobody is left */
		{ JOB_END_ALL, JOB_END_ANY, END_NONE, END_NONE, END_NONE, END_NONE, ".", "cc", PHASE_NONE },
		{ JOB_END_ALL, JOB_END_ANY, END_NONE, END_NONE, END_NONE, END_NONE, "c", "cc", PHASE_FAILED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(1, 2);

		t->job.complete = table[i].job_complete;
		t->job.fail = table[i].job_fail;
		t->roles[0].complete = table[i].ps_complete;
		t->roles[0].fail = table[i].ps_fail;
		t->roles[1].complete = table[i].complete;
		t->roles[1].fail = table[i].fail;
		for (int k = 0; table[i].ps[k]; k++)
			if (table[i].ps[k] != '.')
				t_exit(t, "ps", k, table[i].ps[k] == 'f');
		for (int k = 0; table[i].workers[k]; k++)
			if (table[i].workers[k] != '.')
				t_exit(t, "worker", k, table[i].workers[k] == 'f');
		t_settle(t);
		if (t->record->outcome != table[i].outcome)
			fail_msg("row %zu: %s instead of %s", i, phase_name(t->record->outcome),
			         phase_name(table[i].outcome));
		t_free(t);
	}
}

static void the_chief_decides(void **state)
{
	static const struct {
		int32_t code;
		enum phase outcome;
	} table[] = { { 0, PHASE_SUCCEEDED }, { 3, PHASE_FAILED } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(1, 2);

		t->job.complete = JOB_END_CHIEF;
		t->job.chief_role = 1;
		t->job.chief_index = 1;
		t_exit(t, "worker", 0, 0);
		t_settle(t);
		assert_int_equal(t->record->outcome, PHASE_NONE);
		t_exit(t, "worker", 1, table[i].code);
		t_settle(t);
		assert_int_equal(t->record->outcome, table[i].outcome);
		if (!table[i].code)
			assert_string_equal(t_reason(t), "worker-1 completed");
		t_free(t);
	}
}

/* The chief is lost, nothing says that this fails the job: it ends all the same. */
static void a_lost_chief_ends_the_job(void **state)
{
	struct t *t = running(1, 1);

	(void)state;
	t->job.complete = JOB_END_CHIEF;
	t->job.chief_role = 1;
	t->roles[1].fail = END_NONE;
	t_exit(t, "worker", 0, 3);
	t_settle(t);
	assert_phase(t, "Failed");
	assert_string_equal(t->record->why.p, "MixedEnding");
	assert_contains(t_reason(t), "worker-0 exited with code 3");
	t_free(t);
}

static void a_role_without_replicas_takes_no_part(void **state)
{
	struct t *t = running(0, 1);

	(void)state;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	assert_phase(t, "Succeeded");
	t_free(t);
}

/* Recorded once, it stays, though the pod is drained away. */
static void completed_stays_completed(void **state)
{
	struct t *t = running(1, 2);

	(void)state;
	t->roles[0].complete = END_NONE;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	t_vanish(t, "worker", 0);
	t_settle(t);
	t->n_pods = 0;
	t_pod_add(t, "worker", 1, 0);
	t_pod_add(t, "ps", 0, 0);
	t_run(t);
	t_settle(t);
	assert_null(t_pod(t, "worker", 0));
	assert_int_equal(t->record->restarts, 0);
	t_exit(t, "worker", 1, 0);
	t_settle(t);
	assert_phase(t, "Succeeded");
	t_free(t);
}

/* A late create of somebody who did not know of the completion: the pod that runs again goes. */
static void a_completed_replica_does_not_run_again(void **state)
{
	struct t *t = running(1, 2);

	(void)state;
	t->roles[0].complete = END_NONE;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	t->n_pods = 0;
	t_pod_add(t, "worker", 0, 0);
	t_pod_add(t, "worker", 1, 0);
	t_pod_add(t, "ps", 0, 0);
	t_run(t);
	t_settle(t);
	assert_null(t_pod(t, "worker", 0));
	assert_non_null(t_pod(t, "worker", 1));
	t_free(t);
}

static void an_outcome_is_never_changed(void **state)
{
	struct t *t = running(1, 1);
	msec end;

	(void)state;
	t->roles[0].complete = END_NONE;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	end = t->record->end;
	assert_phase(t, "Succeeded");
	t->job.external = EXTERNAL_FAILED;
	t->job.active_deadline = 1;
	t->job.suspend = true;
	t->roles[1].count = 2;
	t_pod_add(t, "worker", 0, 9);
	t_pass(t, MINUTES(10));
	t_settle(t);
	assert_phase(t, "Succeeded");
	assert_int_equal(t->record->end, end);
	assert_int_equal(t->created, 2);
	/* What turned up late is cleaned up; the pod that completed stays for its logs. */
	assert_int_equal(t->n_pods, 1);
	assert_int_equal(t->pods[0].pod.phase, POD_SUCCEEDED);
	t_free(t);
}

static void endings_from_outside(void **state)
{
	static const struct {
		enum external_end external;
		enum phase phase;
	} table[] = {
		{ EXTERNAL_PREEMPTED, PHASE_PREEMPTED },     { EXTERNAL_FAILED, PHASE_FAILED },
		{ EXTERNAL_NODE_FAILED, PHASE_NODE_FAILED }, { EXTERNAL_SUCCEEDED, PHASE_SUCCEEDED },
		{ EXTERNAL_TIMED_OUT, PHASE_TIMED_OUT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (int when = 0; when < 3; when++) {
			struct t *t = running(1, 1);

			/* while running, during a restart, while suspended */
			t->roles[1].restart.policy = RESTART_ALWAYS;
			if (when == 1)
				t_exit(t, "worker", 0, 1);
			t->job.suspend = when == 2;
			t_settle(t);
			t->job.external = table[i].external;
			t->job.external_message = STR("node drained\nmore");
			t_settle(t);
			assert_int_equal(t->record->phase, table[i].phase);
			assert_string_equal(t_reason(t), "by annotation: node drained");
			assert_int_not_equal(t->record->end, 0);
			assert_null(t_pod(t, "worker", 0));
			t_free(t);
		}
	}
}

static void an_ending_from_outside_without_words(void **state)
{
	struct t *t = running(1, 1);

	(void)state;
	t->job.external = EXTERNAL_PREEMPTED;
	t_settle(t);
	assert_string_equal(t_reason(t), "by annotation");
	t_free(t);
}

/* An edit of the policy ends a job by a failure that is long recorded. */
static void a_policy_edit_ends_the_job(void **state)
{
	struct t *t = running(1, 2);

	(void)state;
	t->roles[1].fail = END_ALL;
	t->roles[0].complete = END_NONE;
	t_exit(t, "worker", 0, 3);
	t_settle(t);
	assert_int_equal(t->record->outcome, PHASE_NONE);
	assert_contains(t_reason(t), "1 failed");
	t->roles[1].fail = END_ANY;
	t_settle(t);
	assert_phase(t, "Failed");
	assert_contains(t_reason(t), "may not be restarted");
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies),
		cmocka_unit_test(the_chief_decides),
		cmocka_unit_test(a_lost_chief_ends_the_job),
		cmocka_unit_test(a_role_without_replicas_takes_no_part),
		cmocka_unit_test(completed_stays_completed),
		cmocka_unit_test(a_completed_replica_does_not_run_again),
		cmocka_unit_test(an_outcome_is_never_changed),
		cmocka_unit_test(endings_from_outside),
		cmocka_unit_test(an_ending_from_outside_without_words),
		cmocka_unit_test(a_policy_edit_ends_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
