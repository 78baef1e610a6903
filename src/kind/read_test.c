#include "kind/internal.h"
#include "kind/testing.h"

#define TF_HEAD "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: demo, namespace: ml}\n"
#define MXB_HEAD "apiVersion: fioravanzo.org/v1alpha1\nkind: MXJob\nmetadata: {name: demo}\n"
#define MXA_HEAD "apiVersion: mpba.fbk.eu/v1\nkind: MXJob\nmetadata: {name: demo}\n"
#define TFA_HEAD "apiVersion: mpba.fbk.eu/v1\nkind: TFJob\nmetadata: {name: demo}\n"
#define AI_HEAD "apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\nmetadata: {name: demo, namespace: ml}\n"
#define T "template: {spec: {containers: [{name: tensorflow, image: img}]}}"
#define TN "template: {spec: {restartPolicy: Never, containers: [{name: tensorflow, image: img}]}}"
#define M "template: {spec: {containers: [{name: mxnet, image: img}]}}"
#define P "template: {spec: {containers: [{name: aitj-a, image: img}]}}"

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

#define TEMPLATE(more) "template: {spec: {containers: [{name: aitj-a, image: img, " more "}]}}"

/* Manifests of all kinds, and everything that is wrong with them. */
static const struct {
	const char *yaml, *problems;
} manifests[] = {
	/* The object as a whole. */
	{ TF_HEAD, "error spec: is missing\n" },
	{ TF_HEAD "spec: null", "error spec: must be an object, found null\n" },
	{ TF_HEAD "spec: [1]", "error spec: must be an object, found a list\n" },
	{ TF_HEAD "spec: text", "error spec: must be an object, found a string\n" },
	{ TF_HEAD "spec: {}", "error spec.replicaSpecs: is missing\n" },
	{ MXA_HEAD "spec: {}", "error spec: must be a list, found an object\n" },
	{ MXA_HEAD "spec: null", "error spec: must be a list, found null\n" },
	{ TF_HEAD "sepc: {}\nspec: {replicaSpecs: [{" T "}]}", "error sepc: unknown field, did you mean `spec`?\n" },
	{ TF_HEAD "colour: 1\nspec: {replicaSpecs: [{" T "}]}", "warning colour: unknown field, it is ignored\n" },
	/* Spellings. */
	{ TF_HEAD "spec: {replicaSpecs: [{" T "}]}", "" },
	{ TF_HEAD "spec: {replica_specs: [{tf_port: 2222, tfReplicaType: MASTER, " T "}]}", "" },
	{ TF_HEAD "spec: {replica_specs: [{" T "}], replicaSpecs: [{" T "}]}",
	  "error spec.replicaSpecs: the same field is already set as `replica_specs`\n" },
	{ TF_HEAD "spec: {replicaSpec: [{" T "}]}",
	  "error spec.replicaSpec: unknown field, did you mean `replicaSpecs`?\n" },
	{ TF_HEAD "spec: {ReplicaSpecs: [{" T "}]}",
	  "error spec.ReplicaSpecs: unknown field, did you mean `replicaSpecs`?\n" },
	{ TF_HEAD "spec: {Replica-Specs: [{" T "}]}",
	  "error spec.Replica-Specs: unknown field, did you mean `replicaSpecs`?\n" },
	{ TF_HEAD "spec: {polcy: {}, replicaSpecs: [{" T "}]}",
	  "error spec.polcy: unknown field, did you mean `policy`?\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{" T ", \"a.b\": 1}]}",
	  "warning spec.replicaSpecs[0][\"a.b\"]: unknown field, it is ignored\n" },
	{ TF_HEAD "spec: {replica_specs: [{tf_replica_typ: WORKER, " T "}, {tf_replica_type: MASTER, " T "}]}",
	  "error spec.replica_specs[0].tf_replica_typ: unknown field, did you mean `tf_replica_type`?\n" },
	/* Types and ranges. */
	{ TF_HEAD "spec: {replicaSpecs: {}}", "error spec.replicaSpecs: must be a list, found an object\n" },
	{ TF_HEAD "spec: {replicaSpecs: []}", "error spec.replicaSpecs: must be a list of at least 1, found 0\n"
	                                      "error spec: has no roles; a job needs at least one\n" },
	{ TF_HEAD "spec: {replicaSpecs: [1, {" T "}]}",
	  "error spec.replicaSpecs[0]: must be an object, found a number\n" },
	{ TF_HEAD "spec: {replica_specs: [{tf_port: '2222', " T "}]}",
	  "error spec.replica_specs[0].tf_port: must be a whole number, found a string\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{replicas: 1.5, " T "}]}",
	  "error spec.replicaSpecs[0].replicas: must be a whole number\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{tfPort: 0, " T "}]}",
	  "error spec.replicaSpecs[0].tfPort: must be 1 to 65535, found 0\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: WORKER, replicas: -1, " T "}]}",
	  "error spec.replicaSpecs[0].replicas: must be 0 to 100000, found -1\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: WORKER, replicas: 9999999999, " T "}]}",
	  "error spec.replicaSpecs[0].replicas: must be 0 to 100000, found 9999999999\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: worker, " T "}]}",
	  "error spec.replicaSpecs[0].tfReplicaType: must be MASTER, PS or WORKER, found \"worker\"; did you mean "
	  "\"WORKER\"?\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: x, " T "}]}",
	  "error spec.replicaSpecs[0].tfReplicaType: must be MASTER, PS or WORKER, found \"x\"\n"
	  "error spec.replicaSpecs: needs a MASTER or a WORKER: without one the job would never end\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{template: 3}]}",
	  "error spec.replicaSpecs[0].template: must be an object, found a number\n" },
	/* Null is not said. */
	{ TF_HEAD "spec: {tensorboard: null, replicaSpecs: [{replicas: null, " T "}]}", "" },
	/* The policy is read though the spec is broken. */
	{ TF_HEAD "spec: {replicaSpecs: 1, policy: {restart: {limit: x}}}",
	  "error spec.replicaSpecs: must be a list, found a number\n"
	  "error spec.policy.restart.limit: must be a whole number, found a string\n" },
	/* So is the rest of the spec: what stands beside a mistake is not to be trusted, everything else is. */
	{ TF_HEAD "spec: {tensorboard: {logDir: ''}, replicaSpecs: [{replicas: 2, " T
	          "}, {tfReplicaType: WORKER, replicas: x, " T "}]}",
	  "error spec.replicaSpecs[1].replicas: must be a whole number, found a string\n"
	  "error spec.replicaSpecs[0].replicas: there must be exactly one MASTER\n"
	  "error spec.tensorboard.logDir: must not be empty\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: 5, replicas: 2, " T "}]}",
	  "error spec.replicaSpecs[0].tfReplicaType: must be a string, found a number: quote it\n" },
	{ TF_HEAD "spec: {tensorboard: {logDir: ''}, replicaSpecs: [{replicas: 2, template: 3}]}",
	  "error spec.replicaSpecs[0].template: must be an object, found a number\n"
	  "error spec.tensorboard.logDir: must not be empty\n" },
	/* TfJob's own rules. */
	{ TF_HEAD "spec: {replicaSpecs: [{replicas: 2, " T "}]}",
	  "error spec.replicaSpecs[0].replicas: there must be exactly one MASTER\n" },
	{ TF_HEAD "spec: {replica_specs: [{tf_replica_type: PS}]}",
	  "error spec.replica_specs: needs a MASTER or a WORKER: without one the job would never end\n" },
	{ TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: WORKER}]}",
	  "error spec.replicaSpecs[0].template: is missing; it must be a pod template with spec.containers\n" },
	{ TF_HEAD "spec: {replica_specs: [{" T "}, {tf_replica_type: MASTER, " T "}]}",
	  "error spec.replica_specs[1].tf_replica_type: role \"MASTER\" already exists, as \"MASTER\" at "
	  "spec.replica_specs[0]\n" },
	{ TF_HEAD "spec: {tensorboard: {}, replicaSpecs: [{" T "}]}", "error spec.tensorboard.logDir: is missing\n" },
	{ TF_HEAD "spec: {tensorboard: {logDir: ''}, replicaSpecs: [{" T "}]}",
	  "error spec.tensorboard.logDir: must not be empty\n" },
	{ TF_HEAD "spec: {terminationPolicy: {}, replicaSpecs: [{" T "}]}",
	  "error spec.terminationPolicy.chief: is missing\n" },
	{ TF_HEAD "spec: {terminationPolicy: {chief: {replicaName: WORKER}}, replicaSpecs: [{" T "}]}",
	  "error spec.terminationPolicy.chief: the chief's role \"worker\" does not exist; the roles are MASTER\n" },
	{ TF_HEAD "spec: {terminationPolicy: {chief: {replicaName: MASTER, replicaIndex: 1}}, replicaSpecs: [{" T "}]}",
	  "error spec.terminationPolicy.chief: the chief's index 1 does not exist: role \"master\" has 1 replicas\n" },
	{ TF_HEAD
	  "spec: {policy: {complete: All}, terminationPolicy: {chief: {replicaName: MASTER}}, replicaSpecs: [{" T "}]}",
	  NULL },
	/* Names. */
	{ "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: 1demo}\nspec: {replicaSpecs: [{" T "}]}",
	  NULL },
	{ "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: a.demo}\nspec: {replicaSpecs: [{" T "}]}",
	  NULL },
	/* MXJob of fioravanzo.org. */
	{ MXB_HEAD "spec: {replicaSpecs: [{" M "}]}", "" },
	{ MXB_HEAD "spec: {mxImage: x, replicaSpecs: [{" M "}, {mxReplicaType: WORKER, replicas: 2, " M "}]}", "" },
	{ MXB_HEAD "spec: {replicaSpecs: [{mxReplicaType: WORKER, " M "}]}",
	  "error spec.replicaSpecs: needs a SCHEDULER: servers and workers find each other through it\n" },
	{ MXB_HEAD "spec: {replicaSpecs: [{replicas: 2, " M "}]}",
	  "error spec.replicaSpecs[0].replicas: there must be exactly one SCHEDULER\n" },
	{ MXB_HEAD "spec: {replicaSpecs: [{mxReplicaType: SERVER}, {" M "}]}",
	  "error spec.replicaSpecs[0].template: is missing\n" },
	{ MXB_HEAD "spec: {terminationPolicy: {}, replicaSpecs: [{" M "}]}",
	  "error spec.terminationPolicy.chief: is missing\n" },
	/* MXJob and TFJob of mpba.fbk.eu: case does not matter, and spec is a list. */
	{ MXA_HEAD "spec: [{replicas: 1, replicaType: Scheduler, " M "}, {replicas: 1, replicaType: worker, " M "}]",
	  "" },
	{ MXA_HEAD "spec: [{replicas: 1, replicaType: WORKER, " M "}]",
	  "error spec: needs a SCHEDULER: servers and workers find each other through it\n" },
	{ MXA_HEAD "spec: [{replicas: 1, replicaType: SCHEDULER, " M "}, {replicas: 1, replicatype: WORKER, " M "}]",
	  "error spec[1].replicatype: unknown field, did you mean `replicaType`?\n" },
	{ MXA_HEAD "spec: [{replicaType: SCHEDULER, " M "}]", "error spec[0].replicas: is missing\n" },
	{ TFA_HEAD "spec: [{replicas: 1, replicaType: PS, " M "}, {replicas: 2, replicaType: Worker, " M "}]", "" },
	{ TFA_HEAD "spec: [{replicas: 1, replicaType: PS, " M "}]",
	  "error spec: needs a worker: without one the job would never end\n" },
	/* AITrainingJob. */
	{ AI_HEAD "spec: {restartingExitCode: 137, replicaSpecs: {trainer: {restartPolicy: ExitCode, " P "}}}", "" },
	{ AI_HEAD "spec: {replicaSpecs: {}}", "error spec.replicaSpecs: must be a map of at least 1, found 0\n"
	                                      "error spec: has no roles; a job needs at least one\n" },
	{ AI_HEAD "spec: {replicaSpecs: {a: null}}", "error spec.replicaSpecs.a: must be an object, found null\n" },
	{ AI_HEAD "spec: {replicaSpecs: {a: {restartPolicy: Sometimes, " P "}}}",
	  "error spec.replicaSpecs.a.restartPolicy: must be Always, OnFailure, OnNodeFail, Never, ExitCode or "
	  "OnNodeFailWithExitCode, found \"Sometimes\"\n" },
	{ AI_HEAD "spec: {completePolicy: Rank0, replicaSpecs: {a: {" P "}}}",
	  "error spec.completePolicy: must be Any or All, found \"Rank0\"\n" },
	{ AI_HEAD "spec: {replicaSpecs: {my-role: {" P "}, my/role: {" P "}}}",
	  "error spec.replicaSpecs.my/role: role \"my/role\" already exists, as \"my-role\" at "
	  "spec.replicaSpecs.my-role\n" },
	{ AI_HEAD "spec: {replicaSpecs: {my-role: {" P "}, my--role: {" P "}, my/-role: {" P "}}}", NULL },
	{ AI_HEAD "spec: {replicaSpecs: {a/b: {" P "}, a+b: {" P "}}}", NULL },
	{ AI_HEAD "spec: {priority: 'very high', replicaSpecs: {a: {" P "}}}",
	  "error spec.replicaSpecs.a: the label priority of its pods would be \"very high\", which is not a label "
	  "value "
	  "(at "
	  "most 63 letters, digits, '-', '_' and '.')\n" },
	{ AI_HEAD
	  "spec: {replicaSpecs: {a: {template: {spec: {initContainers: [{name: i, image: img, env: [{name: A_PORTS, "
	  "value: '1'}]}], containers: [{name: aitj-a, image: img, env: [{name: X, value: '1'}, {name: "
	  "TRAININGJOB_NAME, value: x}]}]}}}}}",
	  "warning spec.replicaSpecs.a.template.spec.initContainers[0].env[0]: sets A_PORTS, so the derived value is "
	  "left out\n"
	  "warning spec.replicaSpecs.a.template.spec.containers[0].env[1]: sets TRAININGJOB_NAME, so the derived value "
	  "is "
	  "left out\n" },
};

static void test_manifests(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(manifests); i++) {
		fixture_read(&f, manifests[i].yaml);
		if (!manifests[i].problems)
			assert_true(kind_job(f.job)->problems.errors > 0);
		else if (strcmp(fixture_problems(&f), manifests[i].problems) != 0)
			fail_msg("%s\ngave:\n%swant:\n%s", manifests[i].yaml, fixture_problems(&f),
			         manifests[i].problems);
	}
}

/* The operator reads jobs that a cluster has taken long ago: what dljob and the local API refuse of a new one makes
   none of them invalid. */
static void test_templates_as_before(void **state)
{
	static const char *const odd[] = {
		TEMPLATE("comand: [x]"),
		TEMPLATE("env: [{name: LR, value: 0.1}]"),
		TEMPLATE("env: [{name: LR, valeu: x}]"),
		TEMPLATE("command: python3 train.py"),
		TEMPLATE("workingDir: 5"),
		"template: {metadata: {labels: {a: 1}}, spec: {containers: [{name: aitj-a, image: img}]}}",
		"template: {spec: {nodeSelector: {gpu: true}, containers: [{name: aitj-a, image: img}]}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		char text[512];

		snprintf(text, sizeof(text), AI_HEAD "spec: {replicaSpecs: {a: {%s}}}", odd[i]);
		fixture_read(&f, text);
		assert_string_equal(fixture_problems(&f), "");
		kind_check_fields(f.job, UNKNOWN_STRICT);
		assert_int_equal(kind_job(f.job)->problems.errors, 1);
	}
}

static void test_not_an_object(void **state)
{
	const struct kind *kind = kinds_at(f.kinds, 0);
	yyjson_doc *doc = yyjson_read("[1]", 3, 0);
	struct err e = ERR_INIT;

	(void)state;
	assert_null(kind_read(f.kinds, kind, yyjson_doc_get_root(doc), STR_NONE, &e));
	assert_int_equal(e.code, ERR_INVALID);
	assert_null(kind_read(f.kinds, kind, NULL, STR_NONE, &e));
	yyjson_doc_free(doc);
	err_release(&e);
}

/* --- names --- */

static void test_names_too_long(void **state)
{
	(void)state;
	/* 63 characters of AITrainingJob's own: 6 too many with -trainer-0. */
	expect_problems(&f,
	                "apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\n"
	                "metadata: {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}\n"
	                "spec: {replicaSpecs: {trainer: {" P "}}}",
	                "error metadata.name: the pod would be named "
	                "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-trainer-0\", which has 69 "
	                "characters; at "
	                "most 63 are allowed: shorten the job's name by 6\n");
	/* The last index decides. */
	expect_problems(
		&f,
		"apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\n"
		"metadata: {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}\n"
		"spec: {replicaSpecs: {trainer: {replicas: 11, " P "}}}",
		"error metadata.name: the pod would be named "
		"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-trainer-10\", which has 64 characters; at "
		"most 63 are allowed: shorten the job's name by 1\n");
	/* A's services are longer than its pods. */
	fixture_read(&f, "apiVersion: mpba.fbk.eu/v1\nkind: MXJob\n"
	                 "metadata: {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}\n"
	                 "spec: [{replicas: 1, replicaType: SCHEDULER, " M "}]");
	assert_non_null(strstr(fixture_problems(&f), "error metadata.name: the service would be named"));
	assert_non_null(strstr(fixture_problems(&f), "shorten the job's name by 6\n"));
	/* The first 40 characters are kept, so a long name is none. */
	expect_problems(&f,
	                "apiVersion: fioravanzo.org/v1alpha1\nkind: MXJob\n"
	                "metadata: {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}\n"
	                "spec: {replicaSpecs: [{" M "}]}",
	                "");
	/* No name of the job could help. */
	fixture_read(&f, AI_HEAD
	             "spec: {replicaSpecs: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: {" P "}}}");
	assert_non_null(strstr(fixture_problems(&f), "at most 63 are allowed\n"));
}

static void expect_names(const char *yaml, size_t role, int32_t index, const char *pod, const char *service)
{
	struct kind_names names;

	fixture_read(&f, yaml);
	assert_string_equal(fixture_problems(&f), "");
	assert_true(kind_names(f.job, role, index, &names, &f.e));
	assert_string_equal(names.pod.p, pod);
	assert_string_equal(names.service.p, service);
}

static void test_names(void **state)
{
	(void)state;
	expect_names(TF_HEAD "spec: {RuntimeId: 76no, replicaSpecs: [{" T "}]}", 0, 0, "demo-master-76no-0",
	             "demo-master-76no-0");
	expect_names(TF_HEAD "spec: {RuntimeId: '', replicaSpecs: [{" T "}]}", 0, 0, "demo-master-0sm4-0",
	             "demo-master-0sm4-0");
	expect_names(TF_HEAD "spec: {RuntimeId: 76no, tensorboard: {logDir: /x}, replicaSpecs: [{" T "}]}", 1, 0,
	             "demo-tensorboard-76no", "demo-tensorboard-76no");
	expect_names(MXB_HEAD "spec: {replicaSpecs: [{" M "}, {mxReplicaType: WORKER, replicas: 3, " M "}]}", 1, 2,
	             "demo-worker-0sm4-2-8gljm", "demo-worker-0sm4-2");
	expect_names(MXA_HEAD "spec: [{replicas: 1, replicaType: SCHEDULER, " M "}]", 0, 0, "scheduler-demo-0",
	             "scheduler-demo-0-service");
	expect_names(TFA_HEAD "spec: [{replicas: 2, replicaType: worker, " M "}]", 0, 1, "worker-demo-1",
	             "worker-demo-1-service");
	expect_names(AI_HEAD "spec: {replicaSpecs: {Trainer/X: {replicas: 2, " P "}}}", 0, 1, "demo-trainer-x-1",
	             "demo-trainer-x-1");
}

/* --- what the job is --- */

static void test_tfjob_defaults(void **state)
{
	const struct job *job =
		fixture_read(&f, TF_HEAD "spec: {replicaSpecs: [{" T "}, {tfReplicaType: WORKER, replicas: 2, " TN
	                                 "}, {tfReplicaType: PS}], tensorboard: {logDir: /logs}}");

	(void)state;
	assert_string_equal(fixture_problems(&f), "");
	assert_int_equal(job->n_roles, 4);
	assert_true(str_eqc(job->roles[0].name, "master"));
	assert_true(str_eqc(job->roles[0].title, "MASTER"));
	assert_true(str_eqc(job->roles[0].path, "spec.replicaSpecs[0]"));
	assert_int_equal(job->roles[0].count, 1);
	assert_int_equal(job->roles[0].ports[0].number, 2222);
	/* The chief has the classes of exit codes, and it alone. */
	assert_int_equal(job->complete, JOB_END_CHIEF);
	assert_int_equal(job->chief_role, 0);
	assert_int_equal(job->chief_restart.policy, RESTART_ON_NODE_FAIL_WITH_EXIT_CODE);
	assert_false(code_set_has(&job->chief_restart.codes, 127));
	assert_true(code_set_has(&job->chief_restart.codes, 128));
	assert_true(code_set_has(&job->chief_restart.codes, 255));
	assert_true(job->chief_restart.oom_permanent);
	assert_int_equal(job->chief_restart.limit, 6);
	assert_int_equal(job->roles[0].restart.policy, RESTART_ALWAYS);
	assert_int_equal(job->roles[0].restart.limit, 6);
	assert_int_equal(job->roles[0].restart.scope, SCOPE_POD);
	assert_int_equal(job->roles[1].restart.policy, RESTART_NEVER);
	/* A PS without a template restarts, as its old one did. */
	assert_int_equal(job->roles[2].restart.policy, RESTART_ALWAYS);
	assert_int_equal(job->roles[2].restart.limit, 6);
	assert_true(job->roles[3].aux);
	assert_int_equal(job->clean, CLEAN_RUNNING);
	/* Without a MASTER, the first WORKER. */
	job = fixture_read(&f, TF_HEAD
	                   "spec: {replicaSpecs: [{tfReplicaType: PS}, {tfReplicaType: WORKER, replicas: 2, " T "}]}");
	assert_int_equal(job->chief_role, 1);
	assert_int_equal(job->chief_restart.policy, RESTART_ON_NODE_FAIL_WITH_EXIT_CODE);
	assert_int_equal(job->roles[1].restart.policy, RESTART_ALWAYS);
	job = fixture_read(
		&f,
		TF_HEAD "spec: {terminationPolicy: {chief: {replicaName: WORKER, replicaIndex: 1}}, replicaSpecs: [{" T
			"}, {tfReplicaType: WORKER, replicas: 2, " T "}]}");
	assert_int_equal(job->chief_role, 1);
	assert_int_equal(job->chief_index, 1);
	assert_int_equal(job->roles[0].restart.policy, RESTART_ALWAYS);
}

static void test_mx_defaults(void **state)
{
	const struct job *job = fixture_read(
		&f, MXB_HEAD "spec: {replicaSpecs: [{mxReplicaType: WORKER, replicas: 2, " M "}, {" M "}]}");

	(void)state;
	assert_int_equal(job->complete, JOB_END_CHIEF);
	assert_int_equal(job->chief_role, 1);
	assert_int_equal(job->roles[0].restart.scope, SCOPE_JOB);
	assert_int_equal(job->roles[0].restart.policy, RESTART_ALWAYS);
	assert_int_equal(job->roles[1].restart.policy, RESTART_ALWAYS);
	assert_int_equal(job->chief_restart.policy, RESTART_ON_NODE_FAIL_WITH_EXIT_CODE);
	job = fixture_read(&f, MXA_HEAD "spec: [{replicas: 2, replicaType: worker, " M
	                                "}, {replicas: 1, replicaType: SCHEDULER, " M "}]");
	assert_int_equal(job->chief_role, 1);
	assert_int_equal(job->roles[1].restart.policy, RESTART_ALWAYS);
	assert_int_equal(job->roles[1].restart.scope, SCOPE_JOB);
	assert_int_equal(job->roles[1].restart.limit, 6);
	assert_int_equal(job->roles[0].match, MATCH_FIRST);
	job = fixture_read(&f, TFA_HEAD "spec: [{replicas: 1, replicaType: PS, " M
	                                "}, {replicas: 2, replicaType: worker, " M "}]");
	assert_int_equal(job->complete, JOB_END_ALL);
	assert_int_equal(job->roles[0].complete, END_NONE);
	assert_int_equal(job->roles[1].complete, END_ALL);
	assert_int_equal(job->roles[1].restart.scope, SCOPE_POD);
}

static void test_aitrainingjob_fields(void **state)
{
	const struct job *job = fixture_read(
		&f, AI_HEAD
		"spec: {restartingExitCode: ' 137, 128', timeLimit: 60, cleanPodPolicy: None, failPolicy: All,\n"
		"  completePolicy: Any, schedulerName: s, frameworkType: x, faultTolerant: true,\n"
		"  replicaSpecs: {b: {minReplicas: 1, maxReplicas: 4, replicas: 2, restartLimit: 3, restartPolicy: "
		"ExitCode,\n"
		"    restartScope: Replica, failPolicy: Rank0, completePolicy: Any, edlPolicy: Auto, " P "},\n"
		"  A: {edlPolicy: Never, " P "}}}");
	const struct role *a = &job->roles[0], *b = &job->roles[1];

	(void)state;
	assert_string_equal(fixture_problems(&f), "");
	assert_int_equal(job->time_limit, 60);
	assert_int_equal(job->clean, CLEAN_NONE);
	assert_int_equal(job->fail, JOB_END_ALL);
	assert_int_equal(job->complete, JOB_END_ANY);
	/* Sorted by their names in the cluster. */
	assert_true(str_eqc(a->name, "a"));
	assert_true(str_eqc(a->title, "A"));
	assert_int_equal(a->restart.policy, RESTART_NEVER);
	assert_int_equal(a->restart.scope, SCOPE_JOB);
	assert_int_equal(a->restart.limit, -1);
	assert_int_equal(a->complete, END_ALL);
	assert_int_equal(a->fail, END_ANY);
	assert_false(a->elastic);
	assert_true(str_eqc(b->name, "b"));
	assert_int_equal(b->min, 1);
	assert_int_equal(b->max, 4);
	assert_int_equal(b->restart.limit, 3);
	assert_int_equal(b->restart.policy, RESTART_EXIT_CODE);
	assert_int_equal(b->restart.scope, SCOPE_ROLE);
	assert_true(code_set_has(&b->restart.codes, 137));
	assert_true(code_set_has(&b->restart.codes, 128));
	assert_false(code_set_has(&b->restart.codes, 1));
	assert_int_equal(b->fail, END_RANK0);
	assert_int_equal(b->complete, END_ANY);
	assert_true(b->elastic);
	assert_true(b->env_everywhere);
	job = fixture_read(&f, AI_HEAD "spec: {replicaSpecs: {a: {restartScope: Pod, edlPolicy: Manual, " P "}}}");
	assert_int_equal(job->clean, CLEAN_ALL);
	assert_int_equal(job->roles[0].restart.scope, SCOPE_POD);
	assert_true(job->roles[0].elastic);
}

/* --- the policy --- */

static void test_policy_in_the_spec(void **state)
{
	const struct job *job = fixture_read(&f, TF_HEAD "spec: {replicaSpecs: [{" T
	                                                 "}], policy: {suspend: true, restart: {limit: 2}}}");

	(void)state;
	assert_string_equal(fixture_problems(&f), "");
	assert_true(job->suspend);
	assert_int_equal(job->roles[0].restart.limit, 2);
}

#define ANNOTATED(text)                                                                                                \
	"apiVersion: mpba.fbk.eu/v1\nkind: MXJob\nmetadata: {name: demo, annotations: "                                \
	"{dl-operator.mpba.fbk.eu/policy: " text "}}\nspec: [{replicas: 1, replicaType: SCHEDULER, " M "}]"

static void test_policy_in_an_annotation(void **state)
{
	const struct job *job = fixture_read(&f, ANNOTATED("'{\"restart\": {\"limit\": 3}}'"));

	(void)state;
	assert_string_equal(fixture_problems(&f), "");
	assert_int_equal(job->roles[0].restart.limit, 3);
	job = fixture_read(&f, ANNOTATED("\"restart:\\n  limit: 4\\n\""));
	assert_int_equal(job->roles[0].restart.limit, 4);
	fixture_read(&f, ANNOTATED("''"));
	assert_string_equal(fixture_problems(&f), "");
	expect_problems(&f, ANNOTATED("'restart: {limit: x}'"),
	                "error metadata.annotations[\"dl-operator.mpba.fbk.eu/policy\"].restart.limit: must be a whole "
	                "number, found "
	                "a string\n");
	fixture_read(&f, ANNOTATED("'{'"));
	assert_non_null(strstr(fixture_problems(&f),
	                       "error metadata.annotations[\"dl-operator.mpba.fbk.eu/policy\"]: policy:"));
	expect_problems(&f, ANNOTATED("\"suspend: true\\n---\\nsuspend: false\""),
	                "error metadata.annotations[\"dl-operator.mpba.fbk.eu/policy\"]: has more than one document\n");
	expect_problems(&f, ANNOTATED("3"),
	                "error metadata.annotations[\"dl-operator.mpba.fbk.eu/policy\"]: must be a string with the "
	                "policy, found "
	                "a number\n");
	/* Kinds with spec.policy do not look there. */
	expect_problems(&f,
	                "apiVersion: mlkube.io/v1beta1\nkind: TfJob\n"
	                "metadata: {name: demo, annotations: {dl-operator.mpba.fbk.eu/policy: 'suspend: true'}}\n"
	                "spec: {replicaSpecs: [{" T "}]}",
	                "warning metadata.annotations[\"dl-operator.mpba.fbk.eu/policy\"]: is ignored: this kind has "
	                "spec.policy\n");
}

static void test_variable_too_long(void **state)
{
	(void)state;
	fixture_read(&f, TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: WORKER, replicas: 5000, " T "}]}");
	assert_non_null(strstr(fixture_problems(&f), "error spec.replicaSpecs[0]: the variable TF_CONFIG would have "));
	assert_non_null(strstr(fixture_problems(&f), "bytes; Linux takes at most 131072, so use fewer replicas"));
	fixture_read(&f, TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: WORKER, replicas: 3000, " T "}]}");
	assert_int_equal(kind_job(f.job)->problems.errors, 0);
	assert_null(strstr(fixture_problems(&f), "Linux"));
	/* Too long for the kind's own code. */
	fixture_read(&f, TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: WORKER, replicas: 80000, " T "}]}");
	assert_non_null(strstr(fixture_problems(&f),
	                       "error spec.replicaSpecs[0]: a variable would have more than 1048576 "
	                       "bytes; Linux takes at most 131072, so use fewer replicas"));
}

/* An operator that reads thousands of jobs must not keep anything of those that are gone. */
static void test_nothing_is_kept(void **state)
{
	size_t after_first = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		fixture_read(&f, TF_HEAD "spec: {replicaSpecs: [{tfReplicaType: WORKER, replicas: 500, " T "}]}");
		fixture_pod(&f, 0, 0);
		fixture_pod(&f, 0, 1);
		lua_gc(f.kinds->sb.L, LUA_GCCOLLECT);
		if (i == 0)
			after_first = f.kinds->sb.live;
	}
	assert_in_range(f.kinds->sb.live, 0, after_first + 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifests),
		cmocka_unit_test(test_templates_as_before),
		cmocka_unit_test(test_not_an_object),
		cmocka_unit_test(test_names_too_long),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_tfjob_defaults),
		cmocka_unit_test(test_mx_defaults),
		cmocka_unit_test(test_aitrainingjob_fields),
		cmocka_unit_test(test_policy_in_the_spec),
		cmocka_unit_test(test_policy_in_an_annotation),
		cmocka_unit_test(test_variable_too_long),
		cmocka_unit_test(test_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
