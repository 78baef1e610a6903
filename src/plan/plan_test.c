/* The pass as a whole: first look and order (children.c), phases and counts
   (phase.c), the line (reason.c), sorting (world.c), invalid and dying jobs, what is written when. */
#include "plan/testing.h"

static void first_look(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "scheduler", 1);
	t_role(t, "worker", 2)->service = false;
	t_plan(t);
	/* The first pods need no prior write; services come before pods, in the job's order. */
	assert_int_equal(t->plan.write, CHANGE_OBSERVED);
	assert_int_equal(t->plan.n_actions, 4);
	assert_int_equal(t->plan.actions[0].resource, RES_SERVICE);
	assert_int_equal(t->plan.actions[1].resource, RES_POD);
	assert_int_equal(t->plan.actions[1].role, 0);
	assert_int_equal(t->plan.actions[3].role, 1);
	assert_int_equal(t->plan.actions[3].index, 1);
	assert_phase(t, "Pending");
	assert_string_equal(t_reason(t), "creating scheduler-0 (and 2 more)");
	assert_int_equal(t->record->start, t->now);
	assert_int_equal(t->record->observed_generation, 1);
	t_free(t);
}

static void phases_and_counts(void **state)
{
	struct t *t = t_new();
	const struct role_counts *c;

	(void)state;
	t_role(t, "worker", 3);
	t_settle(t);
	assert_phase(t, "Pending");
	assert_int_equal(t_rec(t, "worker")->now.pending, 3);
	for (int i = 0; i < 3; i++)
		t_on_node(t, "worker", i, "n");
	t_settle(t);
	assert_phase(t, "Creating");
	assert_int_equal(t_rec(t, "worker")->now.scheduled, 3);
	t_pod(t, "worker", 0)->pod.phase = POD_RUNNING;
	t_settle(t);
	assert_phase(t, "Creating");
	t_run(t);
	t_pod(t, "worker", 1)->pod.ready = false;
	t_settle(t);
	assert_phase(t, "Running");
	c = &t_rec(t, "worker")->now;
	assert_int_equal(c->active, 3);
	assert_int_equal(c->ready, 1);
	assert_int_equal(c->scheduled, 0);
	assert_true(t->record->conditions[CONDITION_RUNNING].status);
	assert_false(t->record->conditions[CONDITION_COMPLETE].set);
	assert_int_equal(t->record->n_history, 3);
	assert_int_equal(t->record->history[0].phase, PHASE_PENDING);
	assert_int_equal(t->record->history[0].left, t->record->history[1].entered);
	assert_int_equal(t->record->history[2].phase, PHASE_RUNNING);
	assert_int_equal(t->record->history[2].left, 0);
	assert_int_equal(t->record->creating_since, 0);
	t_exit(t, "worker", 2, 0);
	t_settle(t);
	assert_int_equal(t_rec(t, "worker")->now.succeeded, 1);
	t_exit(t, "worker", 0, 0);
	t_exit(t, "worker", 1, 0);
	t_settle(t);
	assert_phase(t, "Succeeded");
	assert_int_equal(t_rec(t, "worker")->now.succeeded, 3);
	assert_string_equal(t_reason(t), "3 of 3 replicas completed");
	t_free(t);
}

static void unknown_phase_is_alive(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_pod(t, "worker", 0)->pod.phase = POD_UNKNOWN;
	t_settle(t);
	assert_phase(t, "Running");
	t_free(t);
}

/* A phase that is entered again stands last, once. */
static void history_is_bounded(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1)->restart.policy = RESTART_ALWAYS;
	t_settle(t);
	for (int i = 0; i < 30; i++) {
		t_run(t);
		t_settle(t);
		t_exit(t, "worker", 0, 1);
		t_settle(t);
		t_pass(t, MINUTES(6));
		t_settle(t);
	}
	assert_int_equal(t->record->restarts, 30);
	assert_int_equal(t->record->n_history, 3);
	assert_int_equal(t->record->history[2].phase, PHASE_RESTARTING);
	assert_int_equal(t_rec(t, "worker")->n_indexes, 1);
	t_free(t);
}

/* What can be observed is written once a second, not more. */
static void observed_changes_wait(void **state)
{
	struct t *t = t_new();
	int writes;

	(void)state;
	t_role(t, "worker", 2);
	t_plan(t);
	t_apply(t);
	writes = t->writes;
	t_pass(t, 300);
	t_run(t);
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_NONE);
	assert_int_equal(t->writes, writes);
	assert_int_equal(t->plan.wake, t->status_written + SECONDS(1));
	t_pass(t, 700);
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_OBSERVED);
	/* What must be remembered is written at once. */
	t_exit(t, "worker", 0, 0);
	t_pass(t, 100);
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_DURABLE);
	t_free(t);
}

static void spoil(struct t *t)
{
	t->job.problems = (struct problems){ .arena = &t->a };
	problem_error(&t->job.problems, STR("spec.replicas"), "must not be negative");
}

static void mend(struct t *t)
{
	t->job.problems = (struct problems){ .arena = &t->a };
}

static void invalid_from_the_start(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1)->count = -5;
	spoil(t);
	t_settle(t);
	assert_phase(t, "Invalid");
	assert_contains(t_reason(t), "invalid: spec.replicas: must not be negative");
	assert_true(t->record->conditions[CONDITION_RUNNING].set);
	assert_false(t->record->conditions[CONDITION_RUNNING].status);
	assert_int_equal(t->created, 0);
	/* No final phase: it runs once it is mended. */
	mend(t);
	t->roles[0].count = 1;
	t_settle(t);
	assert_int_equal(t->created, 1);
	assert_phase(t, "Pending");
	t_free(t);
}

static void invalid_by_an_edit(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2);
	t_settle(t);
	t_run(t);
	t_settle(t);
	spoil(t);
	t->job.generation = 2;
	t->roles[0].count = 1000000;
	t_settle(t);
	assert_phase(t, "Running");
	assert_contains(t_reason(t), "invalid: ");
	assert_int_equal(t->deleted + t->services_deleted, 0);
	assert_int_equal(t->record->observed_generation, 2);
	mend(t);
	t->roles[0].count = 2;
	t_settle(t);
	assert_phase(t, "Running");
	assert_int_equal(t->record->restarts, 0);
	assert_int_equal(t->created, 2);
	t_free(t);
}

/* The edit came after the end: the clean-up goes on, the end stays. */
static void invalid_after_the_end(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2)->complete = END_ANY;
	t_settle(t);
	t_run(t);
	t_exit(t, "worker", 0, 0);
	t_pass(t, SECONDS(2));
	t_plan(t);
	assert_phase(t, "Terminating");
	spoil(t);
	t->roles[0].count = -3;
	t_settle(t);
	assert_phase(t, "Succeeded");
	assert_null(t_pod(t, "worker", 1));
	assert_non_null(t_pod(t, "worker", 0));
	t_free(t);
}

static void invalid_and_being_deleted(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t->job.deleting = true;
	spoil(t);
	t_settle(t);
	assert_phase(t, "Terminating");
	t_free(t);
}

static void a_job_that_is_being_deleted(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2);
	t_settle(t);
	t_run(t);
	t->job.deleting = true;
	t->n_pods = 1;
	t_settle(t);
	assert_phase(t, "Terminating");
	assert_string_equal(t_reason(t), "the job is being deleted");
	assert_int_equal(t->created, 2);
	assert_int_equal(t->deleted, 0);
	t_free(t);
}

/* The record was lost, or this operator's copy of it is stale: generations never fall. */
static void pods_from_a_later_generation(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2)->restart.policy = RESTART_ALWAYS;
	t_settle(t);
	t->n_pods = 0;
	t->record = NULL;
	t_pod_add(t, "worker", 0, 3);
	t_pod_add(t, "worker", 1, 3);
	t_run(t);
	t_pass(t, SECONDS(2));
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_DURABLE);
	t_settle(t);
	assert_int_equal(t->deleted, 0);
	t_exit(t, "worker", 0, 1);
	t_settle(t);
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 4);
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 3);
	t_free(t);
}

static void two_pods_for_one_replica(void **state)
{
	struct t *t = t_new();
	struct t_pod *extra;

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_run(t);
	extra = t_pod_add(t, "worker", 0, 0);
	extra->pod.meta.created -= 5000;
	t_settle(t);
	assert_int_equal(t->n_pods, 1);
	/* The older one stays. */
	assert_true(t->pods[0].pod.meta.created < t->now - SECONDS(5));
	assert_int_equal(t->record->restarts, 0);
	/* Of the same age: the name decides, so that everybody decides alike. */
	extra = t_pod_add(t, "worker", 0, 0);
	extra->pod.meta.created = t->pods[0].pod.meta.created;
	extra->name[0] = 'a';
	t_settle(t);
	assert_int_equal(t->n_pods, 1);
	assert_int_equal(t->pods[0].name[0], 'a');
	t_free(t);
}

/* The last state of a pod that went does not stand in the way of its successor. */
static void a_tombstone_and_its_successor(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_run(t);
	t_vanish(t, "worker", 0);
	t_pod_add(t, "worker", 0, 0);
	t_settle(t);
	assert_int_equal(t->record->restarts, 0);
	t_free(t);
}

static void strangers_among_our_pods(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_run(t);
	t_pod_add(t, "trainer", 0, 0);
	t_pod_add(t, "worker", 7, 0);
	t_pod_add(t, "worker", -1, 0);
	t_settle(t);
	assert_int_equal(t->n_pods, 1);
	assert_int_equal(t->deleted, 3);
	t_free(t);
}

static void what_an_old_operator_left(void **state)
{
	struct t *t = t_new();
	static const char text[] = "{\"worker\": 3, \"odd\": \"x\", \"neg\": -1}";
	yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

	(void)state;
	t_role(t, "worker", 2)->restart =
		(struct restart){ .policy = RESTART_ALWAYS, .limit = 4, .limit_by_role = true };
	t->record = record_adopt(&t->a, PHASE_NONE, STR_NONE, yyjson_doc_get_root(doc));
	t_settle(t);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 3);
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 0);
	t_run(t);
	t_settle(t);
	for (int i = 0; i < 2; i++) {
		t_exit(t, "worker", i, 1);
		t_settle(t);
	}
	assert_phase(t, "Failed");
	t_free(t);

	/* It counted the restarts of those roles only that had any: the others are not new. */
	t = t_new();
	t_role(t, "worker", 2);
	t_role(t, "ps", 1);
	t->record = record_adopt(&t->a, PHASE_NONE, STR_NONE, yyjson_doc_get_root(doc));
	t_settle(t);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_RESIZED], 0);
	assert_int_equal(t_pod(t, "ps", 0)->pod.generation, 0);
	t_free(t);

	t = t_new();
	t_role(t, "worker", 2);
	t->record = record_adopt(&t->a, PHASE_SUCCEEDED, STR("done"), NULL);
	t_settle(t);
	assert_phase(t, "Succeeded");
	assert_string_equal(t_reason(t), "done");
	assert_int_equal(t->created, 0);
	t_free(t);
	yyjson_doc_free(doc);
}

/* The server keeps objects in an order of its own. */
static void roles_in_another_order(void **state)
{
	struct t *t = t_new();
	struct record_role first;

	(void)state;
	t_role(t, "worker", 1);
	t_role(t, "ps", 1);
	t_settle(t);
	first = t->record->roles[0];
	t->record->roles[0] = t->record->roles[1];
	t->record->roles[1] = first;
	t_pass(t, SECONDS(5));
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_NONE);
	assert_int_equal(t->plan.n_actions, 0);
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_look),
		cmocka_unit_test(phases_and_counts),
		cmocka_unit_test(unknown_phase_is_alive),
		cmocka_unit_test(history_is_bounded),
		cmocka_unit_test(observed_changes_wait),
		cmocka_unit_test(invalid_from_the_start),
		cmocka_unit_test(invalid_by_an_edit),
		cmocka_unit_test(invalid_after_the_end),
		cmocka_unit_test(invalid_and_being_deleted),
		cmocka_unit_test(a_job_that_is_being_deleted),
		cmocka_unit_test(pods_from_a_later_generation),
		cmocka_unit_test(two_pods_for_one_replica),
		cmocka_unit_test(a_tombstone_and_its_successor),
		cmocka_unit_test(strangers_among_our_pods),
		cmocka_unit_test(what_an_old_operator_left),
		cmocka_unit_test(roles_in_another_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
