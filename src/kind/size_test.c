#include "kind/testing.h"

#define STARTED "status: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}\n"

static struct fixture f = FIXTURE_INIT;

static int setup(void **state)
{
	(void)state;
	fixture_builtin(&f);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
	return 0;
}

/* A TfJob of N workers, whose containers have ENV. */
static const char *tf(struct arena *a, int n, const char *env, const char *status)
{
	return arena_printf(a,
	                    "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: demo}\n"
	                    "spec: {replicaSpecs: [{tfReplicaType: MASTER, template: {spec: {containers: [{name: "
	                    "tensorflow, image: img%s}]}}}, {tfReplicaType: WORKER, replicas: %d, template: {spec: "
	                    "{containers: [{name: tensorflow, image: img%s}]}}}]}\n%s",
	                    env, n, env, status)
	        .p;
}

/* An AITrainingJob of two roles of N, with four containers in each pod. */
static const char *ai(struct arena *a, int n, const char *status)
{
	static const char containers[] =
		"template: {spec: {containers: [{name: aitj-a, image: img, ports: [{name: aitj-p, containerPort: 1}]}, "
		"{name: b, image: img}, {name: c, image: img}, {name: d, image: img}]}}";

	return arena_printf(a,
	                    "apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\nmetadata: {name: demo}\n"
	                    "spec: {replicaSpecs: {ps: {replicas: %d, %s}, trainer: {replicas: %d, %s}}}\n%s",
	                    n, containers, n, containers, status)
	        .p;
}

static void test_all_pods_together(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	expect_problems(&f, tf(&a, 1000, "", ""), "");
	expect_problems(
		&f, tf(&a, 1600, "", ""),
		"warning spec: its 1601 pods have 71.0 MiB in all, which etcd has to store; at most 256.0 MiB is "
		"allowed\n");
	expect_problems(&f, tf(&a, 3600, "", ""),
	                "error spec: its 3601 pods have 358.9 MiB in all, up to 102.1 KiB each; at most 256.0 MiB is "
	                "allowed: use fewer replicas (or raise dl-operator --max-job-size, if etcd has room)\n");
	/* One that runs goes on. */
	expect_problems(&f, tf(&a, 3600, "", STARTED),
	                "warning spec: its 3601 pods have 358.9 MiB in all, up to 102.1 KiB each; at most 256.0 MiB is "
	                "allowed: use fewer replicas (or raise dl-operator --max-job-size, if etcd has room)\n");
	assert_int_equal(kind_job(f.job)->problems.errors, 0);
	/* What the user says himself is not put in. */
	fixture_read(&f, tf(&a, 3600, ", env: [{name: TF_CONFIG, value: mine}]", ""));
	assert_int_equal(kind_job(f.job)->problems.errors, 0);
	assert_null(strstr(fixture_problems(&f), "MiB"));
	arena_release(&a);
}

static void test_one_pod(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	fixture_read(&f, ai(&a, 2900, ""));
	assert_non_null(
		strstr(fixture_problems(&f),
	               "error spec.replicaSpecs.trainer: each of its pods has 1.1 MiB, 1.1 MiB of it in variables "
	               "that list all replicas; at most 1.0 MiB is allowed: use fewer replicas or fewer containers "
	               "(or raise dl-operator --max-pod-size, if etcd accepts more)\n"));
	assert_int_equal(kind_job(f.job)->problems.errors, 2);
	fixture_read(&f, ai(&a, 2900, STARTED));
	assert_non_null(
		strstr(fixture_problems(&f), "warning spec.replicaSpecs.trainer: each of its pods has 1.1 MiB"));
	assert_int_equal(kind_job(f.job)->problems.errors, 0);
	arena_release(&a);
}

static void test_limits_can_be_moved(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	kinds_set_sizes(f.kinds, &(struct kind_sizes){ .pod = 8 << 20, .job = (uint64_t)16 << 30 });
	fixture_read(&f, ai(&a, 2900, ""));
	assert_int_equal(kind_job(f.job)->problems.errors, 0);
	expect_problems(&f, tf(&a, 3600, "", ""), "");
	kinds_set_sizes(f.kinds, &(struct kind_sizes){ .pod = 512, .job = 1 << 20 });
	fixture_read(&f, tf(&a, 2, "", ""));
	assert_int_equal(kind_job(f.job)->problems.errors, 1);
	assert_non_null(strstr(fixture_problems(&f), "at most 0.5 KiB is allowed"));
	kinds_set_sizes(f.kinds, &kind_sizes_default);
	arena_release(&a);
}

/* What is counted is what is made: within a fifth, for a pod that is not small. */
static void test_is_what_is_made(void **state)
{
	struct arena a = ARENA_INIT;
	const char *jobs[] = { tf(&a, 900, "", ""), ai(&a, 300, "") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		size_t made, role;

		fixture_read(&f, jobs[i]);
		assert_int_equal(kind_job(f.job)->problems.errors, 0);
		role = kind_job(f.job)->n_roles - 1;
		fixture_pod(&f, role, kind_job(f.job)->roles[role].count - 1);
		made = f.text.n;
		kinds_set_sizes(f.kinds, &(struct kind_sizes){ .pod = made * 4 / 5, .job = UINT64_MAX });
		fixture_read(&f, jobs[i]);
		assert_int_equal(kind_job(f.job)->problems.errors, 1);
		kinds_set_sizes(f.kinds, &(struct kind_sizes){ .pod = made * 6 / 5, .job = UINT64_MAX });
		fixture_read(&f, jobs[i]);
		assert_int_equal(kind_job(f.job)->problems.errors, 0);
		kinds_set_sizes(f.kinds, &kind_sizes_default);
	}
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pods_together),
		cmocka_unit_test(test_one_pod),
		cmocka_unit_test(test_limits_can_be_moved),
		cmocka_unit_test(test_is_what_is_made),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
