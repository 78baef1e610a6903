/* A name that somebody else has is tried again as soon as it is free. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

/* The master's pod cannot be made: POD stands under its name. */
static void meet(struct operator_script *s, struct pod *pod)
{
	struct sent *t = first_pod(s);

	pod->meta.name = t->r.name;
	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = pod } });
	status_written_if_any(s);
	assert_int_equal(count_waiting(s), 0);
	assert_true(s->wake > s->now && s->wake != NEVER);
}

/* Of an earlier job of that name; it is on its way out. */
static struct pod old_pod(const struct operator_script *s)
{
	return (struct pod){ .meta = { .ns = STR("ns"),
		                       .uid = STR("old"),
		                       .rv = STR("5"),
		                       .owner_uid = STR("old-job"),
		                       .deleted = s->now + SECONDS(30) },
		             .job_uid = STR("old-job"),
		             .role = STR("master"),
		             .phase = POD_RUNNING };
}

static struct cluster_event about(enum cluster_event_type type, struct pod *pod)
{
	return (struct cluster_event){ .type = type, .resource = RES_POD, .object = { RES_POD, .pod = pod } };
}

/* A moment later, before any timer: a pod that the watch shows. */
static void test_old_pod_goes(void **state)
{
	struct operator_script *s = *state;
	struct pod pod = old_pod(s);

	meet(s, &pod);
	deliver(s, about(EVENT_PUT, &pod));
	s->now += 10;
	assert_int_equal(count_waiting(s), 0);
	deliver(s, about(EVENT_GONE, &pod));
	assert_int_equal(count_waiting_creates(s), 1);
}

/* The watch is behind, and never showed it. */
static void test_goes_before_it_was_shown(void **state)
{
	struct operator_script *s = *state;
	struct pod pod = old_pod(s);

	meet(s, &pod);
	/* What the answer told is known to all. */
	assert_int_equal(operator_stats(s->op).pods, 1);
	s->now += 10;
	deliver(s, about(EVENT_GONE, &pod));
	assert_int_equal(count_waiting_creates(s), 1);
	assert_int_equal(operator_stats(s->op).pods, 0);
}

/* The watch broke, and the next list does not hold it. */
static void test_goes_between_lists(void **state)
{
	struct operator_script *s = *state;
	struct pod pod = old_pod(s);

	meet(s, &pod);
	deliver(s, about(EVENT_PUT, &pod));
	s->now += 10;
	list_one(s, RES_POD);
	assert_int_equal(count_waiting_creates(s), 1);
}

/* The watch is quicker than the answer. */
static void test_goes_while_it_is_asked_for(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_pod(s), *get;
	struct pod pod = old_pod(s);

	pod.meta.name = t->r.name;
	refuse(s, t, 409, "AlreadyExists");
	get = waiting(s, VERB_GET, RES_POD);
	deliver(s, about(EVENT_GONE, &pod));
	answer(s, get, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(count_waiting_creates(s), 1);
	/* If it is there all the same, nobody spins. */
	refuse(s, waiting(s, VERB_CREATE, RES_POD), 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	status_written_if_any(s);
	assert_int_equal(count_waiting(s), 0);
}

static void test_another_one_goes(void **state)
{
	struct operator_script *s = *state;
	struct pod pod = old_pod(s), other = old_pod(s);

	meet(s, &pod);
	other.meta.uid = STR("other");
	other.meta.name = STR("other");
	deliver(s, about(EVENT_GONE, &other));
	other.meta.name = pod.meta.name;
	other.meta.ns = STR("elsewhere");
	deliver(s, about(EVENT_GONE, &other));
	assert_int_equal(count_waiting(s), 0);
}

/* Whoever has no label of ours is in no watch. */
static void test_stranger_is_asked_for(void **state)
{
	struct operator_script *s = *state;
	struct pod pod = old_pod(s);

	pod.job_uid = STR_NONE;
	meet(s, &pod);
	for (int i = 0; i < 20; i++) {
		s->now += SECONDS(1);
		run_step(s);
		status_written_if_any(s);
		/* One question, no create. */
		assert_int_equal(count_waiting(s), 1);
		answer(s, waiting(s, VERB_GET, RES_POD),
		       (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
		status_written_if_any(s);
		assert_int_equal(count_waiting(s), 0);
	}
	s->now += SECONDS(1);
	run_step(s);
	refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
	status_written_if_any(s);
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_question_fails(void **state)
{
	struct operator_script *s = *state;
	struct pod pod = old_pod(s);

	pod.job_uid = STR_NONE;
	meet(s, &pod);
	s->now = s->wake;
	run_step(s);
	refuse(s, waiting(s, VERB_GET, RES_POD), 503, "");
	assert_int_equal(count_waiting(s), 0);
	assert_true(s->wake > s->now && s->wake != NEVER);
	s->now = s->wake;
	run_step(s);
	refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
	assert_int_equal(count_waiting_creates(s), 1);
}

/* A create of ours was late: the name is ours by now. */
static void is_ours(struct operator_script *s, const char *label)
{
	struct pod pod = old_pod(s);
	struct sent *get;

	pod.job_uid = STR_NONE;
	meet(s, &pod);
	s->now = s->wake;
	run_step(s);
	get = waiting(s, VERB_GET, RES_POD);
	pod = found_pod(get, UID, label);
	answer(s, get, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	/* It is known, and nobody asks again. */
	assert_null(waiting(s, VERB_GET, RES_POD));
	assert_int_equal(count_waiting_creates(s), 0);
}

static void test_is_ours_after_all(void **state)
{
	is_ours(*state, UID);
}

static void test_is_adopted_after_all(void **state)
{
	struct operator_script *s = *state;
	struct sent *patch;
	struct pod pod;

	is_ours(s, "");
	patch = waiting(s, VERB_PATCH, RES_POD);
	assert_non_null(patch);
	pod = found_pod(patch, UID, UID);
	answer(s, patch, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_null(waiting(s, VERB_GET, RES_POD));
}

static void test_service_goes(void **state)
{
	struct operator_script *s = *state;
	struct service old = {
		.meta = { .ns = STR("ns"), .uid = STR("old"), .rv = STR("5"), .owner_uid = STR("old-job") },
		.job_uid = STR("old-job")
	};
	struct sent *t;

	listed(s);
	put_job(s, "1", "", 0);
	status_written(s);
	t = waiting(s, VERB_CREATE, RES_SERVICE);
	old.meta.name = t->r.name;
	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_SERVICE),
	       (struct outcome){ .code = 200, .object = { RES_SERVICE, .service = &old } });
	status_written_if_any(s);
	assert_int_equal(count_waiting(s), 0);
	deliver(s, (struct cluster_event){
			   .type = EVENT_GONE, .resource = RES_SERVICE, .object = { RES_SERVICE, .service = &old } });
	assert_int_equal(count_waiting_creates(s), 1);
}

/* Nobody waits any more (the sanitizers look). */
static void test_job_goes_first(void **state)
{
	struct operator_script *s = *state;
	struct pod pod = old_pod(s);
	struct job_object o;

	meet(s, &pod);
	o = job_object(s, "9000", "", 0);
	deliver(s, (struct cluster_event){ .type = EVENT_GONE, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
	deliver(s, about(EVENT_GONE, &pod));
	assert_int_equal(count_waiting(s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_old_pod_goes),         SCRIPT_TEST(test_goes_before_it_was_shown),
		SCRIPT_TEST(test_goes_between_lists),   SCRIPT_TEST(test_goes_while_it_is_asked_for),
		SCRIPT_TEST(test_another_one_goes),     SCRIPT_TEST(test_stranger_is_asked_for),
		SCRIPT_TEST(test_question_fails),       SCRIPT_TEST(test_is_ours_after_all),
		SCRIPT_TEST(test_is_adopted_after_all), SCRIPT_TEST(test_service_goes),
		SCRIPT_TEST(test_job_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
