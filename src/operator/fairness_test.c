/* Who may send when there is not room for all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

enum { LIMIT = 32, KEPT = LIMIT / 4, LARGE = 300 };

static void make_one(struct operator_script *s)
{
	static int serial;
	char uid[32];
	struct sent *t = waiting(s, VERB_CREATE, RES_SERVICE);

	snprintf(uid, sizeof(uid), "made-%d", serial++);
	server_made(s, t, uid);
}

/* A job of many replicas that makes its services, so many that it cannot send one more. */
static void begin_large(struct operator_script *s, const char *name)
{
	speak_of(s, name);
	put_job(s, "1", "", LARGE - 1);
	status_written(s);
	for (int i = 0; i < LIMIT; i++)
		make_one(s);
}

static void test_a_quarter_is_kept(void **state)
{
	struct operator_script *s = *state;

	script_limit(s, LIMIT);
	listed(s);
	begin_large(s, "large");
	assert_int_equal(count_waiting(s), LIMIT - KEPT);
	/* A small one does not wait for any answer. */
	speak_of(s, "small");
	put_job(s, "1", "", 1);
	assert_int_equal(count_waiting(s), LIMIT - KEPT + 2);
	status_written(s);
	assert_int_equal(count_its_creates(s), 1);
}

/* None of them has many, and all is taken: the next answer makes room for the small one. */
static void test_a_small_job_is_next(void **state)
{
	static const char *const names[] = { "large-a", "large-b", "large-c", "large-d" };
	struct operator_script *s = *state;
	size_t most = 0;

	script_limit(s, LIMIT);
	listed(s);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		begin_large(s, names[i]);
	for (int i = 0; i < 100; i++)
		make_one(s);
	assert_int_equal(count_waiting(s), LIMIT);
	/* All of them have their share. */
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		s->uid = names[i];
		assert_in_range(count_its_creates(s), LIMIT / 4 - 2, LIMIT / 4 + 2);
	}
	speak_of(s, "small");
	put_job(s, "1", "", 1);
	assert_null(waiting(s, VERB_PATCH_STATUS, RES_JOB));
	for (most = 0; most < 4 && !waiting(s, VERB_PATCH_STATUS, RES_JOB); most++)
		make_one(s);
	assert_true(most <= 2);
	status_written(s);
	for (most = 0; most < 4 && !count_its_creates(s); most++)
		make_one(s);
	assert_true(most <= 2);
}

/* The other way round: many small jobs do not stop a large one. */
static void test_a_large_job_goes_on(void **state)
{
	static const char *const names[] = { "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7" };
	struct operator_script *s = *state;
	size_t sent = 0;

	script_limit(s, 4);
	listed(s);
	begin_large(s, "large");
	assert_int_equal(count_waiting(s), 4);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		speak_of(s, names[i]);
		put_job(s, "1", "", 1);
	}
	s->uid = "large";
	for (int i = 0; i < 4; i++) {
		size_t before = s->n_sent;

		make_one(s);
		assert_int_equal(s->n_sent, before + 1);
		sent += s->sent[before].r.verb == VERB_CREATE && strstr(s->sent[before].r.body.p, "large");
	}
	assert_int_equal(sent, 2);
}

static void test_deletes_leave_room(void **state)
{
	struct operator_script *s = *state;
	char name[LARGE][16];

	script_limit(s, LIMIT);
	listed(s);
	put_job(s, "1", "", 0);
	settle_all(s);
	s->listens = true;
	for (int i = 0; i < LARGE; i++) {
		struct pod pod = { .meta = { .ns = STR("ns"), .rv = STR("1"), .owner_uid = STR(UID) },
			           .job_uid = STR(UID),
			           .role = STR("worker"),
			           .index = i };

		snprintf(name[i], sizeof(name[i]), "stray-%d", i);
		pod.meta.name = pod.meta.uid = str_c(name[i]);
		deliver(s, (struct cluster_event){
				   .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	}
	s->listens = false;
	run_step(s);
	status_written_if_any(s);
	assert_non_null(waiting(s, VERB_DELETE, RES_POD));
	assert_int_equal(count_waiting(s), LIMIT - KEPT);
}

/* However long its list is. */
static void test_a_deadline_ends_a_list(void **state)
{
	struct operator_script *s = *state;
	msec began = s->now;

	s->policy = "{\"activeDeadlineSeconds\":60}";
	script_limit(s, 2);
	listed(s);
	put_job(s, "1", "", LARGE - 1);
	status_written(s);
	make_one(s);
	s->now = began + SECONDS(59);
	make_one(s);
	assert_int_equal(count_waiting_creates(s), 2);
	s->now = began + SECONDS(60);
	make_one(s);
	assert_int_equal(count_waiting_creates(s), 1);
	make_one(s);
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, "TimedOut"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_a_quarter_is_kept),      SCRIPT_TEST(test_a_small_job_is_next),
		SCRIPT_TEST(test_a_large_job_goes_on),    SCRIPT_TEST(test_deletes_leave_room),
		SCRIPT_TEST(test_a_deadline_ends_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
