#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/runner/fit.h"

#define GIB ((int64_t)1 << 30)

static const struct amount machine = { .cpu = 4000, .memory = 8 * GIB, .gpus = 2 };
static struct arena arena;

static struct fit_job job(const char *name, int64_t cpu, int64_t memory, int64_t gpus)
{
	return (struct fit_job){ .name = str_c(name), .wants = { cpu, memory, gpus } };
}

static void expect(const struct fit_job *j, enum fit_verdict verdict, const char *reason)
{
	assert_int_equal(j->verdict, verdict);
	assert_string_equal(str_text(j->reason), reason);
}

static void test_first_come_first_served(void **state)
{
	struct fit_job jobs[] = { job("a", 3000, GIB, 1), job("b", 2000, GIB, 0), job("c", 500, GIB, 0) };

	(void)state;
	fit_jobs(&machine, jobs, ARRAY_LEN(jobs), &arena);
	expect(&jobs[0], FIT_ADMITTED, "");
	expect(&jobs[1], FIT_WAITS, "waiting for 2 cores, 1 core free");
	/* It would fit, and the one before it would never get its turn. */
	expect(&jobs[2], FIT_WAITS, "waiting behind b");
	/* The first has ended. */
	fit_jobs(&machine, jobs + 1, 2, &arena);
	expect(&jobs[1], FIT_ADMITTED, "");
	expect(&jobs[2], FIT_ADMITTED, "");
}

static void test_what_never_fits_blocks_nobody(void **state)
{
	struct amount bare = { .cpu = 1000, .memory = GIB };
	struct fit_job jobs[] = { job("gpus", 0, 0, 3), job("memory", 0, 9 * GIB, 0), job("small", 100, 0, 2) };

	(void)state;
	fit_jobs(&machine, jobs, ARRAY_LEN(jobs), &arena);
	expect(&jobs[0], FIT_NEVER, "requests 3 GPUs, this machine has 2 GPUs");
	expect(&jobs[1], FIT_NEVER, "requests 9 GiB, this machine has 8 GiB");
	expect(&jobs[2], FIT_ADMITTED, "");
	jobs[2].admitted = false;
	fit_jobs(&bare, jobs + 2, 1, &arena);
	expect(&jobs[2], FIT_NEVER, "requests 2 GPUs, this machine has none");
}

/* What runs keeps what it has, wherever it stands in the list and however small the machine has become. */
static void test_admitted_stays(void **state)
{
	struct amount small = { .cpu = 1000, .memory = GIB, .gpus = 2 };
	struct fit_job jobs[] = { job("new", 500, 0, 0), job("old", 3000, 0, 2), job("gpu", 0, 0, 1) };

	(void)state;
	jobs[1].admitted = true;
	fit_jobs(&small, jobs, ARRAY_LEN(jobs), &arena);
	expect(&jobs[0], FIT_WAITS, "waiting for 0.5 cores, none free");
	expect(&jobs[1], FIT_ADMITTED, "");
	expect(&jobs[2], FIT_WAITS, "waiting behind new");
	fit_jobs(&small, jobs + 1, 2, &arena);
	expect(&jobs[2], FIT_WAITS, "waiting for 1 GPU, none free");
}

/* Who wants nothing gets it, though nothing is free. */
static void test_wants_nothing(void **state)
{
	struct fit_job jobs[] = { job("all", 4000, 8 * GIB, 2), job("waits", 0, 0, 1), job("modest", 0, 0, 0) };

	(void)state;
	fit_jobs(&machine, jobs, ARRAY_LEN(jobs), &arena);
	expect(&jobs[0], FIT_ADMITTED, "");
	expect(&jobs[1], FIT_WAITS, "waiting for 1 GPU, none free");
	expect(&jobs[2], FIT_ADMITTED, "");
}

static void test_numbers_that_are_too_large(void **state)
{
	struct fit_job jobs[] = { job("huge", INT64_MAX, INT64_MAX, 0), job("b", 1000, 3 << 20, 0),
		                  job("c", INT64_MAX - 1, 0, 0) };

	(void)state;
	jobs[0].admitted = true;
	fit_jobs(&machine, jobs, ARRAY_LEN(jobs), &arena);
	expect(&jobs[1], FIT_WAITS, "waiting for 1 core, none free");
	assert_int_equal(jobs[2].verdict, FIT_NEVER);
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_come_first_served),
		cmocka_unit_test(test_what_never_fits_blocks_nobody),
		cmocka_unit_test(test_admitted_stays),
		cmocka_unit_test(test_wants_nothing),
		cmocka_unit_test(test_numbers_that_are_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
