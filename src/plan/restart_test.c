#include "plan/testing.h"

/* A job of COUNT workers that run. */
static struct t *workers(int32_t count, enum restart_policy policy, enum scope scope)
{
	struct t *t = t_new();
	struct role *r = t_role(t, "worker", count);

	r->restart.policy = policy;
	r->restart.scope = scope;
	t_settle(t);
	t_run(t);
	t_settle(t);
	return t;
}

/* Which policy restarts after which cause: the table of the old AITrainingJob. */
static void policies_and_causes(void **state)
{
	static const struct {
		enum restart_policy policy;
		bool failed, listed_code, node;
	} table[] = {
		{ RESTART_NEVER, false, false, false },    { RESTART_ALWAYS, true, true, true },
		{ RESTART_ON_FAILURE, true, true, false }, { RESTART_ON_NODE_FAIL, false, false, true },
		{ RESTART_EXIT_CODE, false, true, false }, { RESTART_ON_NODE_FAIL_WITH_EXIT_CODE, false, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (int cause = 0; cause < 3; cause++) {
			struct t *t = workers(2, table[i].policy, SCOPE_POD);
			bool want = cause == 0 ? table[i].failed : cause == 1 ? table[i].listed_code : table[i].node;

			t_codes(&t->roles[0], "137,200-255");
			if (cause == 2) {
				t_node(t, "node-1", true);
				t_node(t, "node-2", false);
				t_on_node(t, "worker", 1, "node-2");
				t_pass(t, SECONDS(41));
			} else {
				t_exit(t, "worker", 1, cause == 0 ? 1 : 137);
			}
			t_settle(t);
			assert_int_equal(t->record->restarts, want);
			assert_int_equal(t->record->outcome, want         ? PHASE_NONE
			                                     : cause == 2 ? PHASE_NODE_FAILED
			                                                  : PHASE_FAILED);
			t_free(t);
		}
	}
}

/* Its pod may be cleaned away; how it ended is still asked for. */
static void a_code_that_was_final_is_kept(void **state)
{
	struct t *t = workers(3, RESTART_NEVER, SCOPE_POD);

	(void)state;
	t_exit(t, "worker", 1, 77);
	t_settle(t);
	assert_true(ranges_has(&t_rec(t, "worker")->failed, 1));
	assert_int_equal(record_index_level(t_rec(t, "worker"), 1)->exit_code, 77);
	assert_int_equal(t_rec(t, "worker")->n_indexes, 1);
	t_free(t);
}

static void success_is_never_restarted(void **state)
{
	struct t *t = workers(2, RESTART_ALWAYS, SCOPE_POD);

	(void)state;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	assert_int_equal(t->record->restarts, 0);
	assert_phase(t, "Running");
	assert_contains(t_reason(t), "1 running, 1 completed");
	t_free(t);
}

/* The higher generation is recorded before anything is deleted, and a crash in between loses nothing. */
static void record_first_then_delete(void **state)
{
	struct t *t = workers(2, RESTART_ALWAYS, SCOPE_POD);
	struct record *before;

	(void)state;
	t_exit(t, "worker", 1, 3);
	before = t->record;
	t_pass(t, SECONDS(2));
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_DURABLE);
	assert_int_equal(t->plan.n_actions, 0);
	/* The write was lost: the same decision is made again, not a second one. */
	t->record = before;
	t_plan(t);
	assert_int_equal(t->record->restarts, 1);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 1);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 1);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 0);
	t_apply(t);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 1);
	assert_int_equal(t->plan.actions[0].generation, 1);
	t_free(t);
}

static void scope_pod_touches_one(void **state)
{
	struct t *t = workers(3, RESTART_ALWAYS, SCOPE_POD);

	(void)state;
	t_exit(t, "worker", 1, 3);
	t_settle(t);
	assert_int_equal(t->deleted, 1);
	assert_int_equal(t->created, 4);
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 1);
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 0);
	assert_phase(t, "Restarting");
	assert_contains(t_reason(t), "worker-1 Failed with code 3");
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	t_free(t);
}

/* Where it was and how long it ran: until its end, or, where nobody saw that, until now. */
static void each_restart_is_noted(void **state)
{
	struct t *t = workers(3, RESTART_ALWAYS, SCOPE_POD);
	struct t_pod *p = t_pod(t, "worker", 1);
	const struct restart_note *note;

	(void)state;
	p->pod.node = STR("node-7");
	p->containers[0].started = t->now;
	t_pass(t, MINUTES(90));
	t_exit(t, "worker", 1, 3);
	t_pass(t, MINUTES(1));
	t_settle(t);
	t_run(t);
	t_pod(t, "worker", 2)->pod.started = t->now - MINUTES(5);
	t_vanish(t, "worker", 2);
	t_settle(t);
	note = record_restart(t->record, 0);
	assert_int_equal(note->cause, CAUSE_DELETED);
	assert_int_equal(note->ran / MINUTES(1), 5);
	note = record_restart(t->record, 1);
	assert_int_equal(note->index, 1);
	assert_int_equal(note->exit_code, 3);
	assert_int_equal(note->ran, MINUTES(90));
	assert_string_equal(note->node.p, "node-7");
	assert_null(record_restart(t->record, 2));
	t_free(t);
}

static struct t *two_roles(enum scope scope)
{
	struct t *t = t_new();

	t_role(t, "ps", 1)->restart.policy = RESTART_ALWAYS;
	t_role(t, "worker", 2)->restart.policy = RESTART_ALWAYS;
	t->roles[0].restart.scope = t->roles[1].restart.scope = scope;
	t->roles[0].complete = END_NONE;
	t_settle(t);
	t_run(t);
	t_settle(t);
	return t;
}

static void scope_role_takes_its_siblings(void **state)
{
	struct t *t = two_roles(SCOPE_ROLE);

	(void)state;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	assert_true(ranges_has(&t_rec(t, "worker")->completed, 0));
	t_exit(t, "worker", 1, 3);
	t_settle(t);
	/* The one that had completed runs again: the others wait for it. */
	assert_int_equal(t_rec(t, "worker")->completed.n, 0);
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 1);
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 1);
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 0);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 1);
	assert_int_equal(t_rec(t, "ps")->counted_ever, 0);
	t_free(t);
}

static void scope_job_takes_all_and_counts_for_all(void **state)
{
	struct t *t = two_roles(SCOPE_JOB);

	(void)state;
	t_exit(t, "worker", 1, 3);
	t_settle(t);
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 1);
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 1);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 1);
	assert_int_equal(t_rec(t, "ps")->counted_ever, 1);
	assert_int_equal(t->record->restarts, 1);
	t_free(t);
}

/* A restart of all lets every old pod go before the first new one is made. */
static void drain_before_the_new_ones(void **state)
{
	struct t *t = two_roles(SCOPE_JOB);
	struct t_pod *stuck;

	(void)state;
	stuck = t_pod(t, "ps", 0);
	stuck->pod.meta.deleted = t->now + SECONDS(30);
	stuck->pod.meta.grace = 30;
	t_exit(t, "worker", 1, 3);
	for (int i = 0; i < 5; i++) {
		t_pass(t, SECONDS(2));
		t_plan(t);
		t_apply(t);
	}
	assert_null(t_pod(t, "worker", 0));
	assert_int_equal(t->created, 3);
	assert_true(t->record->drain);
	assert_contains(t_reason(t), "waiting for 1 old pods to be deleted");
	t->n_pods = 0;
	t_settle(t);
	assert_int_equal(t->created, 6);
	assert_false(t->record->drain);
	t_free(t);
}

static void several_failures_are_one_restart_of_the_job(void **state)
{
	struct t *t = two_roles(SCOPE_JOB);

	(void)state;
	t_exit(t, "worker", 0, 3);
	t_exit(t, "worker", 1, 4);
	t_exit(t, "ps", 0, 5);
	t_settle(t);
	assert_int_equal(t->record->restarts, 1);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_FAILED], 1);
	t_free(t);
}

/* What fails after the first failure fails because of it. */
static void the_first_failure_decides(void **state)
{
	for (int first = 0; first < 2; first++) {
		struct t *t = two_roles(SCOPE_JOB);

		(void)state;
		t->roles[0].restart.policy = RESTART_NEVER;
		t_exit(t, first ? "ps" : "worker", 0, 137);
		t_pass(t, SECONDS(2));
		t_exit(t, first ? "worker" : "ps", 0, 1);
		t_settle(t);
		assert_int_equal(t->record->outcome, first ? PHASE_FAILED : PHASE_NONE);
		assert_int_equal(t->record->restarts, first ? 0 : 1);
		t_free(t);
	}
}

static void limit_is_kept_and_said(void **state)
{
	struct t *t = workers(1, RESTART_ALWAYS, SCOPE_POD);

	(void)state;
	t->roles[0].restart.limit = 2;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(t->record->restarts, i);
		t_exit(t, "worker", 0, 3);
		t_settle(t);
		t_pass(t, MINUTES(5));
		t_settle(t);
		t_run(t);
		t_settle(t);
	}
	assert_int_equal(t->record->restarts, 2);
	assert_phase(t, "Failed");
	assert_string_equal(t->record->why.p, "RestartLimit");
	assert_contains(t_reason(t), "worker-0 exited with code 3; the restart limit of 2 is reached");
	t_free(t);
}

/* Two fail in one pass, one restart is left. */
static void limit_within_one_pass(void **state)
{
	struct t *t = workers(3, RESTART_ALWAYS, SCOPE_POD);

	(void)state;
	t->roles[0].restart.limit = 1;
	t->roles[0].restart.limit_by_role = true;
	t_exit(t, "worker", 0, 3);
	t_exit(t, "worker", 2, 3);
	t_settle(t);
	assert_int_equal(t->record->restarts, 1);
	assert_phase(t, "Failed");
	t_free(t);
}

static void disruptions_are_not_counted(void **state)
{
	static const char *const reasons[] = { "NodeShutdown", "Preempting", "OutOfcpu", "UnexpectedAdmissionError",
		                               "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct t *t = workers(2, RESTART_NEVER, SCOPE_POD);

		t->roles[0].restart.limit = 0;
		t_exit(t, "worker", 1, 137);
		t_pod(t, "worker", 1)->pod.reason = str_c(reasons[i]);
		t_pod(t, "worker", 1)->pod.disrupted = reasons[i][0] == 0;
		t_settle(t);
		assert_int_equal(t->record->outcome, PHASE_NONE);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DISRUPTED], 1);
		assert_int_equal(t_rec(t, "worker")->counted_ever, 0);
		assert_int_equal(t->record->restarts, 1);
		t_free(t);
	}
}

static void the_pods_own_deadline_is_a_failure(void **state)
{
	struct t *t = workers(1, RESTART_NEVER, SCOPE_POD);

	(void)state;
	t_exit(t, "worker", 0, 143);
	t_pod(t, "worker", 0)->pod.reason = STR("DeadlineExceeded");
	t_settle(t);
	assert_phase(t, "Failed");
	t_free(t);
}

static void what_never_began_says_why(void **state)
{
	static const char *const reasons[] = { "StartError", "CreateContainerError", "ContainerCannotRun" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct t *t = workers(1, RESTART_NEVER, SCOPE_POD);

		t_exit(t, "worker", 0, 128);
		t_pod(t, "worker", 0)->containers[0].reason = str_c(reasons[i]);
		t_pod(t, "worker", 0)->containers[0].message = STR("/no/such: No such file\nor directory");
		t_settle(t);
		assert_string_equal(
			t_reason(t),
			"worker-0 could not start: /no/such: No such file; not restarted under policy Never");
		t_free(t);
	}
}

static void oom_is_permanent_where_the_kind_says_so(void **state)
{
	for (int permanent = 0; permanent < 2; permanent++) {
		struct t *t = workers(1, RESTART_EXIT_CODE, SCOPE_POD);

		(void)state;
		t_codes(&t->roles[0], "128-255");
		t->roles[0].restart.oom_permanent = permanent;
		t_exit(t, "worker", 0, 137);
		t_pod(t, "worker", 0)->containers[0].reason = STR("OOMKilled");
		t_settle(t);
		assert_int_equal(t->record->outcome, permanent ? PHASE_FAILED : PHASE_NONE);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_OOM_KILLED], !permanent);
		if (permanent)
			assert_contains(t_reason(t), "OOMKilled");
		t_free(t);
	}
}

/* All codes ≠ 0 must be in the list; a zero among them does not matter. */
static void several_containers(void **state)
{
	static const struct {
		int32_t codes[2];
		bool restart;
	} table[] = { { { 137, 0 }, true }, { { 0, 137 }, true }, { { 137, 1 }, false }, { { 137, 140 }, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = workers(1, RESTART_EXIT_CODE, SCOPE_POD);
		struct t_pod *p = t_pod(t, "worker", 0);

		t_codes(&t->roles[0], "128-255");
		t->roles[0].n_containers = 0;
		t->roles[0].match = MATCH_PREFIX;
		t->roles[0].match_text = STR("aitj-");
		t_exit(t, "worker", 0, 1);
		p->pod.n_containers = 3;
		p->containers[0].name = STR("aitj-a");
		p->containers[1] = p->containers[0];
		p->containers[1].name = STR("aitj-b");
		p->containers[2] = p->containers[0];
		p->containers[2].name = STR("sidecar");
		p->containers[0].exit_code = table[i].codes[0];
		p->containers[1].exit_code = table[i].codes[1];
		t_settle(t);
		assert_int_equal(t->record->restarts, table[i].restart);
		t_free(t);
	}
}

/* The classes of exit codes are the chief's alone: its siblings start again whatever the code. */
static void the_chief_has_rules_of_its_own(void **state)
{
	for (int32_t index = 0; index < 2; index++) {
		struct t *t = workers(2, RESTART_ALWAYS, SCOPE_POD);

		(void)state;
		t->job.complete = JOB_END_CHIEF;
		t->job.chief_restart = t->roles[0].restart;
		t->job.chief_restart.policy = RESTART_ON_NODE_FAIL_WITH_EXIT_CODE;
		t_exit(t, "worker", index, 3);
		t_settle(t);
		assert_int_equal(t->record->outcome, index == 0 ? PHASE_FAILED : PHASE_NONE);
		assert_int_equal(t->record->restarts, index);
		t_free(t);
	}
}

static void a_deleted_pod_comes_back_uncounted(void **state)
{
	struct t *t = workers(2, RESTART_NEVER, SCOPE_POD);

	(void)state;
	t_vanish(t, "worker", 1);
	t_settle(t);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DELETED], 1);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 0);
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 1);
	t_free(t);
}

/* Nobody saw it go: the operator was down. */
static void a_pod_that_went_unseen(void **state)
{
	struct t *t = workers(2, RESTART_NEVER, SCOPE_JOB);

	(void)state;
	t->n_pods = 1;
	t_settle(t);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DELETED], 1);
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 1);
	t_free(t);
}

/* Its last state was final: that counts. */
static void a_pod_that_went_after_its_end(void **state)
{
	struct t *t = workers(2, RESTART_ALWAYS, SCOPE_POD);

	(void)state;
	t_exit(t, "worker", 0, 0);
	t_vanish(t, "worker", 0);
	t_exit(t, "worker", 1, 9);
	t_vanish(t, "worker", 1);
	t_settle(t);
	assert_true(ranges_has(&t_rec(t, "worker")->completed, 0));
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_FAILED], 1);
	assert_null(t_pod(t, "worker", 0));
	t_free(t);
}

static void results_after_the_request_to_delete_do_not_count(void **state)
{
	/* The clocks of nodes are not the server's; what was seen before the request is sure. */
	static const struct {
		msec finished; /* after the request */
		bool seen, counts;
	} table[] = {
		{ -120001, false, true }, { -119000, false, false }, { -1000, false, false },
		{ 5000, false, false },   { -1000, true, true },     { 60000, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = workers(2, RESTART_NEVER, SCOPE_POD);
		struct t_pod *p = t_pod(t, "worker", 1);
		msec asked = t->now + SECONDS(10);

		t_exit(t, "worker", 1, 0);
		p->containers[0].finished = asked + table[i].finished;
		p->pod.ended_seen = table[i].seen ? p->containers[0].finished : 0;
		p->pod.meta.deleted = asked + SECONDS(30);
		p->pod.meta.grace = 30;
		t_pass(t, SECONDS(20));
		t_plan(t);
		assert_int_equal(ranges_has(&t_rec(t, "worker")->completed, 1), table[i].counts);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DELETED], !table[i].counts);
		t_free(t);
	}
}

static void tensorboard_is_kept_running(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t_role(t, "tensorboard", 1)->aux = true;
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	t_exit(t, "tensorboard", 0, 1);
	t_settle(t);
	assert_int_equal(t_pod(t, "tensorboard", 0)->pod.generation, 1);
	assert_int_equal(t->record->restarts, 0);
	assert_phase(t, "Running");
	/* It outlives the end, and is kept running then too. */
	t_run(t);
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	assert_phase(t, "Succeeded");
	assert_non_null(t_pod(t, "tensorboard", 0));
	t_exit(t, "tensorboard", 0, 0);
	t_settle(t);
	t_pass(t, MINUTES(1));
	t_settle(t);
	assert_int_equal(t_pod(t, "tensorboard", 0)->pod.generation, 2);
	assert_phase(t, "Succeeded");
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies_and_causes),
		cmocka_unit_test(a_code_that_was_final_is_kept),
		cmocka_unit_test(success_is_never_restarted),
		cmocka_unit_test(record_first_then_delete),
		cmocka_unit_test(scope_pod_touches_one),
		cmocka_unit_test(each_restart_is_noted),
		cmocka_unit_test(scope_role_takes_its_siblings),
		cmocka_unit_test(scope_job_takes_all_and_counts_for_all),
		cmocka_unit_test(drain_before_the_new_ones),
		cmocka_unit_test(several_failures_are_one_restart_of_the_job),
		cmocka_unit_test(the_first_failure_decides),
		cmocka_unit_test(limit_is_kept_and_said),
		cmocka_unit_test(limit_within_one_pass),
		cmocka_unit_test(disruptions_are_not_counted),
		cmocka_unit_test(the_pods_own_deadline_is_a_failure),
		cmocka_unit_test(what_never_began_says_why),
		cmocka_unit_test(oom_is_permanent_where_the_kind_says_so),
		cmocka_unit_test(several_containers),
		cmocka_unit_test(the_chief_has_rules_of_its_own),
		cmocka_unit_test(a_deleted_pod_comes_back_uncounted),
		cmocka_unit_test(a_pod_that_went_unseen),
		cmocka_unit_test(a_pod_that_went_after_its_end),
		cmocka_unit_test(results_after_the_request_to_delete_do_not_count),
		cmocka_unit_test(tensorboard_is_kept_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
