#include "job/testing.h"

static const struct {
	const char *json, *want, *problem;
} cases[] = {
	{ "137", "137", NULL },
	{ "1", "1", NULL },
	{ "255", "255", NULL },
	{ "137.0", "137", NULL },
	{ "'137,128'", "128,137", NULL },
	{ "' 137 , 128 '", "128,137", NULL },
	{ "'128-255'", "128-255", NULL },
	{ "' 128 - 130 , 1 '", "1,128-130", NULL },
	{ "'63-64,5-5'", "5,63-64", NULL },
	{ "'1-255'", "1-255", NULL },
	{ "[137,'140-150', '1,2']", "1-2,137,140-150", NULL },
	{ "'137,'", "137", NULL },
	{ "''", "", NULL },
	{ "' '", "", NULL },
	{ "[]", "", NULL },
	{ "['']", "", NULL },

	{ "0", NULL, "exit code 0 is success, which is never restarted; must be 1 to 255" },
	{ "'0-3'", NULL, "exit code 0 is success, which is never restarted; must be 1 to 255" },
	{ "'1,00'", NULL, "exit code 0 is success, which is never restarted; must be 1 to 255" },
	{ "256", NULL, "exit codes are 1 to 255, found 256" },
	{ "'1-256'", NULL, "exit codes are 1 to 255, found 256" },
	{ "-1", NULL, "exit codes are 1 to 255, found -1" },
	{ "9223372036854775807", NULL, "exit codes are 1 to 255, found 9223372036854775807" },
	{ "'5-3'", NULL, "the range 5-3 runs backwards" },
	{ "'-3'", NULL, "must be exit codes such as \"137,143\" or \"128-255\", found \"-3\"" },
	{ "'3-'", NULL, "must be exit codes such as \"137,143\" or \"128-255\", found \"3-\"" },
	{ "'-'", NULL, "must be exit codes such as \"137,143\" or \"128-255\", found \"-\"" },
	{ "'1-2-3'", NULL, "must be exit codes such as \"137,143\" or \"128-255\", found \"1-2-3\"" },
	{ "'SIGKILL'", NULL, "must be exit codes such as \"137,143\" or \"128-255\", found \"SIGKILL\"" },
	{ "'137 143'", NULL, "must be exit codes such as \"137,143\" or \"128-255\", found \"137 143\"" },
	{ "'1\\u00002'", NULL, "must be exit codes such as \"137,143\" or \"128-255\", found \"1?2\"" },
	{ "'99999999999999999999'", NULL,
	  "must be exit codes such as \"137,143\" or \"128-255\", found \"99999999999999999999\"" },
	/* Cut at a character, not inside one. */
	{ "'äääääääääääääääääääxää'", NULL,
	  "must be exit codes such as \"137,143\" or \"128-255\", found \"äääääääääääääääääääx…\"" },
	{ "1.5", NULL,
	  "must be exit codes such as 137, \"137,143\" or \"128-255\", or a list of these, found a number" },
	{ "true", NULL,
	  "must be exit codes such as 137, \"137,143\" or \"128-255\", or a list of these, found a boolean" },
	{ "[1,[2]]", NULL,
	  "must be exit codes such as 137, \"137,143\" or \"128-255\", or a list of these, found a list" },
	{ "[1,null]", NULL,
	  "must be exit codes such as 137, \"137,143\" or \"128-255\", or a list of these, found null" },
	{ "{}", NULL,
	  "must be exit codes such as 137, \"137,143\" or \"128-255\", or a list of these, found an object" },
};

static void test_codes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench b = BENCH_INIT;
		struct problems p = { .arena = &b.a };
		struct code_set set = { { 7, 7, 7, 7 } };
		bool good = code_set_read(&set, parse(&b, cases[i].json), STR("x"), &p);

		if (cases[i].want) {
			assert_true(good);
			assert_int_equal(p.errors, 0);
			assert_string_equal(code_set_format(&set, &b.a).p, cases[i].want);
			assert_int_equal(code_set_empty(&set), !*cases[i].want);
		} else {
			assert_false(good);
			assert_int_equal(p.list.n, 1);
			assert_string_equal(p.list.v[0].message.p, cases[i].problem);
			/* Nothing was written. */
			assert_int_equal(set.bits[0], 7);
		}
		bench_release(&b);
	}
}

/* The longest text that a set can have: every other code. */
static void test_format_longest(void **state)
{
	struct bench b = BENCH_INIT;
	struct code_set odd = { { 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa } },
			back;
	struct problems p = { .arena = &b.a };
	struct str text = code_set_format(&odd, &b.a);

	(void)state;
	assert_true(str_has_suffix(text, STR(",253,255")));
	assert_true(code_set_read(&back, parse(&b, arena_printf(&b.a, "'%.*s'", STR_F(text)).p), STR("x"), &p));
	assert_memory_equal(&back, &odd, sizeof(odd));
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_format_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
