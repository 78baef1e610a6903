/* Seeds in several processes: all of them run, and one that kills its process is one result among the others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/workers.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FROM = 1000, SEEDS = 20, BAD = FROM + 3, KILLS = FROM + 7, KILLS_TOO = FROM + 9, EXITS = FROM + 19 };

struct seen {
	int n[SEEDS], good, bad, died, all;
	char why[SEEDS][512];
	int enough;
	sig_atomic_t stop;
};

static void run_one(void *arg, struct seed_result *r)
{
	(void)arg;
	r->tally.seeds = 1;
	if (r->seed == KILLS || r->seed == KILLS_TOO)
		raise(SIGKILL);
	if (r->seed == EXITS)
		_exit(7);
	r->good = r->seed != BAD;
	r->broken = r->good ? INV_NONE : INV_GANG;
	r->step = 17;
	snprintf(r->why, sizeof(r->why), "%s", r->good ? "" : "as planned");
}

static bool note(void *arg, const struct seed_result *r)
{
	struct seen *s = arg;
	size_t i = r->seed - FROM;

	assert_in_range(r->seed, FROM, FROM + SEEDS - 1);
	s->n[i]++;
	s->all++;
	s->good += r->good;
	s->bad += !r->good && r->broken;
	s->died += !r->good && !r->broken;
	snprintf(s->why[i], sizeof(s->why[i]), "%s", r->why);
	return s->all != s->enough;
}

static void run_all(struct seen *s, unsigned jobs)
{
	struct workers w = { .jobs = jobs, .from = FROM, .seeds = SEEDS, .run = run_one, .done = note, .arg = s };
	struct err e = ERR_INIT;

	w.stop = &s->stop;
	assert_true(workers_run(&w, &e));
	/* Nobody is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_every_seed(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 2 * SEEDS; jobs += jobs < 4 ? 1 : 12) {
		struct seen s = { 0 };

		run_all(&s, jobs);
		for (size_t i = 0; i < SEEDS; i++)
			assert_int_equal(s.n[i], 1);
		assert_int_equal(s.good, SEEDS - 4);
		assert_int_equal(s.bad, 1);
		assert_int_equal(s.died, 3);
		assert_string_equal(s.why[BAD - FROM], "as planned");
		assert_string_equal(s.why[KILLS - FROM], "its process died: Killed");
		assert_string_equal(s.why[KILLS_TOO - FROM], "its process died: Killed");
		assert_string_equal(s.why[EXITS - FROM], "its process ended with exit status 7");
	}
}

static void test_enough(void **state)
{
	struct seen s = { .enough = 2 };

	(void)state;
	run_all(&s, 3);
	assert_int_equal(s.all, 2);
}

static void test_stopped(void **state)
{
	struct seen s = { .stop = SIGINT };

	(void)state;
	run_all(&s, 2);
	assert_int_equal(s.all, 0);
}

/* A fault that only the end of the process shows, as a leak does, is one of its last seed. */
static void exit_badly(void)
{
	_exit(3);
}

static void run_and_leave_a_fault(void *arg, struct seed_result *r)
{
	(void)arg;
	r->good = true;
	r->tally.seeds = 1;
	if (r->seed == FROM + SEEDS - 1)
		atexit(exit_badly);
}

static void test_fault_at_the_end(void **state)
{
	struct seen s = { 0 };
	struct workers w = {
		.jobs = 2, .from = FROM, .seeds = SEEDS, .run = run_and_leave_a_fault, .done = note, .arg = &s
	};
	struct err e = ERR_INIT;

	(void)state;
	assert_true(workers_run(&w, &e));
	assert_int_equal(s.good, SEEDS);
	assert_int_equal(s.died, 1);
	assert_string_equal(s.why[SEEDS - 1], "its process ended with exit status 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_seed),
		cmocka_unit_test(test_enough),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_fault_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
