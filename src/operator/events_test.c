#include "operator/events.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const msec wall = 1800000000000;

struct bench {
	struct kinds *kinds;
	struct events *events;
	struct meta job;
	struct api_call call;
	uint64_t id;
	msec at;
};

static int setup(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));

	b->kinds = kinds_new(NULL);
	if (!kinds_load_builtin(b->kinds, NULL))
		return -1;
	b->events = events_new(b->kinds, STR("me"));
	b->job = (struct meta){ .ns = STR("team"), .name = STR("demo"), .uid = STR("u-1") };
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	events_free(b->events);
	kinds_free(b->kinds);
	free(b);
	return 0;
}

static struct observer_sight sight(struct bench *b, enum observer_sight_type type)
{
	return (struct observer_sight){ .type = type, .kind = STR("TfJob.mlkube.io"), .job = &b->job };
}

static void created(struct bench *b, const char *pod, msec now)
{
	struct observer_sight s = sight(b, SIGHT_ANSWER);

	s.verb = VERB_CREATE;
	s.resource = RES_POD;
	s.object = str_c(pod);
	s.code = 201;
	events_see(b->events, &s, now, wall + now);
}

static bool next(struct bench *b, msec now)
{
	return events_next(b->events, now, &b->call, &b->id, &b->at);
}

static void has(struct bench *b, const char *text)
{
	if (!strstr(b->call.body.p, text))
		fail_msg("no '%s' in %s", text, b->call.body.p);
}

static void test_many_creates_are_one_event(void **state)
{
	struct bench *b = *state;
	yyjson_doc *doc;

	for (int i = 0; i < 1000; i++)
		created(b, "demo-worker-7", 5000);
	assert_false(next(b, 5000));
	assert_int_equal(b->at, 6000);
	assert_true(next(b, 6000));
	assert_int_equal(b->call.verb, VERB_CREATE);
	assert_true(str_eqc(b->call.path, "/api/v1/namespaces/team/events"));
	has(b, "\"reason\":\"SuccessfulCreate\",\"type\":\"Normal\",\"firstTimestamp\":\"2027-01-15T08:00:05Z\"");
	has(b, "\"count\":1000,");
	has(b, "\"message\":\"Created 1000 pods, the last demo-worker-7\"");
	has(b, "\"involvedObject\":{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"namespace\":\"team\","
	       "\"name\":\"demo\",\"uid\":\"u-1\"}");
	doc = json_parse(b->call.body, NULL);
	assert_non_null(doc);
	yyjson_doc_free(doc);
	assert_false(next(b, 6000));
	events_answer(b->events, 6010, b->id, 201);
	assert_false(next(b, 600000));
	assert_int_equal(b->at, NEVER);
}

static void test_the_count_is_raised_now_and_then(void **state)
{
	struct bench *b = *state;

	created(b, "a", 0);
	assert_true(next(b, 1000));
	/* While it is on its way others come. */
	created(b, "b", 1001);
	events_answer(b->events, 1010, b->id, 201);
	assert_false(next(b, 1010));
	created(b, "c", 5000);
	assert_false(next(b, 11009));
	assert_true(next(b, 11010));
	assert_int_equal(b->call.verb, VERB_PATCH);
	assert_true(str_has_prefix(b->call.path, STR("/api/v1/namespaces/team/events/demo.")));
	has(b, "{\"count\":3,\"lastTimestamp\":\"2027-01-15T08:00:05Z\",\"message\":\"Created 3 pods, the last c\"}");
	events_answer(b->events, 11020, b->id, 200);
	assert_false(next(b, 999999));
}

static void test_an_event_that_is_gone_is_made_anew(void **state)
{
	struct bench *b = *state;

	created(b, "a", 0);
	assert_true(next(b, 1000));
	events_answer(b->events, 1000, b->id, 201);
	created(b, "b", 2000);
	assert_true(next(b, 12000));
	assert_int_equal(b->call.verb, VERB_PATCH);
	events_answer(b->events, 12000, b->id, 404);
	assert_true(next(b, 22000));
	assert_int_equal(b->call.verb, VERB_CREATE);
	has(b, "\"count\":2");
}

static void test_phases_and_restarts(void **state)
{
	static const struct {
		enum phase phase;
		const char *says;
	} t[] = {
		{ PHASE_INVALID, "\"reason\":\"Invalid\",\"type\":\"Warning\"" },
		{ PHASE_RUNNING, "\"reason\":\"Running\",\"type\":\"Normal\"" },
		{ PHASE_SUCCEEDED, "\"reason\":\"Completed\",\"type\":\"Normal\"" },
		{ PHASE_FAILED, "\"reason\":\"Failed\",\"type\":\"Warning\"" },
		{ PHASE_TIMED_OUT, "\"reason\":\"TimedOut\",\"type\":\"Warning\"" },
		{ PHASE_PREEMPTED, "\"reason\":\"Preempted\",\"type\":\"Warning\"" },
		{ PHASE_NODE_FAILED, "\"reason\":\"NodeFailed\",\"type\":\"Warning\"" },
		{ PHASE_SUSPENDED, "\"reason\":\"Suspended\",\"type\":\"Normal\"" },
		{ PHASE_CREATING, NULL },
		{ PHASE_PENDING, NULL },
	};
	struct bench *b = *state;
	struct record record = { .reason = STR("why \"so\"") };
	struct record_digest before = { 0 }, after = { 0 };
	struct observer_sight s = sight(b, SIGHT_RECORD);

	s.before = &before;
	s.after = &after;
	s.record = &record;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		after.phase = t[i].phase;
		events_see(b->events, &s, 0, wall);
		assert_int_equal(next(b, 0), t[i].says != NULL);
		if (!t[i].says)
			continue;
		has(b, t[i].says);
		has(b, "\"message\":\"why \\\"so\\\"\"");
		events_answer(b->events, 0, b->id, 201);
	}
	before = after;
	after.restarts[CAUSE_OOM_KILLED] = 1;
	after.raised = 1;
	record.last = (struct restart_note){ .at = 1,
		                             .cause = CAUSE_OOM_KILLED,
		                             .role = STR("worker"),
		                             .index = 3,
		                             .exit_code = 137,
		                             .scope = SCOPE_JOB };
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"Restarting\"");
	has(b, "\"worker-3: OOMKilled, exit code 137; the job restarts\"");
}

static void test_refused_creates(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_ANSWER);
	char *longest = xmalloc(5000);

	memset(longest, 'x', 5000);
	s.verb = VERB_CREATE;
	s.resource = RES_POD;
	s.object = STR("p");
	s.message = (struct str){ longest, 5000 };
	s.code = 403;
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"FailedCreate\",\"type\":\"Warning\"");
	has(b, "\"Could not create pod p: xxx");
	assert_true(b->call.body.n < 2000);
	/* Ordinary answers are no news. */
	s.code = 409;
	events_see(b->events, &s, 0, wall);
	s.code = 0;
	events_see(b->events, &s, 0, wall);
	events_answer(b->events, 0, b->id, 403);
	assert_false(next(b, 999999));
	/* So it is with what cannot be deleted; what is gone is. */
	s.verb = VERB_DELETE;
	s.code = 404;
	events_see(b->events, &s, 999999, wall);
	assert_false(next(b, 1999999));
	s.code = 403;
	s.message = STR("no");
	events_see(b->events, &s, 1999999, wall);
	assert_true(next(b, 1999999));
	has(b, "\"reason\":\"FailedDelete\",\"type\":\"Warning\"");
	has(b, "\"Could not delete pod p: no\"");
	free(longest);
}

/* A count is of what the message says: others are events of their own. */
static void test_what_is_counted_together(void **state)
{
	static const char *const says[] = {
		"\"count\":2,\"lastTimestamp\":\"2027-01-15T08:00:00Z\",\"message\":\"Could not create pod p: no\"",
		"\"count\":1,\"lastTimestamp\":\"2027-01-15T08:00:00Z\",\"message\":\"Could not create pod q: no\"",
		"\"count\":1,\"lastTimestamp\":\"2027-01-15T08:00:00Z\",\"message\":\"Created pod p\"",
		"\"count\":1,\"lastTimestamp\":\"2027-01-15T08:00:00Z\",\"message\":\"Created service p\"",
		"\"count\":2,\"lastTimestamp\":\"2027-01-15T08:00:00Z\",\"message\":\"worker-3: Failed, exit code 7; "
		"its pod",
		"\"count\":1,\"lastTimestamp\":\"2027-01-15T08:00:00Z\",\"message\":\"worker-2: Failed, exit code 7; "
		"its pod",
		"\"count\":1,\"lastTimestamp\":\"2027-01-15T08:00:00Z\",\"message\":\"worker-3: Failed, exit code 8; "
		"its pod",
	};
	static const struct restart_note note = { .at = 1,
		                                  .cause = CAUSE_FAILED,
		                                  .role = STR_INIT("worker"),
		                                  .index = 3,
		                                  .exit_code = 7,
		                                  .scope = SCOPE_POD };
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_ANSWER), r = sight(b, SIGHT_RECORD);
	struct record_digest before = { 0 }, after = { .raised = 4 };
	struct record record = { .last = note, .n_earlier = 4, .earlier = { note, note, note, note } };
	size_t found[ARRAY_LEN(says)] = { 0 };

	s.verb = VERB_CREATE;
	s.resource = RES_POD;
	s.message = STR("no");
	s.code = 403;
	for (int i = 0; i < 3; i++) {
		s.object = str_c(i == 1 ? "q" : "p");
		events_see(b->events, &s, 0, wall);
	}
	s.object = STR("p");
	s.code = 201;
	events_see(b->events, &s, 0, wall);
	s.resource = RES_SERVICE;
	events_see(b->events, &s, 0, wall);
	/* Four since the last record; what lies before was told. */
	record.earlier[0].index = 2;
	record.earlier[1].exit_code = 8;
	record.earlier[3].index = 9;
	r.before = &before;
	r.after = &after;
	r.record = &record;
	events_see(b->events, &r, 0, wall);
	for (size_t n = 0; n < ARRAY_LEN(says); n++) {
		assert_true(next(b, 2000));
		for (size_t i = 0; i < ARRAY_LEN(says); i++)
			found[i] += strstr(b->call.body.p, says[i]) != NULL;
		events_answer(b->events, 2000, b->id, 201);
	}
	assert_false(next(b, 2000));
	for (size_t i = 0; i < ARRAY_LEN(says); i++)
		if (found[i] != 1)
			fail_msg("%zu times: %s", found[i], says[i]);
}

static void test_gives_up_in_the_end(void **state)
{
	struct bench *b = *state;
	msec now = 1000;
	int sent = 0;

	created(b, "a", 0);
	for (; next(b, now); now += 20000, sent++)
		events_answer(b->events, now, b->id, 500);
	assert_int_equal(sent, 3);
	assert_int_equal(b->at, NEVER);
}

/* However many jobs there are: a few at once, not more than so many a second, a bounded table. */
static void test_bounds(void **state)
{
	struct bench *b = *state;
	size_t sent = 0;
	char uid[16];

	for (int i = 0; i < 3000; i++) {
		snprintf(uid, sizeof(uid), "u-%d", i);
		b->job.uid = str_c(uid);
		created(b, "a", 0);
	}
	assert_int_equal(events_dropped(b->events), 3000 - EVENTS_MAX);
	for (int i = 0; i < EVENTS_IN_FLIGHT; i++)
		assert_true(next(b, 1000));
	assert_false(next(b, 1000));
	events_answer(b->events, 1000, b->id, 201);
	sent = EVENTS_IN_FLIGHT;
	while (next(b, 1000)) {
		events_answer(b->events, 1000, b->id, 201);
		sent++;
	}
	assert_int_equal(sent, 50);
	assert_int_equal(b->at, 1100);
	assert_true(next(b, 1100));
	/* Those that have been written make room. */
	created(b, "a", 1100);
	b->job.uid = STR("new");
	created(b, "a", 1100);
	assert_int_equal(events_dropped(b->events), 3000 - EVENTS_MAX);
}

static void test_a_name_that_is_taken(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_TAKEN);

	s.message = STR("pod demo-ps-0 has no owner");
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"NameTaken\",\"type\":\"Warning\"");
	has(b, "\"message\":\"pod demo-ps-0 has no owner\"");
}

static void test_another_scheduler(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_ODD);

	s.message = STR("spec.schedulerName is kept");
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"OtherScheduler\",\"type\":\"Warning\"");
	has(b, "\"message\":\"spec.schedulerName is kept\"");
}

static void test_spared(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_SPARED);

	s.message = STR("spec: its 4000 pods have 450.0 MiB in all");
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"WouldBeInvalid\",\"type\":\"Warning\"");
	has(b, "\"message\":\"spec: its 4000 pods have 450.0 MiB in all\"");
}

/* The refusal is one thing that happened, though both the answer and what follows from it are seen. */
static void test_status_refused(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_ANSWER);

	s.verb = VERB_PATCH_STATUS;
	s.resource = RES_JOB;
	s.code = 422;
	s.message = STR("status.phase: Unsupported value");
	events_see(b->events, &s, 0, wall);
	assert_false(next(b, 0));
	s = sight(b, SIGHT_STATUS);
	s.message = STR("status.phase: Unsupported value");
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"StatusRefused\",\"type\":\"Warning\"");
	has(b, "\"count\":1,");
	has(b, "\"message\":\"status.phase: Unsupported value\"");
}

static void test_unreadable(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_UNREAD);

	s.message = STR("pod demo-ps-0 is larger than 8 MiB");
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"Unreadable\",\"type\":\"Warning\"");
	has(b, "\"message\":\"pod demo-ps-0 is larger than 8 MiB\"");
}

/* A PodGroup is a child as the others are. */
static void test_a_podgroup(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_ANSWER);

	s.verb = VERB_CREATE;
	s.resource = RES_GROUP;
	s.object = STR("demo");
	s.code = 201;
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, SECONDS(60)));
	has(b, "\"message\":\"Created PodGroup demo\"");
}

static void test_a_kind_that_is_not_known(void **state)
{
	struct bench *b = *state;
	struct observer_sight s = sight(b, SIGHT_LEFT);

	s.kind = STR("No.such");
	s.message = STR("x");
	events_see(b->events, &s, 0, wall);
	assert_false(next(b, 0));
	s.kind = STR("TfJob.mlkube.io");
	events_see(b->events, &s, 0, wall);
	assert_true(next(b, 0));
	has(b, "\"reason\":\"LeftAlone\"");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_many_creates_are_one_event),
		TEST(test_the_count_is_raised_now_and_then),
		TEST(test_an_event_that_is_gone_is_made_anew),
		TEST(test_phases_and_restarts),
		TEST(test_refused_creates),
		TEST(test_what_is_counted_together),
		TEST(test_gives_up_in_the_end),
		TEST(test_bounds),
		TEST(test_a_name_that_is_taken),
		TEST(test_another_scheduler),
		TEST(test_spared),
		TEST(test_status_refused),
		TEST(test_unreadable),
		TEST(test_a_podgroup),
		TEST(test_a_kind_that_is_not_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
