#include "operator/lease.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const struct lease_config config = {
	.ns = STR_INIT("kube-system"),
	.name = STR_INIT("dl-operator"),
	.identity = STR_INIT("me"),
	.duration = SECONDS(15),
	.renew_deadline = SECONDS(10),
	.retry_period = SECONDS(2),
};

static const msec wall = 1800000000123;

enum step_type { NEXT, ANSWER, RELEASE };

/* One step of a story: at AT the machine is asked and must say WISH, or is told an answer. */
struct step {
	enum step_type type;
	msec at;
	enum lease_wish_type wish;
	enum verb verb;
	const char *body; /* NEXT: must be in the body; ANSWER: the object */
	msec until;       /* SLEEP */
	int code;
	bool leads; /* after the step */
};

#define SENDS(at, verb, body, leads)                                                                                   \
	{                                                                                                              \
		NEXT, at, LEASE_SEND, verb, body, 0, 0, leads                                                          \
	}
#define SLEEPS(at, until, leads)                                                                                       \
	{                                                                                                              \
		NEXT, at, LEASE_SLEEP, VERB_GET, NULL, until, 0, leads                                                 \
	}
#define SAYS(at, wish, leads)                                                                                          \
	{                                                                                                              \
		NEXT, at, wish, VERB_GET, NULL, 0, 0, leads                                                            \
	}
#define GETS(at, code, body, leads)                                                                                    \
	{                                                                                                              \
		ANSWER, at, LEASE_SLEEP, VERB_GET, body, 0, code, leads                                                \
	}
#define RELEASES(at)                                                                                                   \
	{                                                                                                              \
		RELEASE, at, LEASE_SLEEP, VERB_GET, NULL, 0, 0, false                                                  \
	}

#define OBJECT(rv, holder, seconds)                                                                                    \
	"{\"metadata\":{\"resourceVersion\":\"" rv "\"},\"spec\":{\"holderIdentity\":" holder                          \
	",\"leaseDurationSeconds\":" seconds ",\"leaseTransitions\":4,\"renewTime\":\"2001-01-01T00:00:00.000000Z\"}}"
#define MINE(rv) OBJECT(rv, "\"me\"", "15")
#define THEIRS(rv) OBJECT(rv, "\"other\"", "15")

static void play(const char *name, const struct step *steps, size_t n)
{
	struct lease *l = lease_new(&config);

	for (size_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];
		struct lease_wish w;
		yyjson_doc *doc;

		if (s->type == RELEASE) {
			lease_release(l);
		} else if (s->type == ANSWER) {
			doc = s->body ? json_parse(str_c(s->body), NULL) : NULL;
			assert_true(doc || !s->body);
			lease_answer(l, s->at, s->code, doc ? yyjson_doc_get_root(doc) : NULL);
			yyjson_doc_free(doc);
		} else {
			w = lease_next(l, s->at, wall);
			if (w.type != s->wish)
				fail_msg("%s, step %zu: wish %d, not %d", name, i, (int)w.type, (int)s->wish);
			if (w.type == LEASE_SLEEP && w.at != s->until)
				fail_msg("%s, step %zu: sleeps until %lld", name, i, (long long)w.at);
			if (w.type == LEASE_SEND && w.call.verb != s->verb)
				fail_msg("%s, step %zu: verb %d", name, i, (int)w.call.verb);
			if (w.type == LEASE_SEND && s->body && !strstr(w.call.body.p, s->body))
				fail_msg("%s, step %zu: body %s", name, i, w.call.body.p);
		}
		if (lease_leads(l, s->at) != s->leads)
			fail_msg("%s, step %zu: leads %d", name, i, (int)!s->leads);
	}
	lease_free(l);
}

#define PLAY(...)                                                                                                      \
	play(__func__, (const struct step[]){ __VA_ARGS__ }, ARRAY_LEN(((const struct step[]){ __VA_ARGS__ })))

static void test_makes_a_lease_where_there_is_none(void **state)
{
	(void)state;
	PLAY(SENDS(1000, VERB_GET, NULL, false), SAYS(1010, LEASE_BUSY, false), GETS(1020, 404, NULL, false),
	     SENDS(1020, VERB_CREATE, "\"name\":\"dl-operator\"},\"spec\":{\"holderIdentity\":\"me\"", false),
	     GETS(1050, 201, MINE("1"), true), SLEEPS(1060, 3020, true),
	     SENDS(3020, VERB_PATCH, "\"resourceVersion\":\"1\"", true), GETS(3030, 200, MINE("2"), true),
	     SLEEPS(3030, 5020, true));
}

static void test_somebody_else_was_faster(void **state)
{
	(void)state;
	PLAY(SENDS(0, VERB_GET, NULL, false), GETS(10, 404, NULL, false), SENDS(10, VERB_CREATE, NULL, false),
	     GETS(20, 409, NULL, false), SENDS(20, VERB_GET, NULL, false), GETS(30, 200, THEIRS("5"), false),
	     SLEEPS(30, 1030, false));
}

/* Its own renewTime is years ago: only what we see counts. */
static void test_takes_a_lease_that_stands_still_for_its_duration(void **state)
{
	(void)state;
	PLAY(SENDS(0, VERB_GET, NULL, false), GETS(100, 200, OBJECT("5", "\"other\"", "3"), false),
	     SENDS(1100, VERB_GET, NULL, false), GETS(1200, 200, OBJECT("6", "\"other\"", "3"), false),
	     SENDS(2200, VERB_GET, NULL, false), GETS(2300, 200, OBJECT("6", "\"other\"", "3"), false),
	     SENDS(3900, VERB_GET, NULL, false), GETS(3910, 200, OBJECT("6", "\"other\"", "3"), false),
	     SLEEPS(3920, 4200, false), SENDS(4200, VERB_PATCH, "\"leaseTransitions\":5", false),
	     GETS(4210, 200, OBJECT("7", "\"me\"", "15"), true));
}

static void test_a_failed_take_does_not_begin_the_wait_anew(void **state)
{
	(void)state;
	PLAY(SENDS(0, VERB_GET, NULL, false), GETS(0, 200, THEIRS("5"), false), SENDS(15000, VERB_PATCH, NULL, false),
	     GETS(15010, 500, NULL, false), SLEEPS(15010, 16010, false), SENDS(16010, VERB_GET, NULL, false),
	     GETS(16020, 200, THEIRS("5"), false), SENDS(16020, VERB_PATCH, NULL, false), GETS(16030, 409, NULL, false),
	     SENDS(16030, VERB_GET, NULL, false), GETS(16040, 200, OBJECT("6", "\"third\"", "15"), false),
	     SLEEPS(16040, 17040, false));
}

static void test_takes_what_was_given_away_at_once(void **state)
{
	(void)state;
	PLAY(SENDS(0, VERB_GET, NULL, false), GETS(10, 200, THEIRS("5"), false), SENDS(1010, VERB_GET, NULL, false),
	     GETS(1020, 200, OBJECT("6", "null", "1"), false),
	     SENDS(1020, VERB_PATCH, "\"acquireTime\":\"2027-01-15T08:00:00.123000Z\"", false),
	     GETS(1030, 200, MINE("7"), true));
}

#define LEAD                                                                                                           \
	SENDS(0, VERB_GET, NULL, false), GETS(0, 200, OBJECT("1", "\"\"", "15"), false),                               \
		SENDS(0, VERB_PATCH, NULL, false), GETS(100, 200, MINE("2"), true)

/* The deadline counts from when the last good renewal was sent, not from its answer. */
static void test_stops_at_the_deadline(void **state)
{
	(void)state;
	PLAY(LEAD, SENDS(2000, VERB_PATCH, NULL, true), GETS(7000, 0, NULL, true), SLEEPS(7000, 9000, true),
	     SENDS(9000, VERB_GET, NULL, true), SAYS(9999, LEASE_BUSY, true), SAYS(10000, LEASE_BUSY, false),
	     GETS(11000, 0, NULL, false), SENDS(13000, VERB_GET, NULL, false), GETS(13100, 200, THEIRS("9"), false),
	     SLEEPS(13100, 14100, false));
}

/* Frozen and thawed: it does not lead, though nobody told it. */
static void test_does_not_lead_after_a_long_sleep(void **state)
{
	(void)state;
	PLAY(LEAD, SENDS(100000, VERB_GET, NULL, false), GETS(100010, 200, MINE("2"), false),
	     SENDS(100010, VERB_PATCH, "\"leaseTransitions\":4", false), GETS(100020, 200, MINE("3"), true));
}

static void test_a_lost_answer_to_a_renewal_is_found(void **state)
{
	(void)state;
	PLAY(LEAD, SENDS(2000, VERB_PATCH, NULL, true), GETS(4000, 0, NULL, true), SENDS(6000, VERB_GET, NULL, true),
	     GETS(6010, 200, MINE("3"), true), SENDS(6010, VERB_PATCH, "\"resourceVersion\":\"3\"", true),
	     GETS(6020, 200, MINE("4"), true), SLEEPS(6020, 8010, true));
}

static void test_a_conflict_shows_who_leads(void **state)
{
	(void)state;
	PLAY(LEAD, SENDS(2000, VERB_PATCH, NULL, true), GETS(2010, 409, NULL, true), SENDS(2010, VERB_GET, NULL, true),
	     GETS(2020, 200, THEIRS("3"), false), SLEEPS(2020, 3020, false));
}

static void test_a_deleted_lease_is_anybodys(void **state)
{
	(void)state;
	PLAY(LEAD, SENDS(2000, VERB_PATCH, NULL, true), GETS(2010, 404, NULL, false),
	     SENDS(2010, VERB_GET, NULL, false), GETS(2020, 404, NULL, false), SENDS(2020, VERB_CREATE, NULL, false),
	     GETS(2030, 201, MINE("9"), true));
}

static void test_gives_it_away(void **state)
{
	(void)state;
	PLAY(LEAD, RELEASES(200), SENDS(200, VERB_PATCH, "{\"holderIdentity\":null,\"leaseDurationSeconds\":1", false),
	     SAYS(210, LEASE_BUSY, false), GETS(220, 200, OBJECT("3", "null", "1"), false),
	     SAYS(220, LEASE_DONE, false));
	/* What is in flight is awaited, so that its version is known. */
	PLAY(LEAD, SENDS(2000, VERB_PATCH, NULL, true), RELEASES(2010), SAYS(2010, LEASE_BUSY, false),
	     GETS(2020, 200, MINE("3"), false), SENDS(2020, VERB_PATCH, "\"resourceVersion\":\"3\"", false),
	     GETS(2030, 0, NULL, false), SAYS(2030, LEASE_DONE, false));
	/* A renewal of which nothing is known. */
	PLAY(LEAD, SENDS(2000, VERB_PATCH, NULL, true), RELEASES(2010), GETS(2020, 409, NULL, false),
	     SAYS(2020, LEASE_DONE, false));
}

static void test_a_standby_has_nothing_to_give(void **state)
{
	(void)state;
	PLAY(SENDS(0, VERB_GET, NULL, false), GETS(0, 200, THEIRS("5"), false), RELEASES(10),
	     SAYS(10, LEASE_DONE, false));
}

static void test_goes_on_when_it_may_not(void **state)
{
	(void)state;
	PLAY(SENDS(0, VERB_GET, NULL, false), GETS(10, 403, NULL, false), SLEEPS(10, 1010, false),
	     SENDS(1010, VERB_GET, NULL, false), GETS(1020, 200, "{\"kind\":\"Status\"}", false),
	     SLEEPS(1020, 2020, false), SENDS(2020, VERB_GET, NULL, false),
	     GETS(2030, 200, OBJECT("1", "7", "-3"), false), SENDS(2030, VERB_PATCH, NULL, false));
}

static void test_times_must_fit_together(void **state)
{
	static const msec bad[][3] = {
		{ 0, 10000, 2000 },  { 10000, 10000, 2000 }, { 15000, 10000, 10000 },
		{ 15000, 10000, 0 }, { 15500, 10000, 2000 },
	};

	(void)state;
	assert_true(lease_config_check(&config, NULL));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct lease_config c = config;

		c.duration = bad[i][0];
		c.renew_deadline = bad[i][1];
		c.retry_period = bad[i][2];
		assert_false(lease_config_check(&c, NULL));
	}
}

static void test_says_whether_the_server_answers(void **state)
{
	struct lease *l = lease_new(&config);

	(void)state;
	assert_true(lease_reachable(l));
	lease_next(l, 0, wall);
	lease_answer(l, 10, 0, NULL);
	assert_false(lease_reachable(l));
	lease_next(l, 5000, wall);
	lease_answer(l, 5010, 500, NULL);
	assert_true(lease_reachable(l));
	assert_int_equal(lease_leads_until(l), 0);
	lease_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_makes_a_lease_where_there_is_none),
		cmocka_unit_test(test_somebody_else_was_faster),
		cmocka_unit_test(test_takes_a_lease_that_stands_still_for_its_duration),
		cmocka_unit_test(test_a_failed_take_does_not_begin_the_wait_anew),
		cmocka_unit_test(test_takes_what_was_given_away_at_once),
		cmocka_unit_test(test_stops_at_the_deadline),
		cmocka_unit_test(test_does_not_lead_after_a_long_sleep),
		cmocka_unit_test(test_a_lost_answer_to_a_renewal_is_found),
		cmocka_unit_test(test_a_conflict_shows_who_leads),
		cmocka_unit_test(test_a_deleted_lease_is_anybodys),
		cmocka_unit_test(test_gives_it_away),
		cmocka_unit_test(test_a_standby_has_nothing_to_give),
		cmocka_unit_test(test_goes_on_when_it_may_not),
		cmocka_unit_test(test_times_must_fit_together),
		cmocka_unit_test(test_says_whether_the_server_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
