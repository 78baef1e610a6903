#include "plan/testing.h"

static struct t *waiting(const char *reason, enum restart_policy policy)
{
	struct t *t = t_new();
	struct t_pod *p;

	t_role(t, "worker", 2)->restart.policy = policy;
	t_settle(t);
	p = t_pod(t, "worker", 1);
	p->pod.node = STR("node-1");
	p->containers[0].reason = str_c(reason);
	p->containers[0].message = STR("no such image\nreally");
	return t;
}

static void every_reason_is_told_at_once(void **state)
{
	static const char *const reasons[] = {
		"ErrImagePull",           "ImagePullBackOff",     "ImageInspectError",          "ErrImageNeverPull",
		"RegistryUnavailable",    "CreateContainerError", "CreateContainerConfigError", "RunContainerError",
		"FailedCreatePodSandBox",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct t *t = waiting(reasons[i], RESTART_ALWAYS);

		t_pod(t, "worker", 0)->pod.node = STR("node-1");
		t_settle(t);
		assert_phase(t, "Creating");
		assert_contains(t_reason(t), reasons[i]);
		assert_contains(t_reason(t), "worker-1: ");
		assert_contains(t_reason(t), ": no such image");
		assert_null(strchr(t_reason(t), '\n'));
		assert_int_equal(t->record->restarts, 0);
		t_free(t);
	}
}

/* The machine that runs pods by itself ends what it can never run: no policy helps. */
static void what_can_never_run_fails_the_job(void **state)
{
	static const char *const reasons[] = { "NeverFits", "CreateContainerConfigError", "CreateContainerError",
		                               "InvalidImageName", "HostPortConflict" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct t *t = waiting("CreateContainerConfigError", RESTART_ALWAYS);
		struct t_pod *p = t_pod(t, "worker", 1);

		p->pod.phase = POD_FAILED;
		p->pod.reason = str_c(reasons[i]);
		p->pod.message = STR("requests 4 GPUs, this machine has 0");
		t_settle(t);
		assert_phase(t, "Failed");
		assert_string_equal(t_reason(t), "worker-1 cannot run: requests 4 GPUs, this machine has 0");
		assert_int_equal(t->record->restarts, 0);
		t_free(t);
	}
}

static void an_ordinary_wait_is_no_problem(void **state)
{
	struct t *t = waiting("ContainerCreating", RESTART_NEVER);

	(void)state;
	t_pod(t, "worker", 0)->pod.node = STR("node-1");
	t_pass(t, MINUTES(600));
	t_settle(t);
	assert_phase(t, "Creating");
	assert_contains(t_reason(t), "waiting for worker-0 (and 1 more) to start");
	t_free(t);
}

static const enum restart_policy policies[] = { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER, RESTART_EXIT_CODE };

/* Another pod would find what this one finds: the kubelet has tried again all the time. */
static void after_a_quarter_of_an_hour_it_has_failed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		struct t *t = waiting("ImagePullBackOff", policies[i]);
		msec seen;

		t_pass(t, MINUTES(60));
		seen = t->now;
		t_plan(t);
		assert_int_equal(t->plan.wake, seen + MINUTES(15));
		t->now = seen + MINUTES(15);
		t_plan(t);
		assert_int_equal(t->record->outcome, PHASE_FAILED);
		assert_int_equal(t->record->restarts, 0);
		assert_contains(t_reason(t), "worker-1 could not be created: ImagePullBackOff: no such image");
		t_free(t);
	}
}

/* A job of which worker-1 has run and was deleted, and now its image is gone. */
static struct t *has_run(const char *reason, enum restart_policy policy)
{
	struct t *t = waiting("ContainerCreating", policy);
	struct t_pod *p;

	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	t_vanish(t, "worker", 1);
	t_settle(t);
	p = t_pod(t, "worker", 1);
	p->pod.node = STR("node-1");
	p->containers[0].reason = str_c(reason);
	return t;
}

static void a_job_that_has_run_waits(void **state)
{
	static const char *const reasons[] = { "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		for (size_t j = 0; j < ARRAY_LEN(policies); j++) {
			struct t *t = has_run(reasons[i], policies[j]);

			t_settle(t);
			t_pass(t, MINUTES(600));
			t_settle(t);
			assert_int_equal(t->record->outcome, PHASE_NONE);
			assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_CREATE_FAILED], 0);
			assert_contains(t_reason(t), reasons[i]);
			t_free(t);
		}
}

/* The machine that runs pods by itself ends it; another one is made, ever more slowly. */
static void a_job_that_has_run_is_tried_again(void **state)
{
	struct t *t = has_run("CreateContainerConfigError", RESTART_NEVER);

	(void)state;
	for (int i = 1; i <= 8; i++) {
		struct t_pod *p = t_pod(t, "worker", 1);

		p->pod.phase = POD_FAILED;
		p->pod.reason = STR("CreateContainerConfigError");
		p->pod.message = STR("ConfigMap settings does not exist");
		t_settle(t);
		assert_int_equal(t->record->outcome, PHASE_NONE);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DISRUPTED], i);
		t_pass(t, MINUTES(10));
		t_settle(t);
	}
	t_free(t);
}

/* A long pull, or an init container that takes its time, and then one try that fails. */
static void the_clock_of_the_problem(void **state)
{
	struct t *t = waiting("ContainerCreating", RESTART_NEVER);
	struct t_pod *p = t_pod(t, "worker", 1);

	(void)state;
	p->pod.started = t->now;
	t_pod(t, "worker", 0)->pod.node = STR("node-1");
	t_pass(t, MINUTES(60));
	t_settle(t);
	p->containers[0].reason = STR("ErrImagePull");
	t_settle(t);
	assert_int_equal(t->record->outcome, PHASE_NONE);
	assert_contains(t_reason(t), "ErrImagePull");
	t_pass(t, MINUTES(14));
	t_settle(t);
	assert_int_equal(t->record->outcome, PHASE_NONE);
	t_pass(t, MINUTES(1));
	t_plan(t);
	assert_int_equal(t->record->outcome, PHASE_FAILED);
	t_free(t);
}

/* What is shown of a pod, a minute after the last: first of what prepares, then of what counts. */
struct shown {
	enum container_state init;
	const char *reason;
	int stuck; /* since how many minutes */
	enum container_state main;
	int pause; /* … or so many */
};

static void show(const struct shown *table, size_t n)
{
	msec now = MINUTES(1000);
	struct container containers[2][2] = { 0 };
	struct pod pods[2];

	for (size_t i = 0; i < n; i++) {
		struct container *c = containers[i % 2];
		struct pod *pod = &pods[i % 2];

		now += MINUTES(MAX(table[i].pause, 1));
		c[0] = (struct container){ .name = STR("init"), .init = true, .state = table[i].init };
		c[1] = (struct container){ .name = STR("main"),
			                   .state = table[i].main,
			                   .reason = str_c(table[i].reason) };
		*pod = (struct pod){ .containers = c, .n_containers = 2 };
		if (table[i].main == CONTAINER_RUNNING)
			pod->phase = POD_RUNNING;
		plan_pod_seen(pod, i ? &pods[(i + 1) % 2] : NULL, now);
		if ((table[i].stuck < 0) != !pod->stuck || (pod->stuck && now - pod->stuck != MINUTES(table[i].stuck)))
			fail_msg("step %zu: stuck for %lld s", i,
			         pod->stuck ? (long long)(now - pod->stuck) / 1000 : -1);
	}
}

#define WAITING CONTAINER_WAITING
#define RUNNING CONTAINER_RUNNING
#define TERMINATED CONTAINER_TERMINATED

static void what_is_a_new_problem(void **state)
{
	static const char *const wait = "PodInitializing";
	/* Tries and pauses take turns; what a kubelet shows between them for a while is no success. */
	static const struct shown turns[] = {
		{ TERMINATED, wait, -1, WAITING, 0 },
		{ TERMINATED, "ErrImagePull", 0, WAITING, 0 },
		{ TERMINATED, "ImagePullBackOff", 1, WAITING, 0 },
		{ TERMINATED, "ErrImagePull", 2, WAITING, 0 },
		{ TERMINATED, "ContainerCreating", 3, WAITING, 0 },
		{ TERMINATED, "ContainerCreating", 6, WAITING, 3 },
		{ TERMINATED, "ErrImagePull", 7, WAITING, 0 },
		/* The quiet time begins anew with each. */
		{ TERMINATED, "ContainerCreating", 8, WAITING, 0 },
		{ TERMINATED, "ErrImagePull", 12, WAITING, 4 },
	};
	/* Quiet for longer than the longest pause. */
	static const struct shown quiet[] = {
		{ TERMINATED, "ErrImagePull", 0, WAITING, 0 },
		{ TERMINATED, "ContainerCreating", 1, WAITING, 0 },
		{ TERMINATED, "ContainerCreating", -1, WAITING, 5 },
		{ TERMINATED, "ErrImagePull", 0, WAITING, 3 },
	};
	static const struct shown at_once[] = {
		{ TERMINATED, "ErrImagePull", 0, WAITING, 0 },
		{ TERMINATED, "ContainerCreating", 1, WAITING, 0 },
		{ TERMINATED, "ErrImagePull", 0, WAITING, 5 },
	};
	/* The image of what prepares was missing for long; then it ran. */
	static const struct shown next[] = {
		{ WAITING, "ErrImagePull", 0, WAITING, 0 },
		{ WAITING, "ErrImagePull", 14, WAITING, 14 },
		{ RUNNING, wait, -1, WAITING, 0 },
		{ TERMINATED, "ErrImagePull", 0, WAITING, 0 },
	};
	/* Nobody saw it run. */
	static const struct shown unseen[] = {
		{ WAITING, "ErrImagePull", 0, WAITING, 0 },
		{ TERMINATED, "ErrImagePull", 0, WAITING, 14 },
	};
	/* It runs: a container that fails later is another matter. */
	static const struct shown runs[] = {
		{ TERMINATED, "ErrImagePull", 0, WAITING, 0 },
		{ TERMINATED, "", -1, RUNNING, 0 },
	};

	(void)state;
	show(turns, ARRAY_LEN(turns));
	show(quiet, ARRAY_LEN(quiet));
	show(at_once, ARRAY_LEN(at_once));
	show(next, ARRAY_LEN(next));
	show(unseen, ARRAY_LEN(unseen));
	show(runs, ARRAY_LEN(runs));
}

/* One of two runs; the other cannot. */
static struct t *one_runs(const char *reason)
{
	struct t *t = waiting("ContainerCreating", RESTART_NEVER);
	struct t_pod *p = t_pod(t, "worker", 0);

	p->pod.phase = POD_RUNNING;
	p->pod.node = STR("node-2");
	p->pod.started = t->now;
	p->containers[0].state = CONTAINER_RUNNING;
	p->containers[0].started = t->now;
	t_pod(t, "worker", 1)->pod.node = STR_NONE;
	t_settle(t);
	t_pod(t, "worker", 1)->pod.node = STR("node-1");
	t_pod(t, "worker", 1)->containers[0].reason = str_c(reason);
	return t;
}

/* That one role started says nothing of the other, whose image is misspelled: nobody holds nodes for it. */
static void a_start_proves_nothing(void **state)
{
	struct t *t = one_runs("InvalidImageName");

	(void)state;
	t_settle(t);
	assert_phase(t, "Failed");
	t_free(t);
	t = one_runs("ImagePullBackOff");
	t_settle(t);
	t_pass(t, MINUTES(15));
	t_settle(t);
	assert_phase(t, "Failed");
	assert_contains(t_reason(t), "worker-1 could not be created: ImagePullBackOff");
	t_free(t);
}

/* It has run for twice as long as others are waited for; it need not have been seen since, nor run still. */
static void half_an_hour_proves_it(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct t *t = one_runs("ContainerCreating");

		t_settle(t);
		t_pass(t, i == 0 ? MINUTES(29) : MINUTES(30));
		if (i == 2) {
			t->roles[0].fail = END_ALL;
			t_exit(t, "worker", 0, 1);
			t_settle(t);
		}
		t_pod(t, "worker", 1)->containers[0].reason = STR("InvalidImageName");
		t_settle(t);
		if (i == 0)
			assert_phase(t, "Failed");
		else
			assert_int_equal(t->record->outcome, PHASE_NONE);
		t_free(t);
	}
}

/* Those that ran are no replicas any more; the job has run all the same. */
static void those_that_ran_have_left(void **state)
{
	struct t *t = t_new();
	struct t_pod *p;

	(void)state;
	t_role(t, "worker", 2);
	t_settle(t);
	t_pod(t, "worker", 1)->pod.phase = POD_RUNNING;
	t_pod(t, "worker", 1)->pod.node = STR("node-1");
	t_pod(t, "worker", 1)->pod.started = t->now;
	t_pod(t, "worker", 1)->containers[0].state = CONTAINER_RUNNING;
	t_settle(t);
	t_pass(t, MINUTES(30));
	t_settle(t);
	t->roles[0].count = 1;
	t_settle(t);
	p = t_pod(t, "worker", 0);
	p->pod.node = STR("node-2");
	p->containers[0].reason = STR("InvalidImageName");
	t_settle(t);
	assert_int_equal(t->record->roles[0].ran.n, 0);
	assert_int_equal(t->record->outcome, PHASE_NONE);
	t_free(t);
}

/* One that cannot be created is given up, and the job goes on for the other: it has not run. */
static void given_up_is_no_run(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2)->fail = END_ALL;
	t_settle(t);
	for (int32_t i = 0; i < 2; i++) {
		t_pod(t, "worker", i)->pod.node = STR("node-1");
		t_pod(t, "worker", i)->containers[0].reason = STR("InvalidImageName");
		t_settle(t);
		t_pass(t, MINUTES(1));
	}
	assert_phase(t, "Failed");
	t_free(t);
}

/* On one machine all start together: whether the other role was faster does not decide how the job ends. */
static void what_can_never_run_beside_a_role_that_runs(void **state)
{
	struct t *t = t_new();
	struct t_pod *p;

	(void)state;
	t_role(t, "ps", 1);
	t_role(t, "worker", 1);
	t_settle(t);
	p = t_pod(t, "worker", 0);
	p->pod.node = STR("node-1");
	t_pod(t, "ps", 0)->pod.phase = POD_RUNNING;
	t_settle(t);
	p->pod.phase = POD_FAILED;
	p->pod.reason = STR("CreateContainerConfigError");
	p->pod.message = STR("ConfigMap settings does not exist");
	t_settle(t);
	assert_phase(t, "Failed");
	assert_string_equal(t_reason(t), "worker-0 cannot run: ConfigMap settings does not exist");
	t_free(t);
}

/* One of two trains; the other waited for a node for days, and then its image is missing. */
static void a_job_of_which_one_replica_has_run_waits(void **state)
{
	static const char *const reasons[] = { "ImagePullBackOff", "InvalidImageName" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct t *t = waiting("ContainerCreating", RESTART_NEVER);
		struct t_pod *p = t_pod(t, "worker", 1);

		p->pod.node = STR_NONE;
		t_pod(t, "worker", 0)->pod.phase = POD_RUNNING;
		t_pod(t, "worker", 0)->pod.node = STR("node-2");
		t_pod(t, "worker", 0)->pod.started = t->now;
		t_pod(t, "worker", 0)->containers[0].state = CONTAINER_RUNNING;
		t_settle(t);
		t_pass(t, MINUTES(3 * 24 * 60));
		p->pod.node = STR("node-1");
		p->containers[0].reason = str_c(reasons[i]);
		t_settle(t);
		t_pass(t, MINUTES(600));
		t_settle(t);
		assert_int_equal(t->record->outcome, PHASE_NONE);
		assert_phase(t, "Creating");
		assert_contains(t_reason(t), "worker-1: ");
		assert_contains(t_reason(t), reasons[i]);
		t_free(t);
	}
}

static void an_image_name_that_is_none_never_heals(void **state)
{
	struct t *t = waiting("InvalidImageName", RESTART_ALWAYS);

	(void)state;
	t_settle(t);
	assert_phase(t, "Failed");
	assert_string_equal(t->record->why.p, "CannotBeCreated");
	t_free(t);
}

static void failing_can_be_switched_off(void **state)
{
	static const char *const reasons[] = { "InvalidImageName", "ImagePullBackOff" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct t *t = waiting(reasons[i], RESTART_NEVER);

		t->config.creating_failed = false;
		t_settle(t);
		t_pass(t, MINUTES(600));
		t_settle(t);
		assert_int_equal(t->record->outcome, PHASE_NONE);
		t_free(t);
	}
}

/* While the job is younger than the restart period such pods are restarted whatever the policy, and
   the restarts do not make it younger. */
static void restart_period(void **state)
{
	struct t *t = waiting("ImagePullBackOff", RESTART_NEVER);

	(void)state;
	t->config.creating_restart_period = MINUTES(40);
	for (int i = 0; i < 2; i++) {
		t_settle(t);
		t_pass(t, MINUTES(16));
		t_settle(t);
		assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_CREATE_FAILED], i + 1);
		t_pass(t, MINUTES(1));
		t_settle(t);
		t_pod(t, "worker", 1)->containers[0].reason = STR("ImagePullBackOff");
	}
	t_settle(t);
	t_pass(t, MINUTES(16));
	t_settle(t);
	assert_phase(t, "Failed");
	t_free(t);
}

/* Restarts for the period's sake stop at the limit, which ends no job that has run. */
static void restart_period_of_a_job_that_has_run(void **state)
{
	struct t *t = has_run("ImagePullBackOff", RESTART_NEVER);

	(void)state;
	t->config.creating_restart_period = MINUTES(600);
	t->roles[0].restart.limit = 1;
	for (int i = 0; i < 3; i++) {
		t_settle(t);
		t_pass(t, MINUTES(16));
		t_settle(t);
		t_pass(t, MINUTES(1));
		t_settle(t);
		t_pod(t, "worker", 1)->containers[0].reason = STR("ImagePullBackOff");
	}
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_CREATE_FAILED], 1);
	assert_int_equal(t->record->outcome, PHASE_NONE);
	t_free(t);
}

static void unschedulable_is_told(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2);
	t_settle(t);
	t_pod(t, "worker", 0)->pod.message = STR("0/3 nodes are available: insufficient nvidia.com/gpu");
	t_settle(t);
	assert_phase(t, "Pending");
	assert_string_equal(t_reason(t), "waiting for worker-0 (and 1 more) to be scheduled: 0/3 nodes are available: "
	                                 "insufficient nvidia.com/gpu");
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_is_told_at_once),
		cmocka_unit_test(what_can_never_run_fails_the_job),
		cmocka_unit_test(an_ordinary_wait_is_no_problem),
		cmocka_unit_test(after_a_quarter_of_an_hour_it_has_failed),
		cmocka_unit_test(a_job_that_has_run_waits),
		cmocka_unit_test(a_job_that_has_run_is_tried_again),
		cmocka_unit_test(a_job_of_which_one_replica_has_run_waits),
		cmocka_unit_test(a_start_proves_nothing),
		cmocka_unit_test(half_an_hour_proves_it),
		cmocka_unit_test(those_that_ran_have_left),
		cmocka_unit_test(given_up_is_no_run),
		cmocka_unit_test(what_can_never_run_beside_a_role_that_runs),
		cmocka_unit_test(the_clock_of_the_problem),
		cmocka_unit_test(what_is_a_new_problem),
		cmocka_unit_test(an_image_name_that_is_none_never_heals),
		cmocka_unit_test(failing_can_be_switched_off),
		cmocka_unit_test(restart_period),
		cmocka_unit_test(restart_period_of_a_job_that_has_run),
		cmocka_unit_test(unschedulable_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
