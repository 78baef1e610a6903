/* Pods that the record saw and the lists do not hold are asked for by name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

enum { LIMIT = 32, PAGE = LIMIT - LIMIT / 4, LOST = 100 };

/* A job that ran with so many workers, and none of its pods is in the list. */
static const char lost_status[] = "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"roles\":{"
				  "\"master\":{\"count\":1},\"worker\":{\"count\":100,\"seen\":\"0-99\"}}}}";

static struct operator_script *begin(void **state, const char *status, int workers)
{
	struct operator_script *s = *state;

	script_limit(s, LIMIT);
	listed(s);
	put_job(s, "1", status, workers);
	return s;
}

static struct sent *question(struct operator_script *s)
{
	return waiting(s, VERB_GET, RES_POD);
}

static size_t count_questions(const struct operator_script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += s->sent[i].r.verb == VERB_GET;
	return n;
}

static void not_found(struct operator_script *s)
{
	refuse(s, question(s), 404, "NotFound");
}

static void test_in_pages(void **state)
{
	struct operator_script *s = begin(state, lost_status, LOST);

	assert_int_equal(count_waiting(s), PAGE);
	for (int i = 0; i < PAGE; i++)
		not_found(s);
	assert_int_equal(count_waiting(s), PAGE);
	assert_int_equal(count_questions(s), 2 * PAGE);
	while (question(s))
		not_found(s);
	/* Each of them once; then what was lost is counted, in one write. */
	assert_int_equal(count_questions(s), LOST);
	assert_int_equal(count_waiting(s), 1);
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, "\"Deleted\":100"));
}

/* Anybody can put our labels on a pod: a stranger's does not answer for ours. */
static void test_an_impostor_is_no_answer(void **state)
{
	struct operator_script *s = *state;
	struct pod impostor = { .meta = { .ns = STR("ns"),
		                          .name = STR("impostor"),
		                          .uid = STR("i"),
		                          .rv = STR("3"),
		                          .owner_uid = STR("somebody") },
		                .job_uid = STR(UID),
		                .role = STR("worker"),
		                .index = 1,
		                .phase = POD_RUNNING };

	listed(s);
	deliver(s, (struct cluster_event){
			   .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &impostor } });
	put_job(s, "1",
	        "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"roles\":{"
	        "\"master\":{\"count\":1},\"worker\":{\"count\":2,\"seen\":\"0-1\"}}}}",
	        2);
	assert_int_equal(count_questions(s), 2);
}

static void test_other_jobs_meanwhile(void **state)
{
	struct operator_script *s = begin(state, lost_status, LOST);

	speak_of(s, "small");
	put_job(s, "1", "", 1);
	assert_non_null(waiting(s, VERB_PATCH_STATUS, RES_JOB));
	status_written(s);
	assert_int_equal(count_its_creates(s), 1);
	assert_int_equal(count_questions(s), PAGE);
}

/* Only the one that failed is asked again, after the others, and not at once. */
static void test_one_fails(void **state)
{
	struct operator_script *s = begin(state, lost_status, LOST);
	struct str name = question(s)->r.name;

	refuse(s, question(s), 503, "");
	while (question(s))
		not_found(s);
	assert_int_equal(count_questions(s), LOST);
	assert_int_equal(count_waiting(s), 0);
	assert_true(s->wake > s->now && s->wake != NEVER);
	s->now = s->wake;
	run_step(s);
	assert_int_equal(count_waiting(s), 1);
	assert_true(str_eq(question(s)->r.name, name));
	/* It fails again, and waits longer. */
	refuse(s, question(s), 503, "");
	assert_int_equal(count_waiting(s), 0);
	assert_true(s->wake - s->now > 250);
	s->now = s->wake;
	run_step(s);
	not_found(s);
	assert_int_equal(count_questions(s), LOST + 2);
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, "\"Deleted\":100"));
}

/* A server that answers nobody is left in peace. */
static void test_all_of_a_page_fail(void **state)
{
	struct operator_script *s = begin(state, lost_status, LOST);

	while (question(s))
		refuse(s, question(s), 503, "");
	assert_int_equal(count_questions(s), PAGE);
	assert_true(s->wake > s->now && s->wake != NEVER);
}

static void test_server_asks_to_wait(void **state)
{
	struct operator_script *s = begin(state, lost_status, LOST);

	answer(s, question(s), (struct outcome){ .code = 429, .retry_after = SECONDS(5) });
	while (question(s))
		not_found(s);
	assert_int_equal(count_questions(s), PAGE);
	assert_int_equal(s->wake, s->now + SECONDS(5));
}

/* The job is written meanwhile, but what was asked for is of the same generation. */
static void test_remembers_across_versions(void **state)
{
	struct operator_script *s = begin(state, lost_status, LOST);

	for (int i = 0; i < PAGE - 1; i++)
		not_found(s);
	put_job(s, "2", lost_status, LOST);
	while (question(s))
		not_found(s);
	assert_int_equal(count_questions(s), LOST);
}

/* It has started again since: those are other pods. */
static void test_forgets_with_the_generation(void **state)
{
	static const char again[] = "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"generation\":1,\"roles\":{"
				    "\"master\":{\"count\":1},\"worker\":{\"count\":100,\"seen\":\"0-99\"}}}}";
	struct operator_script *s = begin(state, lost_status, LOST);

	for (int i = 0; i < PAGE - 1; i++)
		not_found(s);
	put_job(s, "2", again, LOST);
	while (question(s))
		not_found(s);
	assert_int_equal(count_questions(s), PAGE + LOST);
}

static void list_nothing(struct operator_script *s)
{
	s->listens = true;
	list_one(s, RES_POD);
	s->listens = false;
	run_step(s);
}

/* What a list denies is asked for in pages, too. */
static void test_doubted_in_pages(void **state)
{
	struct operator_script *s = *state;
	char name[LOST][16];

	script_limit(s, LIMIT);
	listed(s);
	s->listens = true;
	put_job(s, "1", "", LOST);
	for (int i = 0; i < LOST; i++) {
		struct pod pod = { .meta = { .ns = STR("ns"), .rv = STR("1"), .owner_uid = STR(UID) },
			           .job_uid = STR(UID),
			           .role = STR("worker"),
			           .index = i };

		snprintf(name[i], sizeof(name[i]), "pod-%d", i);
		pod.meta.name = pod.meta.uid = str_c(name[i]);
		deliver(s, (struct cluster_event){
				   .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	}
	list_nothing(s);
	assert_int_equal(count_waiting(s), PAGE);
	for (int i = 0; i < LOST; i++)
		not_found(s);
	assert_null(question(s));
	assert_int_equal(count_questions(s), LOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_an_impostor_is_no_answer),  SCRIPT_TEST(test_in_pages),
		SCRIPT_TEST(test_other_jobs_meanwhile),      SCRIPT_TEST(test_one_fails),
		SCRIPT_TEST(test_all_of_a_page_fail),        SCRIPT_TEST(test_server_asks_to_wait),
		SCRIPT_TEST(test_remembers_across_versions), SCRIPT_TEST(test_forgets_with_the_generation),
		SCRIPT_TEST(test_doubted_in_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
