/* Tests of tree.c and view.c. */
#include "kind/testing.h"

#include "client/tree.h"
#include "client/view.h"
#include "client/waiting.h"

#define NOW "2026-01-02T03:10:00Z"

struct input {
	const char *replicas; /* of the workers */
	const char *status;   /* of the job, JSON */
	const char *pods;     /* a list */
	const char *events;   /* a list */
	bool tensorboard;     /* it has a TensorBoard */
};

static char text[1 << 16];

static struct buf items_text;

static yyjson_val **items_of(yyjson_doc *doc, size_t *n)
{
	yyjson_val *root = yyjson_doc_get_root(doc), *one, **v;
	size_t i, count;

	assert_true(yyjson_is_arr(root));
	*n = yyjson_arr_size(root);
	v = calloc(*n + 1, sizeof(*v));
	yyjson_arr_foreach(root, i, count, one)
	{
		v[i] = one;
	}
	return v;
}

static yyjson_doc *parsed(const char *json)
{
	struct err e = ERR_INIT;
	yyjson_doc *doc = json_parse(str_c(json), &e);

	if (!doc)
		fail_msg("%s: %s", err_msg(&e), json);
	return doc;
}

/* The tree of a TfJob with one master and some workers. */
static void draw(const struct input *in)
{
	struct fixture f = FIXTURE_INIT;
	struct arena a = ARENA_INIT;
	struct tree t = { .kind = STR("TfJob") };
	yyjson_doc *job, *pods = parsed(in->pods ? in->pods : "[]"), *events = parsed(in->events ? in->events : "[]");
	yyjson_val **v;
	size_t n;
	FILE *to = fmemopen(text, sizeof(text), "w");

	buf_clear(&items_text);
	buf_printf(&items_text,
	           "{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"metadata\":{\"name\":\"demo\","
	           "\"namespace\":\"ml\",\"uid\":\"u1\",\"creationTimestamp\":\"2026-01-02T03:05:00Z\"},"
	           "\"spec\":{\"replicaSpecs\":[{\"tfReplicaType\":\"MASTER\",\"template\":{\"spec\":{\"containers\":"
	           "[{\"name\":\"tensorflow\",\"image\":\"i\"}]}}},{\"tfReplicaType\":\"WORKER\",\"replicas\":%s,"
	           "\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"i\"}]}}}]%s},"
	           "\"status\":%s}",
	           in->replicas, in->tensorboard ? ",\"tensorboard\":{\"logDir\":\"/l\"}" : "",
	           in->status ? in->status : "{}");
	job = parsed(items_text.p);
	fixture_builtin(&f);
	t.root = yyjson_doc_get_root(job);
	f.job = kind_read(f.kinds, kinds_find(f.kinds, STR("mlkube.io/v1beta1"), STR("TfJob")), t.root, STR_NONE, &f.e);
	assert_non_null(f.job);
	t.job = kind_job(f.job);
	t.record = record_read(json_at(t.root, "status", "dlOperator", NULL), &a, &f.e);
	assert_true(time_parse(STR(NOW), &t.now));
	v = items_of(pods, &n);
	tree_take_pods(&t, &a, v, n);
	free(v);
	v = items_of(events, &n);
	tree_take_events(&t, &a, v, n);
	free(v);
	tree_print(&t, &a, to);
	fclose(to);
	yyjson_doc_free(job);
	yyjson_doc_free(pods);
	yyjson_doc_free(events);
	arena_release(&a);
	fixture_release(&f);
}

static void has(const char *what)
{
	if (!strstr(text, what))
		fail_msg("not found: %s\nin:\n%s", what, text);
}

#define POD(name, role, index, generation, rest)                                                                       \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ml\",\"uid\":\"p-" name "\",\"labels\":{"                \
	"\"dl-operator.mpba.fbk.eu/uid\":\"u1\",\"dl-operator.mpba.fbk.eu/role\":\"" role "\","                        \
	"\"dl-operator.mpba.fbk.eu/index\":\"" index "\",\"dl-operator.mpba.fbk.eu/generation\":\"" generation         \
	"\"}}," rest "}"
#define RUNS(node)                                                                                                     \
	"\"spec\":{\"nodeName\":\"" node "\"},\"status\":{\"phase\":\"Running\","                                      \
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"containerStatuses\":"                             \
	"[{\"name\":\"tensorflow\",\"state\":{\"running\":{}}}]}"
#define ENDED(phase, code, reason)                                                                                     \
	"\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"" phase "\",\"containerStatuses\":"                    \
	"[{\"name\":\"tensorflow\",\"state\":{\"terminated\":{\"exitCode\":" code ",\"reason\":\"" reason "\"}}}]}"
#define WAITS(reason, message)                                                                                         \
	"\"spec\":{\"nodeName\":\"n2\"},\"status\":{\"phase\":\"Pending\",\"containerStatuses\":"                      \
	"[{\"name\":\"tensorflow\",\"state\":{\"waiting\":{\"reason\":\"" reason "\",\"message\":\"" message "\"}}}]}"

static void a_job_with_all_that_can_be_said(void **state)
{
	(void)state;
	draw(&(struct input){
		.replicas = "3",
		.status = "{\"dlOperator\":{\"version\":1,\"phase\":\"Restarting\",\"reason\":\"waiting for worker-1\","
			  "\"restarts\":1,\"lastRestart\":{\"time\":\"2026-01-02T03:09:00Z\",\"cause\":\"Failed\","
			  "\"scope\":\"Pod\",\"role\":\"worker\",\"index\":1,\"exitCode\":137},"
			  "\"restartHistory\":[{\"time\":\"2026-01-02T03:09:00Z\",\"cause\":\"Failed\","
			  "\"scope\":\"Pod\",\"role\":\"worker\",\"index\":1,\"exitCode\":137},"
			  "{\"time\":\"2026-01-02T03:08:00Z\",\"cause\":\"NodeFail\",\"scope\":\"Job\",\"role\":\"ps\","
			  "\"index\":0,\"node\":\"n\\u001b7\",\"ranSeconds\":7200}],"
			  "\"roles\":{\"master\":{\"count\":1,\"pods\":{\"active\":1}},"
			  "\"worker\":{\"count\":3,\"completed\":\"2\",\"indexes\":{\"1\":{\"generation\":1}},"
			  "\"pods\":{\"succeeded\":1,\"failed\":1,\"pending\":1}}}}}",
		.pods = "[" POD("m0", "master", "0", "0", RUNS("n1")) "," POD(
			"w0", "worker", "0", "0",
			ENDED("Failed", "137", "OOMKilled")) "," POD("w1", "worker", "1", "1",
	                                                             WAITS("ImagePullBackOff",
	                                                                   "back-off\\npulling")) "]",
		.events =
			"[{\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"w1\",\"uid\":\"x\"},\"type\":\"Warning\","
			"\"reason\":\"Failed\",\"message\":\"no image\",\"count\":4,"
			"\"lastTimestamp\":\"2026-01-02T03:09:30Z\"},"
			"{\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"other\"},\"reason\":\"NotOurs\"},"
			"{\"involvedObject\":{\"kind\":\"TfJob\",\"name\":\"demo\",\"uid\":\"u1\"},\"type\":\"Normal\","
			"\"reason\":\"Restarted\",\"message\":\"worker-1\\n\",\"lastTimestamp\":null,"
			"\"eventTime\":\"2026-01-02T03:09:00.5Z\"}]",
	});
	assert_string_equal(text, "TfJob demo in namespace ml, 5m old\n"
	                          "Restarting: waiting for worker-1\n"
	                          "restarts: 1; the last 60s ago: worker-1 Failed, exit code 137, scope Pod\n"
	                          "\n"
	                          "REPLICA      STATE             RESTARTS  EXIT           NODE  POD  WHY\n"
	                          "master       1/1\n"
	                          "└─ master-0  Running           0         -              n1    m0\n"
	                          "worker       1/3\n"
	                          "├─ worker-0  Failed            0         137 OOMKilled  n1    w0\n"
	                          "├─ worker-1  ImagePullBackOff  1         -              n2    w1   "
	                          "back-off\\npulling\n"
	                          "└─ worker-2  Succeeded         0         0\n"
	                          "\n"
	                          "Last restarts:\n"
	                          "AGO  REPLICA   CAUSE     EXIT  NODE    RAN   SCOPE\n"
	                          "60s  worker-1  Failed    137   -       -     Pod\n"
	                          "2m   ps-0      NodeFail  -     n\\x1b7  120m  Job\n"
	                          "\n"
	                          "Last events:\n"
	                          "59s            Normal   Restarted  job       worker-1\n"
	                          "30s (4 times)  Warning  Failed     worker-1  no image\n");
}

/* What the record knows of replicas without a pod: how they ended, and how often since they came. */
static void replicas_without_a_pod(void **state)
{
	(void)state;
	draw(&(struct input){
		.replicas = "6",
		.status = "{\"dlOperator\":{\"version\":1,\"phase\":\"Restarting\",\"generation\":2,"
			  "\"lastRestart\":{\"time\":\"2026-01-02T03:09:00Z\",\"cause\":\"Failed\","
			  "\"scope\":\"Pod\",\"role\":\"worker\",\"index\":1,\"exitCode\":9},"
			  "\"restartHistory\":[{\"time\":\"2026-01-02T03:09:00Z\",\"cause\":\"Failed\","
			  "\"scope\":\"Pod\",\"role\":\"worker\",\"index\":1,\"exitCode\":9},"
			  "{\"time\":\"2026-01-02T03:08:00Z\",\"cause\":\"Failed\",\"scope\":\"Job\","
			  "\"role\":\"master\",\"index\":0,\"exitCode\":8},"
			  "{\"time\":\"2026-01-02T03:07:00Z\",\"cause\":\"Failed\",\"scope\":\"Pod\","
			  "\"role\":\"worker\",\"index\":4,\"exitCode\":7}],"
			  "\"roles\":{\"master\":{\"count\":1},\"worker\":{\"count\":5,\"completed\":\"2\","
			  "\"failed\":\"3\",\"restarts\":{\"Resized\":1},\"byIndex\":{\"generation\":"
			  "{\"1\":\"1,4\",\"6\":\"5\"},\"exitCode\":{\"6\":\"3\"},\"before\":{\"1\":\"2\"}}}}}}",
	});
	/* The job's generation was raised twice, once by an edit; worker-2 came after the other one. */
	has("└─ master-0  NoPod      1         8\n");
	has("├─ worker-0  NoPod      1\n"
	    "├─ worker-1  NoPod      2         9\n"
	    "├─ worker-2  Succeeded  0         0\n"
	    "├─ worker-3  Failed     1         6\n"
	    "├─ worker-4  NoPod      2\n"
	    /* Nobody has planned it yet. */
	    "└─ worker-5  NoPod      0\n");
}

/* It is one of the replicas that can be looked at, and is not counted. */
static void tensorboard_and_its_address(void **state)
{
	(void)state;
	draw(&(struct input){
		.tensorboard = true,
		.replicas = "0",
		.status =
			"{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"reason\":\"1 running\","
			"\"tensorboard\":\"http://tb.ml.svc:80\","
			"\"roles\":{\"master\":{\"count\":1,\"pods\":{\"active\":1}},\"tensorboard\":{\"count\":0}}}}",
		.pods = "[" POD("m0", "master", "0", "0", RUNS("n1")) "," POD("tb", "tensorboard", "0", "0",
	                                                                      RUNS("n1")) "]",
	});
	assert_string_equal(text, "TfJob demo in namespace ml, 5m old\n"
	                          "Running: 1 running\n"
	                          "tensorboard: http://tb.ml.svc:80\n"
	                          "\n"
	                          "REPLICA           STATE    RESTARTS  EXIT  NODE  POD\n"
	                          "master            1/1\n"
	                          "└─ master-0       Running  0         -     n1    m0\n"
	                          "worker            0/0\n"
	                          "tensorboard\n"
	                          "└─ tensorboard-0  Running  0         -     n1    tb\n");
}

static void a_job_that_nobody_has_looked_at(void **state)
{
	(void)state;
	draw(&(struct input){ .replicas = "1" });
	assert_string_equal(text, "TfJob demo in namespace ml, 5m old\n"
	                          "Waiting: no operator has processed it yet\n"
	                          "\n"
	                          "REPLICA      STATE  RESTARTS  EXIT  NODE  POD\n"
	                          "master       0/1\n"
	                          "└─ master-0  NoPod  0\n"
	                          "worker       0/1\n"
	                          "└─ worker-0  NoPod  0\n");
}

static void an_invalid_job_says_what_is_wrong(void **state)
{
	(void)state;
	draw(&(struct input){
		.replicas = "-1",
		.status = "{\"dlOperator\":{\"version\":1,\"phase\":\"Invalid\",\"reason\":\"spec.x\"}}",
	});
	has("Invalid: spec.x\n  spec.replicaSpecs[1].replicas: must be 0 to 100000, found -1\n");
}

static void large_roles_are_folded(void **state)
{
	static char pods[1 << 18];
	size_t n = 0;

	(void)state;
	n += (size_t)snprintf(pods, sizeof(pods), "[");
	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(
			pods + n, sizeof(pods) - n,
			"%s{\"metadata\":{\"name\":\"w%d\",\"labels\":{"
			"\"dl-operator.mpba.fbk.eu/uid\":\"u1\",\"dl-operator.mpba.fbk.eu/role\":\"worker\","
			"\"dl-operator.mpba.fbk.eu/index\":\"%d\"}}," RUNS("n") "}",
			i ? "," : "", i, i);
	snprintf(pods + n, sizeof(pods) - n, "," POD("wx", "worker", "50", "9", WAITS("CrashLoopBackOff", "")) "]");
	draw(&(struct input){ .replicas = "100", .pods = pods });
	has("├─ worker-3   Running           0         -     n     w3\n"
	    "├─ worker-50  CrashLoopBackOff  9         -     n2    wx\n"
	    "└─ 95 more    Running\n");
	/* One that is on its way out. */
	draw(&(struct input){ .replicas = "1", .pods = "[" POD("w7", "worker", "7", "0", RUNS("n")) "]" });
	has("├─ worker-0  NoPod    0\n└─ worker-7  Running  0         -     n     w7\n");
}

static void only_the_last_events_are_shown(void **state)
{
	static char events[1 << 14];
	size_t n = 0;

	(void)state;
	n += (size_t)snprintf(events, sizeof(events), "[");
	for (int i = 0; i < 15; i++)
		n += (size_t)snprintf(events + n, sizeof(events) - n,
		                      "%s{\"involvedObject\":{\"uid\":\"u1\"},\"reason\":\"R%d.\","
		                      "\"lastTimestamp\":\"2026-01-02T03:09:%02dZ\"}",
		                      i ? "," : "", i, i * 7 % 15);
	snprintf(events + n, sizeof(events) - n, "]");
	draw(&(struct input){ .replicas = "1", .events = events });
	has("55s  Normal  R5.");
	has("46s  Normal  R2.");
	if (strstr(text, "56s") || strstr(text, "1m"))
		fail_msg("too many:\n%s", text);
}

static void states_of_pods(void **state)
{
	static const struct container waits = { .state = CONTAINER_WAITING, .reason = STR_INIT("ErrImagePull") },
				      done = { .state = CONTAINER_TERMINATED },
				      failed = { .state = CONTAINER_TERMINATED, .exit_code = 2 },
				      creates = { .state = CONTAINER_WAITING, .reason = STR_INIT("ContainerCreating") };
	static const struct {
		struct pod pod;
		const char *state;
	} cases[] = {
		{ { .phase = POD_PENDING }, "Unscheduled" },
		{ { .phase = POD_PENDING, .node = STR_INIT("n") }, "Creating" },
		{ { .phase = POD_PENDING, .node = STR_INIT("n"), .containers = &creates, .n_containers = 1 },
		  "Creating" },
		{ { .phase = POD_PENDING, .node = STR_INIT("n"), .containers = &waits, .n_containers = 1 },
		  "ErrImagePull" },
		{ { .phase = POD_RUNNING }, "NotReady" },
		{ { .phase = POD_RUNNING, .ready = true }, "Running" },
		{ { .phase = POD_RUNNING, .containers = &done, .n_containers = 1 }, "Succeeded" },
		{ { .phase = POD_RUNNING, .containers = &failed, .n_containers = 1 }, "Failed" },
		{ { .phase = POD_RUNNING, .meta = { .deleted = 1 } }, "Terminating" },
		{ { .phase = POD_FAILED, .reason = STR_INIT("Evicted") }, "Evicted" },
		{ { .phase = POD_FAILED }, "Failed" },
		{ { .phase = POD_SUCCEEDED }, "Succeeded" },
		{ { .phase = POD_UNKNOWN }, "Unknown" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (!str_eqc(pod_state(&cases[i].pod), cases[i].state))
			fail_msg("%s: %.*s", cases[i].state, STR_F(pod_state(&cases[i].pod)));
}

static void the_exit_code_that_tells_most(void **state)
{
	static const struct container c[] = {
		{ .state = CONTAINER_TERMINATED, .init = true },
		{ .state = CONTAINER_RUNNING },
		{ .state = CONTAINER_TERMINATED, .exit_code = 0, .reason = STR_INIT("Completed") },
		{ .state = CONTAINER_TERMINATED, .exit_code = 3, .reason = STR_INIT("Error") },
	};
	struct str reason;

	(void)state;
	assert_int_equal(pod_exit(&(struct pod){ .containers = c, .n_containers = 2 }, &reason), -1);
	assert_int_equal(pod_exit(&(struct pod){ .containers = c, .n_containers = 3 }, &reason), 0);
	assert_true(str_eqc(reason, "Completed"));
	assert_int_equal(pod_exit(&(struct pod){ .containers = c, .n_containers = 4 }, &reason), 3);
}

static void ages(void **state)
{
	static const struct {
		msec age;
		const char *text;
	} cases[] = {
		{ -SECONDS(5), "0s" },
		{ SECONDS(59), "59s" },
		{ SECONDS(119), "119s" },
		{ SECONDS(123), "2m3s" },
	};
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(age_text(&a, 1000000, 1000000 + cases[i].age).p, cases[i].text);
	assert_int_equal(age_text(&a, 0, 5).n, 0);
	arena_release(&a);
}

static void views_of_odd_objects(void **state)
{
	static const char *const odd[] = { "{}", "[]", "{\"metadata\":7,\"status\":[]}",
		                           "{\"status\":{\"dlOperator\":{\"phase\":3,\"restarts\":\"x\"}}}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		yyjson_doc *doc = parsed(odd[i]);
		struct job_view v = job_view(yyjson_doc_get_root(doc));

		assert_true(str_eqc(v.state, "Waiting"));
		assert_int_equal(v.restarts, 0);
		yyjson_doc_free(doc);
	}
}

/* A later version knows more ends: whoever waits for one has waited long enough. */
static void ends_of_a_later_version(void **state)
{
	static const struct {
		const char *record;
		bool over;
	} table[] = {
		{ "{\"phase\":\"Halted\",\"outcome\":\"Halted\"}", true },
		{ "{\"phase\":\"Other\",\"outcome\":\"Other\"}", true },
		/* Its pods are still going; and a phase that nobody knows is none. */
		{ "{\"phase\":\"Terminating\",\"outcome\":\"Halted\"}", false },
		{ "{\"phase\":\"Dreaming\"}", false },
		{ "{\"phase\":\"Other\"}", false },
		{ "{\"phase\":\"Failed\",\"outcome\":\"Failed\"}", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct arena a = ARENA_INIT;
		struct str json = arena_printf(&a, "{\"status\":{\"dlOperator\":%s}}", table[i].record);
		yyjson_doc *doc = parsed(json.p);
		struct job_view v = job_view(yyjson_doc_get_root(doc));
		struct wait_verdict verdict = wait_judge(&v, WAIT_FINISHED);

		assert_int_equal(phase_final(v.phase), table[i].over);
		assert_int_equal(verdict.over, table[i].over);
		assert_int_equal(verdict.status, CLI_FAILED);
		yyjson_doc_free(doc);
		arena_release(&a);
	}
}

static int release(void **state)
{
	(void)state;
	buf_release(&items_text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_with_all_that_can_be_said),
		cmocka_unit_test(replicas_without_a_pod),
		cmocka_unit_test(tensorboard_and_its_address),
		cmocka_unit_test(a_job_that_nobody_has_looked_at),
		cmocka_unit_test(an_invalid_job_says_what_is_wrong),
		cmocka_unit_test(large_roles_are_folded),
		cmocka_unit_test(only_the_last_events_are_shown),
		cmocka_unit_test(states_of_pods),
		cmocka_unit_test(the_exit_code_that_tells_most),
		cmocka_unit_test(ages),
		cmocka_unit_test(views_of_odd_objects),
		cmocka_unit_test(ends_of_a_later_version),
	};

	items_text = (struct buf)BUF_INIT(1 << 20);
	return cmocka_run_group_tests(tests, NULL, release);
}
