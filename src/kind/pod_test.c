#include "kind/testing.h"

/* A kind that does as it is told: the functions are put in. */
#define RING(fns)                                                                                                      \
	"local function read(spec) return { roles = { { name = 'a', path = at(spec), count = spec.size, service = "    \
	"true, "                                                                                                       \
	"template = spec.template, containers = { first = true }, env = spec.all and 'all' or nil, "                   \
	"ports = { { name = 'p', port = 80 } } } } } end\n"                                                            \
	"local function names(job, role, i) return job.name .. '-' .. i, job.name .. '-' .. i end\n"                   \
	"local function status() return {} end\n"                                                                      \
	"local kind = { group = 'example.org', version = 'v1', kind = 'Ring', plural = 'rings',\n"                     \
	"spec = { 'object', fields = { size = { 'int', default = 1 }, template = { 'template', required = true },\n"   \
	"all = { 'bool' } } },\n"                                                                                      \
	"read = read, names = names, pod = function() end, status = status }\n" fns "\nreturn kind"
#define HEAD                                                                                                           \
	"apiVersion: example.org/v1\nkind: Ring\nmetadata: {name: demo, namespace: ml, labels: {team: blue, a: "       \
	"job}}\n"
#define SPEC HEAD "spec: {template: {spec: {containers: [{name: c, image: img}]}}}"

#define STARTED "\nstatus: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}"

#define OWN(role, index, generation)                                                                                   \
	"\"dl-operator.mpba.fbk.eu/uid\":\"0b5f5a30-uid\",\"dl-operator.mpba.fbk.eu/kind\":\"Ring.example.org\","      \
	"\"dl-operator.mpba.fbk.eu/job\":\"demo\",\"dl-operator.mpba.fbk.eu/role\":\"" role "\","                      \
	"\"dl-operator.mpba.fbk.eu/index\":\"" index "\",\"dl-operator.mpba.fbk.eu/generation\":\"" generation "\""
#define OWNER                                                                                                          \
	"[{\"apiVersion\":\"example.org/"                                                                              \
	"v1\",\"kind\":\"Ring\",\"name\":\"demo\",\"uid\":\"0b5f5a30-uid\",\"controller\":true,"                       \
	"\"blockOwnerDeletion\":true}]"

static struct fixture f = FIXTURE_INIT;

static void ring(const char *lua, const char *yaml)
{
	fixture_release(&f);
	fixture_lua(&f, lua);
	fixture_read(&f, yaml);
	assert_int_equal(kind_job(f.job)->problems.errors, 0);
}

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
	return 0;
}

/* Byte for byte: what a kind that says nothing gets. */
static void test_plain_pod(void **state)
{
	(void)state;
	ring(RING(""), SPEC);
	fixture_pod(&f, 0, 3);
	assert_string_equal(
		f.text.p,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"demo-3\",\"namespace\":\"ml\","
		"\"labels\":{" OWN("a", "3", "7") "},\"ownerReferences\":" OWNER
						  "},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"img\"}],"
						  "\"restartPolicy\":\"Never\",\"enableServiceLinks\":false}}");
}

static void test_plain_service(void **state)
{
	(void)state;
	ring(RING(""), SPEC);
	fixture_service(&f, 0, 3);
	assert_string_equal(
		f.text.p,
		"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"demo-3\",\"namespace\":\"ml\","
		"\"labels\":{" OWN(
			"a", "3",
			"0") "},\"ownerReferences\":" OWNER
			     "},\"spec\":{\"clusterIP\":\"None\",\"publishNotReadyAddresses\":true,\"selector\":{"
			     "\"dl-operator.mpba.fbk.eu/uid\":\"0b5f5a30-uid\",\"dl-operator.mpba.fbk.eu/role\":\"a\","
			     "\"dl-operator.mpba.fbk.eu/index\":\"3\"},\"ports\":[{\"name\":\"p\",\"port\":80}]}}");
}

/* The template is kept whole but for what the operator must decide. */
static void test_template_is_kept(void **state)
{
	yyjson_val *pod;

	(void)state;
	ring(RING(""),
	     HEAD "spec: {template: {metadata: {name: x, namespace: y, uid: z, annotations: {note: '1'}, finalizers: "
	          "[a.b/c],\n"
	          "  labels: {l: '1', dl-operator.mpba.fbk.eu/uid: stolen}},\n"
	          "  spec: {restartPolicy: Always, nodeSelector: {gpu: 'yes'}, volumes: [{name: v, emptyDir: {}}], "
	          "tolerations: [],\n"
	          "  initContainers: [{name: i, image: img, restartPolicy: Always}], hostname: h, schedulerName: s, "
	          "subdomain: null,\n"
	          "  containers: [{name: c, image: img, extra: {a: [1, 2.5, true]}}, {name: side, image: img}]}}}");
	pod = fixture_pod(&f, 0, 0);
	expect_json(json_at(pod, "metadata", "annotations", NULL), "{\"note\":\"1\"}");
	expect_json(json_at(pod, "metadata", "finalizers", NULL), "[\"a.b/c\"]");
	expect_json(json_at(pod, "metadata", "uid", NULL), "(nothing)");
	expect_json(json_at(pod, "metadata", "name", NULL), "\"demo-0\"");
	expect_json(json_at(pod, "metadata", "namespace", NULL), "\"ml\"");
	expect_json(json_at(pod, "metadata", "labels", NULL), "{\"l\":\"1\"," OWN("a", "0", "7") "}");
	expect_json(
		json_get(pod, "spec"),
		"{\"nodeSelector\":{\"gpu\":\"yes\"},\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],\"tolerations\":[],"
		"\"initContainers\":[{\"name\":\"i\",\"image\":\"img\",\"restartPolicy\":\"Always\"}],"
		"\"containers\":[{\"name\":\"c\",\"image\":\"img\",\"extra\":{\"a\":[1,2.5,true]}},{\"name\":\"side\","
		"\"image\":\"img\"}],"
		"\"restartPolicy\":\"Never\",\"enableServiceLinks\":false,\"hostname\":\"h\",\"schedulerName\":\"s\"}");
}

static void test_network(void **state)
{
	(void)state;
	ring(RING(""), HEAD "spec: {template: {spec: {hostNetwork: true, enableServiceLinks: true, containers: [{name: "
	                    "c, image: img}]}}}");
	expect_json(
		json_get(fixture_pod(&f, 0, 0), "spec"),
		"{\"hostNetwork\":true,\"enableServiceLinks\":true,\"containers\":[{\"name\":\"c\",\"image\":\"img\"}],"
		"\"restartPolicy\":\"Never\",\"dnsPolicy\":\"ClusterFirstWithHostNet\"}");
	ring(RING(""), HEAD
	     "spec: {template: {spec: {hostNetwork: true, dnsPolicy: Default, containers: [{name: c, image: img}]}}}");
	expect_json(json_at(fixture_pod(&f, 0, 0), "spec", "dnsPolicy", NULL), "\"Default\"");
	ring(RING(""), HEAD "spec: {template: {spec: {hostNetwork: false, containers: [{name: c, image: img}]}}}");
	expect_json(json_at(fixture_pod(&f, 0, 0), "spec", "dnsPolicy", NULL), "(nothing)");
}

/* The kind's labels over the template's, ours over all; the job's only where there is none. */
static void test_labels(void **state)
{
	(void)state;
	ring(RING("kind.pod = function(job, role, i, restarts) return { labels = { b = i, a = 'kind', restarts = "
	          "restarts,\n"
	          "['dl-operator.mpba.fbk.eu/uid'] = 'stolen' } } end\n"
	          "kind.service = function(job, role, i) return { labels = { s = i, ['dl-operator.mpba.fbk.eu/uid'] = "
	          "'x' } } end\n"
	          "kind.job_labels = true"),
	     HEAD "spec: {template: {metadata: {labels: {a: template, c: template}}, spec: {containers: [{name: c, "
	          "image: img}]}}}");
	expect_json(json_at(fixture_pod(&f, 0, 1), "metadata", "labels", NULL),
	            "{\"c\":\"template\",\"team\":\"blue\",\"a\":\"kind\",\"b\":\"1\",\"restarts\":\"2\"," OWN(
			    "a", "1", "7") "}");
	expect_json(json_at(fixture_service(&f, 0, 1), "metadata", "labels", NULL),
	            "{\"s\":\"1\"," OWN("a", "1", "0") "}");
}

/* Kueue holds back what carries its labels: they are the job's alone, unless a template has them. */
static void test_queue_labels_stay_with_the_job(void **state)
{
#define QUEUED                                                                                                         \
	"apiVersion: example.org/v1\nkind: Ring\nmetadata: {name: demo, labels: {team: blue, "                         \
	"kueue.x-k8s.io/queue-name: q, "                                                                               \
	"kueue.x-k8s.io/priority-class: high, provreq.kueue.x-k8s.io/a: b, notkueue.x-k8s.io/c: d, kueue.x-k8s.io: "   \
	"e}}\n"
	static const char lua[] = RING("kind.job_labels = true");

	(void)state;
	ring(lua, QUEUED "spec: {template: {spec: {containers: [{name: c, image: img}]}}}");
	expect_json(
		json_at(fixture_pod(&f, 0, 0), "metadata", "labels", NULL),
		"{\"team\":\"blue\",\"notkueue.x-k8s.io/c\":\"d\",\"kueue.x-k8s.io\":\"e\"," OWN("a", "0", "7") "}");
	ring(lua, QUEUED "spec: {template: {metadata: {labels: {kueue.x-k8s.io/queue-name: t}}, spec: {containers: "
	                 "[{name: c, image: img}]}}}");
	expect_json(json_at(fixture_pod(&f, 0, 0), "metadata", "labels", NULL),
	            "{\"kueue.x-k8s.io/queue-name\":\"t\",\"team\":\"blue\",\"notkueue.x-k8s.io/c\":\"d\","
	            "\"kueue.x-k8s.io\":\"e\"," OWN("a", "0", "7") "}");
#undef QUEUED
}

/* doNotDisrupt: only where it is said, and what the template says stays. */
static void test_do_not_disrupt(void **state)
{
#define POLICY HEAD "spec: {policy: {doNotDisrupt: true}, template: {"
#define CONTAINERS "spec: {containers: [{name: c, image: img}]}}}"
	static const char lua[] = RING("");
	static const char *const cases[][2] = {
		{ SPEC, "(nothing)" },
		{ HEAD "spec: {policy: {doNotDisrupt: false}, template: {" CONTAINERS, "(nothing)" },
		{ POLICY CONTAINERS, "{\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\","
		                     "\"karpenter.sh/do-not-disrupt\":\"true\"}" },
		{ POLICY "metadata: {annotations: null}, " CONTAINERS,
		  "{\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\","
		  "\"karpenter.sh/do-not-disrupt\":\"true\"}" },
		{ POLICY "metadata: {annotations: {a: b, cluster-autoscaler.kubernetes.io/safe-to-evict: "
		         "'true'}}, " CONTAINERS,
		  "{\"a\":\"b\",\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"true\","
		  "\"karpenter.sh/do-not-disrupt\":\"true\"}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ring(lua, cases[i][0]);
		expect_json(json_at(fixture_pod(&f, 0, 0), "metadata", "annotations", NULL), cases[i][1]);
	}
#undef POLICY
#undef CONTAINERS
}

static void test_host_and_scheduler(void **state)
{
	static const char lua[] =
		RING("kind.pod = function(job, role, i) return { hostname = 'kind', schedulerName = 'kind' } end");

	(void)state;
	ring(lua, SPEC);
	expect_json(json_at(fixture_pod(&f, 0, 0), "spec", "hostname", NULL), "\"kind\"");
	expect_json(json_at(fixture_pod(&f, 0, 0), "spec", "schedulerName", NULL), "\"kind\"");
	ring(lua, HEAD
	     "spec: {template: {spec: {hostname: mine, schedulerName: mine, containers: [{name: c, image: img}]}}}");
	expect_json(json_at(fixture_pod(&f, 0, 0), "spec", "hostname", NULL), "\"mine\"");
	expect_json(json_at(fixture_pod(&f, 0, 0), "spec", "schedulerName", NULL), "\"kind\"");
}

#define ENV_FN                                                                                                         \
	"kind.pod = function(job, role, i) return { env = { { { 'A', 'shared' }, { 'B', 1 } }, { 'C', { 'x', i, 'z' "  \
	"} } } } end\n"                                                                                                \
	"kind.container = function(job, role, c) if not c.init then return { { 'D', c.name .. #c.ports } } end end\n"

/* Before the user's own, which may so refer to them, in a fixed order; what the user has set is left out. */
static void test_variables(void **state)
{
	yyjson_val *pod, *c;

	(void)state;
	ring(RING(ENV_FN), HEAD "spec: {template: {spec: {initContainers: [{name: i, image: img}], containers: [\n"
	                        "  {name: c, image: img, env: [{name: Z, value: '1'}, {name: B, valueFrom: {x: 1}}, "
	                        "{name: D, value: mine}]},\n"
	                        "  {name: side, image: img}]}}}");
	pod = fixture_pod(&f, 0, 5);
	c = yyjson_arr_get_first(json_at(pod, "spec", "containers", NULL));
	expect_json(json_get(c, "env"), "[{\"name\":\"A\",\"value\":\"shared\"},{\"name\":\"C\",\"value\":\"x5z\"},"
	                                "{\"name\":\"Z\",\"value\":\"1\"},{\"name\":\"B\",\"valueFrom\":{\"x\":1}},"
	                                "{\"name\":\"D\",\"value\":\"mine\"}]");
	expect_json(yyjson_arr_get(json_at(pod, "spec", "containers", NULL), 1),
	            "{\"name\":\"side\",\"image\":\"img\"}");
	expect_json(json_at(pod, "spec", "initContainers", NULL), "[{\"name\":\"i\",\"image\":\"img\"}]");
}

static void test_variables_everywhere(void **state)
{
	yyjson_val *pod;

	(void)state;
	ring(RING(ENV_FN), HEAD
	     "spec: {all: true, template: {spec: {initContainers: [{name: i, image: img, env: []}], containers: [\n"
	     "  {name: c, image: img, ports: [{containerPort: 1}]}, {name: side, image: img, env: null}]}}}");
	pod = fixture_pod(&f, 0, 0);
	expect_json(yyjson_arr_get_first(json_at(pod, "spec", "initContainers", NULL)),
	            "{\"name\":\"i\",\"image\":\"img\",\"env\":[{\"name\":\"A\",\"value\":\"shared\"},{\"name\":\"B\","
	            "\"value\":\"1\"},"
	            "{\"name\":\"C\",\"value\":\"x0z\"}]}");
	assert_string_equal(env_of(pod, "containers", 0, "D"), "c1");
	assert_string_equal(env_of(pod, "containers", 1, "D"), "side0");
	assert_string_equal(env_of(pod, "containers", 1, "A"), "shared");
}

/* All that JSON must escape comes through, in short and in long texts, again and again. */
static void test_long_and_odd_values(void **state)
{
	(void)state;
	ring(RING("kind.once = function() local t = {} for i = 1, 100 do t[i] = '\"\\\\\\n\\t\\1é' end\n"
	          "return { long = join(t) } end\n"
	          "kind.pod = function(job, role, i) return { env = { { 'L', { job.once.long, i, '\"' } }, { 'S', "
	          "job.once.long },\n"
	          "{ 'U', job.once.long .. i } } } end"),
	     SPEC);
	for (int i = 0; i < 5; i++) {
		const char *l = env_of(fixture_pod(&f, 0, i), "containers", 0, "L");
		const char *s = env_of(yyjson_doc_get_root(f.doc), "containers", 0, "S");
		const char *u = env_of(yyjson_doc_get_root(f.doc), "containers", 0, "U");

		assert_int_equal(strlen(s), 700);
		assert_memory_equal(s, "\"\\\n\t\1é\"", 8);
		assert_memory_equal(l, s, 700);
		assert_memory_equal(u, s, 700);
		assert_int_equal(l[700], '0' + i);
		assert_string_equal(l + 701, "\"");
		assert_int_equal(u[700], '0' + i);
	}
}

/* A kind's texts that change from pod to pod never come out as another pod's. */
static void test_long_values_are_not_mixed_up(void **state)
{
	(void)state;
	ring(RING("kind.pod = function(job, role, i) local t = {} for k = 1, 300 do t[k] = i % 10 end\n"
	          "return { env = { { 'L', join(t) }, { 'M', join(t) .. 'm' } } } end"),
	     SPEC);
	for (int i = 0; i < 400; i++) {
		const char *l = env_of(fixture_pod(&f, 0, i), "containers", 0, "L");

		assert_int_equal(strlen(l), 300);
		assert_int_equal(l[0], '0' + i % 10);
		assert_int_equal(l[299], '0' + i % 10);
	}
}

static void test_service_of_another_type(void **state)
{
	(void)state;
	ring(RING("kind.service = function() return { type = 'NodePort', ports = { { name = 'x', port = 80, target = "
	          "6006 } } } end"),
	     SPEC);
	expect_json(json_get(fixture_service(&f, 0, 0), "spec"),
	            "{\"type\":\"NodePort\",\"publishNotReadyAddresses\":true,\"selector\":{"
	            "\"dl-operator.mpba.fbk.eu/uid\":\"0b5f5a30-uid\",\"dl-operator.mpba.fbk.eu/role\":\"a\","
	            "\"dl-operator.mpba.fbk.eu/"
	            "index\":\"0\"},\"ports\":[{\"name\":\"x\",\"port\":80,\"targetPort\":6006}]}");
	ring(RING("kind.service = function() return { ports = {} } end"), SPEC);
	expect_json(json_at(fixture_service(&f, 0, 0), "spec", "ports", NULL), "(nothing)");
}

/* What a kind may get wrong when it is called, and what is said. Reading calls all but service(). */
static const struct {
	const char *lua, *message;
} wrong[] = {
	{ RING("kind.read = function() end"), "test.lua:8: `read` must return a table, it returned a nil" },
	{ RING("kind.read = function() return { roles = { { count = error } } } end"),
	  "test.lua:8: `read` returned .roles[1].count: a function is not a value" },
	{ RING("kind.read = function() error('no') end"), "no (in `read`)" },
	{ RING("kind.read = function() while true do end end"), "exceeds the time limit of a call (in `read`)" },
	{ RING("kind.read = function(spec) invalid(spec, {}, 'x') end"), "string expected, got table" },
	{ RING("kind.names = function() return 1 end"), "`names` must return the names of the pod and of its service" },
	{ RING("kind.names = function() return 'a' end"),
	  "`names` must return the names of the pod and of its service" },
	{ RING("kind.names = function(job) return job.nam.x end"),
	  "attempt to index a nil value (field 'nam') (in `names`)" },
	{ RING("kind.once = function() error('no') end"), "no (in `once`)" },
	{ RING("kind.pod = function() return 1 end"), "`pod` must return a table, it returned a number" },
	{ RING("kind.pod = function() return { Env = {} } end"),
	  "test.lua:8: pod: unknown field `Env`, did you mean `env`?" },
	{ RING("kind.pod = function() return { env = 1 } end"), "pod: `env` must be a table, not a number" },
	{ RING("kind.pod = function() return { env = { 1 } } end"), "must give variables as a list of {name, value}" },
	{ RING("kind.pod = function() return { env = { { 'A' } } } end"),
	  "gives `A` a nil, not a string or a whole number" },
	{ RING("kind.pod = function() return { env = { { 'A', 1.5 } } } end"),
	  "gives `A` a number, not a string or a whole number" },
	{ RING("kind.pod = function() return { env = { { 'A', { {} } } } } end"), "gives `A` a part that is a table" },
	{ RING("kind.pod = function() return { env = { { '', 'x' } } } end"), "a variable without a name" },
	{ RING("kind.pod = function() return { env = { { RANK = 1 } } } end"),
	  "gives a variable as { RANK = value }: write { \"RANK\", value }" },
	{ RING("kind.pod = function() return { env = { RANK = 1 } } end"), "gives a variable as { RANK = value }" },
	{ RING("local t = {} t[1] = t kind.pod = function() return { env = t } end"), "nested too deep" },
	{ RING("kind.pod = function() return { labels = { 'a' } } end"), "must give labels as name = value" },
	{ RING("kind.pod = function() return { labels = { a = {} } } end"), "gives the label `a` in parts" },
	{ RING("kind.pod = function() return { labels = { a = true } } end"), "gives `a` a boolean" },
	{ RING("kind.container = function() return 1 end"), "`container` must return a list of variables or nothing" },
	{ RING("kind.container = function() return { 1 } end"), "must give variables as a list of {name, value}" },
};

static void test_wrong_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		fixture_release(&f);
		fixture_lua(&f, wrong[i].lua);
		if (fixture_try(&f, SPEC))
			fail_msg("no mistake: %s", wrong[i].lua);
		if (!strstr(err_msg(&f.e), wrong[i].message))
			fail_msg("%s\ngave: %s\nwant: %s", wrong[i].lua, err_msg(&f.e), wrong[i].message);
		assert_int_equal(f.e.code, ERR_LUA);
	}
}

/* A check that came with a newer version does not hold up a job that has started with the older one. */
static void test_wrong_code_of_a_job_that_has_started(void **state)
{
	(void)state;
	ring(RING("kind.pod = function() return { env = { { RANK = 1 }, { 'A', 'x' } } } end"), SPEC STARTED);
	assert_string_equal(fixture_problems(&f),
	                    "warning spec: `pod` in test.lua gives a variable as { RANK = value }: "
	                    "write { \"RANK\", value }\n");
	/* The next pods are as the others are, and it is told once. */
	for (int32_t i = 0; i < 2; i++) {
		fixture_pod(&f, 0, i);
		assert_non_null(memmem(f.text.p, f.text.n, "\"name\":\"A\"", 10));
	}
	assert_int_equal(kind_job(f.job)->problems.list.n, 1);
}

static const struct {
	const char *lua, *message;
} wrong_services[] = {
	{ RING("kind.service = function() return 1 end"),
	  "test.lua:8: `service` must return a table, it returned a number" },
	{ RING("kind.service = function() error('no') end"), "no (in `service`)" },
	{ RING("kind.service = function() return { port = {} } end"),
	  "service: unknown field `port`, did you mean `ports`?" },
	{ RING("kind.service = function() return { ports = { 1 } } end"),
	  "must give ports as a list of {name, port, target}" },
	{ RING("kind.service = function() return { ports = { { name = 'x' } } } end"),
	  "service.ports: missing field `port`" },
	{ RING("kind.service = function() return { labels = { 1 } } end"), "must give labels as name = value" },
};

static void test_wrong_services(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong_services); i++) {
		ring(wrong_services[i].lua, SPEC);
		buf_clear(&f.text);
		assert_false(kind_service(f.job, 0, 0, &f.text, &f.e));
		if (!strstr(err_msg(&f.e), wrong_services[i].message))
			fail_msg("%s\ngave: %s\nwant: %s", wrong_services[i].lua, err_msg(&f.e),
			         wrong_services[i].message);
		/* The state is as it was: the next call is served. */
		fixture_pod(&f, 0, 0);
	}
}

/* A template that is kept for later is not another job's. */
static void test_stolen_template(void **state)
{
	(void)state;
	fixture_release(&f);
	fixture_lua(&f, RING("local kept\nkind.read = function(spec) kept = kept or spec.template\n"
	                     "return { roles = { { name = 'a', count = 1, service = true, template = kept } } } end"));
	assert_true(fixture_try(&f, SPEC));
	assert_false(fixture_try(&f, SPEC));
	assert_string_equal(err_msg(&f.e), "test.lua:9: `read` returned .roles[1].template: a template of another job");
}

static void test_same_variable_twice(void **state)
{
	(void)state;
	fixture_release(&f);
	fixture_lua(&f, RING("kind.pod = function() return { env = { { 'A', 1 }, { 'A', 2 } } } end"));
	assert_false(fixture_try(&f, SPEC));
	assert_string_equal(err_msg(&f.e), "test.lua:8: `pod` gives the variable A twice");
	fixture_release(&f);
	fixture_lua(&f, RING("kind.container = function() return { { 'A', 1 }, { { 'A', 2 } } } end"));
	assert_false(fixture_try(&f, SPEC));
	assert_string_equal(err_msg(&f.e), "test.lua:8: `container` gives the variable A twice");
	/* Kubernetes takes the last one, and so it did before this was an error. */
	ring(RING("kind.pod = function() return { env = { { 'A', 1 }, { 'A', 2 } } } end"), SPEC STARTED);
	assert_string_equal(fixture_problems(&f), "warning spec: `pod` in test.lua gives the variable A twice\n");
	fixture_pod(&f, 0, 0);
}

/* Of a job whose problems hold it up nothing is made. */
static void test_invalid_job(void **state)
{
	(void)state;
	fixture_release(&f);
	fixture_lua(&f, RING(""));
	fixture_read(&f, HEAD "spec: {template: {spec: {}}}");
	assert_false(kind_pod(f.job, 0, 0, 0, 0, &f.text, &f.e));
	assert_string_equal(err_msg(&f.e), "the job is invalid");
	assert_false(kind_service(f.job, 0, 0, &f.text, &f.e));
}

static void test_names_of_labels(void **state)
{
	static const char *const good[] = { "a", "A.b_c-9", "example.org/a", "a/b", "9" };
	static const char *const bad[] = { "", "a b", "-a", "a/", "/a", "Example.org/a", "a/b/c", "a..b/c", "é" };
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good) + ARRAY_LEN(bad); i++) {
		bool is_good = i < ARRAY_LEN(good);
		const char *key = is_good ? good[i] : bad[i - ARRAY_LEN(good)];
		const char *lua =
			arena_printf(&a, RING("kind.pod = function() return { labels = { ['%s'] = 1 } } end"), key).p;

		fixture_release(&f);
		fixture_lua(&f, lua);
		if (fixture_try(&f, SPEC) != is_good)
			fail_msg("\"%s\": %s", key, err_msg(&f.e));
		if (is_good)
			continue;
		assert_non_null(strstr(err_msg(&f.e), arena_printf(&a,
		                                                   "test.lua:8: `pod` gives the label `%s`, which is "
		                                                   "not the name of a label",
		                                                   key)
		                                              .p));
		fixture_read(&f, SPEC STARTED);
		assert_int_equal(kind_job(f.job)->problems.errors, 0);
		assert_int_equal(kind_job(f.job)->problems.list.n, 1);
	}
	arena_release(&a);
}

/* The user's name is ok: the kind's is not. */
static void test_names_of_pods(void **state)
{
	(void)state;
	fixture_release(&f);
	fixture_lua(&f, RING("kind.names = function(job, role, i)\nreturn job.name .. '-A-' .. i, 'x' end"));
	expect_problems(
		&f, SPEC,
		"error metadata.name: the pod would be named \"demo-A-0\", which is not a DNS label (lower case "
		"letters, digits and '-'): see `names`, test.lua:8\n");
	expect_problems(
		&f,
		"apiVersion: example.org/v1\nkind: Ring\nmetadata: {name: de.mo}\n"
		"spec: {template: {spec: {containers: [{name: c, image: img}]}}}",
		"error metadata.name: the pod would be named \"de.mo-A-0\", which is not a DNS label (lower case "
		"letters, digits and '-')\n");
}

static void test_buffer_too_small(void **state)
{
	struct buf small = BUF_INIT(100);

	(void)state;
	ring(RING(""), SPEC);
	assert_false(kind_pod(f.job, 0, 0, 0, 0, &small, &f.e));
	assert_int_equal(f.e.code, ERR_LIMIT);
	buf_clear(&small);
	assert_false(kind_service(f.job, 0, 0, &small, &f.e));
	buf_release(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_pod),
		cmocka_unit_test(test_plain_service),
		cmocka_unit_test(test_template_is_kept),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_queue_labels_stay_with_the_job),
		cmocka_unit_test(test_do_not_disrupt),
		cmocka_unit_test(test_host_and_scheduler),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_variables_everywhere),
		cmocka_unit_test(test_long_and_odd_values),
		cmocka_unit_test(test_long_values_are_not_mixed_up),
		cmocka_unit_test(test_service_of_another_type),
		cmocka_unit_test(test_wrong_code),
		cmocka_unit_test(test_wrong_code_of_a_job_that_has_started),
		cmocka_unit_test(test_wrong_services),
		cmocka_unit_test(test_stolen_template),
		cmocka_unit_test(test_same_variable_twice),
		cmocka_unit_test(test_invalid_job),
		cmocka_unit_test(test_names_of_labels),
		cmocka_unit_test(test_names_of_pods),
		cmocka_unit_test(test_buffer_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
