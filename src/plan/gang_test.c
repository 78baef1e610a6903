#include "plan/testing.h"

/* Workers ask for a core each. */
static int setup(void **state, enum gang_kind kind)
{
	struct t *t = t_new();

	t->config.gang = kind;
	*needs_put(&t_role(t, "worker", 2)->needs, STR("cpu"), &t->a) = (struct quantity){ 1, 0 };
	*state = t;
	return 0;
}

static int volcano(void **state)
{
	return setup(state, GANG_VOLCANO);
}

static int plugins(void **state)
{
	return setup(state, GANG_PLUGINS);
}

static int none(void **state)
{
	return setup(state, GANG_NONE);
}

static int teardown(void **state)
{
	t_free(*state);
	return 0;
}

/* One plan after another, until it says something else than a record. */
static const struct plan *next_plan(struct t *t)
{
	t->now += SECONDS(1);
	if (t_plan(t)->write == CHANGE_DURABLE)
		t_plan(t);
	return &t->plan;
}

static void test_group_first(void **state)
{
	struct t *t = *state;

	next_plan(t);
	assert_int_equal(t->plan.n_actions, 1);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_GROUP), 1);
	t_apply(t);
	assert_int_equal(t->group.min_member, 2);
	next_plan(t);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 2);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_SERVICE), 2);
	t_apply(t);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	assert_int_equal(t->groups_created, 1);
	assert_int_equal(t->groups_patched, 0);
}

static void test_off(void **state)
{
	struct t *t = *state;

	t_settle(t);
	assert_int_equal(t->groups_created, 0);
	assert_int_equal(t->created, 2);
}

static void test_waits_for_queue(void **state)
{
	struct t *t = *state;

	t_settle(t);
	assert_int_equal(t->groups_created, 1);
	assert_int_equal(t->created, 0);
	assert_int_equal(t->services_created, 0);
	assert_phase(t, "Pending");
	assert_string_equal(t_reason(t), "waiting for Volcano to let PodGroup job into queue default (phase not set)");
	t->group.phase = STR("Pending");
	t->group.queue = STR("team-a");
	t->group.message = STR("queue resource quota insufficient\nand more");
	t_settle(t);
	assert_int_equal(t->created, 0);
	assert_string_equal(t_reason(t),
	                    "waiting for Volcano to let PodGroup job into queue team-a (phase Pending): queue "
	                    "resource quota insufficient");
	t->group.phase = STR("Inqueue");
	t_settle(t);
	assert_int_equal(t->created, 2);
	/* Nobody says why the pods are pending, but for the group. */
	assert_string_equal(t_reason(t),
	                    "waiting for worker-0 (and 1 more) to be scheduled: queue resource quota insufficient");
	t_pod(t, "worker", 0)->pod.message = STR("0/3 nodes are available");
	t_settle(t);
	assert_string_equal(t_reason(t), "waiting for worker-0 (and 1 more) to be scheduled: 0/3 nodes are available");
}

/* What does not count waits for nobody. */
static void test_aux(void **state)
{
	struct t *t = *state;
	struct role *r = t_role(t, "tensorboard", 1);

	r->aux = true;
	t_settle(t);
	assert_int_equal(t->created, 1);
	assert_non_null(t_pod(t, "tensorboard", 0));
	assert_int_equal(t->services_created, 1);
	assert_int_equal(t->group.min_member, 2);
}

static void test_edits(void **state)
{
	struct t *t = *state;

	t_settle(t);
	t_run(t);
	t_settle(t);
	t->job.roles[0].count = 3;
	t->job.generation++;
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_int_equal(t->groups_patched, 1);
	assert_int_equal(t->group.min_member, 3);
	assert_int_equal(needs_get(&t->group.needs, STR("cpu")).whole, 3);
	t->job.scheduling.min_available = 1;
	t_settle(t);
	assert_int_equal(t->groups_patched, 2);
	assert_int_equal(t->group.min_member, 1);
	assert_int_equal(needs_get(&t->group.needs, STR("cpu")).whole, 1);
	t->job.scheduling.timeout = 60;
	t_settle(t);
	assert_int_equal(t->groups_patched, 3);
	/* Of what we do not say what stands there is right. */
	t->job.scheduling.timeout = -1;
	t->job.scheduling.queue = STR("of-volcano-only");
	t_settle(t);
	t->group.priority_class = STR("of-somebody");
	t->group.queue = STR("of-somebody");
	t_settle(t);
	assert_int_equal(t->groups_patched, 3);
	/* What we said, and somebody changed, is put right. */
	t->group.min_member = 9;
	t_settle(t);
	assert_int_equal(t->groups_patched, 4);
	assert_int_equal(t->group.min_member, 1);
	assert_int_equal(t->groups_created, 1);
}

static void test_queue_of_volcano(void **state)
{
	struct t *t = *state;

	t->job.scheduling.queue = STR("gpu");
	t_settle(t);
	assert_true(str_eqc(t->group.queue, "gpu"));
	t->job.scheduling.queue = STR("cpu");
	t_settle(t);
	assert_int_equal(t->groups_patched, 1);
	/* A namespace's own, set by a webhook. */
	t->job.scheduling.queue = STR_NONE;
	t->group.queue = STR("of-the-namespace");
	t_settle(t);
	assert_int_equal(t->groups_patched, 1);
}

/* A server that makes something else of it is not asked for ever. */
static void test_server_knows_better(void **state)
{
	struct t *t = *state;
	struct needs extra = { 0 };

	t_settle(t);
	needs_add(&extra, &t->group.needs, 1, &t->a);
	*needs_put(&extra, STR("pods"), &t->a) = (struct quantity){ 2, 0 };
	t->group.needs = extra;
	next_plan(t);
	assert_int_equal(t_actions(t, ACT_PATCH, RES_GROUP), 1);
	assert_ptr_equal(t->plan.actions[0].have, &t->group.child);
	t->group_kept = plan_group_kept(t->plan.actions[0].wish, &t->group);
	next_plan(t);
	assert_int_equal(t_actions(t, ACT_PATCH, RES_GROUP), 0);
	/* Until it is another group, or another wish. */
	t->group.min_member = 7;
	next_plan(t);
	assert_int_equal(t_actions(t, ACT_PATCH, RES_GROUP), 1);
	t->group.min_member = 2;
	t->job.scheduling.min_available = 1;
	next_plan(t);
	assert_int_equal(t_actions(t, ACT_PATCH, RES_GROUP), 1);
}

static void test_suspended(void **state)
{
	struct t *t = *state;

	t_settle(t);
	t_run(t);
	t_settle(t);
	t->job.suspend = true;
	t_settle(t);
	assert_phase(t, "Suspended");
	assert_false(t->has_group);
	assert_int_equal(t->deleted, 2);
	t->job.suspend = false;
	t_settle(t);
	assert_int_equal(t->groups_created, 2);
	assert_int_equal(t->created, 4);
}

static void test_never_ran(void **state)
{
	struct t *t = *state;

	t->job.suspend = true;
	t_settle(t);
	assert_int_equal(t->groups_created, 0);
}

static void test_ended(void **state)
{
	struct t *t = *state;

	t_settle(t);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 0, 0);
	t_exit(t, "worker", 1, 0);
	t_settle(t);
	assert_phase(t, "Succeeded");
	assert_false(t->has_group);
	assert_int_equal(t->groups_deleted, 1);
	assert_int_equal(t->groups_created, 1);
}

/* An edit after the end does not leave it in the queue. */
static void test_ended_and_spoilt(void **state)
{
	struct t *t = *state;

	t_settle(t);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 0, 1);
	next_plan(t);
	problem_error(&t->job.problems, STR("spec"), "wrong");
	t_settle(t);
	assert_false(t->has_group);
}

/* A job that runs without one (the operator was told of gangs later) needs none until it makes pods. */
static void test_later(void **state)
{
	struct t *t = *state;

	t->config.gang = GANG_NONE;
	t_settle(t);
	t_run(t);
	t_settle(t);
	t->config.gang = GANG_PLUGINS;
	t_settle(t);
	assert_int_equal(t->groups_created, 0);
}

static void test_trouble(void **state)
{
	struct t *t = *state;

	t->groups_trouble = plan_groups_trouble(GANG_VOLCANO, 404, STR("404 page not found"), &t->a);
	t_settle(t);
	assert_int_equal(t->groups_created + t->created + t->services_created, 0);
	assert_string_equal(
		t_reason(t),
		"waiting: the cluster has no PodGroups of scheduling.volcano.sh/v1beta1: install Volcano, or "
		"start dl-operator without --gang-scheduler-name");
	t->groups_trouble = plan_groups_trouble(GANG_PLUGINS, 403, STR("podgroups is forbidden: cannot list"), &t->a);
	t_settle(t);
	assert_string_equal(t_reason(t),
	                    "waiting: dl-operator may not use the PodGroups of scheduling.x-k8s.io/v1alpha1: "
	                    "podgroups is forbidden: cannot list");
	t->groups_trouble = STR_NONE;
	t_settle(t);
	assert_int_equal(t->groups_created, 1);
}

static void test_refused(void **state)
{
	struct t *t = *state;

	t->refusal = (struct refusal){ .kind = REFUSED_FOREIGN,
		                       .resource = RES_GROUP,
		                       .message = STR("PodGroup job has no owner"),
		                       .times = 3,
		                       .at = t->now };
	next_plan(t);
	assert_int_equal(t->plan.n_actions, 0);
	assert_true(t->plan.wake > t->now && t->plan.wake != NEVER);
	assert_string_equal(t_reason(t), "waiting for a name that is taken: PodGroup job has no owner");
	t->now = t->plan.wake;
	next_plan(t);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_GROUP), 1);
}

static void test_refusals(void **state)
{
	static const struct {
		int code;
		enum refusal_kind kind;
		const char *message;
	} groups[] = {
		{ 403, REFUSED_QUOTA, "exceeded quota: groups" },
		{ 403, REFUSED_SERVER, "queue is closed" },
		{ 400, REFUSED_SERVER, "queue is closed" },
		{ 422, REFUSED_SERVER, "spec.minMember: quota" },
		{ 404, REFUSED_SERVER, "namespaces \"x\" not found" },
		{ 503, REFUSED_SERVER, "" },
		{ 401, REFUSED_NOT, "" },
	};
	struct t *t = *state;

	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		struct str message = str_c(groups[i].message);

		assert_int_equal(plan_group_refusal(groups[i].code, STR_NONE, message), groups[i].kind);
		assert_true(str_eq(plan_group_refused(GANG_PLUGINS, groups[i].code, message, &t->a), message));
	}
	assert_contains(str_text(plan_group_refused(GANG_PLUGINS, 404, STR("404 page not found"), &t->a)),
	                "the cluster has no PodGroups");
	assert_true(plan_too_early(GANG_VOLCANO, 400, STR("as the podgroup phase is Pending")));
	assert_false(plan_too_early(GANG_PLUGINS, 400, STR("as the podgroup phase is Pending")));
	assert_false(plan_too_early(GANG_VOLCANO, 422, STR("as the podgroup phase is Pending")));
	assert_false(plan_too_early(GANG_VOLCANO, 400, STR("no such image")));
}

/* One that is on its way out is waited for; its name is taken until then. */
static void test_going(void **state)
{
	struct t *t = *state;

	next_plan(t);
	t_apply(t);
	t->group.meta.deleted = t->now;
	t_settle(t);
	assert_int_equal(t->created, 0);
	assert_string_equal(t_reason(t), "waiting for PodGroup job to be deleted");
	t->has_group = false;
	t_settle(t);
	assert_int_equal(t->created, 2);
	assert_int_equal(t->groups_created, 2);
}

static void test_restart(void **state)
{
	struct t *t = *state;

	t->job.roles[0].restart = (struct restart){ .policy = RESTART_ALWAYS, .scope = SCOPE_JOB, .limit = 6 };
	t->group.phase = STR("Inqueue");
	t_settle(t);
	t->group.phase = STR("Running");
	t_settle(t);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	assert_int_equal(t->created, 4);
	t_run(t);
	t_settle(t);
	/* Volcano puts a group that lost its pods back. */
	t->group.phase = STR("Pending");
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	t_pass(t, MINUTES(10));
	t_settle(t);
	assert_int_equal(t->created, 4);
	assert_contains(t_reason(t), "waiting for Volcano to let PodGroup job into queue default (phase Pending)");
	t->group.phase = STR("Inqueue");
	t_settle(t);
	assert_int_equal(t->created, 6);
	assert_int_equal(t->groups_created, 1);
	assert_int_equal(t->groups_patched, 0);
}

/* Two workers that start again one by one run in a gang. */
static void run_pod_by_pod(struct t *t)
{
	t->job.roles[0].restart = (struct restart){ .policy = RESTART_ALWAYS, .scope = SCOPE_POD, .limit = 6 };
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_int_equal(t->group.min_member, 2);
}

/* Who has completed is not made again: the gang is those that are left, or they would wait for it for ever. */
static void test_completed(void **state)
{
	struct t *t = *state;

	run_pod_by_pod(t);
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	/* Nobody waits for a place, so nothing is written. */
	assert_int_equal(t->groups_patched, 0);
	for (int i = 0; i < 2; i++) {
		t_exit(t, "worker", 1, 1);
		t_settle(t);
		t_pass(t, MINUTES(10));
		t_settle(t);
		assert_int_equal(t->created, 3 + i);
		assert_int_equal(t->groups_patched, 1);
		assert_int_equal(t->group.min_member, 1);
		assert_int_equal(needs_get(&t->group.needs, STR("cpu")).whole, 1);
		t_run(t);
		t_settle(t);
	}
	/* Somebody else's edit is put right, to what is left of it. */
	t->group.min_member = 5;
	t_settle(t);
	assert_int_equal(t->groups_patched, 2);
	assert_int_equal(t->group.min_member, 1);
}

/* The last pod that it would have started with completes while it waits for a place. */
static void test_completed_while_pending(void **state)
{
	struct t *t = *state;

	run_pod_by_pod(t);
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	assert_int_equal(t->created, 3);
	assert_int_equal(t->groups_patched, 0);
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	assert_int_equal(t->groups_patched, 1);
	assert_int_equal(t->group.min_member, 1);
}

static void test_completed_then_suspended(void **state)
{
	struct t *t = *state;

	run_pod_by_pod(t);
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	t->job.suspend = true;
	t_settle(t);
	assert_false(t->has_group);
	t->job.suspend = false;
	t_settle(t);
	assert_int_equal(t->groups_created, 2);
	assert_int_equal(t->created, 3);
	assert_int_equal(t->group.min_member, 1);
	assert_int_equal(t->groups_patched, 0);
}

#define GANG_TEST(name, with) cmocka_unit_test_setup_teardown(name, with, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GANG_TEST(test_group_first, plugins),
		GANG_TEST(test_off, none),
		GANG_TEST(test_waits_for_queue, volcano),
		GANG_TEST(test_aux, volcano),
		GANG_TEST(test_edits, plugins),
		GANG_TEST(test_queue_of_volcano, volcano),
		GANG_TEST(test_server_knows_better, plugins),
		GANG_TEST(test_suspended, plugins),
		GANG_TEST(test_never_ran, plugins),
		GANG_TEST(test_ended, plugins),
		GANG_TEST(test_ended_and_spoilt, plugins),
		GANG_TEST(test_later, plugins),
		GANG_TEST(test_trouble, plugins),
		GANG_TEST(test_refused, plugins),
		GANG_TEST(test_refusals, plugins),
		GANG_TEST(test_going, plugins),
		GANG_TEST(test_restart, volcano),
		GANG_TEST(test_completed, plugins),
		GANG_TEST(test_completed_while_pending, plugins),
		GANG_TEST(test_completed_then_suspended, plugins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
