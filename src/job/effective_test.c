#include "job/testing.h"

/* What the kind's job and role say on their three layers, and the user's policy; and what comes of
   it for the role "worker". */
static const struct effective_case {
	const char *own, *by_default;           /* of the job */
	const char *own_role, *by_default_role; /* of the role */
	const char *policy;
	const char *want, *problems;
} cases[] = {
	/* Nothing said anywhere. */
	{ .want = "Never Pod limit -1 backoff 10/300; complete All fail Any" },
};

static void test_effective(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct effective_case *c = &cases[i];
		struct bench b = BENCH_INIT;
		struct job *job = read_job(&b,
			arena_printf(&b.a, "{'roles':[" ROLE("worker", 2) ",'own':%s,'default':%s}," ROLE("ps", 1)
					   "}],'own':%s,'default':%s}", c->own_role ? c->own_role : "null",
				     c->by_default_role ? c->by_default_role : "null", c->own ? c->own : "null",
				     c->by_default ? c->by_default : "null").p, c->policy);

		if (strcmp(problems_text(&b, &job->problems), c->problems ? c->problems : "") != 0)
			print_error("case %zu\n", i);
		assert_string_equal(problems_text(&b, &job->problems), c->problems ? c->problems : "");
		if (c->want)
			assert_string_equal(role_text(&b, &job->roles[0]), c->want);
		bench_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effective),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
