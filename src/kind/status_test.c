#include "kind/testing.h"

#define TF                                                                                                             \
	"apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: demo}\n"                                         \
	"spec: {replicaSpecs: [{template: {spec: {containers: [{name: tensorflow, image: img}]}}},\n"                  \
	"  {tfReplicaType: WORKER, replicas: 3, template: {spec: {containers: [{name: tensorflow, image: img}]}}}],\n" \
	"  tensorboard: {logDir: /x}}"
#define MX                                                                                                             \
	"apiVersion: fioravanzo.org/v1alpha1\nkind: MXJob\nmetadata: {name: demo}\n"                                   \
	"spec: {replicaSpecs: [{template: {spec: {containers: [{name: mxnet, image: img}]}}}]}"
#define MXA                                                                                                            \
	"apiVersion: mpba.fbk.eu/v1\nkind: MXJob\nmetadata: {name: demo}\n"                                            \
	"spec: [{replicas: 1, replicaType: SCHEDULER, template: {spec: {containers: [{name: m, image: img}]}}}]"
#define AI                                                                                                             \
	"apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\nmetadata: {name: demo}\n"                         \
	"spec: {replicaSpecs: {Trainer: {replicas: 2, template: {spec: {containers: [{name: aitj-a, image: "           \
	"img}]}}},\n"                                                                                                  \
	"  ps: {template: {spec: {containers: [{name: aitj-a, image: img}]}}}}}"

/* A role without a name. */
static const char nameless[] =
	"apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\nmetadata: {name: demo}\n"
	"spec: {replicaSpecs: {'': {template: {spec: {containers: [{name: aitj-a, image: img}]}}}}}";

/* 2026-01-01T00:00:00Z */
enum { YEAR = 1767225600 };

static struct fixture f = FIXTURE_INIT;
static struct record_role roles[2];
static struct record r;

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

static struct record *fresh(const char *first, const char *second)
{
	memset(roles, 0, sizeof(roles));
	roles[0].name = str_c(first);
	roles[1].name = str_c(second);
	r = (struct record){ .version = RECORD_VERSION, .roles = roles, .n_roles = second ? 2 : 1 };
	return &r;
}

/* The status without what C writes for all kinds. */
static void expect_own(const char *json)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *status = kind_status(f.job, &r, doc, &f.e);

	if (!status)
		fail_msg("%s", err_msg(&f.e));
	assert_non_null(yyjson_mut_obj_remove_key(status, "dlOperator"));
	assert_non_null(yyjson_mut_obj_remove_key(status, "conditions"));
	buf_clear(&f.text);
	json_write(status, &f.text);
	assert_string_equal(f.text.p, json);
	yyjson_mut_doc_free(doc);
}

static void expect_conditions(const char *json)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *status = kind_status(f.job, &r, doc, &f.e);

	if (!status)
		fail_msg("%s", err_msg(&f.e));
	buf_clear(&f.text);
	json_write(yyjson_mut_obj_get(status, "conditions"), &f.text);
	assert_string_equal(f.text.p, json);
	yyjson_mut_doc_free(doc);
}

static const struct {
	enum phase phase, outcome;
	const char *a, *b_phase, *b_state, *d;
} words[] = {
	{ PHASE_INVALID, PHASE_NONE, "Invalid", "Failed", "Failed", "Failed" },
	{ PHASE_PENDING, PHASE_NONE, "Pending", "Creating", "Running", "Pending" },
	{ PHASE_CREATING, PHASE_NONE, "Creating", "Creating", "Running", "Creating" },
	{ PHASE_RUNNING, PHASE_NONE, "Running", "Running", "Running", "Running" },
	{ PHASE_RESTARTING, PHASE_NONE, "Restarting", "Running", "Running", "Restarting" },
	{ PHASE_SUSPENDED, PHASE_NONE, "Suspended", "Creating", "Unknown", "Pending" },
	{ PHASE_TERMINATING, PHASE_SUCCEEDED, "Terminating", "CleanUp", "Succeeded", "Terminating" },
	{ PHASE_TERMINATING, PHASE_TIMED_OUT, "Terminating", "CleanUp", "Failed", "Terminating" },
	{ PHASE_TERMINATING, PHASE_NONE, "Terminating", "CleanUp", "Unknown", "Terminating" },
	{ PHASE_SUCCEEDED, PHASE_SUCCEEDED, "Succeeded", "Done", "Succeeded", "Succeed" },
	{ PHASE_FAILED, PHASE_FAILED, "Failed", "Done", "Failed", "Failed" },
	{ PHASE_TIMED_OUT, PHASE_TIMED_OUT, "TimedOut", "Done", "Failed", "Timeout" },
	{ PHASE_PREEMPTED, PHASE_PREEMPTED, "Preempted", "Done", "Failed", "Preempted" },
	{ PHASE_NODE_FAILED, PHASE_NODE_FAILED, "NodeFailed", "Done", "Failed", "NodeFail" },
};

static void expect_word(const char *yaml, enum phase phase, enum phase outcome, const char *key, const char *word)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *status;

	fixture_read(&f, yaml);
	fresh("x", NULL);
	r.phase = phase;
	r.outcome = outcome;
	status = kind_status(f.job, &r, doc, &f.e);
	if (!status)
		fail_msg("%s", err_msg(&f.e));
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_obj_get(status, key)), word);
	yyjson_mut_doc_free(doc);
}

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		expect_word(MXA, words[i].phase, words[i].outcome, "phase", words[i].a);
		expect_word(MX, words[i].phase, words[i].outcome, "phase", words[i].b_phase);
		expect_word(MX, words[i].phase, words[i].outcome, "state", words[i].b_state);
		expect_word(TF, words[i].phase, words[i].outcome, "phase", words[i].b_phase);
		expect_word(TF, words[i].phase, words[i].outcome, "state", words[i].b_state);
		expect_word(AI, words[i].phase, words[i].outcome, "phase", words[i].d);
	}
}

static void test_tfjob(void **state)
{
	(void)state;
	fixture_read(&f, TF);
	fresh("master", "worker");
	r.phase = PHASE_RUNNING;
	r.reason = STR("all replicas run");
	roles[0].now = (struct role_counts){ .active = 1 };
	roles[1].now = (struct role_counts){ .pending = 1, .succeeded = 1 };
	expect_own("{\"phase\":\"Running\",\"reason\":\"all replicas run\",\"replicaStatuses\":["
	           "{\"ReplicasStates\":{\"Running\":1},\"state\":\"Running\",\"tf_replica_type\":\"MASTER\"},"
	           "{\"ReplicasStates\":{\"Running\":1,\"Succeeded\":1,\"Unknown\":1},\"state\":\"Running\","
	           "\"tf_replica_type\":\"WORKER\"}],\"state\":\"Running\"}");
	roles[0].now = (struct role_counts){ .succeeded = 1 };
	roles[1].now = (struct role_counts){ .failed = 1, .active = 2 };
	r.phase = r.outcome = PHASE_SUCCEEDED;
	expect_own("{\"phase\":\"Done\",\"reason\":\"all replicas run\",\"replicaStatuses\":["
	           "{\"ReplicasStates\":{\"Succeeded\":1},\"state\":\"Succeeded\",\"tf_replica_type\":\"MASTER\"},"
	           "{\"ReplicasStates\":{\"Failed\":1,\"Running\":2},\"state\":\"Failed\",\"tf_replica_type\":"
	           "\"WORKER\"}],"
	           "\"state\":\"Succeeded\"}");
}

static void test_mxjob(void **state)
{
	(void)state;
	fixture_read(&f, MX);
	fresh("scheduler", NULL);
	expect_own("{\"phase\":\"\",\"reason\":\"\",\"replicaStatuses\":[{\"ReplicasStates\":{\"Unknown\":1},"
	           "\"mx_replica_type\":\"SCHEDULER\",\"state\":\"Unknown\"}],\"state\":\"Unknown\"}");
}

static void test_aitrainingjob(void **state)
{
	yyjson_mut_doc *doc;
	yyjson_mut_val *status;

	(void)state;
	fixture_read(&f, AI);
	fresh("trainer", "ps");
	r.phase = PHASE_RESTARTING;
	r.reason = STR("trainer-0 failed");
	r.start = SECONDS(YEAR);
	r.running = SECONDS(YEAR + 60);
	r.end = SECONDS(YEAR + 3600);
	roles[0].drain = true;
	roles[0].restarts[CAUSE_FAILED] = 2;
	roles[0].now = (struct role_counts){ 1, 2, 3, 4, 5, 6, 7 };
	expect_own(
		"{\"RestartCount\":{\"Trainer\":2,\"ps\":0},\"RestartReplicaName\":\"Trainer\",\"endTime\":\"2026-"
		"01-01T01:00:00Z\","
		"\"phase\":\"Terminating\",\"replicaStatuses\":{\"Trainer\":{\"active\":3,\"failed\":5,\"pending\":1,"
		"\"restarting\":6,"
		"\"scheduled\":2,\"succeeded\":4},\"ps\":{}},\"startRunningTime\":\"2026-01-01T00:01:00Z\","
		"\"startTime\":\"2026-01-01T00:00:00Z\"}");
	/* A restart of the whole job names who began it. */
	roles[0].drain = false;
	r.drain = true;
	r.last.role = STR("ps");
	doc = yyjson_mut_doc_new(NULL);
	status = kind_status(f.job, &r, doc, &f.e);
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_obj_get(status, "RestartReplicaName")), "ps");
	yyjson_mut_doc_free(doc);
}

/* One for each type: ours, and the kind's own beside them. */
static void test_conditions(void **state)
{
	(void)state;
	fixture_read(&f, AI);
	fresh("trainer", "ps");
	r.phase = PHASE_RUNNING;
	r.reason = STR("all replicas run");
	r.history[0] = (struct phase_span){ PHASE_PENDING, SECONDS(YEAR), SECONDS(YEAR + 1) };
	r.history[1] = (struct phase_span){ PHASE_RUNNING, SECONDS(YEAR + 1), 0 };
	r.n_history = 2;
	r.conditions[CONDITION_RUNNING] = (struct condition_state){ true, true, SECONDS(YEAR + 1) };
	r.conditions[CONDITION_FAILED] = (struct condition_state){ true, false, SECONDS(YEAR) };
	expect_conditions(
		"[{\"type\":\"Running\",\"status\":\"True\",\"reason\":\"TrainingJobRunning\",\"message\":\"all "
		"replicas run\","
		"\"lastTransitionTime\":\"2026-01-01T00:00:01Z\"},"
		"{\"type\":\"Failed\",\"status\":\"False\",\"reason\":\"Running\",\"message\":\"\","
		"\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"},"
		"{\"lastTransitionTime\":\"2026-01-01T00:00:01Z\",\"message\":\"\",\"reason\":\"TrainingJobPending\","
		"\"status\":\"False\",\"type\":\"Pending\"}]");
	/* Two common phases of one word are one condition: the later. */
	r.history[0] = (struct phase_span){ PHASE_PENDING, SECONDS(YEAR), SECONDS(YEAR + 1) };
	r.history[1] = (struct phase_span){ PHASE_SUSPENDED, SECONDS(YEAR + 1), 0 };
	memset(r.conditions, 0, sizeof(r.conditions));
	expect_conditions("[{\"lastTransitionTime\":\"2026-01-01T00:00:01Z\",\"message\":\"all replicas run\","
	                  "\"reason\":\"TrainingJobPending\",\"status\":\"True\",\"type\":\"Pending\"}]");
	fixture_read(&f, MXA);
	r.phase = r.outcome = PHASE_FAILED;
	r.why = STR("RestartLimit");
	r.conditions[CONDITION_FAILED] = (struct condition_state){ true, true, SECONDS(YEAR) };
	expect_conditions("[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":\"RestartLimit\",\"message\":\"all "
	                  "replicas run\","
	                  "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]");
}

/* The record is the same for all kinds, and can be read back. */
static void test_record(void **state)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct arena a = ARENA_INIT;
	yyjson_mut_val *status;
	struct record *back;
	yyjson_doc *copy;

	(void)state;
	fixture_read(&f, TF);
	fresh("master", "worker");
	r.phase = PHASE_RUNNING;
	r.restarts = 3;
	status = kind_status(f.job, &r, doc, &f.e);
	copy = yyjson_mut_val_imut_copy(yyjson_mut_obj_get(status, "dlOperator"), NULL);
	back = record_read(yyjson_doc_get_root(copy), &a, &f.e);
	assert_non_null(back);
	assert_int_equal(back->restarts, 3);
	assert_int_equal(back->phase, PHASE_RUNNING);
	yyjson_doc_free(copy);
	yyjson_mut_doc_free(doc);
	arena_release(&a);
}

/* A job that cannot be read has a status all the same. */
static void test_invalid_job(void **state)
{
	static const char *const yamls[] = {
		"apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: demo}\nspec: null",
		"apiVersion: fioravanzo.org/v1alpha1\nkind: MXJob\nmetadata: {name: demo}\nspec: 1",
		"apiVersion: mpba.fbk.eu/v1\nkind: MXJob\nmetadata: {name: demo}\nspec: {}",
		"apiVersion: mpba.fbk.eu/v1\nkind: TFJob\nmetadata: {name: demo}\nspec: {}",
		"apiVersion: elasticdeeplearning.ai/v1\nkind: AITrainingJob\nmetadata: {name: demo}\nspec: []",
		nameless,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yamls); i++)
		expect_word(yamls[i], PHASE_INVALID, PHASE_NONE, "phase",
		            strstr(yamls[i], "mpba.fbk.eu") ? "Invalid" : "Failed");
}

/* What an operator of before wrote, and what is taken over: a final phase, or NONE; and the reason. */
static const struct {
	const char *yaml, *status;
	enum phase phase;
	const char *reason;
} old[] = {
	{ TF, "{\"phase\":\"Done\",\"state\":\"Succeeded\"}", PHASE_SUCCEEDED, "" },
	{ TF, "{\"phase\":\"Done\",\"state\":\"Failed\",\"reason\":\"master\"}", PHASE_FAILED, "master" },
	{ TF, "{\"phase\":\"Failed\",\"state\":\"\",\"reason\":\"invalid\"}", PHASE_FAILED, "invalid" },
	{ TF, "{\"phase\":\"Failed\",\"state\":\"Succeeded\"}", PHASE_SUCCEEDED, "" },
	{ MX, "{\"phase\":\"Done\",\"state\":\"Succeeded\"}", PHASE_SUCCEEDED, "" },
	{ MX, "{\"phase\":\"Failed\",\"state\":\"Failed\"}", PHASE_FAILED, "" },
	{ MX, "{\"phase\":\"Failed\",\"state\":[1],\"reason\":{}}", PHASE_FAILED, "" },
	{ AI, "{\"phase\":\"Succeed\"}", PHASE_SUCCEEDED, "" },
	{ AI, "{\"phase\":\"Timeout\"}", PHASE_TIMED_OUT, "" },
	{ AI, "{\"phase\":\"Preempted\"}", PHASE_PREEMPTED, "" },
	{ AI, "{\"phase\":\"NodeFail\"}", PHASE_NODE_FAILED, "" },
	{ AI, "{\"phase\":\"Failed\"}", PHASE_FAILED, "" },
	{ AI, "{\"phase\":\"Running\",\"RestartCount\":{\"Trainer\":4,\"x\":null}}", PHASE_NONE, "" },
	{ AI, "{\"phase\":null,\"RestartCount\":\"text\"}", PHASE_NONE, "" },
};

static void test_adopt(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(old); i++) {
		yyjson_doc *doc = json_parse(str_c(old[i].status), NULL);
		struct record *got;

		fixture_read(&f, old[i].yaml);
		got = kind_adopt(f.job, yyjson_doc_get_root(doc), &a, &f.e);
		if (!got) {
			fail_msg("%s: %s", old[i].status, err_msg(&f.e));
			return;
		}
		assert_int_equal(got->outcome, old[i].phase);
		assert_true(str_eqc(got->reason, old[i].reason));
		if (strstr(old[i].status, "Trainer"))
			assert_int_equal(record_role_of(got, STR("trainer"))->counted_ever, 4);
		yyjson_doc_free(doc);
	}
	arena_release(&a);
}

static void test_nothing_to_adopt(void **state)
{
	static const char *const status[] = { "{}", "{\"phase\":\"Running\"}", "{\"phase\":{\"a\":1}}", "[1]", "null" };
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(status); i++) {
		yyjson_doc *doc = json_parse(str_c(status[i]), NULL);

		fixture_read(&f, TF);
		assert_null(kind_adopt(f.job, yyjson_doc_get_root(doc), &a, &f.e));
		assert_int_equal(f.e.code, ERR_NONE);
		/* A kind without history has no adopt(). */
		fixture_read(&f, MXA);
		assert_null(kind_adopt(f.job, yyjson_doc_get_root(doc), &a, &f.e));
		yyjson_doc_free(doc);
	}
	fixture_read(&f, TF);
	assert_null(kind_adopt(f.job, NULL, &a, &f.e));
	arena_release(&a);
}

/* The same record gives the same bytes. */
static void test_same_bytes(void **state)
{
	struct buf first = BUF_INIT(1 << 20);

	(void)state;
	fixture_read(&f, AI);
	fresh("trainer", "ps");
	for (int i = 0; i < 3; i++) {
		yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

		buf_clear(&f.text);
		json_write(kind_status(f.job, &r, doc, &f.e), i ? &f.text : &first);
		if (i)
			assert_string_equal(f.text.p, first.p);
		yyjson_mut_doc_free(doc);
	}
	buf_release(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_tfjob),
		cmocka_unit_test(test_mxjob),
		cmocka_unit_test(test_aitrainingjob),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_invalid_job),
		cmocka_unit_test(test_adopt),
		cmocka_unit_test(test_nothing_to_adopt),
		cmocka_unit_test(test_same_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
