/* How long a refusal stands. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/internal.h"
#include "operator/testing.h"

/* The server takes all but the pods of the workers, and somebody deletes the master's service. */
struct world {
	struct operator_script *s;
	char service[64], uid[16]; /* the master's */
	int uids, refused;
};

static bool of_worker(const struct sent *t)
{
	return str_has_prefix(t->r.name, STR("j-worker-"));
}

static void make(struct world *w, struct sent *t)
{
	char uid[16];

	snprintf(uid, sizeof(uid), "made-%d", w->uids++);
	if (t->r.resource == RES_SERVICE && !of_worker(t)) {
		snprintf(w->service, sizeof(w->service), "%.*s", STR_F(t->r.name));
		memcpy(w->uid, uid, sizeof(uid));
	}
	server_made(w->s, t, uid);
}

static void answer_all(struct world *w)
{
	struct sent *t;

	/* Until it cleans up after its end. */
	while (!waiting(w->s, VERB_DELETE, RES_POD) && count_waiting(w->s)) {
		if (!(t = waiting(w->s, VERB_CREATE, RES_SERVICE)))
			t = waiting(w->s, VERB_CREATE, RES_POD);
		if (waiting(w->s, VERB_GET, RES_SERVICE)) {
			refuse(w->s, waiting(w->s, VERB_GET, RES_SERVICE), 404, "NotFound");
		} else if (!t) {
			status_written(w->s);
		} else if (t->r.resource == RES_POD && of_worker(t)) {
			w->refused++;
			refuse(w->s, t, 422, "Invalid");
		} else {
			make(w, t);
		}
	}
}

static void delete_service(struct world *w)
{
	struct service gone = { .meta = { .ns = STR("ns"),
		                          .name = str_c(w->service),
		                          .uid = str_c(w->uid),
		                          .rv = STR("9"),
		                          .owner_uid = STR(UID) },
		                .job_uid = STR(UID),
		                .role = STR("master") };

	deliver(w->s, (struct cluster_event){ .type = EVENT_GONE,
	                                      .resource = RES_SERVICE,
	                                      .object = { RES_SERVICE, .service = &gone } });
}

/* What other roles come to says nothing of the one that is refused: the job ends all the same. */
static void test_other_children_are_made_meanwhile(void **state)
{
	struct world w = { .s = *state };
	msec begun;
	int made;

	listed(w.s);
	put_job(w.s, "1", "", 1);
	answer_all(&w);
	begun = w.s->now;
	made = w.uids;
	for (int i = 0; i < 100 && !strstr(w.s->status.p, "\"outcome\":\"Failed\""); i++) {
		delete_service(&w);
		w.s->now += SECONDS(5);
		run_step(w.s);
		answer_all(&w);
	}
	assert_non_null(strstr(w.s->status.p, "\"why\":\"Refused\""));
	assert_true(w.refused >= 5);
	assert_in_range(w.s->now - begun, SECONDS(60), MINUTES(3));
	assert_true(w.uids > made + 3);
}

static void refuse_service(struct operator_loop *op, struct cached_job *job)
{
	op->now += SECONDS(30);
	refused_take(op, job, RES_SERVICE, STR("worker"), REFUSED_INVALID, STR("no"));
}

/* Several are asked for at once: the first is refused, and the freeze is over before the last. What is said of the next
   one that is refused begins anew. */
static void test_taken_in_the_same_batch(void **state)
{
	struct operator_loop op = { .now = SECONDS(1800000000) };
	struct cached_job job = { 0 };
	const struct refusal *r;

	(void)state;
	for (int i = 0; i < 5; i++) {
		refuse_service(&op, &job);
		assert_true(refused_any(&job));
		refused_settle(&job);
	}
	r = &refused_find(&job, RES_SERVICE, STR("worker"))->refusal;
	assert_int_equal(r->tries, 5);
	refused_made(&job, RES_POD, STR("worker"));
	refused_made(&job, RES_SERVICE, STR("ps"));
	refused_settle(&job);
	assert_int_equal(r->tries, 5);
	refuse_service(&op, &job);
	refused_made(&job, RES_SERVICE, STR("worker"));
	refused_settle(&job);
	assert_int_equal(r->tries, 0);
	/* Others were refused: it goes on to be tried later each time. */
	assert_int_equal(r->times, 6);
	refuse_service(&op, &job);
	refused_settle(&job);
	assert_int_equal(r->tries, 1);
	assert_int_equal(r->since, op.now);
	refused_made(&job, RES_SERVICE, STR("worker"));
	refused_settle(&job);
	assert_int_equal(r->kind, REFUSED_NOT);
	assert_int_equal(r->times, 0);
	refuse_service(&op, &job);
	refused_settle(&job);
	refused_passed(&job, (const bool[]){ true });
	assert_int_equal(r->kind, REFUSED_NOT);
	/* An edit forgets what is over, but not what is just being refused. */
	refuse_service(&op, &job);
	refused_forget(&job);
	assert_true(refused_any(&job));
	refused_settle(&job);
	refused_forget(&job);
	assert_null(job.refused);
	refused_release(&job);
}

/* The master's pod is always refused, what is lost is a worker: it is made, as often as it goes. */
static void test_another_role_comes_back(void **state)
{
	struct operator_script *s = *state;
	int made = 0, masters = 0;
	char uid[16];

	listed(s);
	put_job(s, "1", "", 3);
	for (int i = 0; i < 400 && made < 3; i++) {
		struct sent *pod, *t = waiting(s, VERB_CREATE, RES_SERVICE);

		snprintf(uid, sizeof(uid), "made-%d", i);
		if (t) {
			server_made(s, t, uid);
		} else if ((pod = waiting(s, VERB_CREATE, RES_POD))) {
			if (strstr(pod->r.name.p, "master")) {
				masters++;
				refuse(s, pod, 403, "Forbidden");
			} else {
				made++;
				server_made(s, pod, uid);
			}
		} else {
			status_written_if_any(s);
		}
	}
	assert_int_equal(made, 3);
	/* All in one list. */
	assert_int_equal(masters, 1);
	assert_int_equal(s->now, SECONDS(1800000000));
}

/* A pod has failed and may not be deleted: the other one that is missing is made. */
static void test_one_that_cannot_be_deleted(void **state)
{
	struct operator_script *s = *state;
	struct sent *first = first_pod(s);
	struct pod pod = found_pod(first, UID, UID);
	int denied = 0;

	s->policy = "{\"restart\":{\"policy\":\"Always\"}}";
	server_made(s, first, "found");
	settle_all(s);
	put_job(s, "w8", s->status.p, 0);
	settle_all(s);
	pod.phase = POD_FAILED;
	pod.meta.rv = STR("99");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	/* Somebody takes its service, too. */
	for (int i = 0; i < 600; i++) {
		if (waiting(s, VERB_DELETE, RES_POD)) {
			denied++;
			refuse(s, waiting(s, VERB_DELETE, RES_POD), 403, "Forbidden");
		}
		status_written_if_any(s);
		s->now += SECONDS(1);
		run_step(s);
	}
	assert_in_range(denied, 8, 20);
	assert_non_null(strstr(s->status.p, "cannot be deleted: no"));
	/* What stands is that of the pod: news of it do not begin anew. */
	pod.meta.rv = STR("100");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	assert_null(waiting(s, VERB_DELETE, RES_POD));
}

/* Decision 22: what is refused for a role is asked once, not once for each of its replicas; and so for each role. */
static void test_each_role_is_asked_once(void **state)
{
	struct operator_script *s = *state;
	struct sent *t;
	int asked = 0;

	listed(s);
	put_job(s, "1", "", 20);
	for (int i = 0; i < 100; i++) {
		if (!waiting(s, VERB_CREATE, RES_SERVICE) && !waiting(s, VERB_PATCH_STATUS, RES_JOB))
			break;
		next_made(s);
	}
	while ((t = waiting(s, VERB_CREATE, RES_POD))) {
		asked++;
		refuse(s, t, 403, "Forbidden");
		status_written_if_any(s);
	}
	/* The first list began with as many as the services had come to. */
	assert_in_range(asked, 2, 25);
	for (int round = 0; round < 5; round++) {
		s->now += MINUTES(1);
		run_step(s);
		for (asked = 0; (t = waiting(s, VERB_CREATE, RES_POD)); asked++) {
			refuse(s, t, 403, "Forbidden");
			status_written_if_any(s);
		}
		assert_int_equal(asked, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_other_children_are_made_meanwhile), cmocka_unit_test(test_taken_in_the_same_batch),
		SCRIPT_TEST(test_another_role_comes_back),           SCRIPT_TEST(test_one_that_cannot_be_deleted),
		SCRIPT_TEST(test_each_role_is_asked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
