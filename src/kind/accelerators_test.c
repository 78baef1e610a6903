#include "kind/accelerators.h"
#include "kind/testing.h"

/* As the chart of mx-operator wrote it for Azure. */
#define MX_AZURE                                                                                                       \
	"mxImage: stefanofioravanzo/mxnet-cifar10-dist:cpu\n"                                                          \
	"grpcServerFilePath: /opt/mlkube/grpc_tensorflow_server/grpc_tensorflow_server.py\n"                           \
	"accelerators:\n"                                                                                              \
	"  alpha.kubernetes.io/nvidia-gpu:\n"                                                                          \
	"    volumes:\n"                                                                                               \
	"      - name: nvidia\n"                                                                                       \
	"        mountPath: /usr/local/nvidia\n"                                                                       \
	"        hostPath: /usr/local/nvidia\n"
/* As the TfJob operator's users wrote it. */
#define TF_GKE                                                                                                         \
	"accelerators:\n"                                                                                              \
	"  alpha.kubernetes.io/nvidia-gpu:\n"                                                                          \
	"    volumes:\n"                                                                                               \
	"    - {name: nvidia-libraries,   mountPath: /usr/local/nvidia/lib64, hostPath: "                              \
	"/home/kubernetes/bin/nvidia/lib}\n"                                                                           \
	"    - {name: nvidia-debug-tools, mountPath: /usr/local/bin/nvidia,   hostPath: "                              \
	"/home/kubernetes/bin/nvidia/bin}\n"                                                                           \
	"    envVars:\n"                                                                                               \
	"    - {name: LD_LIBRARY_PATH, value: /usr/lib/nvidia:/usr/lib/x86_64-linux-gnu}\n"
#define A "accelerators: "
#define V(name, mount, host) "{name: " name ", mountPath: " mount ", hostPath: " host "}"
#define GPU A "{g.org/x: {volumes: [" V("lib", "/in", "/out") "], envVars: [{name: E, value: a}]}}"

static struct accelerators *acc;

static void load(const char *yaml)
{
	struct err e = ERR_INIT;

	accelerators_free(acc);
	acc = accelerators_parse(STR("c.yaml"), str_c(yaml), &e);
	if (!acc)
		fail_msg("%s", err_msg(&e));
}

static int teardown(void **state)
{
	(void)state;
	accelerators_free(acc);
	acc = NULL;
	return 0;
}

/* SPEC, a template's, becomes WANT, both in YAML; NULL: it is not touched. What came out is given in again: it stays.
 */
static void gives(const char *spec, const char *want)
{
	struct err e = ERR_INIT;
	struct yaml_file *in = yaml_parse(STR("spec"), str_c(spec), &e);
	struct yaml_file *out = yaml_parse(STR("want"), str_c(want ? want : "{}"), &e);
	yyjson_doc *once, *twice;

	if (!in || !out)
		fail_msg("%s", err_msg(&e));
	once = accelerators_apply(acc, yaml_root(in, 0));
	twice = once ? accelerators_apply(acc, yyjson_doc_get_root(once)) : NULL;
	if (want && !json_eq(yyjson_doc_get_root(once), yaml_root(out, 0))) {
		struct buf b = BUF_INIT(1 << 20);

		json_write_val(yyjson_doc_get_root(once), &b);
		fail_msg("%s\ngives %s", spec, b.p);
	}
	assert_true(want || !once);
	assert_true(!twice || json_eq(yyjson_doc_get_root(twice), yyjson_doc_get_root(once)));
	yyjson_doc_free(twice);
	yyjson_doc_free(once);
	yaml_close(in);
	yaml_close(out);
}

static void test_old_files(void **state)
{
	const char *key, *why;

	(void)state;
	load(MX_AZURE);
	gives("containers: [{name: mxnet, resources: {limits: {alpha.kubernetes.io/nvidia-gpu: 1}}}]",
	      "containers: [{name: mxnet, resources: {limits: {alpha.kubernetes.io/nvidia-gpu: 1}},\n"
	      "  volumeMounts: [{name: nvidia, mountPath: /usr/local/nvidia}]}]\n"
	      "volumes: [{name: nvidia, hostPath: {path: /usr/local/nvidia}}]\n");
	assert_true(accelerators_idle(acc, 0, &key, &why));
	assert_string_equal(key, "mxImage");
	assert_true(accelerators_idle(acc, 1, &key, &why));
	assert_string_equal(key, "grpcServerFilePath");
	assert_true(strlen(why) > 10);
	assert_false(accelerators_idle(acc, 2, &key, &why));

	load(TF_GKE);
	gives("containers: [{name: tensorflow, resources: {requests: {alpha.kubernetes.io/nvidia-gpu: '2'}}}]",
	      "containers: [{name: tensorflow, resources: {requests: {alpha.kubernetes.io/nvidia-gpu: '2'}},\n"
	      "  volumeMounts: [{name: nvidia-libraries, mountPath: /usr/local/nvidia/lib64},\n"
	      "    {name: nvidia-debug-tools, mountPath: /usr/local/bin/nvidia}],\n"
	      "  env: [{name: LD_LIBRARY_PATH, value: '/usr/lib/nvidia:/usr/lib/x86_64-linux-gnu'}]}]\n"
	      "volumes: [{name: nvidia-libraries, hostPath: {path: /home/kubernetes/bin/nvidia/lib}},\n"
	      "  {name: nvidia-debug-tools, hostPath: {path: /home/kubernetes/bin/nvidia/bin}}]\n");
}

/* What GPU gives. */
#define ASKS "resources: {limits: {g.org/x: 1}}"
#define OUT "volumes: [{name: lib, hostPath: {path: /out}}]"
#define IN "volumeMounts: [{name: lib, mountPath: /in}]"
#define E "{name: E, value: a}"
#define ENV "env: [" E "]"

static void test_case_of_keys(void **state)
{
	(void)state;
	load("ACCELERATORS: {g.org/x: {Volumes: [{NAME: lib, mountpath: /in, HostPath: /out}], envvars: [{Name: E}], "
	     "RESOURCE: h.org/x}}");
	gives("containers: [{" ASKS "}]",
	      "{containers: [{resources: {limits: {h.org/x: 1}}, " IN ", env: [{name: E, value: ''}]}], " OUT "}");
	/* A resource's name is no key. */
	gives("containers: [{resources: {limits: {G.org/x: 1}}}]", NULL);
}

static void test_who_asks(void **state)
{
	static const char *const nobody[] = {
		"containers: [{name: a}]",
		"containers: [{resources: {}}]",
		"containers: [{resources: {limits: {cpu: 1}}}]",
		"containers: [{resources: {limits: {g.org/x: null}}}]",
		"containers: [{resources: null}, {resources: [g.org/x]}, {resources: {limits: g.org/x}}, 5, null]",
		"containers: {resources: {limits: {g.org/x: 1}}}",
		"[1]",
		"text",
	};
	static const char *const none[] = { "0", "'0'", "0.0", "'0.000'", "''", "'-1'", "-1", "'0Gi'", "true", "[1]" };
	static const char *const some[] = { "1", "'1'", "0.5", "'0.5'", "'1k'", "'+2'", "' 1 '", "'500m'", "1e3" };
	char spec[256], want[256];

	(void)state;
	load(GPU);
	for (size_t i = 0; i < ARRAY_LEN(nobody); i++)
		gives(nobody[i], NULL);
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		snprintf(spec, sizeof(spec), "containers: [{resources: {requests: {g.org/x: %s}}}]", none[i]);
		gives(spec, spec);
	}
	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		snprintf(spec, sizeof(spec), "containers: [{resources: {requests: {g.org/x: %s}}}]", some[i]);
		snprintf(want, sizeof(want),
		         "{containers: [{resources: {requests: {g.org/x: %s}}, " IN ", " ENV "}], " OUT "}", some[i]);
		gives(spec, want);
	}
}

/* Every container that asks, also one before the start; they share the pod's volume. */
static void test_all_containers(void **state)
{
	(void)state;
	load(GPU);
	gives("{initContainers: [{name: i, " ASKS "}], "
	      "containers: [{name: a}, {name: b, env: [{name: U, value: u}], " ASKS "}]}",
	      "{initContainers: [{name: i, " ASKS ", " IN ", " ENV "}], "
	      "containers: [{name: a}, {name: b, env: [{name: U, value: u}, " E "], " ASKS ", " IN "}], " OUT "}");
}

/* What the user has stays, and nothing comes beside it. */
static void test_never_twice(void **state)
{
	static const char *const stays[] = {
		/* All of it, as an operator before wrote it into the stored job. */
		"{" OUT ", containers: [{" ASKS ", " ENV ", " IN "}]}",
		/* The variable is the user's. */
		"{" OUT ", containers: [{" ASKS ", env: [{name: E, valueFrom: {}}], " IN "}]}",
		/* Something else is mounted there already; the slash at the end does not matter. */
		"{containers: [{" ASKS ", " ENV ", volumeMounts: [{name: mine, mountPath: /in/}]}]}",
		/* The volume is mounted elsewhere. */
		"{" OUT ", containers: [{" ASKS ", " ENV ", volumeMounts: [{name: lib, mountPath: /else}]}]}",
		/* A volume of that name is another one: it is not mounted where nobody expects it. */
		"{volumes: [{name: lib, emptyDir: {}}], containers: [{" ASKS ", " ENV "}]}",
		/* What is no list is left for the API server to refuse. */
		"{volumes: 5, containers: [{" ASKS ", env: {}, volumeMounts: x}]}",
	};

	(void)state;
	load(GPU);
	for (size_t i = 0; i < ARRAY_LEN(stays); i++)
		gives(stays[i], stays[i]);
	/* The volume is the same one: only the mount is missing. */
	gives("{" OUT ", containers: [{" ASKS ", " ENV "}]}", "{" OUT ", containers: [{" ASKS ", " ENV ", " IN "}]}");
	/* Null is nothing. */
	gives("{volumes: null, containers: [{" ASKS ", env: null, volumeMounts: null}]}",
	      "{" OUT ", containers: [{" ASKS ", " ENV ", " IN "}]}");
}

static void test_two_resources_share_a_volume(void **state)
{
	(void)state;
	load("accelerators:\n"
	     "  a.b/c: {volumes: [{name: lib, mountPath: /in, hostPath: /out}], envVars: [{name: E, value: a}]}\n"
	     "  d.e/f: {volumes: [{name: lib, mountPath: /in, hostPath: /out}], envVars: [{name: E, value: b}]}\n");
	gives("containers: [{resources: {limits: {a.b/c: 1, d.e/f: 1}}}]",
	      "{containers: [{resources: {limits: {a.b/c: 1, d.e/f: 1}}, " IN ", " ENV "}], " OUT "}");
}

#define MAPPED                                                                                                         \
	A "{alpha.kubernetes.io/nvidia-gpu: {resource: nvidia.com/gpu, envVars: [{name: OLD, value: 'y'}]}, "          \
	  "nvidia.com/gpu: {envVars: [{name: NEW, value: 'y'}]}}"
#define BOTH "env: [{name: OLD, value: 'y'}, {name: NEW, value: 'y'}]"

static void test_another_name(void **state)
{
	(void)state;
	load(MAPPED);
	gives("containers: [{resources: {limits: {cpu: 2, alpha.kubernetes.io/nvidia-gpu: 1, memory: 1Gi}, "
	      "requests: {alpha.kubernetes.io/nvidia-gpu: 1}}}]",
	      "containers: [{resources: {limits: {cpu: 2, nvidia.com/gpu: 1, memory: 1Gi}, "
	      "requests: {nvidia.com/gpu: 1}}, " BOTH "}]");
	/* By its new name it is what it is. */
	gives("containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]",
	      "containers: [{resources: {limits: {nvidia.com/gpu: 1}}, env: [{name: NEW, value: 'y'}]}]");
	/* Both, and the same number. */
	gives("containers: [{resources: {limits: {alpha.kubernetes.io/nvidia-gpu: '1', nvidia.com/gpu: 1}}}]",
	      "containers: [{resources: {limits: {nvidia.com/gpu: 1}}, " BOTH "}]");
	/* None is renamed too: nobody has the old name. */
	gives("containers: [{resources: {limits: {alpha.kubernetes.io/nvidia-gpu: 0}}}]",
	      "containers: [{resources: {limits: {nvidia.com/gpu: 0}}}]");
}

#define JOB(resources)                                                                                                 \
	"apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\nmetadata: {name: demo, namespace: ml}\nspec: "    \
	"{replicaSpecs: {t: {template: {spec: {containers: [{name: aitj-a, image: i, resources: " resources "}]}}}}}"
#define AT "error spec.replicaSpecs.t.template.spec.containers[0].resources."
#define SAYS                                                                                                           \
	"[\"alpha.kubernetes.io/nvidia-gpu\"]: is replaced by nvidia.com/gpu, but the container requests a "           \
	"different number of that: remove one of the two\n"

static void test_two_names_that_differ(void **state)
{
	struct fixture f = FIXTURE_INIT;

	(void)state;
	load(MAPPED);
	fixture_builtin(&f);
	kinds_set_accelerators(f.kinds, acc);
	expect_problems(&f, JOB("{limits: {alpha.kubernetes.io/nvidia-gpu: 1, nvidia.com/gpu: 2}}"), AT "limits" SAYS);
	expect_problems(&f, JOB("{limits: {nvidia.com/gpu: 2}, requests: {alpha.kubernetes.io/nvidia-gpu: '1'}}"),
	                AT "requests" SAYS);
	expect_problems(&f, JOB("{limits: {alpha.kubernetes.io/nvidia-gpu: '2', nvidia.com/gpu: 2}}"), "");
	expect_problems(&f, JOB("{limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}"), "");
	kinds_set_accelerators(f.kinds, NULL);
	expect_problems(&f, JOB("{limits: {alpha.kubernetes.io/nvidia-gpu: 1, nvidia.com/gpu: 2}}"), "");
	fixture_release(&f);
}

/* Through a pod: the derived variables first, then the user's, then the accelerator's. */
static void test_pod(void **state)
{
	struct fixture f = FIXTURE_INIT;
	yyjson_val *pod, *c;
	size_t n;

	(void)state;
	load(MAPPED);
	fixture_builtin(&f);
	kinds_set_accelerators(f.kinds, acc);
	fixture_read(&f, JOB("{limits: {alpha.kubernetes.io/nvidia-gpu: 1}}, env: [{name: U, value: u}]"));
	pod = fixture_pod(&f, 0, 0);
	c = yyjson_arr_get(json_at(pod, "spec", "containers", NULL), 0);
	expect_json(json_at(c, "resources", NULL), "{\"limits\":{\"nvidia.com/gpu\":1}}");
	n = yyjson_arr_size(json_get(c, "env"));
	expect_json(yyjson_arr_get(json_get(c, "env"), n - 3), "{\"name\":\"U\",\"value\":\"u\"}");
	expect_json(yyjson_arr_get(json_get(c, "env"), n - 2), "{\"name\":\"OLD\",\"value\":\"y\"}");
	expect_json(yyjson_arr_get(json_get(c, "env"), n - 1), "{\"name\":\"NEW\",\"value\":\"y\"}");
	assert_string_equal(env_of(pod, "containers", 0, "TRAININGJOB_NAME"), "demo");
	/* The job itself is as the user wrote it. */
	expect_json(json_at(yyjson_arr_get(json_at(kind_job(f.job)->roles[0].template, "spec", "containers", NULL), 0),
	                    "resources", NULL),
	            "{\"limits\":{\"alpha.kubernetes.io/nvidia-gpu\":1}}");
	/* A job that was read keeps what it was read with; the next one has the new. */
	kinds_set_accelerators(f.kinds, NULL);
	assert_non_null(env_of(fixture_pod(&f, 0, 0), "containers", 0, "NEW"));
	fixture_read(&f, JOB("{limits: {alpha.kubernetes.io/nvidia-gpu: 1}}"));
	assert_null(env_of(fixture_pod(&f, 0, 0), "containers", 0, "NEW"));
	fixture_release(&f);
}

static void test_nothing(void **state)
{
	static const char *const files[] = {
		"", "# nothing\n", "{}", "accelerators:\n", "accelerators: {}", "accelerators: {g.org/x: }"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		load(files[i]);
		if (i < 5) {
			assert_int_equal(accelerators_count(acc), 0);
			gives("containers: [{resources: {limits: {g.org/x: 1}}}]", NULL);
		}
	}
	gives("containers: [{resources: {limits: {g.org/x: 1}}}]",
	      "{\"containers\":[{\"resources\":{\"limits\":{\"g.org/x\":1}}}]}");
}

static void test_what_is_wrong(void **state)
{
	static const struct {
		const char *yaml, *says;
	} t[] = {
		{ "accelerator: {}",
		  "c.yaml:1:1: accelerator: unknown key \"accelerator\"; did you mean \"accelerators\"?" },
		{ "accelerators:\n  g.org/x:\n    volume: []\n",
		  "c.yaml:3:5: accelerators[\"g.org/x\"].volume: unknown key \"volume\"; did you mean \"volumes\"?" },
		{ A "{g.org/x: {volumes: [{name: a, mountPath: /a, path: /a}]}}",
		  "volumes[0].path: unknown key \"path\"; there are name, mountPath or hostPath" },
		{ A "{g.org/x: {envVars: [{name: a, valeu: b}]}}", "unknown key \"valeu\"; did you mean \"value\"?" },
		{ A "{g.org/x: {envVars: [{name: a, Name: b}]}}", "envVars[0].Name: there is another name" },
		{ A "{g.org/x: {volumes: [{name: a, mountPath: /a}]}}", "volumes[0]: hostPath is missing" },
		{ A "{g.org/x: {volumes: [{name: , mountPath: /a, hostPath: /b}]}}", "volumes[0]: name is missing" },
		{ A "{g.org/x: {volumes: {name: a}}}", "volumes: must be a list, found an object" },
		{ A "{g.org/x: {volumes: [a]}}", "volumes[0]: must be an object, found a string" },
		{ A "{g.org/x: {volumes: [" V("A_b", "/a", "/b") "]}}", "volumes[0].name: must be a DNS label" },
		{ A "{g.org/x: {volumes: [" V("a", "a", "/b") "]}}", "mountPath: must be a path that begins with '/'" },
		{ A "{g.org/x: {volumes: [" V("a", "/a", "/b/../c") "]}}", "hostPath: must be a path" },
		{ A "{g.org/x: {volumes: [" V("a", "/a:b", "/b") "]}}", "mountPath: must be a path" },
		{ A "{g.org/x: {volumes: [" V("a", "/a", "/b") ", " V("a", "/c", "/b") "]}}",
		  "volumes[1]: there is another volume of this name" },
		{ A "{g.org/x: {volumes: [" V("a", "/a", "/b") "]}, g.org/y: {volumes: [" V("a", "/a", "/c") "]}}",
		  "another resource has a volume of this name with another hostPath" },
		{ A "{g.org/x: {envVars: [{name: 1a, value: b}]}}", "envVars[0].name: must be letters" },
		{ A "{g.org/x: {envVars: [{name: 'a=b', value: b}]}}", "envVars[0].name: must be letters" },
		{ A "{g.org/x: {envVars: [{name: a, value: 1}]}}",
		  "value: must be a string, found a number: put it in quotes" },
		{ A "{g.org/x: {envVars: [{name: a}, {name: a}]}}", "there is another variable of this name" },
		{ A "{g.org/x: {resource: 'a b'}}", "resource: must be a resource name" },
		{ A "{g.org/x: {resource: g.org/x}}", "is replaced by itself" },
		{ A "{a.b/c: {resource: d.e/f}, d.e/f: {resource: g.h/i}}",
		  "is replaced by a name that is itself replaced" },
		{ A "{'': {}}", "is not a resource name" },
		{ A "{a/b/c: {}}", "is not a resource name" },
		{ A "[]", "must be an object of resource names, found a list" },
		{ "[]", "must be an object, found a list" },
		{ "5", "must be an object, found a number" },
		{ "a: [", "c.yaml:" },
		{ "---\na: 1\n---\nb: 1\n", "c.yaml: has more than one document" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct err e = ERR_INIT;
		struct accelerators *a = accelerators_parse(STR("c.yaml"), str_c(t[i].yaml), &e);

		if (a)
			fail_msg("taken: %s", t[i].yaml);
		if (!strstr(err_msg(&e), t[i].says) || strncmp(err_msg(&e), "c.yaml:", 7) || strchr(err_msg(&e), '\n'))
			fail_msg("%s\nsays: %s", t[i].yaml, err_msg(&e));
		err_release(&e);
	}
}

/* Many of everything. */
static void test_too_much(void **state)
{
	static const struct {
		const char *head, *before, *after, *tail;
	} t[] = {
		{ A "{", "g.org/x", ": {},", "}" },
		{ A "{g.org/x: {volumes: [", "{name: v", ", mountPath: /a, hostPath: /a},", "]}}" },
		{ A "{g.org/x: {envVars: [", "{name: v", "},", "]}}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct buf b = BUF_INIT(1 << 20);
		struct err e = ERR_INIT;

		buf_put(&b, str_c(t[i].head));
		for (int k = 0; k < 65; k++)
			buf_printf(&b, "%s%d%s", t[i].before, k, t[i].after);
		buf_put(&b, str_c(t[i].tail));
		assert_null(accelerators_parse(STR("c.yaml"), buf_str(&b), &e));
		assert_non_null(strstr(err_msg(&e), "has more than 64 entries"));
		err_release(&e);
		buf_release(&b);
	}
}

static void test_no_file(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_null(accelerators_load("/nowhere/c.yaml", &e));
	assert_non_null(strstr(err_msg(&e), "/nowhere/c.yaml"));
	err_release(&e);
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_old_files),      TEST(test_case_of_keys),          TEST(test_who_asks),
		TEST(test_all_containers), TEST(test_never_twice),           TEST(test_two_resources_share_a_volume),
		TEST(test_another_name),   TEST(test_two_names_that_differ), TEST(test_pod),
		TEST(test_nothing),        TEST(test_what_is_wrong),         TEST(test_too_much),
		TEST(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
