/* Gangs: the PodGroup, and what the pods carry of it. */
#include "kind/testing.h"

#include "job/gang.h"
#include "kind/accelerators.h"
#include "object/object.h"

static struct fixture f = FIXTURE_INIT;

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
	return 0;
}

#define JOB(meta, policy, template)                                                                                    \
	"apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: mnist, namespace: ml}\nspec:\n  policy: "        \
	"{" policy "}\n  replicaSpecs:\n"                                                                              \
	"  - {tfReplicaType: MASTER, replicas: 1, template: {metadata: {" meta                                         \
	"}, spec: {" template "containers: [{name: tensorflow, image: i, resources: {requests: {cpu: 500m, memory: "   \
			      "1Gi}}}]}}}\n"                                                                           \
			      "  - {tfReplicaType: WORKER, replicas: 2, template: {spec: {"                            \
			      "containers: [{name: tensorflow, image: i, resources: {limits: {nvidia.com/gpu: "        \
			      "4}}}]}}}\n"

static void gang(const char *scheduler, const char *yaml)
{
	fixture_release(&f);
	fixture_builtin(&f);
	kinds_set_gang(f.kinds, str_c(scheduler));
	fixture_read(&f, yaml);
	assert_int_equal(kind_job(f.job)->problems.errors, 0);
}

static yyjson_val *group(void)
{
	struct arena a = ARENA_INIT;
	struct gang want = gang_of(kind_job(f.job), NULL, &a);
	bool made;

	buf_clear(&f.text);
	made = kind_group(f.job, &want, &f.text, &f.e);
	arena_release(&a);
	if (!made)
		fail_msg("%s", err_msg(&f.e));
	return fixture_parse(&f);
}

static const char *patch(const struct group *have)
{
	struct arena a = ARENA_INIT;
	struct gang want = gang_of(kind_job(f.job), NULL, &a);

	buf_clear(&f.text);
	assert_true(kind_group_patch(f.job, have, &want, &f.text, &f.e));
	arena_release(&a);
	fixture_parse(&f);
	return f.text.p;
}

static void test_volcano(void **state)
{
	(void)state;
	gang("volcano", JOB("", "", ""));
	group();
	assert_string_equal(
		f.text.p,
		"{\"apiVersion\":\"scheduling.volcano.sh/"
		"v1beta1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"mnist\","
		"\"namespace\":\"ml\",\"labels\":{\"dl-operator.mpba.fbk.eu/uid\":\"0b5f5a30-uid\","
		"\"dl-operator.mpba.fbk.eu/kind\":\"TfJob.mlkube.io\",\"dl-operator.mpba.fbk.eu/job\":\"mnist\"},"
		"\"ownerReferences\":[{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"name\":\"mnist\","
		"\"uid\":\"0b5f5a30-uid\",\"controller\":true,\"blockOwnerDeletion\":true}]},\"spec\":{\"minMember\":3,"
		"\"minResources\":{\"cpu\":\"500m\",\"memory\":\"1Gi\",\"nvidia.com/"
		"gpu\":\"8\"},\"queue\":\"default\"}}");
	gang("volcano", JOB("",
	                    "schedulingPolicy: {queue: team-a, priorityClass: high, minAvailable: 1, minResources: {}, "
	                    "scheduleTimeoutSeconds: 9}",
	                    ""));
	expect_json(json_get(group(), "spec"), "{\"minMember\":1,\"queue\":\"team-a\",\"priorityClassName\":\"high\"}");
}

static void test_plugins(void **state)
{
	yyjson_val *g;

	(void)state;
	gang("scheduler-plugins-scheduler",
	     JOB("", "schedulingPolicy: {queue: team-a, priorityClass: high, scheduleTimeoutSeconds: 9}", ""));
	g = group();
	expect_json(json_get(g, "apiVersion"), "\"scheduling.x-k8s.io/v1alpha1\"");
	expect_json(json_get(g, "spec"),
	            "{\"minMember\":3,\"minResources\":{\"cpu\":\"500m\",\"memory\":\"1Gi\",\"nvidia.com/gpu\":\"8\"},"
	            "\"scheduleTimeoutSeconds\":9}");
}

static void test_pods(void **state)
{
	yyjson_val *pod;

	(void)state;
	gang("volcano", JOB("annotations: {a: b, scheduling.k8s.io/group-name: mine}", "", ""));
	pod = fixture_pod(&f, 0, 0);
	expect_json(json_at(pod, "metadata", "annotations", NULL),
	            "{\"a\":\"b\",\"scheduling.k8s.io/group-name\":\"mnist\",\"volcano.sh/task-spec\":\"master\"}");
	expect_json(json_at(pod, "spec", "schedulerName", NULL), "\"volcano\"");
	assert_null(json_at(pod, "metadata", "labels", "scheduling.x-k8s.io/pod-group", NULL));
	pod = fixture_pod(&f, 1, 1);
	expect_json(json_at(pod, "metadata", "annotations", "volcano.sh/task-spec", NULL), "\"worker\"");

	gang("coscheduling", JOB("labels: {scheduling.x-k8s.io/pod-group: mine, a: b}", "", "schedulerName: '', "));
	pod = fixture_pod(&f, 0, 0);
	expect_json(json_at(pod, "metadata", "labels", "scheduling.x-k8s.io/pod-group", NULL), "\"mnist\"");
	expect_json(json_at(pod, "metadata", "labels", "a", NULL), "\"b\"");
	expect_json(json_at(pod, "spec", "schedulerName", NULL), "\"coscheduling\"");
	assert_null(json_at(pod, "metadata", "annotations", NULL));

	gang("", JOB("", "", ""));
	pod = fixture_pod(&f, 0, 0);
	assert_null(json_at(pod, "spec", "schedulerName", NULL));
	assert_null(json_at(pod, "metadata", "annotations", NULL));
}

static void test_aux(void **state)
{
	yyjson_val *pod;
	const struct job *job;
	size_t tb = 0;

	(void)state;
	gang("volcano", JOB("", "", "") "  tensorboard: {logDir: /logs}\n");
	job = kind_job(f.job);
	while (tb < job->n_roles && !job->roles[tb].aux)
		tb++;
	assert_true(tb < job->n_roles);
	pod = fixture_pod(&f, tb, 0);
	assert_null(json_at(pod, "spec", "schedulerName", NULL));
	assert_null(json_at(pod, "metadata", "annotations", "scheduling.k8s.io/group-name", NULL));
	expect_json(json_at(group(), "spec", "minMember", NULL), "3");
}

static void test_other_scheduler(void **state)
{
	yyjson_val *pod;

	(void)state;
	gang("volcano", JOB("", "", "schedulerName: mine, "));
	assert_string_equal(fixture_problems(&f),
	                    "warning spec.replicaSpecs[0].template.spec.schedulerName: is kept, although "
	                    "the operator's gang scheduler is volcano\n");
	pod = fixture_pod(&f, 0, 0);
	expect_json(json_at(pod, "spec", "schedulerName", NULL), "\"mine\"");
	expect_json(json_at(pod, "metadata", "annotations", "scheduling.k8s.io/group-name", NULL), "\"mnist\"");
	gang("volcano", JOB("", "", "schedulerName: volcano, "));
	assert_string_equal(fixture_problems(&f), "");
	gang("", JOB("", "", "schedulerName: mine, "));
	assert_string_equal(fixture_problems(&f), "");
}

/* Only what we say is written, and a resource that nobody asks for any more goes. */
static void test_patch(void **state)
{
	struct need needs[] = { { STR_INIT("cpu"), { 9, 0 } }, { STR_INIT("pods"), { 3, 0 } } };
	struct group have = { .meta = { .uid = STR("u-1") }, .needs = { needs, 2, 2 }, .queue = STR("q") };

	(void)state;
	gang("volcano", JOB("", "", ""));
	assert_string_equal(
		patch(&have),
		"{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"minMember\":3,\"minResources\":{\"cpu\":\"500m\","
		"\"memory\":\"1Gi\",\"nvidia.com/gpu\":\"8\",\"pods\":null}}}");
	gang("volcano", JOB("", "schedulingPolicy: {queue: b, minResources: {}}", ""));
	assert_string_equal(patch(&have),
	                    "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"minMember\":3,\"minResources\":{\"cpu\":null,"
	                    "\"pods\":null},\"queue\":\"b\"}}");
	have.needs.n = 0;
	assert_string_equal(patch(&have),
	                    "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"minMember\":3,\"queue\":\"b\"}}");
}

/* The gang asks for what its pods ask for: under the name that the cluster has. */
static void test_renamed_resource(void **state)
{
#define RENAMED "accelerators: {nvidia.com/gpu: {resource: example.org/gpu}}"
	CLEANUP(accelerators_freep) struct accelerators *acc = accelerators_parse(STR("c.yaml"), STR(RENAMED), &f.e);

	(void)state;
	assert_non_null(acc);
	fixture_release(&f);
	fixture_builtin(&f);
	kinds_set_gang(f.kinds, STR("sched"));
	kinds_set_accelerators(f.kinds, acc);
	fixture_read(&f, JOB("", "", ""));
	expect_json(json_at(group(), "spec", "minResources", NULL),
	            "{\"cpu\":\"500m\",\"example.org/gpu\":\"8\",\"memory\":\"1Gi\"}");
	expect_json(
		json_get(yyjson_arr_get(json_at(fixture_pod(&f, 1, 0), "spec", "containers", NULL), 0), "resources"),
		"{\"limits\":{\"example.org/gpu\":4}}");
	fixture_read(&f, JOB("", "schedulingPolicy: {minResources: {cpu: 2, nvidia.com/gpu: 6}}", ""));
	expect_json(json_at(group(), "spec", "minResources", NULL), "{\"cpu\":\"2\",\"example.org/gpu\":\"6\"}");
	fixture_read(&f, JOB("", "schedulingPolicy: {minResources: {example.org/gpu: 8, nvidia.com/gpu: 6}}", ""));
	expect_json(json_at(group(), "spec", "minResources", NULL), "{\"example.org/gpu\":\"8\"}");
	fixture_release(&f);
}

/* A job's name may have dots where its kind allows it; a label's value and Volcano's queues do not care, host names do.
 */
static void test_name(void **state)
{
	(void)state;
	fixture_release(&f);
	fixture_lua(&f, "return { group = 'example.org', version = 'v1', kind = 'Ring', plural = 'rings', "
	                "spec = { 'object', fields = { template = { 'template', required = true } } }, "
	                "read = function(spec) return { roles = { { name = 'a', path = at(spec), count = 1, "
	                "template = spec.template, containers = { first = true } } } } end, "
	                "names = function(job, role, i) return 'ring-' .. i end, "
	                "pod = function() end, status = function() return {} end }");
	kinds_set_gang(f.kinds, STR("sched"));
	fixture_read(&f, "apiVersion: example.org/v1\nkind: Ring\nmetadata: {name: a.b, namespace: ml}\n"
	                 "spec: {template: {spec: {containers: [{name: c, image: img}]}}}");
	assert_string_equal(fixture_problems(&f), "");
	expect_json(json_at(group(), "metadata", "name", NULL), "\"a-b\"");
	expect_json(json_at(fixture_pod(&f, 0, 0), "metadata", "labels", "scheduling.x-k8s.io/pod-group", NULL),
	            "\"a-b\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_volcano, teardown),
		cmocka_unit_test_teardown(test_plugins, teardown),
		cmocka_unit_test_teardown(test_pods, teardown),
		cmocka_unit_test_teardown(test_aux, teardown),
		cmocka_unit_test_teardown(test_other_scheduler, teardown),
		cmocka_unit_test_teardown(test_patch, teardown),
		cmocka_unit_test_teardown(test_renamed_resource, teardown),
		cmocka_unit_test_teardown(test_name, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
