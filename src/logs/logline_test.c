#include "logs/logline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static char text[1 << 16];

static void prints(const struct logline_options *o, const struct logline *lines, size_t n, const char *want)
{
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct logline_printer p = logline_printer(f, o);

	for (size_t i = 0; i < n; i++)
		logline_print(&p, &lines[i]);
	logline_break(&p);
	logline_release(&p);
	fclose(f);
	assert_string_equal(text, want);
}

#define LINE(who, what, ...)                                                                                           \
	{                                                                                                              \
		.replica = STR_INIT(who), .text = STR_INIT(what), __VA_ARGS__                                          \
	}

static void names_stand_in_a_column(void **state)
{
	const struct logline lines[] = { LINE("ps-0", "one"), LINE("worker-1", "two"), LINE("ps-0", ""),
		                         LINE("ps-0", "\033[2Jraw\r") };

	(void)state;
	prints(&(struct logline_options){ 0 }, lines, ARRAY_LEN(lines),
	       "ps-0 | one\n"
	       "worker-1 | two\n"
	       "ps-0     | \n"
	       "ps-0     | \033[2Jraw\r\n");
	prints(&(struct logline_options){ .plain = true }, lines, 2, "one\ntwo\n");
}

static void names_move_no_cursor(void **state)
{
	const struct logline lines[] = { LINE("w\033[2J\n-0", "one") };

	(void)state;
	prints(&(struct logline_options){ 0 }, lines, 1, "w^[[2J^J-0 | one\n");
}

static void parts_of_a_line_are_joined_or_stand_alone(void **state)
{
	const struct logline lines[] = { LINE("a", "on", .part = true),
		                         LINE("a", "e"),
		                         LINE("a", "tw", .part = true),
		                         LINE("b", "x"),
		                         LINE("a", "o"),
		                         LINE("b", "unfinished", .part = true) };

	(void)state;
	prints(&(struct logline_options){ 0 }, lines, ARRAY_LEN(lines),
	       "a | one\n"
	       "a | tw\n"
	       "b | x\n"
	       "a | o\n"
	       "b | unfinished\n");
}

static void times_stand_before_the_text(void **state)
{
	const struct logline lines[] = { LINE("a", "x", .time = STR_INIT("2026-01-02T03:04:05Z")), LINE("a", "y") };

	(void)state;
	prints(&(struct logline_options){ .timestamps = true }, lines, 2, "a | 2026-01-02T03:04:05Z x\na | y\n");
}

static void a_replica_keeps_its_color(void **state)
{
	const struct logline lines[] = { LINE("a", "1"), LINE("b", "2", .is_stderr = true), LINE("a", "3") };

	(void)state;
	prints(&(struct logline_options){ .colors = true }, lines, 3,
	       "\033[36ma\033[0m \033[2m|\033[0m 1\n"
	       "\033[33mb\033[0m \033[31m|\033[0m 2\n"
	       "\033[36ma\033[0m \033[2m|\033[0m 3\n");
}

static void json_has_all_that_is_known(void **state)
{
	const struct logline lines[] = {
		LINE("w-1", "a \"b\"\033\xff", .time = STR_INIT("t"), .role = STR_INIT("w"), .index = 1,
		     .pod = STR_INIT("job-w-1"), .container = STR_INIT("c")),
		LINE("w-1", "x", .part = true, .role = STR_INIT("w"), .index = 1),
	};

	(void)state;
	prints(&(struct logline_options){ .json = true, .colors = true, .terminal = true }, lines, 2,
	       "{\"time\":\"t\",\"role\":\"w\",\"index\":1,\"pod\":\"job-w-1\",\"container\":\"c\","
	       "\"text\":\"a \\\"b\\\"\\u001b\xef\xbf\xbd\"}\n"
	       "{\"time\":\"\",\"role\":\"w\",\"index\":1,\"pod\":\"\",\"container\":\"\",\"text\":\"x\",\"part\":true}"
	       "\n");
}

static void expected_replicas_have_their_place(void **state)
{
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct logline_printer p = logline_printer(f, &(struct logline_options){ 0 });

	(void)state;
	logline_expect(&p, STR("worker-10"));
	logline_print(&p, &(struct logline)LINE("ps-0", "x"));
	logline_release(&p);
	fclose(f);
	assert_string_equal(text, "ps-0      | x\n");
}

static void a_terminal_is_given_nothing_that_moves_it(void **state)
{
	static const struct {
		struct str in;
		const char *plain, *colored;
		bool reset;
	} cases[] = {
		{ STR_INIT("a\tb ö"), "a\tb ö", "a\tb ö", false },
		{ STR_INIT("\033[1;31mred\033[0m"), "red", "\033[1;31mred\033[0m", true },
		{ STR_INIT("\033[38:5:1mx"), "x", "\033[38:5:1mx", true },
		{ STR_INIT("\033[2Jx\033[3A"), "^[[2Jx^[[3A", "^[[2Jx^[[3A", false },
		{ STR_INIT("\033]0;title\007"), "^[]0;title^G", "^[]0;title^G", false },
		{ STR_INIT("\033[31"), "^[[31", "^[[31", false },
		{ STR_INIT("\033"), "^[", "^[", false },
		{ STR_INIT("\xc2\x9b"
		           "2J"),
		  "\\x9b2J", "\\x9b2J", false },
		{ STR_INIT("a\bb\177\0c\nd"), "a^Hb^?^@c^Jd", "a^Hb^?^@c^Jd", false },
		{ STR_INIT("bad \xff\xc3"), "bad \xef\xbf\xbd\xef\xbf\xbd", "bad \xef\xbf\xbd\xef\xbf\xbd", false },
		{ STR_INIT("10%\r20%\r30%\r\r"), "30%", "30%", false },
		{ STR_INIT("\r"), "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf b = BUF_INIT(1000);

		assert_false(logline_harmless(&b, cases[i].in, false));
		assert_string_equal(buf_str(&b).p, cases[i].plain);
		buf_clear(&b);
		assert_int_equal(logline_harmless(&b, cases[i].in, true), cases[i].reset);
		assert_string_equal(buf_str(&b).p, cases[i].colored);
		buf_release(&b);
	}
}

static void colors_are_reset_at_the_end_of_the_line(void **state)
{
	const struct logline lines[] = { LINE("a", "\033[31mred") };

	(void)state;
	prints(&(struct logline_options){ .terminal = true, .colors = true, .plain = true }, lines, 1,
	       "\033[31mred\033[0m\n");
	prints(&(struct logline_options){ .terminal = true, .plain = true }, lines, 1, "red\n");
}

static void color_is_always_never_or_auto(void **state)
{
	struct logline_options o;
	FILE *f = tmpfile();

	(void)state;
	assert_true(logline_options_for(&o, "always", f));
	assert_true(o.colors && !o.terminal);
	assert_true(logline_options_for(&o, "never", f));
	assert_false(o.colors);
	assert_true(logline_options_for(&o, NULL, f) && logline_options_for(&o, "auto", f));
	assert_false(o.colors);
	assert_false(logline_options_for(&o, "blue", f));
	fclose(f);
}

/* A printer that writes to a terminal into TEXT, which is what came since the last call. */
static struct logline_printer at(bool terminal, FILE **f)
{
	memset(text, 0, sizeof(text));
	*f = fmemopen(text, sizeof(text), "w");
	return logline_printer(*f, &(struct logline_options){ .terminal = terminal });
}

static void wrote(FILE *f, const char *want)
{
	fflush(f);
	assert_string_equal(text, want);
	rewind(f);
	memset(text, 0, sizeof(text));
}

static void bar(struct logline_printer *p, const char *who, const char *what, bool part)
{
	logline_print(p, &(struct logline){ .replica = str_c(who), .text = str_c(what), .part = part });
}

static void one_progress_bar_is_drawn_at_once(void **state)
{
	FILE *f;
	struct logline_printer p = at(true, &f);

	(void)state;
	bar(&p, "a", "step", false);
	bar(&p, "a", "\r\033[K10%", true);
	assert_int_equal(logline_draw(&p, 1000), NEVER);
	wrote(f, "a | step\na | 10%");
	bar(&p, "a", "\r2", true);
	bar(&p, "a", "0%", true);
	assert_int_equal(logline_draw(&p, 1001), NEVER);
	wrote(f, "\r\033[Ja | 20%");
	/* Nothing new. */
	assert_int_equal(logline_draw(&p, 9000), NEVER);
	wrote(f, "");
	bar(&p, "a", "\r100%\033[A", false);
	wrote(f, "\r\033[Ja | 100%\n");
	assert_int_equal(logline_draw(&p, 9001), NEVER);
	wrote(f, "");
	logline_release(&p);
	fclose(f);
}

static void several_progress_bars_are_drawn_twice_a_second(void **state)
{
	FILE *f;
	struct logline_printer p = at(true, &f);

	(void)state;
	bar(&p, "a", "\r10%", true);
	bar(&p, "b", "\r11%", true);
	assert_int_equal(logline_draw(&p, 1000), NEVER);
	wrote(f, "a | 10%\nb | 11%");
	bar(&p, "a", "\r20%\r", true);
	assert_int_equal(logline_draw(&p, 1001), 1500);
	assert_int_equal(logline_due(&p), 1500);
	wrote(f, "");
	bar(&p, "a", "30%", true);
	assert_int_equal(logline_draw(&p, 1500), NEVER);
	wrote(f, "\r\033[1A\033[Ja | 30%\nb | 11%");
	/* A line goes above them, and they are there again. */
	bar(&p, "c", "line", false);
	assert_int_equal(logline_draw(&p, 1501), NEVER);
	wrote(f, "\r\033[1A\033[Jc | line\na | 30%\nb | 11%");
	/* Something else is written, and one that ends without a newline is a line. */
	logline_break(&p);
	wrote(f, "\r\033[1A\033[J");
	logline_end(&p, STR("b"));
	wrote(f, "b | 11%\n");
	logline_end(&p, STR_NONE);
	wrote(f, "a | 30%\n");
	logline_release(&p);
	fclose(f);
}

/* What the other stream writes meanwhile is no part of it. */
static void a_line_of_the_other_stream_stands_alone(void **state)
{
	const struct logline lines[] = { LINE("a", "\r10%", .part = true, .is_stderr = true), LINE("a", "hello"),
		                         LINE("a", "\r20%", .is_stderr = true) };
	FILE *f;
	struct logline_printer p = at(true, &f);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		logline_print(&p, &lines[i]);
	wrote(f, "a | hello\na | 20%\n");
	logline_release(&p);
	fclose(f);
	p = at(false, &f);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		logline_print(&p, &lines[i]);
	wrote(f, "a | \r10%\na | hello\na | \r20%\n");
	logline_release(&p);
	fclose(f);
}

/* What does not fit into a row would not be taken away again. */
static void a_progress_bar_fits_its_row(void **state)
{
	char long_one[200], want[128];
	FILE *f;
	struct logline_printer p = at(true, &f);

	(void)state;
	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = '\0';
	bar(&p, "a", "\r", true);
	bar(&p, "a", long_one, true);
	logline_draw(&p, 0);
	snprintf(want, sizeof(want), "a | %.75s", long_one);
	wrote(f, want);
	for (int i = 0; i < 100; i++)
		bar(&p, "a", long_one, true);
	assert_true(p.replicas);
	bar(&p, "a", "\rend", false);
	fflush(f);
	assert_true(str_has_suffix(str_c(text), STR("end\n")));
	logline_release(&p);
	fclose(f);
}

static void elsewhere_a_progress_bar_is_raw(void **state)
{
	FILE *f;
	struct logline_printer p = at(false, &f);

	(void)state;
	bar(&p, "a", "\r10%", true);
	bar(&p, "a", "\r20%", true);
	wrote(f, "a | \r10%\r20%");
	bar(&p, "a", "\n", true);
	logline_break(&p);
	wrote(f, "\n\n");
	/* Of several, whole lines. */
	bar(&p, "a", "\r10%", true);
	wrote(f, "a | \r10%");
	bar(&p, "b", "\r\033[K11%", true);
	bar(&p, "b", "\r12%", true);
	bar(&p, "a", "\r20%", false);
	bar(&p, "b", "\r13%", false);
	wrote(f, "\r20%\nb | \r\033[K11%\r12%\r13%\n");
	bar(&p, "b", "\r14%", true);
	logline_end(&p, STR_NONE);
	wrote(f, "b | \r14%\n");
	assert_int_equal(logline_draw(&p, 0), NEVER);
	logline_release(&p);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_progress_bar_is_drawn_at_once),
		cmocka_unit_test(several_progress_bars_are_drawn_twice_a_second),
		cmocka_unit_test(a_line_of_the_other_stream_stands_alone),
		cmocka_unit_test(a_progress_bar_fits_its_row),
		cmocka_unit_test(elsewhere_a_progress_bar_is_raw),
		cmocka_unit_test(names_stand_in_a_column),
		cmocka_unit_test(names_move_no_cursor),
		cmocka_unit_test(parts_of_a_line_are_joined_or_stand_alone),
		cmocka_unit_test(times_stand_before_the_text),
		cmocka_unit_test(a_replica_keeps_its_color),
		cmocka_unit_test(json_has_all_that_is_known),
		cmocka_unit_test(expected_replicas_have_their_place),
		cmocka_unit_test(a_terminal_is_given_nothing_that_moves_it),
		cmocka_unit_test(colors_are_reset_at_the_end_of_the_line),
		cmocka_unit_test(color_is_always_never_or_auto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
