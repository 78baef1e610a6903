#include "term/opts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct {
	bool all;
	const char *output;
	int32_t index;
	struct opt_list dirs;
} got;

static const struct opt opts[] = {
	{ 'a', "all", NULL, "everything", .flag = &got.all },
	{ 'o', "output", "FORMAT", "how", .text = &got.output },
	{ 0, "index", "N", "which", .number = &got.index },
	{ 'd', "dir", "DIR,…", "where", .list = &got.dirs },
};

/* Parses the blank-separated ARGS and returns the operands, joined by commas; on an error its message. */
static const char *parse(const char *args)
{
	static char result[256];
	static char text[256]; /* got points into it */
	char *argv[16], *save = NULL;
	struct err e = ERR_INIT;
	int argc = 0, n;

	opt_list_release(&got.dirs);
	memset(&got, 0, sizeof(got));
	got.index = -1;
	snprintf(text, sizeof(text), "%s", args);
	for (char *p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save))
		argv[argc++] = p;
	n = opts_parse(opts, ARRAY_LEN(opts), argc, argv, &e);
	if (n < 0) {
		snprintf(result, sizeof(result), "%s", err_msg(&e));
	} else {
		FILE *f = fmemopen(result, sizeof(result), "w");

		for (int i = 0; i < n; i++)
			fprintf(f, "%s%s", i ? "," : "", argv[i]);
		fclose(f);
		if (n == 0)
			result[0] = 0;
	}
	err_release(&e);
	return result;
}

static void operands_and_options_mix(void **state)
{
	(void)state;
	assert_string_equal(parse("one --all two -o json three"), "one,two,three");
	assert_true(got.all);
	assert_string_equal(parse(""), "");
	assert_false(got.all);
	assert_string_equal(parse("-"), "-");
	assert_string_equal(parse("--all -- --all -x"), "--all,-x");
}

static void every_way_to_give_a_value(void **state)
{
	static const char *const ways[] = { "-o json", "-ojson", "--output json", "--output=json", "-aojson" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		assert_string_equal(parse(ways[i]), "");
		assert_string_equal(got.output, "json");
	}
	parse("--output=");
	assert_string_equal(got.output, "");
	parse("--output=a=b");
	assert_string_equal(got.output, "a=b");
	parse("-o yaml -o json");
	assert_string_equal(got.output, "json");
}

static void a_list_keeps_all(void **state)
{
	(void)state;
	parse("-d one --dir=two -dthree");
	assert_int_equal(got.dirs.n, 3);
	assert_string_equal(got.dirs.v[0], "one");
	assert_string_equal(got.dirs.v[2], "three");
}

static void numbers(void **state)
{
	(void)state;
	assert_string_equal(parse("--index 12"), "");
	assert_int_equal(got.index, 12);
	assert_string_equal(parse("--index=x"), "--index wants a number, not 'x'");
	assert_string_equal(parse("--index=-1"), "--index wants a number, not '-1'");
	assert_string_equal(parse("--index=2147483648"), "--index wants a number, not '2147483648'");
	assert_int_equal(got.index, -1);
}

static void wrong_use_is_named(void **state)
{
	(void)state;
	assert_string_equal(parse("--outptu json"), "unknown option --outptu; did you mean --output?");
	assert_string_equal(parse("--nonsense"), "unknown option --nonsense");
	assert_string_equal(parse("-x"), "unknown option -x");
	assert_string_equal(parse("-ax"), "unknown option -x");
	assert_string_equal(parse("--output"), "--output wants a value: FORMAT");
	assert_string_equal(parse("-o"), "-o wants a value: FORMAT");
	assert_string_equal(parse("--all=yes"), "--all takes no value");
}

static void help_shows_every_option(void **state)
{
	char text[512] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	opts_help(opts, ARRAY_LEN(opts), f);
	fclose(f);
	assert_string_equal(text, "  -a, --all                 everything\n"
	                          "  -o, --output FORMAT       how\n"
	                          "      --index N             which\n"
	                          "  -d, --dir DIR,…           where\n");
}

static int teardown(void **state)
{
	(void)state;
	opt_list_release(&got.dirs);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_and_options_mix), cmocka_unit_test(every_way_to_give_a_value),
		cmocka_unit_test(a_list_keeps_all),         cmocka_unit_test(numbers),
		cmocka_unit_test(wrong_use_is_named),       cmocka_unit_test(help_shows_every_option),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
