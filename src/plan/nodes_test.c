#include "plan/testing.h"

static struct t *running(enum restart_policy policy)
{
	struct t *t = t_new();

	t_role(t, "worker", 2)->restart.policy = policy;
	t_node(t, "node-1", true);
	t_node(t, "node-2", true);
	t_settle(t);
	t_run(t);
	t_on_node(t, "worker", 1, "node-2");
	t_settle(t);
	return t;
}

static void grace_time(void **state)
{
	struct t *t = running(RESTART_ALWAYS);
	msec since;

	(void)state;
	t_node(t, "node-2", false);
	since = t->now;
	t_pass(t, SECONDS(39));
	t_plan(t);
	assert_int_equal(t->record->restarts, 0);
	assert_int_equal(t->plan.wake, since + SECONDS(40));
	t_pass(t, SECONDS(1));
	t_plan(t);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_NODE_FAIL], 1);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 1);
	t_free(t);
}

static void a_node_that_comes_back_in_time(void **state)
{
	struct t *t = running(RESTART_ALWAYS);

	(void)state;
	t_node(t, "node-2", false);
	t_pass(t, SECONDS(30));
	t_settle(t);
	t_node(t, "node-2", true);
	t_pass(t, MINUTES(60));
	t_settle(t);
	assert_int_equal(t->record->restarts, 0);
	t_free(t);
}

static void what_ended_on_a_lost_node_has_ended(void **state)
{
	struct t *t = running(RESTART_ALWAYS);

	(void)state;
	t_exit(t, "worker", 1, 0);
	t_node(t, "node-2", false);
	t_pass(t, MINUTES(5));
	t_settle(t);
	assert_int_equal(t->record->restarts, 0);
	assert_true(ranges_has(&t_rec(t, "worker")->completed, 1));
	t_free(t);
}

/* A node that is not in the list is asked for, and nothing is believed before the answer. */
static void a_missing_node_is_asked_for(void **state)
{
	struct t *t = running(RESTART_ALWAYS);
	struct node *n;

	(void)state;
	t_on_node(t, "worker", 0, "node-9");
	t_on_node(t, "worker", 1, "node-9");
	t_pass(t, MINUTES(60));
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_GET, RES_NODE), 1);
	assert_string_equal(t->plan.actions[0].node.p, "node-9");
	assert_int_equal(t->record->restarts, 0);
	n = t_node(t, "node-9", true);
	n->gone = true;
	t_settle(t);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_NODE_FAIL], 2);
	assert_int_equal(t->forced, 2);
	t_free(t);
}

static void without_nodes_nothing_is_said(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_run(t);
	t_pass(t, MINUTES(60));
	t_settle(t);
	assert_phase(t, "Running");
	assert_int_equal(t->nodes_asked, 0);
	t_free(t);
}

/* Most nodes are NotReady at once: it may be we who are cut off. */
static void an_outage_is_waited_for(void **state)
{
	static const struct {
		int nodes, bad;
		bool waits;
	} table[] = { { 2, 2, false }, { 3, 1, false }, { 3, 2, true }, { 4, 2, false }, { 4, 3, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(RESTART_ALWAYS);
		static const char *const names[] = { "node-2", "node-1", "node-3", "node-4" };

		t_on_node(t, "worker", 0, "node-2");
		for (int k = 0; k < table[i].nodes; k++)
			t_node(t, names[k], true);
		for (int k = 0; k < table[i].bad; k++)
			t_node(t, names[k], false);
		t_pass(t, MINUTES(9));
		t_plan(t);
		assert_int_equal(t->record->restarts != 0, !table[i].waits);
		t_pass(t, MINUTES(1));
		t_plan(t);
		assert_int_not_equal(t->record->restarts, 0);
		t_free(t);
	}
}

static void a_tainted_node_is_lost_at_once(void **state)
{
	struct t *t = running(RESTART_ALWAYS);

	(void)state;
	t_node(t, "node-2", true)->out_of_service = true;
	t_settle(t);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_NODE_FAIL], 1);
	assert_int_equal(t->forced, 1);
	t_free(t);
}

/* On a node that may come back a pod is asked to go, and forced after a time. */
static void force_after_a_time(void **state)
{
	static const struct {
		msec after;
		int forced_at_once;
	} table[] = { { MINUTES(5), 0 }, { 0, 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(RESTART_ALWAYS);
		struct t_pod *p = t_pod(t, "worker", 1);
		msec lost = t->now;

		t->config.force_delete_after = table[i].after;
		t_node(t, "node-2", false);
		t_pass(t, SECONDS(40));
		t_plan(t);
		t_plan(t);
		assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 1);
		assert_int_equal(t->plan.actions[0].force, table[i].forced_at_once);
		/* The API server has taken the request; nobody is there to carry it out. */
		p->pod.meta.deleted = t->now + SECONDS(30);
		p->pod.meta.grace = 30;
		if (table[i].forced_at_once) {
			p->pod.meta.grace = 0;
			t_plan(t);
			assert_int_equal(t->plan.n_actions, 0);
			t_free(t);
			continue;
		}
		t_pass(t, SECONDS(2));
		t_plan(t);
		assert_int_equal(t->plan.n_actions, 0);
		/* Counted from when the node was lost. */
		assert_int_equal(t->plan.wake, lost + MINUTES(5));
		t->now = lost + MINUTES(5);
		t_plan(t);
		assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 1);
		assert_true(t->plan.actions[0].force);
		t_free(t);
	}
}

/* A pod of an earlier generation only has to go: how long it may stay does not matter, and the others wait for it. When
   most nodes do not answer it may be we who are cut off. */
static void old_pods_are_forced_whatever_they_tolerate(void **state)
{
	static const struct {
		enum restart_policy policy;
		int32_t tolerated;
		bool outage;
		msec after;
	} table[] = {
		{ RESTART_ALWAYS, 3600, false, MINUTES(5) },
		{ RESTART_ON_FAILURE, TOLERATED_FOR_EVER, false, MINUTES(5) },
		{ RESTART_ON_FAILURE, 3600, true, MINUTES(10) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(table[i].policy);
		struct tolerations all = { table[i].tolerated, table[i].tolerated };
		struct t_pod *p = t_pod(t, "worker", 1);
		msec lost = t->now;

		t->roles[0].restart.scope = SCOPE_JOB;
		t->roles[0].tolerations = p->pod.tolerations = all;
		t_node(t, "node-2", false);
		t_node(t, "node-3", !table[i].outage);
		t_exit(t, "worker", 0, 3);
		t_plan(t);
		t_vanish(t, "worker", 0);
		t_plan(t);
		assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 1);
		assert_false(t->plan.actions[0].force);
		p->pod.meta.deleted = t->now + SECONDS(30);
		p->pod.meta.grace = 30;
		t->now = lost + table[i].after - 1;
		t_plan(t);
		assert_int_equal(t->plan.n_actions, 0);
		assert_int_equal(t->plan.wake, lost + table[i].after);
		t_pass(t, 1);
		t_plan(t);
		assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 1);
		assert_true(t->plan.actions[0].force);
		t_free(t);
	}
}

/* The time that a template gives its pods; where the policy does not restart after a node's failure, also the time that
   the API server gave them. */
static void tolerations_give_time(void **state)
{
	static const struct {
		enum restart_policy policy;
		int32_t template, stored;
		bool unreachable;
		msec grace;
	} table[] = {
		{ RESTART_ALWAYS, -1, 300, false, 40 },
		{ RESTART_ALWAYS, 600, 600, false, 600 },
		{ RESTART_ALWAYS, 10, 10, false, 40 },
		{ RESTART_NEVER, -1, 300, false, 300 },
		{ RESTART_NEVER, 600, 600, true, 600 },
		{ RESTART_EXIT_CODE, -1, 300, true, 300 },
		{ RESTART_ON_NODE_FAIL, -1, 300, true, 40 },
		/* for ever says nothing of when to begin again somewhere else */
		{ RESTART_ALWAYS, TOLERATED_FOR_EVER, TOLERATED_FOR_EVER, true, 40 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(table[i].policy);
		struct t_pod *p = t_pod(t, "worker", 1);
		/* Only the taint that the node has counts. */
		int32_t *of_template = table[i].unreachable ? &t->roles[0].tolerations.unreachable
		                                            : &t->roles[0].tolerations.not_ready;
		int32_t *of_pod =
			table[i].unreachable ? &p->pod.tolerations.unreachable : &p->pod.tolerations.not_ready;

		t->roles[0].tolerations = p->pod.tolerations = (struct tolerations){ 9000, 9000 };
		*of_template = table[i].template;
		*of_pod = table[i].stored;
		t_node(t, "node-2", false)->unreachable = table[i].unreachable;
		t_pass(t, SECONDS(table[i].grace) - 1);
		t_plan(t);
		assert_int_equal(t_rec(t, "worker")->now.active, 2);
		t_pass(t, 1);
		t_plan(t);
		assert_int_equal(
			t_rec(t, "worker")->restarts[CAUSE_NODE_FAIL] + (t->record->outcome == PHASE_NODE_FAILED), 1);
		t_free(t);
	}
}

/* A job whose restarts are used up ends with its node: it has the time that Kubernetes itself would give it. */
static void a_used_up_limit_gives_time(void **state)
{
	static const struct {
		int32_t limit, failures;
		msec age;
		int32_t stored;
		msec grace; /* 0: it is never lost */
	} table[] = {
		{ -1, 1, 0, 300, 40 },
		{ 2, 1, 0, 300, 40 },
		{ 1, 1, 0, 300, 300 },
		{ 0, 0, 0, 300, 300 },
		{ 1, 1, 0, 10, 40 },
		{ 1, 1, 0, TOLERATED_FOR_EVER, 0 },
		/* the count begins anew */
		{ 1, 1, MINUTES(60), 300, 40 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(RESTART_ALWAYS);
		bool ends = table[i].limit >= 0 && table[i].failures >= table[i].limit && !table[i].age;

		t->roles[0].restart.limit = table[i].limit;
		t->roles[0].restart.window = 3600;
		if (table[i].failures) {
			t_exit(t, "worker", 1, 3);
			t_settle(t);
			t_run(t);
			t_on_node(t, "worker", 1, "node-2");
		}
		t_pass(t, table[i].age);
		t_settle(t);
		t_pod(t, "worker", 1)->pod.tolerations = (struct tolerations){ table[i].stored, table[i].stored };
		t_node(t, "node-2", false);
		t_pass(t, table[i].grace ? SECONDS(table[i].grace) - 1 : MINUTES(50));
		t_plan(t);
		assert_int_equal(t->record->outcome, PHASE_NONE);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_NODE_FAIL], 0);
		t_pass(t, 1);
		t_plan(t);
		assert_int_equal(t->record->outcome, ends && table[i].grace ? PHASE_FAILED : PHASE_NONE);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_NODE_FAIL], !ends);
		t_free(t);
	}
}

/* What does not count is always started again: its loss ends nothing. */
static void a_companion_is_not_waited_for(void **state)
{
	struct t *t = running(RESTART_ALWAYS);
	struct role *r = t_role(t, "board", 1);

	(void)state;
	r->aux = true;
	r->restart.limit = 0;
	t_settle(t);
	t_run(t);
	t_on_node(t, "board", 0, "node-2");
	t_on_node(t, "worker", 1, "node-1");
	t_pod(t, "board", 0)->pod.tolerations = (struct tolerations){ 300, 300 };
	t_settle(t);
	t_node(t, "node-2", false);
	t_pass(t, SECONDS(40));
	t_plan(t);
	assert_int_equal(t_rec(t, "board")->restarts[CAUSE_NODE_FAIL], 1);
	t_free(t);
}

/* Kubernetes would leave it there for ever: we do not end the job for it. A node that is gone is another matter. */
static void tolerated_for_ever(void **state)
{
	struct t *t = running(RESTART_NEVER);
	struct node *n;

	(void)state;
	t_pod(t, "worker", 1)->pod.tolerations.not_ready = TOLERATED_FOR_EVER;
	n = t_node(t, "node-2", false);
	t_pass(t, MINUTES(60 * 24));
	t_settle(t);
	assert_phase(t, "Running");
	assert_int_equal(t->plan.wake, NEVER);
	n->gone = true;
	t_settle(t);
	assert_phase(t, "NodeFailed");
	t_free(t);
}

/* Deleted on a node that does not answer, or by whoever clears such nodes: lost with the node, not disrupted. */
static void deleted_on_a_lost_node(void **state)
{
	static const struct {
		bool ready, gone, disrupted;
		const char *by;
		enum cause cause;
	} table[] = {
		{ false, false, false, "", CAUSE_NODE_FAIL },
		{ true, false, false, "", CAUSE_DELETED },
		{ true, false, true, "DeletionByTaintManager", CAUSE_NODE_FAIL },
		{ true, true, true, "DeletionByPodGC", CAUSE_NODE_FAIL },
		{ true, false, true, "EvictionByEvictionAPI", CAUSE_DISRUPTED },
		/* drained in good order, and its node is switched off since */
		{ false, false, true, "EvictionByEvictionAPI", CAUSE_DISRUPTED },
		/* gone before the node was */
		{ false, true, false, "", CAUSE_DELETED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(RESTART_ALWAYS);
		struct t_pod *p = t_pod(t, "worker", 1);

		t_node(t, "node-2", table[i].ready);
		p->pod.meta.deleted = t->now + SECONDS(30);
		p->pod.meta.grace = 30;
		p->pod.gone = table[i].gone;
		p->pod.disrupted = table[i].disrupted;
		p->pod.disrupter = str_c(table[i].by);
		t_pass(t, SECONDS(2));
		t_plan(t);
		assert_int_equal(t_rec(t, "worker")->restarts[table[i].cause], 1);
		t_free(t);
	}
}

/* Somebody deletes it, without a word why, from a node that nobody has looked at yet: the node may be gone. */
static void deleted_on_an_unknown_node(void **state)
{
	static const struct {
		bool gone;
		enum cause cause;
	} table[] = { { true, CAUSE_NODE_FAIL }, { false, CAUSE_DELETED } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct t *t = running(RESTART_ALWAYS);
		struct t_pod *p = t_pod(t, "worker", 1);

		t_on_node(t, "worker", 1, "node-9");
		p->pod.meta.deleted = t->now + SECONDS(30);
		p->pod.meta.grace = 30;
		t_pass(t, SECONDS(2));
		t_plan(t);
		assert_int_equal(t->record->restarts, 0);
		assert_int_equal(t_actions(t, ACT_GET, RES_NODE), 1);
		t_node(t, "node-9", true)->gone = table[i].gone;
		t_plan(t);
		assert_int_equal(t_rec(t, "worker")->restarts[table[i].cause], 1);
		t_free(t);
	}
}

/* What says why needs no answer, nor does what has gone since, nor a pod where nodes cannot be seen. */
static void deleted_and_nobody_need_be_asked(void **state)
{
	enum { DISRUPTED, GONE, BLIND, CASES };

	(void)state;
	for (int i = 0; i < CASES; i++) {
		struct t *t = i == BLIND ? t_new() : running(RESTART_ALWAYS);
		struct t_pod *p;

		if (i == BLIND) {
			t_role(t, "worker", 2)->restart.policy = RESTART_ALWAYS;
			t_settle(t);
			t_run(t);
		}
		t_on_node(t, "worker", 1, "node-9");
		p = t_pod(t, "worker", 1);
		p->pod.meta.deleted = t->now + SECONDS(30);
		p->pod.meta.grace = 30;
		p->pod.disrupted = i == DISRUPTED;
		p->pod.gone = i == GONE;
		t_pass(t, SECONDS(2));
		t_plan(t);
		assert_int_equal(t_rec(t, "worker")->restarts[i == DISRUPTED ? CAUSE_DISRUPTED : CAUSE_DELETED], 1);
		t_free(t);
	}
}

/* A pod on a good node that takes its time to go is waited for. */
static void no_force_on_a_good_node(void **state)
{
	struct t *t = running(RESTART_ALWAYS);
	struct t_pod *p = t_pod(t, "worker", 1);

	(void)state;
	p->pod.meta.deleted = t->now + SECONDS(30);
	p->pod.meta.grace = 30;
	t_pass(t, MINUTES(60));
	t_plan(t);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_DELETE, RES_POD), 0);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 0);
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grace_time),
		cmocka_unit_test(a_node_that_comes_back_in_time),
		cmocka_unit_test(what_ended_on_a_lost_node_has_ended),
		cmocka_unit_test(a_missing_node_is_asked_for),
		cmocka_unit_test(without_nodes_nothing_is_said),
		cmocka_unit_test(an_outage_is_waited_for),
		cmocka_unit_test(a_tainted_node_is_lost_at_once),
		cmocka_unit_test(force_after_a_time),
		cmocka_unit_test(no_force_on_a_good_node),
		cmocka_unit_test(old_pods_are_forced_whatever_they_tolerate),
		cmocka_unit_test(a_used_up_limit_gives_time),
		cmocka_unit_test(a_companion_is_not_waited_for),
		cmocka_unit_test(tolerations_give_time),
		cmocka_unit_test(tolerated_for_ever),
		cmocka_unit_test(deleted_on_a_lost_node),
		cmocka_unit_test(deleted_on_an_unknown_node),
		cmocka_unit_test(deleted_and_nobody_need_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
