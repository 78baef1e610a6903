/* Time limits (deadline.c), clean-up and time to live (cleanup.c), suspend.c, edits (edit.c). */
#include "plan/testing.h"

static struct t *running(void)
{
	struct t *t = t_new();

	t_role(t, "ps", 1)->complete = END_NONE;
	t_role(t, "worker", 2);
	t_settle(t);
	t_run(t);
	t_settle(t);
	return t;
}

static void active_deadline(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t->job.active_deadline = 100;
	t_settle(t);
	assert_int_equal(t->plan.wake, t->record->start + SECONDS(100));
	t->now = t->record->start + SECONDS(100);
	t_settle(t);
	assert_phase(t, "TimedOut");
	assert_string_equal(t_reason(t), "activeDeadlineSeconds of 100 s has passed");
	assert_null(t_pod(t, "worker", 0));
	t_free(t);
}

/* Since every replica has run once, though never all at the same time. */
static void time_limit_needs_no_common_moment(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2)->restart.policy = RESTART_ALWAYS;
	t->job.time_limit = 100;
	t_settle(t);
	t_pod(t, "worker", 0)->pod.phase = POD_RUNNING;
	t_settle(t);
	assert_int_equal(t->record->running, 0);
	t_exit(t, "worker", 0, 1);
	t_settle(t);
	t_pod(t, "worker", 1)->pod.phase = POD_RUNNING;
	t_settle(t);
	assert_int_not_equal(t->record->running, 0);
	assert_phase(t, "Restarting");
	assert_int_equal(t_rec(t, "worker")->ran.n, 0);
	t->now = t->record->running + SECONDS(100);
	t_settle(t);
	assert_phase(t, "TimedOut");
	t_free(t);
}

/* From the first pod on, which a quota may hold up, until all have run. */
static void running_deadline(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2)->restart.policy = RESTART_ALWAYS;
	t->job.running_deadline = 100;
	t->refusal = (struct refusal){ .kind = REFUSED_QUOTA, .times = 1, .at = t->now, .message = STR("quota") };
	t_plan(t);
	t_pass(t, SECONDS(1000));
	t_plan(t);
	assert_phase(t, "Pending");
	assert_int_equal(t->record->first_pod, 0);
	t->refusal = (struct refusal){ 0 };
	t_settle(t);
	assert_int_not_equal(t->record->first_pod, 0);
	t_pod(t, "worker", 0)->pod.phase = POD_RUNNING;
	t_pod(t, "worker", 1)->pod.message = STR("0/3 nodes are available");
	t->now = t->record->first_pod + SECONDS(90);
	t_settle(t);
	assert_int_equal(t->plan.wake, t->record->first_pod + SECONDS(100));
	assert_int_equal(t->plan.deadline, t->plan.wake);
	t->now = t->plan.wake;
	t_settle(t);
	assert_phase(t, "TimedOut");
	assert_true(str_eqc(t->record->why, "RunningDeadlineExceeded"));
	assert_string_equal(t_reason(t),
	                    "not all replicas ran within runningDeadlineSeconds of 100 s: waiting for worker-1 "
	                    "to be scheduled: 0/3 nodes are available");
	t_free(t);
}

/* A job that has run may wait for a node as long as it takes; one that is resumed has its time anew. */
static void running_deadline_is_for_the_start(void **state)
{
	struct t *t = running();
	msec first;

	(void)state;
	t->job.running_deadline = 100;
	first = t->record->first_pod;
	assert_int_not_equal(first, 0);
	t_vanish(t, "worker", 0);
	t_settle(t);
	t_pass(t, SECONDS(1000));
	t_settle(t);
	assert_phase(t, "Restarting");
	t->job.suspend = true;
	t_settle(t);
	t_pass(t, SECONDS(1000));
	t->job.suspend = false;
	t_settle(t);
	assert_true(t->record->first_pod >= first + SECONDS(2000));
	t->now = t->record->first_pod + SECONDS(90);
	t_settle(t);
	assert_int_equal(t->record->outcome, PHASE_NONE);
	t_pass(t, SECONDS(10));
	t_settle(t);
	assert_phase(t, "TimedOut");
	t_free(t);
}

/* What is kept after which ending. Workers: 0 completed, 1 running; ps running. */
static void clean_up(void **state)
{
	static const struct {
		enum clean clean;
		enum external_end end;
		int pods, services;
	} table[] = {
		{ CLEAN_ALL, EXTERNAL_SUCCEEDED, 0, 0 },    { CLEAN_RUNNING, EXTERNAL_SUCCEEDED, 1, 0 },
		{ CLEAN_NONE, EXTERNAL_SUCCEEDED, 3, 3 },   { CLEAN_NONE, EXTERNAL_FAILED, 3, 3 },
		{ CLEAN_NONE, EXTERNAL_TIMED_OUT, 1, 0 },   { CLEAN_NONE, EXTERNAL_PREEMPTED, 1, 0 },
		{ CLEAN_NONE, EXTERNAL_NODE_FAILED, 1, 0 }, { CLEAN_ALL, EXTERNAL_TIMED_OUT, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running();

		t->job.clean = table[i].clean;
		t_exit(t, "worker", 0, 0);
		t_settle(t);
		t->job.external = table[i].end;
		t_settle(t);
		assert_true(phase_final(t->record->phase));
		assert_int_equal(t->n_pods, table[i].pods);
		assert_int_equal(t->n_services, table[i].services);
		t_free(t);
	}
}

/* The containers' end is seen before the pod's: worker 0 stays for its logs all the same, unless a container beside
   the one that counts runs on. */
static void ended_before_its_phase(void **state)
{
	(void)state;
	for (int beside = 0; beside < 2; beside++) {
		struct t *t = running();
		struct t_pod *p = t_pod(t, "worker", 0);

		t_exit(t, "worker", 0, 0);
		p->pod.phase = POD_RUNNING;
		p->containers[1] = (struct container){ .name = STR("init"), .init = true };
		p->containers[2] = (struct container){ .name = STR("beside"), .state = CONTAINER_RUNNING };
		p->pod.n_containers = 2 + (size_t)beside;
		t_settle(t);
		t->job.external = EXTERNAL_SUCCEEDED;
		t_settle(t);
		assert_phase(t, "Succeeded");
		assert_int_equal(t->n_pods, beside ? 0 : 1);
		t_free(t);
	}
}

/* The end is recorded first; the phase is Terminating until what must go has gone. */
static void terminating_until_gone(void **state)
{
	struct t *t = running();

	(void)state;
	t->job.external = EXTERNAL_SUCCEEDED;
	t_pass(t, SECONDS(2));
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_DURABLE);
	assert_phase(t, "Terminating");
	assert_int_equal(t->record->outcome, PHASE_SUCCEEDED);
	assert_false(t->record->conditions[CONDITION_COMPLETE].status);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 3);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_SERVICE), 3);
	/* A delete that failed is tried again by the next look. */
	t_pass(t, SECONDS(2));
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 3);
	t_apply(t);
	t_settle(t);
	assert_phase(t, "Succeeded");
	assert_true(t->record->conditions[CONDITION_COMPLETE].status);
	assert_false(t->record->conditions[CONDITION_RUNNING].status);
	t_free(t);
}

static void time_to_live(void **state)
{
	struct t *t = running();

	(void)state;
	t->job.ttl = 60;
	t->job.external = EXTERNAL_SUCCEEDED;
	t_settle(t);
	assert_int_equal(t->plan.wake, t->record->end + SECONDS(60));
	assert_int_equal(t->jobs_deleted, 0);
	t->now = t->record->end + SECONDS(60);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_JOB), 1);
	t_free(t);
}

static void suspend_and_resume(void **state)
{
	struct t *t = running();
	msec start;

	(void)state;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	start = t->record->start;
	t->job.suspend = true;
	t->job.active_deadline = 30;
	t_settle(t);
	assert_phase(t, "Suspended");
	assert_string_equal(t_reason(t), "suspended");
	assert_int_equal(t->n_pods, 1); /* the completed one, for its logs */
	assert_int_equal(t->record->restarts, 0);
	t_pass(t, MINUTES(60));
	t_settle(t);
	assert_phase(t, "Suspended");
	assert_true(t->record->conditions[CONDITION_SUSPENDED].status);
	t->job.suspend = false;
	t_settle(t);
	assert_true(t->record->start > start);
	assert_int_equal(t->record->running, 0);
	/* Where members come back one by one, who has completed stays so. */
	assert_true(ranges_has(&t_rec(t, "worker")->completed, 0));
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 1);
	assert_false(t->record->conditions[CONDITION_SUSPENDED].status);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	t_free(t);
}

static void resume_of_all(void **state)
{
	struct t *t = running();

	(void)state;
	t->roles[0].restart.scope = t->roles[1].restart.scope = SCOPE_JOB;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	t->job.suspend = true;
	t_settle(t);
	assert_int_equal(t->n_pods, 0);
	t->job.suspend = false;
	t_settle(t);
	assert_int_equal(t->n_pods, 3);
	t_free(t);
}

static void born_suspended(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t->job.suspend = true;
	t_settle(t);
	assert_phase(t, "Suspended");
	assert_int_equal(t->created, 0);
	assert_int_equal(t->services_created, 0);
	assert_int_equal(t->record->level.generation, 0);
	t->job.suspend = false;
	t_settle(t);
	assert_int_equal(t->created, 1);
	t_free(t);
}

static void suspended_says_what_it_waits_for(void **state)
{
	struct t *t = running();

	(void)state;
	t->job.suspend = true;
	t_pass(t, SECONDS(2));
	t_plan(t);
	t_pass(t, SECONDS(2));
	t_plan(t);
	assert_string_equal(t_reason(t), "suspended; waiting for 3 pods to be deleted");
	t_free(t);
}

/* The members are listed in everyone's environment: another number restarts all, uncounted. */
static void resize(void **state)
{
	for (int32_t count = 1; count <= 3; count++) {
		struct t *t = running();
		bool changed = count != 2;

		(void)state;
		t->roles[1].count = count;
		t_settle(t);
		t_run(t);
		t_settle(t);
		assert_int_equal(t->n_pods, 1 + count);
		assert_int_equal(t->n_services, 1 + count);
		assert_int_equal(t_pod(t, "ps", 0)->pod.generation, changed);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_RESIZED], changed);
		assert_int_equal(t_rec(t, "worker")->counted_ever, 0);
		assert_int_equal(t->record->restarts, 0);
		assert_phase(t, "Running");
		t_free(t);
	}
}

static void elastic_members_come_and_go(void **state)
{
	for (int32_t count = 1; count <= 3; count++) {
		struct t *t = running();

		(void)state;
		t->roles[1].elastic = true;
		t->roles[1].count = count;
		t_settle(t);
		t_run(t);
		t_settle(t);
		assert_int_equal(t->n_pods, 1 + count);
		assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 0);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_RESIZED], 0);
		assert_int_equal(t_rec(t, "worker")->count, count);
		t_free(t);
	}
}

/* An index that went and comes back does not fall behind the generation of its old pods. */
static void an_index_that_comes_back(void **state)
{
	struct t *t = running();

	(void)state;
	t->roles[1].restart.policy = RESTART_ALWAYS;
	for (int i = 0; i < 3; i++) {
		t_exit(t, "worker", 1, 1);
		t_settle(t);
		t_pass(t, MINUTES(2));
		t_settle(t);
		t_run(t);
		t_settle(t);
	}
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 3);
	t->roles[1].count = 1;
	t_settle(t);
	t->roles[1].count = 2;
	t_pass(t, MINUTES(20));
	t_settle(t);
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 3 + 2);
	t_free(t);
}

/* What counts as a restart of a replica: neither an edit nor what happened before it came. */
static void a_new_replica_has_no_restarts(void **state)
{
	struct t *t = running();
	int64_t restarts[3];

	(void)state;
	t->roles[1].restart = (struct restart){ .policy = RESTART_ALWAYS, .scope = SCOPE_JOB, .limit = -1 };
	for (int i = 0; i < 2; i++) {
		t_exit(t, "worker", 1, 1);
		t_settle(t);
		t_pass(t, MINUTES(2));
		t_settle(t);
		t_run(t);
		t_settle(t);
		t->roles[1].count = 3;
		t_settle(t);
		t_run(t);
		t_settle(t);
	}
	assert_int_equal(t_pod(t, "worker", 2)->pod.generation, 3);
	for (int32_t i = 0; i < 3; i++)
		restarts[i] = record_replica_restarts(t->record, &t->roles[1], t_rec(t, "worker"), i);
	assert_int_equal(restarts[0], 2);
	assert_int_equal(restarts[1], 2);
	assert_int_equal(restarts[2], 1);
	t_free(t);
}

/* What went long ago, in a generation that nobody remembers, says nothing. */
static void a_tombstone_of_another_generation(void **state)
{
	struct t *t = running();
	struct t_pod *dead;

	(void)state;
	for (int64_t generation = -1; generation <= 5; generation += 6) {
		dead = t_pod_add(t, "worker", 1, generation);
		dead->pod.gone = true;
		t_settle(t);
		assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 0);
		assert_int_equal(t->record->restarts, 0);
		assert_int_equal(t->record->level.generation, 0);
	}
	t_free(t);
}

/* An elastic role is up when its minimum is. */
static void elastic_minimum(void **state)
{
	struct t *t = running();

	(void)state;
	t->roles[1].elastic = true;
	t->roles[1].min = 2;
	t->roles[1].count = 4;
	t_settle(t);
	assert_phase(t, "Running");
	t->roles[1].min = 3;
	t_settle(t);
	assert_phase(t, "Pending");
	t_free(t);
}

static void roles_added_and_removed(void **state)
{
	struct t *t = running();

	(void)state;
	t_role(t, "evaluator", 1);
	t_settle(t);
	assert_int_equal(t->n_pods, 4);
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 1);
	t_run(t);
	t_settle(t);
	t->job.n_roles = 2;
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_null(t_pod(t, "evaluator", 0));
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 2);
	assert_int_equal(t->record->n_roles, 2);
	assert_int_equal(t->n_services, 3);
	assert_phase(t, "Running");
	t_free(t);
}

static void tensorboard_added_restarts_nothing(void **state)
{
	struct t *t = running();

	(void)state;
	t_role(t, "tensorboard", 1)->aux = true;
	t_settle(t);
	assert_int_equal(t->n_pods, 4);
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 0);
	t->job.n_roles = 2;
	t_settle(t);
	assert_int_equal(t->n_pods, 3);
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 0);
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(active_deadline),
		cmocka_unit_test(time_limit_needs_no_common_moment),
		cmocka_unit_test(running_deadline),
		cmocka_unit_test(running_deadline_is_for_the_start),
		cmocka_unit_test(clean_up),
		cmocka_unit_test(ended_before_its_phase),
		cmocka_unit_test(terminating_until_gone),
		cmocka_unit_test(time_to_live),
		cmocka_unit_test(suspend_and_resume),
		cmocka_unit_test(resume_of_all),
		cmocka_unit_test(born_suspended),
		cmocka_unit_test(suspended_says_what_it_waits_for),
		cmocka_unit_test(resize),
		cmocka_unit_test(elastic_members_come_and_go),
		cmocka_unit_test(a_new_replica_has_no_restarts),
		cmocka_unit_test(an_index_that_comes_back),
		cmocka_unit_test(a_tombstone_of_another_generation),
		cmocka_unit_test(elastic_minimum),
		cmocka_unit_test(roles_added_and_removed),
		cmocka_unit_test(tensorboard_added_restarts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
