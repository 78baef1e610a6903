/* Every checker catches the defect that was planted for it, and sees none where there is none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/log.h"
#include "sim/mutant.h"
#include "sim/sim.h"

enum {
	SEEDS = 24,
	STEPS = 4000,
	TRIES = 400, /* seeds for a mutant: some need what few runs have */
};

struct fixture {
	struct kinds *kinds;
	struct arena memory;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;

	log_setup(LOG_TEXT, LOG_ERROR, &clock_wall);
	f->kinds = kinds_new(&kind_limits_default);
	if (!kinds_load_builtin(f->kinds, &e))
		fail_msg("%s", err_msg(&e));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kinds_free(f->kinds);
	arena_release(&f->memory);
	free(f);
	return 0;
}

/* The invariant that a run breaks, and in which step. */
static enum invariant run(struct fixture *f, uint64_t seed, int mutant, size_t *step, char why[static 512])
{
	struct sim_options opt = { .seed = seed, .steps = STEPS, .mutant = mutant };
	struct sim_tally tally = { 0 };
	struct sim s;
	enum invariant broken;

	sim_run(&s, f->kinds, &opt, &tally, &f->memory);
	broken = s.broken;
	*step = s.step;
	snprintf(why, 512, "%s", s.why);
	sim_release(&s);
	return broken;
}

static void test_sound(void **state)
{
	char why[512];
	size_t step;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		enum invariant broken = run(*state, seed, MUTANT_NONE, &step, why);

		if (broken)
			fail_msg("seed %d, step %zu: %s: %s", (int)seed, step, invariant_name(broken), why);
	}
}

/* The same seed is the same run. */
static void test_same_seed(void **state)
{
	char why[2][512];
	size_t step[2];

	for (uint64_t seed = 1; seed <= 3; seed++) {
		run(*state, seed, MUTANT_SIBLING, &step[0], why[0]);
		run(*state, seed, MUTANT_SIBLING, &step[1], why[1]);
		assert_int_equal(step[0], step[1]);
		assert_string_equal(why[0], why[1]);
	}
}

static void test_mutants(void **state)
{
	bool caught[INV_COUNT_] = { 0 };
	char why[512] = "";
	size_t step;

	for (int m = 1; m < MUTANT_COUNT; m++) {
		enum invariant broken = INV_NONE;

		/* In some runs it harms something else first. */
		for (uint64_t seed = 1; seed <= TRIES && broken != mutant_breaks((enum sim_mutant)m); seed++)
			broken = run(*state, seed, m, &step, why);
		if (broken != mutant_breaks((enum sim_mutant)m))
			fail_msg("%s breaks %s, not %s (%s)", mutant_name((enum sim_mutant)m), invariant_name(broken),
			         invariant_name(mutant_breaks((enum sim_mutant)m)), why);
		caught[broken] = true;
	}
	for (int i = 1; i < INV_COUNT_; i++)
		if (!caught[i])
			fail_msg("no mutant breaks %s", invariant_name((enum invariant)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_same_seed),
		cmocka_unit_test(test_mutants),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
