/* What is told while pods go: suspended, ended, deleted; and members of an elastic role that leave. */
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

static void look(struct t *t)
{
	t_pass(t, SECONDS(2));
	t_plan(t);
}

static bool is_true(const struct t *t, enum condition c)
{
	return t->record->conditions[c].status;
}

/* The API server has taken the request to delete; the kubelet takes its time. */
static void asked_to_go(struct t *t)
{
	for (size_t i = 0; i < t->n_pods; i++) {
		t->pods[i].pod.meta.deleted = t->now + SECONDS(30);
		t->pods[i].pod.meta.grace = 30;
	}
}

/* Suspended means that nothing of it takes room any more. */
static void suspended_when_all_are_gone(void **state)
{
	struct t *t = running();

	(void)state;
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	t->job.suspend = true;
	look(t);
	assert_true(t->record->suspended);
	assert_phase(t, "Terminating");
	assert_false(is_true(t, CONDITION_SUSPENDED));
	look(t);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 2);
	asked_to_go(t);
	look(t);
	assert_phase(t, "Terminating");
	assert_string_equal(t_reason(t), "suspended; waiting for 2 pods to be deleted");
	/* What is on a node and has not ended takes its room still. */
	assert_int_equal(t_rec(t, "ps")->now.active, 1);
	assert_int_equal(t_rec(t, "worker")->now.active, 1);
	assert_int_equal(t_rec(t, "worker")->now.pending, 0);
	assert_int_equal(t_rec(t, "worker")->now.succeeded, 1);
	t_vanish(t, "ps", 0);
	look(t);
	assert_phase(t, "Terminating");
	assert_int_equal(t_rec(t, "ps")->now.active, 0);
	t_vanish(t, "worker", 1);
	look(t);
	/* The pod of the one that has completed stays. */
	assert_phase(t, "Suspended");
	assert_true(is_true(t, CONDITION_SUSPENDED));
	assert_non_null(t_pod(t, "worker", 0));
	assert_int_equal(t_rec(t, "worker")->now.active, 0);
	assert_int_equal(t_rec(t, "worker")->now.pending, 1);
	t_free(t);
}

/* The write that told of the first pods was lost, and now the job is suspended. */
static void suspended_before_its_first_record(void **state)
{
	struct t *t = running();

	(void)state;
	t->record = NULL;
	t->job.suspend = true;
	look(t);
	assert_phase(t, "Terminating");
	t_settle(t);
	assert_phase(t, "Suspended");
	assert_int_equal(t->deleted, 3);
	assert_int_equal(t->n_pods, 0);
	t->job.suspend = false;
	t_settle(t);
	assert_int_equal(t->n_pods, 3);
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 1);
	t_free(t);
}

/* A create was on its way when the job was suspended, and nothing of it was known. */
static void made_late_for_a_suspended_job(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2);
	t->job.suspend = true;
	t_settle(t);
	assert_phase(t, "Suspended");
	t_pod_add(t, "worker", 1, 0);
	look(t);
	assert_phase(t, "Terminating");
	t_settle(t);
	assert_int_equal(t->deleted, 1);
	assert_phase(t, "Suspended");
	t->job.suspend = false;
	t_settle(t);
	assert_int_equal(t->n_pods, 2);
	assert_int_equal(t->record->restarts, 0);
	t_free(t);
}

/* As the batch API does it: what is decided is told at once, the end when the pods have gone. */
static void the_end_is_told_twice(void **state)
{
	static const struct {
		enum external_end end;
		enum condition first, last, never;
	} table[] = {
		{ EXTERNAL_SUCCEEDED, CONDITION_SUCCESS_CRITERIA_MET, CONDITION_COMPLETE, CONDITION_FAILURE_TARGET },
		{ EXTERNAL_FAILED, CONDITION_FAILURE_TARGET, CONDITION_FAILED, CONDITION_SUCCESS_CRITERIA_MET },
		{ EXTERNAL_TIMED_OUT, CONDITION_FAILURE_TARGET, CONDITION_FAILED, CONDITION_SUCCESS_CRITERIA_MET },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running();

		assert_false(t->record->conditions[table[i].first].set);
		t->job.external = table[i].end;
		look(t);
		assert_true(is_true(t, table[i].first));
		assert_false(is_true(t, table[i].last));
		assert_phase(t, "Terminating");
		look(t);
		asked_to_go(t);
		look(t);
		assert_false(is_true(t, table[i].last));
		while (t->n_pods)
			t->pods[--t->n_pods].pod.gone = true;
		t_settle(t);
		assert_true(is_true(t, table[i].last));
		assert_true(is_true(t, table[i].first));
		assert_false(t->record->conditions[table[i].never].set);
		t_free(t);
	}
}

/* A finalizer, or a node that never comes back, does not hold the end for ever. */
static void a_pod_that_never_goes(void **state)
{
	struct t *t = running();
	msec until;

	(void)state;
	t->job.external = EXTERNAL_SUCCEEDED;
	look(t);
	look(t);
	asked_to_go(t);
	until = t->pods[0].pod.meta.deleted + t->config.force_delete_after;
	look(t);
	assert_int_equal(t->plan.wake, until);
	t->now = until - 1;
	t_plan(t);
	assert_phase(t, "Terminating");
	t->now = until;
	t_plan(t);
	assert_phase(t, "Succeeded");
	assert_int_equal(t->n_pods, 3);
	t_free(t);
}

/* We may not delete it: its end is not told at once, but some day. */
static void a_pod_that_nobody_may_delete(void **state)
{
	struct t *t = running();
	msec until;

	(void)state;
	t->job.external = EXTERNAL_SUCCEEDED;
	t->config.force_delete_after = 0;
	look(t);
	until = t->record->end + MINUTES(5);
	look(t);
	assert_int_equal(t->plan.wake, until);
	assert_phase(t, "Terminating");
	t->now = until;
	t_plan(t);
	assert_phase(t, "Succeeded");
	assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 3);
	t_free(t);
}

/* The pods take longer to go than the job shall live: whoever waits for its end sees it. */
static void a_short_life_waits_for_the_end(void **state)
{
	struct t *t = running();

	(void)state;
	t->job.ttl = 0;
	t->job.external = EXTERNAL_SUCCEEDED;
	look(t);
	look(t);
	asked_to_go(t);
	look(t);
	assert_phase(t, "Terminating");
	assert_int_equal(t_actions(t, ACT_DELETE, RES_JOB), 0);
	while (t->n_pods)
		t->pods[--t->n_pods].pod.gone = true;
	look(t);
	assert_phase(t, "Succeeded");
	look(t);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_JOB), 1);
	t_free(t);
}

/* Kubernetes collects the children of a job that is deleted in the foreground: nobody makes them again, however it
   ended. */
static void nothing_is_made_for_a_job_that_goes(void **state)
{
	(void)state;
	for (int ended = 0; ended < 2; ended++) {
		struct t *t = t_new();

		t_role(t, "worker", 1);
		t_role(t, "tensorboard", 1)->aux = true;
		t->job.ttl = 5;
		t_settle(t);
		t_run(t);
		t_settle(t);
		if (ended)
			t_exit(t, "worker", 0, 0);
		t_settle(t);
		t->job.deleting = true;
		t->n_pods = t->n_services = 0;
		t->created = t->services_created = 0;
		t_pass(t, MINUTES(10));
		look(t);
		assert_int_equal(t->plan.n_actions, 0);
		look(t);
		assert_int_equal(t->plan.n_actions, 0);
		t_free(t);
	}
}

/* A container beside the one that counts keeps the pod, and its GPU: after a while it goes. */
static void completed_with_a_sidecar(void **state)
{
	(void)state;
	for (int keep = 0; keep < 2; keep++) {
		struct t *t = running();
		struct t_pod *p = t_pod(t, "worker", 0);
		msec ended;

		t->job.clean = keep ? CLEAN_NONE : CLEAN_RUNNING;
		t_exit(t, "worker", 0, 0);
		ended = t->now;
		p->pod.phase = POD_RUNNING;
		p->containers[1] = (struct container){ .name = STR("beside"), .state = CONTAINER_RUNNING };
		p->pod.n_containers = 2;
		look(t);
		t->now = ended + MINUTES(5) - SECONDS(2);
		t_settle(t);
		assert_int_equal(t->deleted, 0);
		t->now = ended + MINUTES(5);
		t_settle(t);
		assert_int_equal(t->deleted, keep ? 0 : 1);
		assert_int_equal(!t_pod(t, "worker", 0), !keep);
		assert_true(ranges_has(&t_rec(t, "worker")->completed, 0));
		assert_phase(t, "Running");
		assert_int_equal(t->record->restarts, 0);
		t_free(t);
	}
}

/* Suspending, and being resumed, changes nothing of that: scope Pod keeps what has completed, and its pod. */
static void completed_with_a_sidecar_and_suspended(void **state)
{
	(void)state;
	for (int resumed = 0; resumed < 2; resumed++) {
		struct t *t = running();
		struct t_pod *p = t_pod(t, "worker", 0);
		msec ended;

		t->roles[1].restart.scope = SCOPE_POD;
		t_exit(t, "worker", 0, 0);
		ended = t->now;
		p->pod.phase = POD_RUNNING;
		p->containers[1] = (struct container){ .name = STR("beside"), .state = CONTAINER_RUNNING };
		p->pod.n_containers = 2;
		look(t);
		t->job.suspend = true;
		t_settle(t);
		assert_phase(t, "Suspended");
		if (resumed) {
			t->job.suspend = false;
			t_settle(t);
		}
		assert_non_null(t_pod(t, "worker", 0));
		t->now = ended + MINUTES(5) - SECONDS(2);
		t_settle(t);
		assert_int_equal(t->plan.wake, ended + MINUTES(5));
		assert_non_null(t_pod(t, "worker", 0));
		t->now = ended + MINUTES(5);
		t_settle(t);
		assert_null(t_pod(t, "worker", 0));
		assert_true(ranges_has(&t_rec(t, "worker")->completed, 0));
		t_free(t);
	}
}

/* Four, three, four again: the one that comes back starts afresh, and nobody else is touched. */
static void an_elastic_member_leaves_and_comes_back(void **state)
{
	struct t *t = running();
	struct t_pod *dead;

	(void)state;
	t->roles[1].elastic = true;
	t->roles[1].restart = (struct restart){ .policy = RESTART_ALWAYS, .scope = SCOPE_JOB, .limit = -1 };
	t->roles[1].count = 4;
	t_settle(t);
	t_run(t);
	t_settle(t);
	t->roles[1].count = 3;
	look(t);
	/* Record first, and it is none that counts or waits. */
	assert_int_equal(t->plan.write, CHANGE_DURABLE);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 3)->generation, 1);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 3)->at, 0);
	t_settle(t);
	assert_null(t_pod(t, "worker", 3));
	/* What is known of the pod that went says nothing of the next one. */
	dead = t_pod_add(t, "worker", 3, 0);
	dead->pod.gone = true;
	t->roles[1].count = 4;
	t_settle(t);
	assert_int_equal(t_pod(t, "worker", 3)->pod.generation, 1);
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 0);
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 0);
	assert_int_equal(t->record->restarts, 0);
	assert_int_equal(t->deleted, 1);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	t_free(t);
}

/* What it did before is forgotten, be it restarts or a good end. */
static void an_elastic_member_comes_back_afresh(void **state)
{
	struct t *t = running();
	const struct restart_level *l;

	(void)state;
	t->roles[1].elastic = true;
	t->roles[1].restart = (struct restart){ .policy = RESTART_ALWAYS, .limit = 1, .backoff_max = 300 };
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 1, 0);
	t_settle(t);
	assert_true(ranges_has(&t_rec(t, "worker")->completed, 1));
	assert_int_equal(record_replica_restarts(t->record, &t->roles[1], t_rec(t, "worker"), 1), 1);
	t->roles[1].count = 1;
	t_settle(t);
	/* While its pod goes, it is its own still. */
	assert_int_equal(record_replica_restarts(t->record, &t->roles[1], t_rec(t, "worker"), 1), 1);
	t->roles[1].count = 2;
	t_settle(t);
	l = record_index_level(t_rec(t, "worker"), 1);
	assert_int_equal(l->generation, 2);
	assert_int_equal(l->counted, 0);
	assert_int_equal(l->streak, 0);
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 2);
	assert_int_equal(record_replica_restarts(t->record, &t->roles[1], t_rec(t, "worker"), 1), 0);
	assert_false(ranges_has(&t_rec(t, "worker")->completed, 1));
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suspended_when_all_are_gone),
		cmocka_unit_test(suspended_before_its_first_record),
		cmocka_unit_test(made_late_for_a_suspended_job),
		cmocka_unit_test(the_end_is_told_twice),
		cmocka_unit_test(a_pod_that_never_goes),
		cmocka_unit_test(a_pod_that_nobody_may_delete),
		cmocka_unit_test(a_short_life_waits_for_the_end),
		cmocka_unit_test(nothing_is_made_for_a_job_that_goes),
		cmocka_unit_test(completed_with_a_sidecar),
		cmocka_unit_test(completed_with_a_sidecar_and_suspended),
		cmocka_unit_test(an_elastic_member_leaves_and_comes_back),
		cmocka_unit_test(an_elastic_member_comes_back_afresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
