/* The runner of the golden cases must not pass what it should not: every kind of mistake is found. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MANIFEST                                                                                                       \
	"manifest: {apiVersion: mpba.fbk.eu/v1, kind: TFJob, metadata: {name: a}, spec: [{replicas: 1,"                \
	" replicaType: worker, template: {spec: {containers: [{name: c, image: i, env: [{name: X, value: y}]}]}}}]}\n" \
	"uid: u-1\n"
#define LABELS "labels: {pod_name: worker-a-0, job_name: a}"
#define TF_CONFIG                                                                                                      \
	"'{\"cluster\": {\"worker\": [\"worker-a-0-service:2222\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}'"
#define ENV "env: {c: {TF_CONFIG: " TF_CONFIG ", X: y}}"
#define POD "{name: worker-a-0, replica: worker-0, " LABELS ", " ENV "}"
#define SERVICE                                                                                                        \
	"{name: worker-a-0-service, replica: worker-0, labels: {service_name: worker-a-0-service, job_name: a},"       \
	" ports: [{name: dlport0, port: 2222}]}"

static void check(const char *text, const char *want)
{
	struct buf out = BUF_INIT(1 << 20);
	size_t n = golden_run(SOURCE_ROOT, STR("case.yaml"), str_c(text), &out);
	bool found = want && out.p && strstr(out.p, want);

	if (want ? !found || !n : n != 0)
		fail_msg("for\n%s\nexpected %s, got %zu differences\n%s", text, want ? want : "none", n,
		         out.p ? out.p : "");
	buf_release(&out);
}

static void test_well(void **state)
{
	(void)state;
	check(MANIFEST "pods: [" POD "]\nservices: [" SERVICE "]\n", NULL);
	check(MANIFEST "history: [{status: {phase: Pending}, pods: {worker-0: 0}, services: 1}]\n", NULL);
}

static void test_broken_case(void **state)
{
	(void)state;
	check("a: [", "case.yaml");
	check("", "a case is one document");
	check(MANIFEST, "expects something");
	check(MANIFEST "pods: []\n", "expects something");
	check(MANIFEST "history: []\n", "expects something");
	check(MANIFEST "pods: [" POD "]\npodz: []\n", "case.yaml:4: podz: a case has no such key");
	check("uid: u\npods: [" POD "]\n", "either manifest or manifestFile");
	check("uid: u\nmanifestFile: no/such.yaml\npods: [" POD "]\n", "no/such.yaml");
	check("uid: u\nmanifest: {kind: Nothing}\npods: [" POD "]\n", "no kind Nothing");
	check(MANIFEST "pods: [{nam: x}]\n", "pods[0].nam: a case has no such key");
	check(MANIFEST "pods: [" POD "]\nservices: [{clusterIP: None}]\n",
	      "services[0].clusterIP: a case has no such key");
}

static void test_children(void **state)
{
	(void)state;
	check(MANIFEST "pods: [{name: worker-a-1, replica: worker-0, " LABELS ", " ENV "}]\n",
	      "pods[0].name: \n    expected \"worker-a-1\"\n    got      \"worker-a-0\"");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-1, " LABELS ", " ENV "}]\n", "replica");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " ENV "}]\n", "its labels must be written down");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, labels: {job_name: a}, " ENV "}]\n",
	      "unexpected pod_name");
	check(MANIFEST
	      "pods: [{name: worker-a-0, replica: worker-0, labels: {pod_name: worker-a-0, job_name: a, z: a}, " ENV
	      "}]\n",
	      "labels.z");
	check(MANIFEST "pods: [" POD ", " POD "]\n", "pods[1]: is not there");
	check(MANIFEST "pods: [" POD "]\nservices: []\n", "services: unexpected: worker-0");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " LABELS ", " ENV ", annotations: {a: b}}]\n",
	      "annotations");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " LABELS ", " ENV ", spec: {nodeName: n}}]\n",
	      "spec.nodeName");
	check(MANIFEST "pods: [" POD "]\nservices: [{name: worker-a-0-service, replica: worker-0, labels:"
	               " {service_name: worker-a-0-service, job_name: a}, ports: [{name: dlport0, port: 2223}]}]\n",
	      "ports[0].port");
	check(MANIFEST "pods: [" POD "]\nservices: [{name: worker-a-0-service, replica: worker-0, labels:"
	               " {service_name: worker-a-0-service, job_name: a}, type: NodePort,"
	               " ports: [{name: dlport0, port: 2222}]}]\n",
	      "services[0].type");
}

static void test_variables(void **state)
{
	(void)state;
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " LABELS "}]\n", "none are written down");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " LABELS ", env: {c: {TF_CONFIG: " TF_CONFIG
	               "}}}]\n",
	      "unexpected \"X\"");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " LABELS ", env: {c: {X: y, TF_CONFIG: " TF_CONFIG
	               "}}}]\n",
	      "env.c.X: expected here, got \"TF_CONFIG\"");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " LABELS ", env: {c: {TF_CONFIG: '{}', X: y}}}]\n",
	      "env.c.TF_CONFIG: \n    expected \"{}\"");
	check(MANIFEST "pods: [{name: worker-a-0, replica: worker-0, " LABELS ", env: {d: {X: y}}}]\n",
	      "env.d: perhaps this container does not exist");
}

static void test_problems(void **state)
{
	static const char head[] = "uid: u\nmanifest: {apiVersion: mpba.fbk.eu/v1, kind: TFJob, metadata: {name: a},"
				   " spec: [{replicas: -1, replicaType: ps, template: &t {spec: {containers: [{name: c,"
				   " image: i}]}}}, {replicas: 1, replicaType: worker, template: *t}]}\n";
	struct arena a = ARENA_INIT;

	(void)state;
	check(arena_printf(&a, "%sproblems: ['spec[0].replicas: ']\n", head).p, NULL);
	check(arena_printf(&a, "%sproblems: ['spec[0].replica: ']\n", head).p,
	      "problems: unexpected: spec[0].replicas");
	check(arena_printf(&a, "%sproblems: ['spec[0].replicas: ', 'spec: x']\n", head).p, "problems[1]: not found");
	check(arena_printf(&a, "%sproblems: ['spec[0].replicas: no such words']\n", head).p, "not found");
	check(arena_printf(&a, "%shistory: [{status: {phase: Invalid}}]\n", head).p, "problems: unexpected");
	check(arena_printf(&a, "%sproblems: ['spec[0].replicas: ']\npods: [" POD "]\n", head).p, "has no children");
	arena_release(&a);
}

static void test_history(void **state)
{
	(void)state;
	check(MANIFEST "history: [{status: {phase: Running}}]\n",
	      "history[0].status.phase: \n    expected \"Running\"\n    got      \"Pending\"");
	check(MANIFEST "history: [{run: all, statos: {phase: Running}}]\n",
	      "history[0].statos: a case has no such key");
	check(MANIFEST "history: [{run: all}]\n", "the last step looks at nothing");
	check(MANIFEST "history: [{about: x}, {status: {}}]\n", "nothing happens, nothing is looked at");
	check(MANIFEST "history: [{run: all, pass: 1s, status: {}}]\n", "one thing happens at a step");
	check(MANIFEST "history: [{run: worker-9, status: {}}]\n", "there is no pod of \"worker-9\"");
	check(MANIFEST "history: [{exit: {worker-9: 1}, status: {}}]\n", "there is no pod of \"worker-9\"");
	check(MANIFEST "history: [{pass: soon, status: {}}]\n", "a time such as");
	check(MANIFEST "history: [{edit: {\"spec[7].replicas\": 1}, status: {}}]\n", "there is no spec[7].replicas");
	check(MANIFEST "history: [{run: all, pods: {}}]\n", "unexpected \"worker-0\"");
	check(MANIFEST "history: [{run: all, pods: {worker-0: 1}}]\n", "pods.worker-0");
	check(MANIFEST "history: [{run: all, pods: {worker-0: 0}, leaving: [worker-0]}]\n", "only 0 are asked to go");
	check(MANIFEST "history: [{run: all, services: 2}]\n", "there are 1 services");
	check(MANIFEST "history: [{run: all, absent: [phase]}]\n", "status.phase is there");
	check(MANIFEST "history: [{run: all, says: nonsense}]\n", "nonsense");
	check(MANIFEST "history: [{run: all, deleted: true}]\n", "the job is not deleted");
	check(MANIFEST "history: [{run: all, told: {worker-0: {env: {X: z}}}}]\n", "told.worker-0.env.X");
	check(MANIFEST "history: [{run: all, told: {worker-0: {labels: {job_name: b}}}}]\n",
	      "told.worker-0.labels.job_name");
	check(MANIFEST "history: [{run: all, told: {worker-0: {image: j}}}]\n", "told.worker-0.image");
	check(MANIFEST "history: [{run: all, told: {worker-1: {}}}]\n", "told.worker-1: there is no such pod");
	check(MANIFEST "history: [{run: all, told: {worker-0: {envs: {X: z}}}}]\n", "told.worker-0.envs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_well),      cmocka_unit_test(test_broken_case), cmocka_unit_test(test_children),
		cmocka_unit_test(test_variables), cmocka_unit_test(test_problems),    cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
