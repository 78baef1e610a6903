/* What a pod's state means for its replica (judge.c), and how it ended (ends.c). */
#include "plan/testing.h"

static const struct template_container two[] = { { .name = STR_INIT("setup"), .init = true },
	                                         { .name = STR_INIT("main"), .counts = true },
	                                         { .name = STR_INIT("sidecar") } };

static struct role plain_role(void)
{
	return (struct role){ .name = STR("worker"),
		              .count = 1,
		              .match = MATCH_NAME,
		              .match_text = STR("main"),
		              .containers = two,
		              .n_containers = ARRAY_LEN(two) };
}

#define RUNS(n)                                                                                                        \
	{                                                                                                              \
		.name = STR_INIT(n), .state = CONTAINER_RUNNING                                                        \
	}
#define WAITS(n)                                                                                                       \
	{                                                                                                              \
		.name = STR_INIT(n), .state = CONTAINER_WAITING                                                        \
	}
#define ENDED(n, code)                                                                                                 \
	{                                                                                                              \
		.name = STR_INIT(n), .state = CONTAINER_TERMINATED, .exit_code = (code), .finished = 5                 \
	}
#define INIT(n, code)                                                                                                  \
	{                                                                                                              \
		.name = STR_INIT(n), .state = CONTAINER_TERMINATED, .init = true, .exit_code = (code)                  \
	}
#define OOM(n)                                                                                                         \
	{                                                                                                              \
		.name = STR_INIT(n), .state = CONTAINER_TERMINATED, .exit_code = 137, .reason = STR_INIT("OOMKilled")  \
	}
#define NOTHING                                                                                                        \
	{                                                                                                              \
		.name = { NULL, 0 }                                                                                    \
	}

static void results(void **state)
{
	static const struct {
		enum pod_phase phase;
		const char *reason; /* of the pod */
		bool disrupted;
		struct container c[3];
		enum result result;
		enum cause cause;
		int32_t code;
	} table[] = {
		/* the container that counts decides, whatever a sidecar does */
		{ POD_RUNNING, "", false, { ENDED("main", 0), RUNS("sidecar") }, RESULT_SUCCESS, CAUSE_FAILED, 0 },
		{ POD_RUNNING, "", false, { ENDED("main", 3), RUNS("sidecar") }, RESULT_FAILURE, CAUSE_FAILED, 3 },
		{ POD_RUNNING, "", false, { RUNS("main"), ENDED("sidecar", 3) }, RESULT_NONE, CAUSE_FAILED, -1 },
		{ POD_FAILED, "", false, { ENDED("main", 0), ENDED("sidecar", 1) }, RESULT_SUCCESS, CAUSE_FAILED, 0 },
		/* evicted for its own use, and its container is not found any more */
		{ POD_FAILED,
		  "Evicted",
		  false,
		  { { .name = STR_INIT("main"), .state = CONTAINER_WAITING, .ran = true } },
		  RESULT_FAILURE,
		  CAUSE_FAILED,
		  -1 },
		{ POD_FAILED, "Evicted", false, { WAITS("main") }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		/* no container status at all */
		{ POD_PENDING, "", false, { NOTHING }, RESULT_NONE, CAUSE_FAILED, -1 },
		{ POD_SUCCEEDED, "", false, { NOTHING }, RESULT_SUCCESS, CAUSE_FAILED, 0 },
		{ POD_FAILED, "", false, { NOTHING }, RESULT_FAILURE, CAUSE_FAILED, -1 },
		/* evicted: by whoever says so with a condition, or for its own use of storage */
		{ POD_FAILED, "Evicted", true, { NOTHING }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_FAILED, "Evicted", false, { ENDED("main", 1) }, RESULT_FAILURE, CAUSE_FAILED, 1 },
		{ POD_FAILED, "Evicted", false, { INIT("setup", 1) }, RESULT_FAILURE, CAUSE_FAILED, -1 },
		/* … or not taken by a node under pressure; or for a reason that nobody has heard of */
		{ POD_FAILED, "Evicted", false, { NOTHING }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_FAILED, "Evicted", false, { WAITS("main") }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_FAILED, "PodOSNotSupported", false, { NOTHING }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_FAILED, "PodOSNotSupported", false, { ENDED("main", 1) }, RESULT_FAILURE, CAUSE_FAILED, 1 },
		{ POD_FAILED, "DeadlineExceeded", false, { NOTHING }, RESULT_FAILURE, CAUSE_FAILED, -1 },
		{ POD_FAILED, "Evicted", false, { ENDED("main", 0) }, RESULT_FAILURE, CAUSE_FAILED, -1 },
		{ POD_FAILED, "OutOfpods", false, { NOTHING }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_FAILED, "NodeAffinity", false, { NOTHING }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		/* an init container failed */
		{ POD_FAILED, "", false, { INIT("setup", 9), WAITS("main") }, RESULT_FAILURE, CAUSE_FAILED, 9 },
		{ POD_PENDING, "", false, { INIT("setup", 0), WAITS("main") }, RESULT_NONE, CAUSE_FAILED, -1 },
		/* told by condition and reason first, also when a code is there */
		{ POD_FAILED, "Evicted", true, { ENDED("main", 137) }, RESULT_FAILURE, CAUSE_DISRUPTED, 137 },
		{ POD_FAILED, "Evicted", false, { ENDED("main", 137) }, RESULT_FAILURE, CAUSE_FAILED, 137 },
		{ POD_FAILED, "", true, { ENDED("main", 0) }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_RUNNING,
		  "",
		  true,
		  { ENDED("main", 137), RUNS("sidecar") },
		  RESULT_FAILURE,
		  CAUSE_DISRUPTED,
		  137 },
		/* … and also when that code is 0: a program that exits 0 on SIGTERM has done as it was told, whether
		   the kubelet stops its pod in place or the condition stands there before a request to delete it */
		{ POD_RUNNING, "", true, { ENDED("main", 0), RUNS("sidecar") }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_SUCCEEDED, "", true, { ENDED("main", 0) }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_SUCCEEDED, "", true, { NOTHING }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_SUCCEEDED, "Terminated", false, { ENDED("main", 0) }, RESULT_FAILURE, CAUSE_DISRUPTED, -1 },
		{ POD_RUNNING, "", true, { RUNS("main"), ENDED("sidecar", 0) }, RESULT_NONE, CAUSE_FAILED, -1 },
		{ POD_FAILED, "DeadlineExceeded", false, { ENDED("main", 0) }, RESULT_FAILURE, CAUSE_FAILED, -1 },
		{ POD_FAILED, "", false, { OOM("main") }, RESULT_FAILURE, CAUSE_OOM_KILLED, 137 },
		{ POD_FAILED, "", false, { OOM("main"), WAITS("x") }, RESULT_FAILURE, CAUSE_OOM_KILLED, 137 },
		/* made from an earlier template: the only container counts; of several, the one with the name */
		{ POD_FAILED, "", false, { ENDED("other", 4) }, RESULT_FAILURE, CAUSE_FAILED, 4 },
		{ POD_RUNNING, "", false, { ENDED("other", 4), RUNS("another") }, RESULT_NONE, CAUSE_FAILED, -1 },
	};
	struct role role = plain_role();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct pod pod = { .phase = table[i].phase,
			           .reason = str_c(table[i].reason),
			           .disrupted = table[i].disrupted,
			           .containers = table[i].c };
		struct pod_result r;

		while (pod.n_containers < 3 && table[i].c[pod.n_containers].name.n)
			pod.n_containers++;
		r = pod_result(&role, &pod);
		if (r.result != table[i].result || r.exit_code != table[i].code ||
		    (r.result == RESULT_FAILURE && r.cause != table[i].cause))
			fail_msg("row %zu: result %d, cause %s, code %d", i, r.result, cause_name(r.cause),
			         r.exit_code);
	}
}

/* An end is the replica's own if it was seen before the condition, or is so much older that no clock can be that wrong.
 */
static void ended_before_a_disruption(void **state)
{
	static const struct {
		msec finished, seen, at; /* by its own clock; seen without the condition; the condition */
		bool ended;              /* the phase was final, without the condition */
		bool own;
		int32_t grace;
	} table[] = {
		{ SECONDS(1000), 0, SECONDS(1000), false, false },
		{ SECONDS(1000), 0, SECONDS(1120), false, false },
		{ SECONDS(1000), 0, SECONDS(1121), false, true },
		{ SECONDS(1000), 0, SECONDS(900), false, false },
		{ SECONDS(1000), 0, 0, false, false },
		{ SECONDS(1000), SECONDS(1000), SECONDS(900), false, true },
		{ SECONDS(1000), SECONDS(999), SECONDS(1001), false, false },
		{ SECONDS(1000), SECONDS(1000), SECONDS(900), true, true },
		{ 0, 0, SECONDS(1121), false, false },
		{ 0, 0, SECONDS(1121), true, true },
		/* a sidecar may have taken that long after it */
		{ SECONDS(1000), 0, SECONDS(1720), false, false, 600 },
		{ SECONDS(1000), 0, SECONDS(1721), false, true, 600 },
	};
	struct role role = plain_role();

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(table); i++) {
		int32_t code = i % 2 ? 3 : 0;
		struct container main = { .name = STR("main"),
			                  .state = CONTAINER_TERMINATED,
			                  .exit_code = code,
			                  .finished = table[i / 2].finished };
		struct pod pod = { .phase = code ? POD_FAILED : POD_SUCCEEDED,
			           .disrupted = true,
			           .reason = code ? STR("Terminated") : STR_NONE,
			           .disrupted_at = table[i / 2].at,
			           .stop_grace = table[i / 2].grace,
			           .ended = table[i / 2].ended,
			           .ended_seen = table[i / 2].seen,
			           .containers = &main,
			           .n_containers = 1 };
		struct pod_result r = pod_result(&role, &pod);
		enum result own = code ? RESULT_FAILURE : RESULT_SUCCESS;

		assert_int_equal(r.result, table[i / 2].own ? own : RESULT_FAILURE);
		assert_int_equal(r.cause, table[i / 2].own ? CAUSE_FAILED : CAUSE_DISRUPTED);
	}
}

/* It crashed a while ago and waits to be started again in place, when somebody takes its pod away: that is no end of
   its own, however long ago and whoever saw it. Nor is that of one container while another one still ran. */
static void stopped_before_it_came_back(void **state)
{
	struct container c[2] = {
		{ .name = STR("main"), .state = CONTAINER_TERMINATED, .exit_code = 25, .finished = SECONDS(100) },
		{ .name = STR("more"), .state = CONTAINER_WAITING },
	};
	struct template_container in[2] = { { .name = STR("main"), .counts = true },
		                            { .name = STR("more"), .counts = true } };
	struct role role = { .containers = in, .n_containers = 2 };
	struct pod deleted = {
		.phase = POD_FAILED, .meta = { .deleted = SECONDS(1000) }, .containers = c, .n_containers = 1
	};
	struct pod disrupted = { .phase = POD_FAILED,
		                 .disrupted = true,
		                 .disrupted_at = SECONDS(1000),
		                 .containers = c,
		                 .n_containers = 1 };

	(void)state;
	assert_true(pod_ended_by_itself(&role, &deleted));
	assert_int_equal(pod_result(&role, &disrupted).cause, CAUSE_FAILED);
	c[0].comes_back = true;
	assert_false(pod_ended_by_itself(&role, &deleted));
	assert_int_equal(pod_result(&role, &disrupted).cause, CAUSE_DISRUPTED);
	c[0].comes_back = false;
	deleted.n_containers = disrupted.n_containers = 2;
	assert_false(pod_ended_by_itself(&role, &deleted));
	assert_int_equal(pod_result(&role, &disrupted).cause, CAUSE_DISRUPTED);
}

/* The node shuts down, and the program takes SIGTERM for a good end: nobody asks for the pod's deletion, and its phase
   is Succeeded. The job goes on. */
static void a_kubelets_stop_is_no_success(void **state)
{
	struct t *t = t_new();
	struct t_pod *p;

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 0, 0);
	p = t_pod(t, "worker", 0);
	p->pod.disrupted = true;
	p->pod.disrupter = STR("TerminationByKubelet");
	p->pod.disrupted_at = t->now;
	t_settle(t);
	assert_int_equal(t->record->outcome, PHASE_NONE);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DISRUPTED], 1);
	assert_int_equal(t_rec(t, "worker")->counted_ever, 0);
	assert_int_equal(t_rec(t, "worker")->completed.n, 0);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 0, 0);
	t_settle(t);
	assert_phase(t, "Succeeded");
	t_free(t);
}

/* The kubelet starts it again by a rule of its own: it has ended when the pod has. */
static void containers_that_come_back(void **state)
{
	static const struct container main_back[] = {
		{ .name = STR_INIT("main"), .state = CONTAINER_TERMINATED, .exit_code = 42, .comes_back = true }
	};
	/* A helper that runs for ever keeps its pod, and not its replica. */
	static const struct container helper_back[] = {
		ENDED("main", 0), { .name = STR_INIT("sidecar"), .state = CONTAINER_TERMINATED, .comes_back = true }
	};
	struct pod pod = { .phase = POD_RUNNING, .containers = main_back, .n_containers = 1 };
	struct role role = plain_role();

	(void)state;
	assert_int_equal(pod_result(&role, &pod).result, RESULT_NONE);
	pod.phase = POD_FAILED;
	assert_int_equal(pod_result(&role, &pod).result, RESULT_FAILURE);
	assert_int_equal(pod_result(&role, &pod).exit_code, 42);
	pod = (struct pod){ .phase = POD_RUNNING, .containers = helper_back, .n_containers = 2 };
	assert_int_equal(pod_result(&role, &pod).result, RESULT_SUCCESS);
}

/* Killed for its use of storage, with a code or without: as by SIGKILL. */
static void codes_of_evicted_pods(void **state)
{
	static const struct container unknown[] = { { .name = STR_INIT("helper"), .state = CONTAINER_TERMINATED } };
	struct pod pod = { .phase = POD_FAILED, .reason = STR("Evicted"), .containers = unknown, .n_containers = 1 };
	struct role role = plain_role();

	(void)state;
	assert_false(pod_codes_retryable(&role, &role.restart.codes, &pod));
	t_codes(&role, "137");
	assert_true(pod_codes_retryable(&role, &role.restart.codes, &pod));
	pod.reason = STR_NONE;
	assert_false(pod_codes_retryable(&role, &role.restart.codes, &pod));
}

/* A pod of an earlier template with several containers, by each rule. */
static void rules_for_unknown_containers(void **state)
{
	static const struct container c[] = { ENDED("aitj-a", 4), RUNS("b") };
	static const struct {
		enum container_match match;
		const char *text;
		enum result result;
	} table[] = {
		{ MATCH_PREFIX, "aitj-", RESULT_FAILURE },
		{ MATCH_NAME, "aitj-a", RESULT_FAILURE },
		{ MATCH_NAME, "b", RESULT_NONE },
		{ MATCH_FIRST, "", RESULT_NONE },
	};
	struct pod pod = { .phase = POD_RUNNING, .containers = c, .n_containers = 2 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct role role = { .match = table[i].match, .match_text = str_c(table[i].text) };

		assert_int_equal(pod_result(&role, &pod).result, table[i].result);
	}
}

/* An init container's code counts where no other is there. */
static void codes_of_init_containers(void **state)
{
	static const struct container c[] = { INIT("setup", 200), WAITS("main") };
	struct pod pod = { .phase = POD_FAILED, .containers = c, .n_containers = 2 };
	struct role role = plain_role();

	(void)state;
	assert_false(pod_codes_retryable(&role, &role.restart.codes, &pod));
	t_codes(&role, "128-255");
	assert_true(pod_codes_retryable(&role, &role.restart.codes, &pod));
	pod.n_containers = 0;
	assert_false(pod_codes_retryable(&role, &role.restart.codes, &pod));
	assert_false(code_set_has(&role.restart.codes, -1));
	assert_false(code_set_has(&role.restart.codes, 256));
}

static void deleted_by_a_disruption(void **state)
{
	struct t *t = t_new();
	struct t_pod *p;

	(void)state;
	t_role(t, "worker", 2);
	t_settle(t);
	t_run(t);
	t_settle(t);
	p = t_pod(t, "worker", 0);
	p->pod.meta.deleted = t->now;
	p->pod.disrupted = true;
	t_vanish(t, "worker", 1);
	t_pass(t, SECONDS(2));
	t_plan(t);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DISRUPTED], 1);
	assert_int_equal(t_rec(t, "worker")->restarts[CAUSE_DELETED], 1);
	t_free(t);
}

/* An end without a time counts if nobody asked for the deletion. */
static void an_end_without_a_time(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1);
	t_settle(t);
	t_exit(t, "worker", 0, 3);
	t_pod(t, "worker", 0)->containers[0].finished = 0;
	t_settle(t);
	assert_phase(t, "Failed");
	t_free(t);
}

static void long_words_are_cut(void **state)
{
	char text[1000];
	struct str s;

	(void)state;
	memset(text, 'x', sizeof(text));
	s = reason_clip((struct str){ text, sizeof(text) });
	assert_int_equal(s.n, 300);
	/* not in the middle of a character */
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[0] = 'x';
	memmove(text + 1, text + 2, sizeof(text) - 2);
	s = reason_clip((struct str){ text, sizeof(text) });
	assert_int_equal(s.n, 299);
	assert_int_equal(reason_clip(STR("one\rtwo")).n, 3);
	assert_int_equal(reason_clip(STR_NONE).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results),
		cmocka_unit_test(ended_before_a_disruption),
		cmocka_unit_test(stopped_before_it_came_back),
		cmocka_unit_test(a_kubelets_stop_is_no_success),
		cmocka_unit_test(containers_that_come_back),
		cmocka_unit_test(codes_of_evicted_pods),
		cmocka_unit_test(rules_for_unknown_containers),
		cmocka_unit_test(codes_of_init_containers),
		cmocka_unit_test(deleted_by_a_disruption),
		cmocka_unit_test(an_end_without_a_time),
		cmocka_unit_test(long_words_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
