#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/file.h"
#include "cluster/decode.h"

static struct arena arena;

/* What an API server sends; the fuzzer begins with the same. */
static yyjson_doc *sample(const char *name)
{
	struct str path = arena_printf(&arena, CORPUS "/decode/%s.json", name), text = STR_NONE;
	yyjson_doc *doc;

	assert_int_equal(file_read(&text, path.p, &arena, NULL), FILE_READ);
	doc = json_parse(text, NULL);
	assert_non_null(doc);
	return doc;
}

static void same(struct str s, const char *want)
{
	assert_string_equal(arena_str(&arena, s).p, want);
}

static void same_time(msec t, const char *want)
{
	char text[TIME_TEXT];

	assert_string_equal(time_format(t, text), want);
}

static struct pod pod_of(const char *text)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(text), NULL);
	struct err e = ERR_INIT;
	struct pod pod;

	assert_non_null(doc);
	if (!decode_pod(&pod, yyjson_doc_get_root(doc), &arena, &e))
		fail_msg("%s", err_msg(&e));
	return pod;
}

static void check_container(const struct container *c, const char *name, bool init, enum container_state state,
                            int32_t code, const char *reason, const char *message)
{
	same(c->name, name);
	assert_int_equal(c->init, init);
	assert_int_equal(c->state, state);
	assert_int_equal(c->exit_code, code);
	same(c->reason, reason);
	same(c->message, message);
}

static void test_pod(void **state)
{
	yyjson_doc *doc = sample("pod");
	struct pod p;

	(void)state;
	assert_true(decode_pod(&p, yyjson_doc_get_root(doc), &arena, NULL));
	/* Nothing of it may lie in the document. */
	yyjson_doc_free(doc);
	same(p.meta.name, "mnist-worker-3");
	same(p.meta.ns, "team-a");
	same(p.meta.uid, "6fa1d0a4-8f0a-4f0e-9f5b-0d2c4a8f0b11");
	same(p.meta.rv, "184467");
	same(p.meta.owner_uid, "2b1f7c52-0000-4000-8000-3f0c5c1e9d01");
	same(p.meta.owner, "TfJob/mnist");
	same_time(p.meta.created, "2026-11-15T12:00:00Z");
	same_time(p.meta.deleted, "2026-11-15T12:10:30Z");
	assert_int_equal(p.meta.grace, 30);
	same(p.job_uid, "2b1f7c52-0000-4000-8000-3f0c5c1e9d01");
	same(p.role, "worker");
	assert_int_equal(p.index, 3);
	assert_int_equal(p.generation, 4);
	assert_int_equal(p.phase, POD_FAILED);
	same(p.node, "node-7");
	same(p.reason, "Evicted");
	same(p.message, "The node was low on resource: memory.");
	same_time(p.started, "2026-11-15T12:00:02Z");
	assert_true(p.ready);
	assert_true(p.disrupted);
	assert_false(p.gone);
	assert_int_equal(p.n_containers, 4);
	check_container(&p.containers[0], "fetch", true, CONTAINER_TERMINATED, 0, "Completed", "");
	check_container(&p.containers[1], "proxy", true, CONTAINER_RUNNING, 0, "", "");
	check_container(&p.containers[2], "tensorflow", false, CONTAINER_TERMINATED, 137, "OOMKilled", "killed");
	same_time(p.containers[2].finished, "2026-11-15T12:09:59Z");
	assert_int_equal(p.tolerations.not_ready, 300);
	check_container(&p.containers[3], "logs", false, CONTAINER_WAITING, 0, "ImagePullBackOff",
	                "Back-off pulling image");
}

static void test_disruption(void **state)
{
	struct pod p = pod_of("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"terminationGracePeriodSeconds\":600},"
	                      "\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
	                      "\"reason\":\"DeletionByTaintManager\","
	                      "\"lastTransitionTime\":\"1970-01-01T00:01:40Z\"}]}}");

	(void)state;
	assert_true(p.disrupted);
	same(p.disrupter, "DeletionByTaintManager");
	assert_int_equal(p.disrupted_at, SECONDS(100));
	assert_int_equal(p.stop_grace, 600);
	p = pod_of("{\"metadata\":{\"name\":\"p\"},\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\","
	           "\"status\":\"False\",\"reason\":\"X\",\"lastTransitionTime\":\"1970-01-01T00:01:40Z\"}]}}");
	assert_false(p.disrupted);
	assert_int_equal(p.disrupter.n, 0);
	assert_int_equal(p.disrupted_at, 0);
}

/* A container whose own restart policy brings it back (container_restarts.h). */
static void test_comes_back(void **state)
{
	struct pod p = pod_of("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"a\"},"
	                      "{\"name\":\"b\",\"restartPolicy\":\"Always\"}]},\"status\":{\"containerStatuses\":["
	                      "{\"name\":\"a\",\"state\":{\"terminated\":{\"exitCode\":0}}},"
	                      "{\"name\":\"b\",\"state\":{\"terminated\":{\"exitCode\":0}}}]}}");

	(void)state;
	assert_int_equal(p.n_containers, 2);
	assert_false(p.containers[0].comes_back);
	assert_true(p.containers[1].comes_back);
}

/* The kubelet lost it, and says so in the state before the present one. */
static void test_ran(void **state)
{
	struct pod p =
		pod_of("{\"metadata\":{\"name\":\"p\"},\"status\":{\"containerStatuses\":["
	               "{\"name\":\"a\",\"state\":{\"waiting\":{\"reason\":\"ContainerCreating\"}},\"lastState\":"
	               "{\"terminated\":{\"exitCode\":137,\"reason\":\"ContainerStatusUnknown\"}},\"restartCount\":1},"
	               "{\"name\":\"b\",\"state\":{\"waiting\":{}},\"lastState\":{}}]}}");

	(void)state;
	assert_int_equal(p.containers[0].state, CONTAINER_WAITING);
	assert_true(p.containers[0].ran);
	assert_false(p.containers[1].ran);
}

static void test_started(void **state)
{
	struct pod p = pod_of("{\"metadata\":{\"name\":\"p\"},\"status\":{\"containerStatuses\":["
	                      "{\"name\":\"a\",\"state\":{\"running\":{\"startedAt\":\"2026-11-15T12:00:01Z\"}}},"
	                      "{\"name\":\"b\",\"state\":{\"terminated\":{\"exitCode\":1,"
	                      "\"startedAt\":\"2026-11-15T12:00:02Z\",\"finishedAt\":\"2026-11-15T12:00:03Z\"}}}]}}");

	(void)state;
	same_time(p.containers[0].started, "2026-11-15T12:00:01Z");
	same_time(p.containers[1].started, "2026-11-15T12:00:02Z");
}

/* Where a pod can be reached is believed only of this machine: everybody who may edit pods can write it. */
static void test_address(void **state)
{
	static const struct {
		const char *said, *kept;
	} table[] = {
		{ "\"http://127.0.0.1:6006/\"", "http://127.0.0.1:6006/" },
		{ "\"http://evil.example/\"", "" },
		{ "\"http://127.0.0.1.evil.example/\"", "" },
		{ "\"http://127.0.0.1:6006\"", "" },
		{ "\"http://127.0.0.1:60\\u001b[2J06/\"", "" },
		{ "\"http://127.0.0.1:6006/\\u001b[2J\"", "" },
		{ "\"http://127.0.0.1:600601234567890123456789012345678901234567890/\"", "" },
		{ "7", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct str text = arena_printf(&arena,
		                               "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\","
		                               "\"annotations\":{\"" ANNOTATION_ADDRESS "\":%s}}}",
		                               table[i].said);

		same(pod_of(text.p).address, table[i].kept);
	}
}

static void test_bare_pod(void **state)
{
	struct pod p = pod_of("{\"metadata\":{\"name\":\"a\"}}");

	(void)state;
	assert_int_equal(p.index, -1);
	assert_int_equal(p.generation, 0);
	assert_int_equal(p.phase, POD_PENDING);
	assert_int_equal(p.meta.created, 0);
	assert_int_equal(p.meta.deleted, 0);
	assert_int_equal(p.n_containers, 0);
	assert_false(p.ready);
	same(p.meta.owner_uid, "");
	same(p.meta.owner, "");
}

#define POD(rest) "{\"metadata\":{\"name\":\"a\"}," rest "}"

static void test_phases(void **state)
{
	static const struct {
		const char *text;
		enum pod_phase want;
	} cases[] = {
		{ "\"Pending\"", POD_PENDING }, { "\"Running\"", POD_RUNNING }, { "\"Succeeded\"", POD_SUCCEEDED },
		{ "\"Failed\"", POD_FAILED },   { "\"Unknown\"", POD_UNKNOWN }, { "\"failed\"", POD_UNKNOWN },
		{ "null", POD_PENDING },        { "5", POD_PENDING },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str text = arena_printf(&arena, POD("\"status\":{\"phase\":%s}"), cases[i].text);

		assert_int_equal(pod_of(text.p).phase, cases[i].want);
	}
}

static void test_conditions(void **state)
{
	struct pod p;

	(void)state;
	p = pod_of(POD("\"status\":{\"conditions\":[5,{\"type\":5},{\"type\":\"Ready\",\"status\":\"False\"},"
	               "{\"type\":\"DisruptionTarget\",\"status\":\"False\"},"
	               "{\"type\":\"PodScheduled\",\"status\":\"False\",\"message\":\"0/3 nodes\"}]}"));
	assert_false(p.ready);
	assert_false(p.disrupted);
	same(p.message, "0/3 nodes");
	p = pod_of(POD("\"status\":{\"message\":\"own\",\"conditions\":["
	               "{\"type\":\"PodScheduled\",\"status\":\"False\",\"message\":\"0/3 nodes\"}]}"));
	same(p.message, "own");
	p = pod_of(
		POD("\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\",\"message\":\"x\"}]}"));
	same(p.message, "");
}

/* An exit code that cannot be read is no success; a container without a state waits. */
static void test_odd_containers(void **state)
{
	struct pod p =
		pod_of(POD("\"status\":{\"containerStatuses\":[7,{\"state\":{}},"
	                   "{\"name\":\"a\",\"state\":{\"terminated\":{\"exitCode\":\"0\"}}},"
	                   "{\"name\":\"b\",\"state\":{\"terminated\":{\"exitCode\":4294967296}}},"
	                   "{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":1.0,\"finishedAt\":\"soon\"}}},"
	                   "{\"name\":\"d\"},{\"name\":\"e\",\"state\":{\"running\":true}}]}"));

	(void)state;
	assert_int_equal(p.n_containers, 5);
	check_container(&p.containers[0], "a", false, CONTAINER_TERMINATED, -1, "", "");
	check_container(&p.containers[1], "b", false, CONTAINER_TERMINATED, -1, "", "");
	check_container(&p.containers[2], "c", false, CONTAINER_TERMINATED, 1, "", "");
	assert_int_equal(p.containers[2].finished, 0);
	check_container(&p.containers[3], "d", false, CONTAINER_WAITING, 0, "", "");
	check_container(&p.containers[4], "e", false, CONTAINER_WAITING, 0, "", "");
}

static void test_labels(void **state)
{
	static const struct {
		const char *index;
		int32_t want;
	} cases[] = { { "\"0\"", 0 },           { "\"2147483647\"", INT32_MAX },
		      { "\"2147483648\"", -1 }, { "\"-2\"", -1 },
		      { "\"x\"", -1 },          { "\"\"", -1 },
		      { "\"1 \"", -1 },         { "3", -1 },
		      { "null", -1 },           { "{}", -1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str text = arena_printf(
			&arena, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"" LABEL_INDEX "\":%s}}}", cases[i].index);

		assert_int_equal(pod_of(text.p).index, cases[i].want);
	}
}

static void test_clipped(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	struct pod p;

	(void)state;
	buf_put(&b, STR("{\"metadata\":{\"name\":\"a\"},\"status\":{\"message\":\"x"));
	for (size_t i = 0; i < DECODE_TEXT_MAX; i++)
		buf_put(&b, STR("\xc3\xa4"));
	buf_put(&b, STR("\"}}"));
	p = pod_of(b.p);
	buf_release(&b);
	assert_int_equal(p.message.n, DECODE_TEXT_MAX - 1);
	assert_true(str_is_utf8(p.message));
}

static void test_no_objects(void **state)
{
	static const char *const texts[] = { "5",
		                             "null",
		                             "[]",
		                             "{}",
		                             "{\"metadata\":[]}",
		                             "{\"metadata\":{\"name\":5}}",
		                             "{\"metadata\":{\"name\":\"\"}}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(texts[i]), NULL);
		yyjson_val *val = yyjson_doc_get_root(doc);
		struct err e = ERR_INIT;
		struct job_object job;
		struct service service;
		struct node node;
		struct pod pod;

		assert_false(decode_pod(&pod, val, &arena, &e));
		assert_string_equal(err_msg(&e), "not an object: metadata.name is missing");
		err_release(&e);
		assert_false(decode_service(&service, val, &arena, NULL));
		assert_false(decode_node(&node, val, &arena, NULL));
		assert_false(decode_job(&job, val, STR("K"), &arena, NULL));
	}
}

static void test_service(void **state)
{
	yyjson_doc *doc = sample("service");
	struct service s;

	(void)state;
	assert_true(decode_service(&s, yyjson_doc_get_root(doc), &arena, NULL));
	yyjson_doc_free(doc);
	same(s.meta.name, "mnist-worker-3");
	same(s.meta.owner_uid, "2b1f7c52-0000-4000-8000-3f0c5c1e9d01");
	same(s.job_uid, "2b1f7c52-0000-4000-8000-3f0c5c1e9d01");
	same(s.role, "worker");
	assert_int_equal(s.index, 3);
}

static struct group group_of(const char *text)
{
	CLEANUP(json_docp) yyjson_doc *doc = text ? json_parse(str_c(text), NULL) : sample("group");
	struct group g;

	assert_true(decode_group(&g, yyjson_doc_get_root(doc), &arena, NULL));
	return g;
}

static void test_group(void **state)
{
#define GROUP(rest) "{\"metadata\":{\"name\":\"g\"}" rest "}"
	struct group g = group_of(NULL);

	(void)state;
	same(g.meta.name, "mnist");
	same(g.meta.owner_uid, "2b1f7c52-0000-4000-8000-3f0c5c1e9d01");
	same(g.meta.owner, "TfJob/mnist");
	same(g.job_uid, "2b1f7c52-0000-4000-8000-3f0c5c1e9d01");
	assert_int_equal(g.min_member, 4);
	same(g.queue, "team-a");
	same(g.priority_class, "high");
	assert_int_equal(g.timeout, 30);
	same(g.phase, "Pending");
	same(g.message, "4/4 tasks in gang unschedulable");
	assert_int_equal(g.needs.n, 3);
	same(g.needs.v[0].name, "cpu");
	assert_int_equal(g.needs.v[0].amount.milli, 500);
	assert_int_equal(g.needs.v[1].amount.whole, 1 << 30);
	same(g.needs.v[2].name, "nvidia.com/gpu");

	g = group_of(GROUP(""));
	assert_int_equal(g.timeout, -1);
	assert_int_equal(g.needs.n, 0);
	same(g.phase, "");
	/* It was, and is not any more. */
	g = group_of(
		GROUP(",\"status\":{\"conditions\":[{\"type\":\"Unschedulable\",\"status\":\"True\",\"message\":\"m\"},"
	              "{\"type\":\"Scheduled\",\"status\":\"True\"}]}"));
	same(g.message, "");
	g = group_of(GROUP(",\"status\":{\"conditions\":[{\"type\":\"Unschedulable\",\"status\":\"False\","
	                   "\"message\":\"m\"}]}"));
	same(g.message, "");
}

static struct node node_of(const char *text)
{
	CLEANUP(json_docp) yyjson_doc *doc = text ? json_parse(str_c(text), NULL) : sample("node");
	struct node n;

	assert_true(decode_node(&n, yyjson_doc_get_root(doc), &arena, NULL));
	return n;
}

static void test_node(void **state)
{
#define NODE(rest) "{\"metadata\":{\"name\":\"n\",\"creationTimestamp\":\"2026-11-01T00:00:00Z\"}" rest "}"
	struct node n = node_of(NULL);

	(void)state;
	same(n.name, "node-7");
	assert_false(n.ready);
	assert_true(n.out_of_service);
	assert_false(n.gone);
	assert_int_equal(n.since, 0);
	n = node_of(NODE(",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]},\"spec\":{\"taints\":"
	                 "[{\"key\":"
	                 "\"node.kubernetes.io/unreachable\"}]}"));
	assert_true(n.ready);
	assert_false(n.out_of_service);
	assert_false(n.unreachable);
	n = node_of(NODE(",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}"));
	assert_false(n.ready);
	assert_true(n.unreachable);
	n = node_of(NODE(",\"status\":{\"conditions\":{\"type\":\"Ready\",\"status\":\"True\"}},\"spec\":5"));
	assert_false(n.ready);
}

static void test_job(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	struct job_object job;
	yyjson_doc *doc;

	(void)state;
	buf_put(&b, STR("{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"generation\":3},\"spec\":"));
	for (size_t i = 0; i < JSON_MAX_DEPTH - 1; i++)
		buf_putc(&b, '[');
	for (size_t i = 0; i < JSON_MAX_DEPTH - 1; i++)
		buf_putc(&b, ']');
	buf_putc(&b, '}');
	doc = json_parse(buf_str(&b), &e);
	assert_true(decode_job(&job, yyjson_doc_get_root(doc), STR("TfJob.x"), &arena, &e));
	same(job.kind, "TfJob.x");
	same(job.meta.ns, "n");
	assert_ptr_equal(job.root, yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
	buf_release(&b);
}

static void test_status(void **state)
{
	static const struct {
		const char *text, *reason, *message;
		msec retry_after;
	} cases[] = {
		{ NULL, "Forbidden", "pods \"a\" is forbidden: exceeded quota", 3000 },
		{ "{\"kind\":\"Status\",\"reason\":5,\"message\":null,\"details\":[]}", "was", "so", 7 },
		{ "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":-1}}", "was", "so", 7 },
		{ "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":9223372036854775807}}", "was", "so", 7 },
		{ "{\"kind\":\"Pod\",\"reason\":\"x\",\"message\":\"y\"}", "was", "so", 7 },
		{ "[]", "was", "so", 7 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(json_docp)
		yyjson_doc *doc = cases[i].text ? json_parse(str_c(cases[i].text), NULL) : sample("status");
		struct outcome o = { .reason = STR("was"), .message = STR("so"), .retry_after = 7 };

		decode_status(&o, yyjson_doc_get_root(doc));
		same(o.reason, cases[i].reason);
		same(o.message, cases[i].message);
		assert_int_equal(o.retry_after, cases[i].retry_after);
	}
}

static void decode_all(yyjson_val *val)
{
	struct outcome o = { 0 };
	struct job_object job;
	struct service service;
	struct group group;
	struct node node;
	struct pod pod;

	if (decode_pod(&pod, val, &arena, NULL)) {
		assert_false(str_empty(pod.meta.name));
		assert_true(pod.index >= -1 && pod.generation >= 0);
		for (size_t i = 0; i < pod.n_containers; i++)
			assert_false(str_empty(pod.containers[i].name));
	}
	decode_service(&service, val, &arena, NULL);
	decode_node(&node, val, &arena, NULL);
	decode_group(&group, val, &arena, NULL);
	decode_job(&job, val, STR("K"), &arena, NULL);
	decode_status(&o, val);
}

/* VAL as text, with OTHER in the place of its value number WHICH; false if it has fewer. */
static bool write_with(yyjson_val *val, size_t *which, const char *other, struct buf *out)
{
	yyjson_val *key, *one;
	size_t i, max;
	bool found;

	if ((*which)-- == 0) {
		buf_put(out, str_c(other));
		return true;
	}
	if (!yyjson_is_ctn(val)) {
		json_write_val(val, out);
		return false;
	}
	found = false;
	buf_putc(out, yyjson_is_arr(val) ? '[' : '{');
	yyjson_arr_foreach(val, i, max, one)
	{
		if (i)
			buf_putc(out, ',');
		found |= write_with(one, which, other, out);
	}
	yyjson_obj_foreach(val, i, max, key, one)
	{
		if (i)
			buf_putc(out, ',');
		buf_json_str(out, json_str(key));
		buf_putc(out, ':');
		found |= write_with(one, which, other, out);
	}
	buf_putc(out, yyjson_is_arr(val) ? ']' : '}');
	return found;
}

static void try_others(yyjson_val *sample_root, const char *other)
{
	struct buf text = BUF_INIT(1 << 20);
	bool more = true;

	for (size_t i = 0; more; i++) {
		size_t which = i;
		yyjson_doc *doc;

		buf_clear(&text);
		more = write_with(sample_root, &which, other, &text);
		doc = yyjson_read(text.p, text.n, 0);
		assert_non_null(doc);
		decode_all(yyjson_doc_get_root(doc));
		yyjson_doc_free(doc);
	}
	buf_release(&text);
}

/* Every value of the samples in turn becomes something else. */
static void test_wrong_types(void **state)
{
	static const char *const samples[] = { "pod", "service", "node", "group", "status" };
	static const char *const others[] = { "null",
		                              "true",
		                              "-1",
		                              "1e300",
		                              "18446744073709551615",
		                              "\"\"",
		                              "\"x\\u0000y\"",
		                              "[]",
		                              "[[{}],5,null]",
		                              "{}",
		                              "{\"name\":[],\"status\":{\"a\":1}}" };

	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(samples); s++) {
		CLEANUP(json_docp) yyjson_doc *doc = sample(samples[s]);

		for (size_t o = 0; o < ARRAY_LEN(others); o++)
			try_others(yyjson_doc_get_root(doc), others[o]);
		arena_reset(&arena);
	}
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_pod, teardown),
		cmocka_unit_test_teardown(test_disruption, teardown),
		cmocka_unit_test_teardown(test_comes_back, teardown),
		cmocka_unit_test_teardown(test_ran, teardown),
		cmocka_unit_test_teardown(test_started, teardown),
		cmocka_unit_test_teardown(test_address, teardown),
		cmocka_unit_test_teardown(test_bare_pod, teardown),
		cmocka_unit_test_teardown(test_phases, teardown),
		cmocka_unit_test_teardown(test_conditions, teardown),
		cmocka_unit_test_teardown(test_odd_containers, teardown),
		cmocka_unit_test_teardown(test_labels, teardown),
		cmocka_unit_test_teardown(test_clipped, teardown),
		cmocka_unit_test_teardown(test_no_objects, teardown),
		cmocka_unit_test_teardown(test_service, teardown),
		cmocka_unit_test_teardown(test_group, teardown),
		cmocka_unit_test_teardown(test_node, teardown),
		cmocka_unit_test_teardown(test_job, teardown),
		cmocka_unit_test_teardown(test_status, teardown),
		cmocka_unit_test_teardown(test_wrong_types, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
