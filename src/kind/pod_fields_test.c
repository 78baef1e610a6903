/* Fields of pods that Kubernetes would not take are told, with what is right. */
#include "kind/testing.h"

static const char job[] = "apiVersion: elasticdeeplearning.ai/v1\n"
			  "kind: AITrainingJob\n"
			  "metadata: {name: it}\n"
			  "spec:\n"
			  "  replicaSpecs:\n"
			  "    trainer:\n"
			  "      template:\n"
			  "        spec:\n"
			  "          containers:\n"
			  "          - {name: aitj-main, image: i, %s}\n"
			  "          %s\n";

/* All problems of the job, a line each, the path from the container on. */
static struct str told(struct fixture *f, struct arena *a, const char *container, const char *pod,
                       enum unknown_fields unknown)
{
	struct str text = arena_printf(a, job, container, pod);
	const struct problems *p;
	size_t errors = 0;

	f->kinds = kinds_new(NULL);
	assert_true(kinds_load_builtin(f->kinds, &f->e));
	f->file = yaml_parse(STR("job"), text, &f->e);
	if (!f->file)
		fail_msg("%s", err_msg(&f->e));
	f->job = kind_read(f->kinds, kinds_find(f->kinds, STR("elasticdeeplearning.ai/v1"), STR("AITrainingJob")),
	                   yaml_root(f->file, 0), STR_NONE, &f->e);
	assert_non_null(f->job);
	kind_check_fields(f->job, unknown);
	p = &kind_job(f->job)->problems;
	buf_clear(&f->text);
	for (size_t i = 0; i < p->list.n; i++) {
		const struct problem *one = &p->list.v[i];
		struct str prefix = STR("spec.replicaSpecs.trainer.template.spec.");
		struct str path =
			str_has_prefix(one->path, prefix) ? str_sub(one->path, prefix.n, one->path.n) : one->path;

		errors += one->severity == PROBLEM_ERROR;
		buf_printf(&f->text, "%s%.*s: %.*s\n", one->severity == PROBLEM_WARNING ? "warning " : "", STR_F(path),
		           STR_F(one->message));
	}
	assert_int_equal(p->errors, errors);
	return buf_str(&f->text);
}

static void expect(const char *container, const char *pod, enum unknown_fields unknown, const char *want)
{
	struct fixture f = FIXTURE_INIT;
	struct arena a = ARENA_INIT;
	struct str got = told(&f, &a, container, pod, unknown);

	if (!str_eqc(got, want))
		fail_msg("%s %s\ngot:  %.*s\nwant: %s", container, pod, STR_F(got), want);
	arena_release(&a);
	fixture_release(&f);
}

static void strict(const char *container, const char *pod, const char *want)
{
	expect(container, pod, UNKNOWN_STRICT, want);
}

static void test_strings(void **state)
{
	(void)state;
	strict("env: [{name: LR, value: 0.1}]", "",
	       "containers[0].env[0].value: must be a string, found a number: quote it\n");
	/* Which digits it had is in the file alone: neither 3.1 nor 511 would be right. */
	strict("env: [{name: A, value: 3.10}, {name: B, value: 0777}]", "",
	       "containers[0].env[0].value: must be a string, found a number: quote it\n"
	       "containers[0].env[1].value: must be a string, found a number: quote it\n");
	strict("env: [{name: COUNT, value: 3}]", "",
	       "containers[0].env[0].value: must be a string, found a number: quote it\n");
	strict("workingDir: no", "",
	       "containers[0].workingDir: must be a string, found a boolean: quote it, since YAML reads false, no, off "
	       "and n "
	       "as a boolean\n");
	strict("command: [sleep, 5]", "", "containers[0].command[1]: must be a string, found a number: quote it\n");
	strict("env: [{name: A, value: {b: c}}]", "",
	       "containers[0].env[0].value: must be a string, found an object\n");
	strict("tty: true", "nodeSelector: {gpu: yes}",
	       "nodeSelector.gpu: must be a string, found a boolean: quote it, since YAML reads true, yes, on and y as "
	       "a "
	       "boolean\n");
}

/* What the reader of jobs says only because of that is not told, too. */
static void test_one_mistake_is_told_once(void **state)
{
	(void)state;
	strict("env: [{name: 123, value: a}]", "",
	       "containers[0].env[0].name: must be a string, found a number: quote it\n");
	strict("ports: [{containerPort: \"80\"}]", "",
	       "containers[0].ports[0].containerPort: must be a whole number, found a string: write 80\n");
}

static void test_other_types(void **state)
{
	(void)state;
	strict("command: python3 train.py", "",
	       "containers[0].command: must be a list of strings, found a string: write [\"python3\", \"train.py\"]\n");
	strict("args: \"a; b\"", "",
	       "containers[0].args: must be a list of strings, found a string: write [\"/bin/sh\", \"-c\", \"…\"] for "
	       "a line of "
	       "shell\n");
	strict("tty: \"true\"", "",
	       "containers[0].tty: must be true or false, found a string: write it without quotes\n");
	strict("tty: 1", "", "containers[0].tty: must be true or false, found a number\n");
	strict("tty: true", "tolerations: {key: a}",
	       "tolerations: must be a list, found an object: put \"- \" before its first field\n");
	strict("tty: true", "affinity: none", "affinity: must be an object, found a string\n");
	strict("resources: {limits: {memory: [1]}}", "",
	       "containers[0].resources.limits.memory: must be an amount, such as 2 or 500Mi, found a list\n");
	strict("livenessProbe: {tcpSocket: {port: 1.5}}", "",
	       "containers[0].livenessProbe.tcpSocket.port: must be a whole number or a string, found a number\n");
}

static void test_what_is_right(void **state)
{
	(void)state;
	strict("env: [{name: A, value: \"1\"}, {name: B, value: null}, {name: C}], args: null", "nodeSelector: null",
	       "");
	strict("resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: \"2\"}, requests: {cpu: 0.5}}", "", "");
	strict("livenessProbe: {httpGet: {port: http}}, readinessProbe: {httpGet: {port: 80}}", "", "");
	strict("securityContext: {runAsUser: 1000, capabilities: {add: [NET_ADMIN]}}",
	       "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]", "");
}

static void test_unknown_fields(void **state)
{
	(void)state;
	strict("comand: [a]", "", "containers[0].comand: unknown field, did you mean `command`?\n");
	strict("tty: true", "restarts: 3", "restarts: unknown field of a PodSpec\n");
	expect("comand: [a]", "", UNKNOWN_WARN,
	       "warning containers[0].comand: unknown field, did you mean `command`?\n");
	expect("comand: [a]", "restarts: 3", UNKNOWN_IGNORE, "");
	/* Types are the API server's, whatever is said of unknown fields. */
	expect("tty: 1", "", UNKNOWN_IGNORE, "containers[0].tty: must be true or false, found a number\n");
}

/* Directives of patches are no fields. */
static void test_patches(void **state)
{
	static const char text[] = "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"a\"}],\"containers\":["
				   "{\"$patch\":\"delete\",\"name\":\"a\"}]}}";
	struct arena a = ARENA_INIT;
	struct problems p = { .arena = &a };
	struct pod_fields_check c = { .problems = &p, .patch = true };
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(text), NULL);

	(void)state;
	pod_fields_check(&c, yyjson_doc_get_root(doc), STR_NONE);
	assert_int_equal(p.list.n, 0);
	c.patch = false;
	pod_fields_check(&c, yyjson_doc_get_root(doc), STR_NONE);
	assert_int_equal(p.errors, 2);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),        cmocka_unit_test(test_one_mistake_is_told_once),
		cmocka_unit_test(test_other_types),    cmocka_unit_test(test_what_is_right),
		cmocka_unit_test(test_unknown_fields), cmocka_unit_test(test_patches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
