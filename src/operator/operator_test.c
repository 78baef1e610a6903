/* The loop: when a job is looked at, and what is sent then. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

static void test_no_plan_before_the_lists(void **state)
{
	struct operator_script *s = *state;

	put_job(s, "1", "", 2);
	list_one(s, RES_POD);
	list_one(s, RES_SERVICE);
	list_one(s, RES_NODE);
	assert_int_equal(s->n_sent, 0);
	assert_true(s->wake == NEVER);
	deliver(s, (struct cluster_event){ .type = EVENT_SYNC, .resource = RES_JOB });
	put_job(s, "1", "", 2);
	assert_int_equal(s->n_sent, 0);
	deliver(s, (struct cluster_event){ .type = EVENT_SYNCED, .resource = RES_JOB });
	assert_true(s->n_sent > 0);
}

static void test_creates_grow_in_batches(void **state)
{
	struct operator_script *s = *state;
	static const size_t sizes[] = { 1, 2, 4, 1, 8 }; /* 8 services, then 8 pods */
	struct sent *t;

	listed(s);
	put_job(s, "1", "", 7);
	status_written(s);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char uid[32];

		assert_int_equal(count_waiting_creates(s), sizes[i]);
		assert_int_equal(waiting(s, VERB_CREATE, RES_POD) != NULL, i == 4);
		for (size_t k = 0; k < sizes[i]; k++) {
			t = waiting(s, VERB_CREATE, i == 4 ? RES_POD : RES_SERVICE);
			snprintf(uid, sizeof(uid), "u-%zu-%zu", i, k);
			server_made(s, t, uid);
		}
	}
	assert_int_equal(count_waiting_creates(s), 0);
}

static void test_no_second_pass_in_flight(void **state)
{
	struct operator_script *s = *state;
	size_t sent;

	listed(s);
	put_job(s, "1", "", 1);
	sent = s->n_sent;
	assert_true(sent > 0);
	put_job(s, "2", "", 3);
	run_step(s);
	assert_int_equal(s->n_sent, sent);
}

static void test_status_carries_its_version(void **state)
{
	struct operator_script *s = *state;
	struct sent *t;
	yyjson_doc *doc;

	listed(s);
	put_job(s, "77", "", 1);
	t = waiting(s, VERB_PATCH_STATUS, RES_JOB);
	assert_non_null(t);
	doc = json_parse(t->r.body, NULL);
	assert_true(str_eqc(json_str(json_at(yyjson_doc_get_root(doc), "metadata", "resourceVersion", NULL)), "77"));
	assert_non_null(json_at(yyjson_doc_get_root(doc), "status", "dlOperator", NULL));
	yyjson_doc_free(doc);
	assert_true(str_eqc(t->r.kind, "TfJob.mlkube.io"));
}

static void test_unreadable_record_is_left_alone(void **state)
{
	struct operator_script *s = *state;

	listed(s);
	put_job(s, "1", "{\"dlOperator\":{\"version\":99}}", 1);
	put_job(s, "2", "{\"dlOperator\":\"what\"}", 1);
	assert_int_equal(s->n_sent, 0);
	put_job(s, "3", "", 1);
	assert_true(s->n_sent > 0);
}

/* A leader whose watch of pods is behind must not take for deleted what it has not seen yet. */
/* Its object came without what makes it a job: it says so, once, and has no children. */
static void test_job_that_is_not_whole(void **state)
{
	struct operator_script *s = *state;
	struct job_object o = job_object(s, "1", "", 1);
	struct sent *t;

	listed(s);
	o.problem = STR("spec.deep: nested more than 200 levels deep");
	deliver(s, (struct cluster_event){ .type = EVENT_PUT, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
	t = waiting(s, VERB_PATCH_STATUS, RES_JOB);
	assert_non_null(t);
	assert_non_null(strstr(t->r.body.p, "\"phase\":\"Invalid\""));
	assert_non_null(strstr(t->r.body.p, "spec.deep: nested more than 200 levels deep"));
	assert_int_equal(count_waiting(s), 1);
	/* Mended, it runs. */
	status_written(s);
	put_job(s, "2000", s->status.p, 1);
	for (int i = 0; i < 50 && !waiting(s, VERB_CREATE, RES_SERVICE); i++)
		status_written(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_SERVICE));
}

/* What dljob refuses of a new job is no reason to end one that an older operator has run. */
static void test_odd_templates_run_as_before(void **state)
{
	struct operator_script *s = *state;

	s->fields = ",\"comand\":[\"a\"],\"env\":[{\"name\":\"LR\",\"value\":0.1}]";
	listed(s);
	put_job(s, "1", "", 1);
	for (int i = 0; i < 50 && !waiting(s, VERB_CREATE, RES_POD); i++)
		next_made(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_POD));
	assert_non_null(strstr(waiting(s, VERB_CREATE, RES_POD)->r.body.p, "\"value\":0.1"));
	assert_null(strstr(s->status.p, "Invalid"));
}

static void test_pod_that_only_the_record_saw(void **state)
{
	struct operator_script *s = *state;
	struct sent *get;
	struct pod pod;

	listed(s);
	put_job(s, "1",
	        "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"roles\":{\"master\":{\"count\":1,\"seen\":"
	        "\"0\"},"
	        "\"worker\":{\"count\":0}}}}",
	        0);
	assert_int_equal(s->n_sent, 1);
	get = waiting(s, VERB_GET, RES_POD);
	assert_non_null(get);
	pod = found_pod(get, UID, UID);
	answer(s, get, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	/* It is there: no restart. */
	for (size_t i = 0; i < s->n_sent; i++)
		assert_null(s->sent[i].r.body.n ? strstr(s->sent[i].r.body.p, "Deleted") : NULL);
}

static void test_pod_that_the_record_saw_is_gone(void **state)
{
	struct operator_script *s = *state;
	struct sent *t;

	listed(s);
	put_job(s, "1",
	        "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"roles\":{\"master\":{\"count\":1,\"seen\":"
	        "\"0\"},"
	        "\"worker\":{\"count\":0}}}}",
	        0);
	/* No answer is no answer. */
	refuse(s, waiting(s, VERB_GET, RES_POD), 503, "");
	assert_int_equal(count_waiting(s), 0);
	s->now = s->wake;
	run_step(s);
	refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
	t = waiting(s, VERB_PATCH_STATUS, RES_JOB);
	assert_non_null(t);
	assert_non_null(strstr(t->r.body.p, "\"Deleted\":1"));
}

static void test_job_that_goes_while_in_flight(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);
	struct job_object o = job_object(s, "2", "", 0);
	struct pod pod = found_pod(t, UID, UID);
	size_t sent = s->n_sent;

	deliver(s, (struct cluster_event){ .type = EVENT_GONE, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
	answer(s, t, (struct outcome){ .code = 201, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(s->n_sent, sent);
	/* Even an operator that ends meanwhile leaves nothing behind (the sanitizers look). */
}

static void test_end_with_requests_in_flight(void **state)
{
	struct operator_script *s = *state;
	struct job_object o;

	first_pod(s);
	o = job_object(s, "2", "", 0);
	deliver(s, (struct cluster_event){ .type = EVENT_GONE, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
}

static void test_node_that_is_not_known_is_asked_for(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s), *get;
	struct pod pod = found_pod(t, UID, UID);

	server_made(s, t, "p1");
	settle_all(s);
	pod.meta.uid = STR("p1");
	pod.meta.rv = STR("p1");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	pod.meta.rv = STR("p2");
	pod.node = STR("n1");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	get = waiting(s, VERB_GET, RES_NODE);
	assert_non_null(get);
	assert_true(str_eqc(get->r.name, "n1"));
	refuse(s, get, 404, "NotFound");
	/* It is gone, and asked for no more. */
	assert_null(waiting(s, VERB_GET, RES_NODE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_no_plan_before_the_lists),
		SCRIPT_TEST(test_creates_grow_in_batches),
		SCRIPT_TEST(test_no_second_pass_in_flight),
		SCRIPT_TEST(test_status_carries_its_version),
		SCRIPT_TEST(test_unreadable_record_is_left_alone),
		SCRIPT_TEST(test_job_that_is_not_whole),
		SCRIPT_TEST(test_odd_templates_run_as_before),
		SCRIPT_TEST(test_pod_that_only_the_record_saw),
		SCRIPT_TEST(test_pod_that_the_record_saw_is_gone),
		SCRIPT_TEST(test_job_that_goes_while_in_flight),
		SCRIPT_TEST(test_end_with_requests_in_flight),
		SCRIPT_TEST(test_node_that_is_not_known_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
