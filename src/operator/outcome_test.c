/* What the answers mean: refusals, conflicts, lost replies, names that are taken. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

static void test_refusal_stops(void **state)
{
	struct operator_script *s = *state;
	size_t sent;

	listed(s);
	put_job(s, "1", "", 7);
	status_written(s);
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u1");
	refuse(s, waiting(s, VERB_CREATE, RES_SERVICE), 403, "Forbidden");
	sent = s->n_sent;
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u2");
	assert_int_equal(count_waiting_creates(s), 0);
	assert_true(s->wake > s->now && s->wake != NEVER);
	/* After the wait: one at a time again. */
	s->now = s->wake;
	run_step(s);
	if (!count_waiting_creates(s)) {
		settle_all(s);
		s->now += MINUTES(2);
		run_step(s);
	}
	assert_true(s->n_sent > sent);
	assert_int_equal(count_waiting_creates(s), 1);
}

/* Whether the pod was made is not known until somebody says so: till then nobody says that a suspended job has none. */
static void test_doubt_until_it_is_answered(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);

	refuse(s, t, 504, "Timeout");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 0 });
	s->policy = "{\"suspend\":true}";
	put_job(s, "suspended", s->status.p, 0);
	for (int i = 0; i < 3; i++) {
		s->now += MINUTES(2);
		run_step(s);
		assert_null(waiting(s, VERB_PATCH_STATUS, RES_JOB));
		answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = i < 2 ? 500 : 404 });
	}
	status_written(s);
	assert_non_null(strstr(s->status.p, "\"Suspended\",\"status\":\"True\""));
	assert_null(waiting(s, VERB_GET, RES_POD));
}

/* What the server says to TensorBoard does not touch the job: neither its service nor its pod is needed. */
static void test_refused_beside(void **state)
{
	struct operator_script *s = *state;
	struct sent *t;

	s->tensorboard = true;
	listed(s);
	put_job(s, "1", "", 0);
	status_written(s);
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u1");
	t = waiting(s, VERB_CREATE, RES_SERVICE);
	assert_non_null(strstr(t->r.body.p, "tb-port"));
	refuse(s, t, 422, "Invalid");
	t = waiting(s, VERB_CREATE, RES_POD);
	assert_non_null(t);
	assert_true(str_has_prefix(t->r.name, STR("j-master-")));
	server_made(s, t, "u2");
	t = waiting(s, VERB_CREATE, RES_POD);
	if (t) {
		assert_non_null(strstr(t->r.body.p, "--logdir"));
		refuse(s, t, 403, "Forbidden");
	}
	settle_all(s);
	assert_null(strstr(s->status.p, "Failed"));
	assert_null(strstr(s->status.p, "forbidden, retrying"));
	assert_true(s->wake > s->now && s->wake != NEVER);
	/* It is tried again, and the refusal is forgotten. */
	s->now += MINUTES(2);
	run_step(s);
	t = waiting(s, VERB_CREATE, RES_SERVICE);
	assert_non_null(t);
	server_made(s, t, "u3");
	status_written_if_any(s);
	t = waiting(s, VERB_CREATE, RES_POD);
	assert_non_null(t);
	assert_non_null(strstr(t->r.body.p, "--logdir"));
}

/* Does stand what was said to the job's last create? */
static bool is_refused(struct operator_script *s)
{
	return debug_has(s, "\"refused\":");
}

/* Whatever goes wrong meanwhile: a deadline is kept. */
static void test_deadlines_are_kept_through_backoffs(void **state)
{
	struct operator_script *s = *state;
	struct sent *t;
	msec begun;

	s->policy = "{\"activeDeadlineSeconds\":100}";
	t = first_pod(s);
	begun = s->now;
	answer(s, t, (struct outcome){ .code = 429, .retry_after = MINUTES(30), .message = STR("busy") });
	assert_int_equal(s->wake, begun + SECONDS(100));
	s->now = s->wake;
	run_step(s);
	assert_non_null(strstr(next_status(s)->r.body.p, "\"outcome\":\"TimedOut\""));
	/* It is the server that is not ok: from now on it is waited for. */
	answer(s, next_status(s), (struct outcome){ .code = 429, .retry_after = MINUTES(30) });
	assert_int_equal(s->wake, s->now + MINUTES(30));
}

/* An answer that nobody expects is told, too, and not only tried again. */
static void test_odd_answers_are_said(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);

	answer(s, t, (struct outcome){ .code = 418 });
	s->now += SECONDS(1);
	run_step(s);
	assert_non_null(strstr(next_status(s)->r.body.p, "waiting for the API server: it answers 418"));
}

/* The name is taken by our own pod: it was made, so what was said before is over, though others are missing. */
static void test_exists_and_ends_a_refusal(void **state)
{
	struct operator_script *s = *state;
	struct sent *t;
	struct pod pod;

	listed(s);
	put_job(s, "1", "", 2);
	while (!(t = waiting(s, VERB_CREATE, RES_POD)) || !strstr(t->r.name.p, "worker"))
		next_made(s);
	pod = found_pod(t, UID, UID);
	pod.role = STR("worker");
	/* The second of the batch. */
	refuse(s, t, 422, "Invalid");
	if ((t = waiting(s, VERB_CREATE, RES_POD)))
		refuse(s, t, 422, "Invalid");
	assert_true(is_refused(s));
	for (int i = 0; i < 3; i++) {
		if (i)
			refuse(s, t, 422, "Invalid");
		assert_true(is_refused(s));
		while (!(t = waiting(s, VERB_CREATE, RES_POD))) {
			s->now = MAX(s->wake, s->now + 1);
			run_step(s);
			status_written_if_any(s);
		}
	}
	assert_true(str_eq(t->r.name, pod.meta.name));
	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_false(is_refused(s));
	assert_non_null(strstr(waiting(s, VERB_CREATE, RES_POD)->r.name.p, "worker"));
}

static void test_exists_and_is_ours(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s), *get;
	struct pod pod = found_pod(t, UID, UID);

	refuse(s, t, 409, "AlreadyExists");
	get = waiting(s, VERB_GET, RES_POD);
	assert_true(str_eq(get->r.name, t->r.name));
	answer(s, get, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(count_waiting_creates(s), 0);
}

static void test_exists_without_labels(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s), *patch;
	struct pod pod = found_pod(t, UID, "");

	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	patch = waiting(s, VERB_PATCH, RES_POD);
	assert_non_null(patch);
	assert_non_null(strstr(patch->r.body.p, "\"" LABEL_UID "\":\"" UID "\""));
	assert_non_null(strstr(patch->r.body.p, "\"" LABEL_GENERATION "\":\"0\""));
	assert_non_null(strstr(patch->r.body.p, "\"uid\":\"found\""));
	pod.job_uid = STR(UID);
	answer(s, patch, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(count_waiting_creates(s), 0);
}

/* A pod that was going lost its labels: it is not of the generation that we wanted to make. */
static void test_adopted_pod_keeps_its_generation(void **state)
{
	static const char status[] =
		"{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"generation\":3,\"restarts\":3,"
		"\"roles\":{\"master\":{\"count\":1},\"worker\":{\"count\":0}}}}";
	struct operator_script *s = *state;
	struct pod old = { .meta = { .ns = STR("ns"), .uid = STR("found"), .rv = STR("8"), .owner_uid = STR(UID) },
		           .job_uid = STR(UID),
		           .role = STR("master"),
		           .generation = 2 };
	struct sent *t;

	listed(s);
	put_job(s, "1", status, 0);
	status_written_if_any(s);
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	t = waiting(s, VERB_CREATE, RES_POD);
	assert_non_null(t);
	old.meta.name = t->r.name;
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &old } });
	old.meta.deleted = s->now;
	deliver(s,
	        (struct cluster_event){ .type = EVENT_GONE, .resource = RES_POD, .object = { RES_POD, .pod = &old } });
	refuse(s, t, 409, "AlreadyExists");
	old.job_uid = STR_NONE;
	old.meta.rv = STR("9");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &old } });
	assert_non_null(strstr(waiting(s, VERB_PATCH, RES_POD)->r.body.p, "\"" LABEL_GENERATION "\":\"2\""));
}

/* … nor is one that we never saw: a gateway's error says nothing of who made it. */
static void test_adopted_after_an_error_is_old(void **state)
{
	static const char status[] =
		"{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"generation\":3,\"restarts\":3,"
		"\"roles\":{\"master\":{\"count\":1},\"worker\":{\"count\":0}}}}";
	struct operator_script *s = *state;
	struct pod pod;
	struct sent *t;

	listed(s);
	put_job(s, "1", status, 0);
	status_written_if_any(s);
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	t = waiting(s, VERB_CREATE, RES_POD);
	pod = found_pod(t, UID, "");
	refuse(s, t, 504, "Timeout");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_non_null(strstr(waiting(s, VERB_PATCH, RES_POD)->r.body.p, "\"" LABEL_GENERATION "\":\"0\""));
}

static void test_exists_and_is_foreign(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found_pod(t, "somebody", "");

	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	/* Nothing is touched, and it is tried again later. */
	assert_null(waiting(s, VERB_PATCH, RES_POD));
	assert_null(waiting(s, VERB_DELETE, RES_POD));
	assert_int_equal(count_waiting_creates(s), 0);
	assert_true(s->wake > s->now && s->wake != NEVER);
}

/* The kind gives one name twice: what is there stays, and the other one is not tried again at once, whatever happens to
   the job's pods meanwhile. */
static void test_exists_and_is_another_replicas(void **state)
{
	struct operator_script *s = *state;
	struct sent *t;
	struct pod pod;

	listed(s);
	put_job(s, "1", "", 1);
	status_written(s);
	t = waiting(s, VERB_CREATE, RES_SERVICE);
	pod = found_pod(t, UID, UID);
	pod.role = STR("worker");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	for (int i = 0; i < 2; i++)
		server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), i ? "svc1" : "svc0");
	status_written_if_any(s);
	t = waiting(s, VERB_CREATE, RES_POD);
	assert_true(str_eq(t->r.name, pod.meta.name));
	refuse(s, t, 409, "AlreadyExists");
	for (int i = 1; i <= 5; i++) {
		msec before = s->now;

		answer(s, waiting(s, VERB_GET, RES_POD),
		       (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
		assert_null(waiting(s, VERB_PATCH, RES_POD));
		assert_null(waiting(s, VERB_DELETE, RES_POD));
		assert_int_equal(count_waiting_creates(s), 0);
		status_written_if_any(s);
		pod.meta.rv = arena_printf(&s->arena, "%d", 10 + i);
		deliver(s, (struct cluster_event){
				   .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
		status_written_if_any(s);
		/* What stands there is asked for; a create would only meet it again. */
		while (!waiting(s, VERB_GET, RES_POD)) {
			assert_int_equal(count_waiting_creates(s), 0);
			assert_true(s->wake > s->now && s->wake != NEVER);
			s->now = s->wake;
			run_step(s);
			status_written_if_any(s);
		}
		/* 1, 2, 4 … seconds. */
		assert_true(s->now - before >= SECONDS(1 << (i - 1)));
	}
	assert_non_null(strstr(s->status.p, "by its labels, and master-0 would have the same name"));
}

/* Labels that somebody took away are put back. */
static void test_exists_without_a_role(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found_pod(t, UID, UID);

	pod.role = STR_NONE;
	pod.index = -1;
	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_non_null(strstr(waiting(s, VERB_PATCH, RES_POD)->r.body.p, "\"" LABEL_ROLE "\":\"master\""));
}

static void test_lost_reply_is_found_by_name(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found_pod(t, UID, UID);

	answer(s, t, (struct outcome){ 0 });
	assert_int_equal(count_waiting_creates(s), 0);
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(count_waiting_creates(s), 0);
}

/* The gateway gave up; the server may have done it all the same. */
static void test_server_error_may_be_done(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found_pod(t, UID, UID);

	refuse(s, t, 504, "Timeout");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	s->now += MINUTES(5);
	run_step(s);
	assert_int_equal(count_waiting_creates(s), 0);
}

/* … or not: then it waits before it tries again. */
static void test_server_error_not_done(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);

	refuse(s, t, 500, "InternalError");
	refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
	assert_int_equal(count_waiting_creates(s), 0);
	s->now += MINUTES(5);
	run_step(s);
	if (!count_waiting_creates(s)) {
		status_written_if_any(s);
		run_step(s);
	}
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_lost_reply_not_done(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);

	answer(s, t, (struct outcome){ 0 });
	refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_server_asks_to_wait(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);

	answer(s, t, (struct outcome){ .code = 429, .retry_after = SECONDS(100) });
	s->now += SECONDS(99);
	run_step(s);
	assert_int_equal(count_waiting_creates(s), 0);
	s->now += SECONDS(1);
	run_step(s);
	/* A status write may come first. */
	status_written_if_any(s);
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_delete_of_what_is_gone(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s), *del;
	struct pod stray = found_pod(t, UID, UID);

	server_made(s, t, "p1");
	settle_all(s);
	stray.meta.name = STR("stray");
	stray.index = 5;
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &stray } });
	status_written_if_any(s);
	del = waiting(s, VERB_DELETE, RES_POD);
	assert_non_null(del);
	assert_true(str_eqc(del->r.uid, "found"));
	assert_int_equal(del->r.grace, -1);
	refuse(s, del, 404, "NotFound");
	assert_null(waiting(s, VERB_DELETE, RES_POD));
}

static void test_delete_is_not_repeated(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s), *del;
	struct pod stray = found_pod(t, UID, UID), foreign = found_pod(t, "somebody", UID);

	server_made(s, t, "p1");
	settle_all(s);
	stray.meta.name = STR("stray");
	stray.index = 5;
	foreign.meta.name = STR("foreign");
	foreign.index = 6;
	/* Whoever copies our labels does not make it ours. */
	deliver(s, (struct cluster_event){
			   .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &foreign } });
	settle_all(s);
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &stray } });
	status_written_if_any(s);
	del = waiting(s, VERB_DELETE, RES_POD);
	assert_non_null(del);
	assert_true(str_eqc(del->r.name, "stray"));
	answer(s, del, (struct outcome){ .code = 200 });
	s->now += SECONDS(5);
	run_step(s);
	assert_null(waiting(s, VERB_DELETE, RES_POD));
}

static void test_lost_label_is_put_back(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found_pod(t, UID, UID);

	server_made(s, t, "p1");
	settle_all(s);
	pod.meta.uid = pod.meta.rv = STR("p1");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_GONE, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	pod.job_uid = STR_NONE;
	pod.meta.rv = STR("p2");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_non_null(waiting(s, VERB_PATCH, RES_POD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_refusal_stops),
		SCRIPT_TEST(test_refused_beside),
		SCRIPT_TEST(test_doubt_until_it_is_answered),
		SCRIPT_TEST(test_deadlines_are_kept_through_backoffs),
		SCRIPT_TEST(test_odd_answers_are_said),
		SCRIPT_TEST(test_exists_and_ends_a_refusal),
		SCRIPT_TEST(test_exists_and_is_ours),
		SCRIPT_TEST(test_exists_without_labels),
		SCRIPT_TEST(test_adopted_pod_keeps_its_generation),
		SCRIPT_TEST(test_adopted_after_an_error_is_old),
		SCRIPT_TEST(test_exists_and_is_foreign),
		SCRIPT_TEST(test_exists_and_is_another_replicas),
		SCRIPT_TEST(test_exists_without_a_role),
		SCRIPT_TEST(test_lost_reply_is_found_by_name),
		SCRIPT_TEST(test_lost_reply_not_done),
		SCRIPT_TEST(test_server_error_may_be_done),
		SCRIPT_TEST(test_server_error_not_done),
		SCRIPT_TEST(test_server_asks_to_wait),
		SCRIPT_TEST(test_delete_of_what_is_gone),
		SCRIPT_TEST(test_delete_is_not_repeated),
		SCRIPT_TEST(test_lost_label_is_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
