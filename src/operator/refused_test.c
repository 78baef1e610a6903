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
	struct script *s;
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

/* Several are asked for at once: the first is refused, and the freeze is over before the last. What is said of the next
   one that is refused begins anew. */
static void test_taken_in_the_same_batch(void **state)
{
	struct op op = { .now = SECONDS(1800000000) };
	struct cached_job job = { 0 };
	const struct refusal *r;

	(void)state;
	for (int i = 0; i < 5; i++) {
		op.now += SECONDS(30);
		job.refused_now[false] = false;
		refused_take(&op, &job, RES_SERVICE, STR("worker"), REFUSED_INVALID, STR("no"));
	}
	r = refused_last(&job, false);
	assert_int_equal(r->tries, 5);
	refused_not(&job, RES_POD, STR("worker"));
	refused_not(&job, RES_SERVICE, STR("ps"));
	assert_int_equal(r->tries, 5);
	refused_not(&job, RES_SERVICE, STR("worker"));
	assert_int_equal(r->tries, 0);
	op.now += SECONDS(30);
	job.refused_now[false] = false;
	refused_take(&op, &job, RES_SERVICE, STR("worker"), REFUSED_INVALID, STR("no"));
	assert_int_equal(r->tries, 1);
	assert_int_equal(r->since, op.now);
	refused_passed(&job);
	assert_int_equal(r->kind, REFUSED_NOT);
	assert_int_equal(job.n_standing, 0);
	refused_release(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_other_children_are_made_meanwhile),
		cmocka_unit_test(test_taken_in_the_same_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
