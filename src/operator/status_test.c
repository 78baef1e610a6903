/* The job's status, written: conflicts, refusals, records that are too large (apply.c, outcome.c). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

/* How many services and pods of that job were asked for. */
static int made_of(const struct operator_script *s, const char *name)
{
	int n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += s->sent[i].r.verb == VERB_CREATE && str_has_prefix(s->sent[i].r.name, str_c(name));
	return n;
}

/* What was seen is not there any more. */
static void refuse_lookups(struct operator_script *s)
{
	while (waiting(s, VERB_GET, RES_POD))
		refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
}

static void test_conflict_on_status_reads_anew(void **state)
{
	struct operator_script *s = *state;
	struct job_object o;

	listed(s);
	put_job(s, "1", "", 1);
	refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), 409, "Conflict");
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u1");
	assert_int_equal(count_waiting(s), 1);
	assert_non_null(waiting(s, VERB_GET, RES_JOB));
	o = job_object(s, "5", "", 1);
	answer(s, waiting(s, VERB_GET, RES_JOB), (struct outcome){ .code = 200, .object = { RES_JOB, .job = &o } });
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, "\"resourceVersion\":\"5\""));
}

static void refuse_all_forms(struct operator_script *s)
{
	for (int form = 0; form < 3; form++) {
		assert_non_null(next_status(s));
		refuse(s, next_status(s), 422, "Invalid");
	}
	while (count_waiting_creates(s))
		assert_null(next_status(s));
}

static void test_status_refused_is_no_loop(void **state)
{
	struct operator_script *s = *state;
	size_t sent;

	listed(s);
	put_job(s, "1", "", 1);
	refuse_all_forms(s);
	/* The write that failed is tried again, and held then. */
	s->now += SECONDS(1);
	run_step(s);
	sent = s->n_sent;
	for (int i = 0; i < 9; i++) {
		s->now += MINUTES(1);
		run_step(s);
	}
	assert_int_equal(s->n_sent, sent);
	s->now += MINUTES(2);
	run_step(s);
	assert_non_null(waiting(s, VERB_PATCH_STATUS, RES_JOB));
	/* All of it is tried again. */
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, "\"conditions\":[{"));
}

/* Whoever edits the job need not wait for that. */
static void test_an_edit_ends_the_wait_for_the_status(void **state)
{
	struct operator_script *s = *state;

	listed(s);
	put_job(s, "1", "", 1);
	refuse_all_forms(s);
	assert_null(waiting(s, VERB_PATCH_STATUS, RES_JOB));
	put_job(s, "9", "", 2);
	assert_non_null(waiting(s, VERB_PATCH_STATUS, RES_JOB));
}

/* What can only be observed waits, and nothing waits for it. */
static void test_status_refused_holds_no_actions(void **state)
{
	struct operator_script *s = *state;
	int pods = 0;

	listed(s);
	put_job(s, "1", "", 1);
	/* First without the kind's own fields, then only what is needed. */
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, "\"conditions\":[{"));
	refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), 422, "Invalid");
	assert_null(strstr(next_status(s)->r.body.p, "\"conditions\":[{"));
	refuse(s, next_status(s), 422, "Invalid");
	answer(s, next_status(s), (struct outcome){ .code = 500, .message = STR("etcdserver: request is too large") });
	while (next_made(s))
		;
	assert_false(debug_has(s, "\"failuresInARow\":1"));
	s->now += SECONDS(1);
	run_step(s);
	assert_null(next_status(s));
	/* Services and pods were made all the same. */
	for (size_t i = 0; i < s->n_sent; i++)
		pods += s->sent[i].r.verb == VERB_CREATE && s->sent[i].r.resource == RES_POD;
	assert_int_equal(pods, 2);
}

/* A webhook for statuses is broken. What can only be observed waits for it, later each time; children are made as if it
   were not, many at a time. */
static void test_status_that_fails_holds_no_actions(void **state)
{
	struct operator_script *s = *state;
	size_t most = 0;
	int failed = 0;

	listed(s);
	put_job(s, "1", "", 30);
	for (int i = 0; i < 3; i++)
		server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), i == 0 ? "a" : i == 1 ? "b" : "c");
	assert_int_equal(count_waiting_creates(s), 4);
	refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), 500, "InternalError");
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "d");
	/* The list goes on. */
	assert_int_equal(count_waiting_creates(s), 5);
	for (int i = 0; i < 400 && made_of(s, "j") < 62; i++) {
		most = MAX(most, count_waiting_creates(s));
		if (waiting(s, VERB_PATCH_STATUS, RES_JOB)) {
			failed++;
			refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), 500, "InternalError");
		} else if (count_waiting_creates(s)) {
			next_made(s);
		} else {
			s->now += 100;
			run_step(s);
		}
	}
	assert_int_equal(made_of(s, "j"), 62);
	assert_in_range(most, 16, 64);
	assert_in_range(s->now, SECONDS(1800000000), SECONDS(1800000000) + 200);
	assert_false(debug_has(s, "\"failuresInARow\":1"));
	/* Ten minutes: 1, 2, 4 … 60 s apart. */
	while (count_waiting_creates(s))
		next_made(s);
	for (int i = failed = 0; i < 600; i++) {
		if (waiting(s, VERB_PATCH_STATUS, RES_JOB)) {
			failed++;
			refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), 500, "InternalError");
		}
		s->now += SECONDS(1);
		run_step(s);
	}
	assert_in_range(failed, 8, 20);
}

/* A policy or a missing right: "not now". What can only be observed is not tried in every pass, and nothing waits for
   it; what must be remembered is tried with the record alone. */
static void test_status_denied(void **state)
{
	static const int codes[] = { 400, 403 };
	struct operator_script *s = *state;

	listed(s);
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		size_t sent;

		speak_of(s, i ? "k" : "j");
		s->workers = 1;
		put_job(s, "1", "", 1);
		refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), codes[i], "Forbidden");
		assert_null(next_status(s));
		/* Everything was made, without a back-off. */
		for (sent = 0; s->n_sent > sent && count_waiting(s) == 0; sent = s->n_sent)
			run_step(s);
		assert_int_equal(made_of(s, s->name), 4);
		s->now += SECONDS(59);
		run_step(s);
		assert_null(next_status(s));
		s->now += SECONDS(1);
		run_step(s);
		assert_non_null(strstr(next_status(s)->r.body.p, "\"conditions\":[{"));
		/* Perhaps it is about the kind's own fields, and for ever. */
		refuse(s, next_status(s), codes[i], "Forbidden");
		s->now += SECONDS(60);
		run_step(s);
		assert_null(strstr(next_status(s)->r.body.p, "\"conditions\":[{"));
		status_written(s);
	}
}

static void test_durable_status_denied(void **state)
{
	static const char running[] =
		"{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"startTime\":\"2026-11-15T12:00:00Z\","
		"\"roles\":{\"master\":{\"count\":1,\"seen\":\"0\"},\"worker\":{\"count\":0}}}}";
	struct operator_script *s = *state;

	s->policy = "{\"activeDeadlineSeconds\":1}";
	listed(s);
	put_job(s, "1", running, 0);
	refuse_lookups(s);
	/* Its time is over. */
	assert_non_null(strstr(next_status(s)->r.body.p, "\"outcome\":\"TimedOut\""));
	assert_non_null(strstr(next_status(s)->r.body.p, "\"conditions\":[{"));
	refuse(s, next_status(s), 403, "Forbidden");
	assert_non_null(strstr(next_status(s)->r.body.p, "\"outcome\":\"TimedOut\""));
	assert_null(strstr(next_status(s)->r.body.p, "\"conditions\":[{"));
	status_written(s);
}

/* It is too large for etcd, or for the server's way to it: what only back-offs need is left out, and what must be
   remembered is written. */
static void test_shortened_record(void **state)
{
	static const char running[] =
		"{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"startTime\":\"2026-11-15T12:00:00Z\","
		"\"roles\":{\"master\":{\"count\":1,\"seen\":\"0\"},\"worker\":{\"count\":3,\"byIndex\":{"
		"\"generation\":{\"4\":\"0\"},\"counted\":{\"2\":\"0\"},\"streak\":{\"3\":\"0-1\"},"
		"\"restartedAt\":{\"2027-01-15T07:59:59Z\":\"0-1\"}}}}}}";
	static const char *const words[] = {
		"etcdserver: request is too large",
		"rpc error: code = ResourceExhausted desc = trying to send message larger than max (2100000 vs. "
		"2097152)",
	};
	struct operator_script *s = *state;

	s->policy = "{\"activeDeadlineSeconds\":1}";
	listed(s);
	put_job(s, "1", running, 3);
	refuse_lookups(s);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		assert_non_null(next_status(s));
		assert_null(strstr(next_status(s)->r.body.p, "\"streak\":null"));
		answer(s, next_status(s), (struct outcome){ .code = 500, .message = str_c(words[i]) });
	}
	assert_non_null(strstr(next_status(s)->r.body.p, "\"outcome\":\"TimedOut\""));
	assert_non_null(strstr(next_status(s)->r.body.p, "\"streak\":null"));
	status_written(s);
	assert_non_null(strstr(s->status.p, "\"byIndex\":{\"generation\":{\"4\":\"0\"},\"counted\":{\"2\":\"0\"}}"));
	assert_non_null(strstr(s->status.p, "\"outcome\":\"TimedOut\""));
	/* It is read as any other, and the job goes its way. */
	for (int i = 0; i < 40 && waiting(s, VERB_PATCH_STATUS, RES_JOB); i++)
		status_written(s);
	assert_false(debug_has(s, "\"leftAlone\""));
	assert_false(debug_has(s, "\"failuresInARow\":1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_conflict_on_status_reads_anew),
		SCRIPT_TEST(test_status_refused_is_no_loop),
		SCRIPT_TEST(test_an_edit_ends_the_wait_for_the_status),
		SCRIPT_TEST(test_status_refused_holds_no_actions),
		SCRIPT_TEST(test_status_that_fails_holds_no_actions),
		SCRIPT_TEST(test_status_denied),
		SCRIPT_TEST(test_durable_status_denied),
		SCRIPT_TEST(test_shortened_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
