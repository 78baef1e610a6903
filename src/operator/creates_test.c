/* How the creates of one stage follow each other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

/* A job of eight replicas, and the first of its services on its way. */
static struct operator_script *begin(void **state)
{
	struct operator_script *s = *state;

	listed(s);
	put_job(s, "1", "", 7);
	status_written(s);
	assert_int_equal(count_waiting_creates(s), 1);
	return s;
}

static void made(struct operator_script *s, const char *uid)
{
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), uid);
}

static void test_each_answer_lets_the_next_go(void **state)
{
	struct operator_script *s = begin(state);

	made(s, "u1");
	assert_int_equal(count_waiting_creates(s), 2);
	/* The other one is not waited for. */
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 3);
	made(s, "u3");
	assert_int_equal(count_waiting_creates(s), 4);
	/* The eighth is out. */
	made(s, "u4");
	assert_int_equal(count_waiting_creates(s), 4);
	/* Pods come after the last service. */
	made(s, "u5");
	made(s, "u6");
	made(s, "u7");
	assert_null(waiting(s, VERB_CREATE, RES_POD));
	made(s, "u8");
	assert_int_equal(count_waiting_creates(s), 8);
	assert_non_null(waiting(s, VERB_CREATE, RES_POD));
}

static void test_stops_when_the_job_changes(void **state)
{
	struct operator_script *s = begin(state);

	made(s, "u1");
	/* The watch shows our own write of the status, which is known, and then an edit. */
	put_job(s, "w0", s->status.p, 7);
	put_job(s, "w1", s->status.p, 1);
	assert_int_equal(count_waiting_creates(s), 2);
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_stops_when_one_is_refused(void **state)
{
	struct operator_script *s = begin(state);

	made(s, "u1");
	refuse(s, waiting(s, VERB_CREATE, RES_SERVICE), 403, "Forbidden");
	assert_int_equal(count_waiting_creates(s), 1);
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 0);
}

/* What happened meanwhile is looked at, and the status shows how far it is. */
static void test_is_planned_anew_after_a_while(void **state)
{
	struct operator_script *s = begin(state);
	struct pod pod = found_pod(waiting(s, VERB_CREATE, RES_SERVICE), UID, UID);

	made(s, "u1");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	s->now += 1000;
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 1);
	made(s, "u3");
	assert_int_equal(count_waiting_creates(s), 4);
}

/* Nothing happened: there is nothing to plan. */
static void test_goes_on_while_nothing_happens(void **state)
{
	struct operator_script *s = begin(state);

	made(s, "u1");
	s->now += 1000;
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 3);
}

/* Another job does not wait for the end of a list, and the list does not stop for it. */
static void test_others_get_their_turn(void **state)
{
	struct operator_script *s = begin(state);
	struct job_object other = job_object(s, "1", "", 1);

	made(s, "u1");
	other.meta.name = STR("other");
	other.meta.uid = STR("another-uid");
	s->now += 1000;
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_JOB, .object = { RES_JOB, .job = &other } });
	assert_int_equal(count_waiting_creates(s), 3);
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 4);
}

static void test_nothing_goes_out_for_one_who_listens(void **state)
{
	struct operator_script *s = begin(state);

	made(s, "u1");
	s->listens = true;
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 1);
	made(s, "u3");
	assert_int_equal(count_waiting_creates(s), 0);
	/* It leads again. */
	s->listens = false;
	run_step(s);
	assert_int_equal(count_waiting_creates(s), 4);
}

static void test_job_that_goes_takes_its_list_along(void **state)
{
	struct operator_script *s = begin(state);
	struct job_object o = job_object(s, "90000", "", 7);

	made(s, "u1");
	deliver(s, (struct cluster_event){ .type = EVENT_GONE, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
	made(s, "u2");
	assert_int_equal(count_waiting_creates(s), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_each_answer_lets_the_next_go),
		SCRIPT_TEST(test_stops_when_the_job_changes),
		SCRIPT_TEST(test_stops_when_one_is_refused),
		SCRIPT_TEST(test_is_planned_anew_after_a_while),
		SCRIPT_TEST(test_goes_on_while_nothing_happens),
		SCRIPT_TEST(test_others_get_their_turn),
		SCRIPT_TEST(test_nothing_goes_out_for_one_who_listens),
		SCRIPT_TEST(test_job_that_goes_takes_its_list_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
