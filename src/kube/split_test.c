#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/split.h"

typedef enum split (*split_kind)(struct splitter *, struct str, const struct split_to *);

static bool note(void *cookie, struct str text)
{
	struct buf *b = cookie;

	buf_put(b, text);
	buf_putc(b, '|');
	return !str_eqc(text, "stop");
}

/* One that was too long. */
static bool note_skipped(void *cookie, const struct skim *s)
{
	struct buf *b = cookie;
	struct str name = skim_get(s, SKIM_NAME);

	buf_printf(b, "?%.*s%.*s|", STR_F(skim_get(s, SKIM_TYPE)), STR_F(name));
	return !str_eqc(name, "stop");
}

/* Feeds TEXT in two pieces, the first CUT bytes long. */
static enum split feed(split_kind kind, struct splitter *s, struct str text, size_t cut, struct buf *out)
{
	struct split_to to = { note, note_skipped, out };
	enum split got = kind(s, str_sub(text, 0, cut), &to);

	return got == SPLIT_MORE ? kind(s, str_sub(text, cut, text.n), &to) : got;
}

struct split_case {
	const char *text, *parts;
	enum split end;
	const char *rest; /* of a list; NULL: it was not closed */
};

static void try_case(split_kind kind, const struct split_case *c)
{
	struct splitter s = splitter_make(40);
	struct buf out = BUF_INIT(1 << 16);
	struct str text = str_c(c->text);

	for (size_t cut = 0; cut <= text.n; cut++) {
		splitter_reset(&s);
		buf_clear(&out);
		assert_int_equal(feed(kind, &s, text, cut, &out), c->end);
		assert_string_equal(buf_str(&out).p, c->parts);
		assert_int_equal(s.done, c->rest != NULL);
		if (c->rest)
			assert_string_equal(buf_str(&s.rest).p, c->rest);
	}
	splitter_release(&s);
	buf_release(&out);
}

#define LONG "0123456789012345678901234567890123456789"
/* A little less than what is waited for: 16 times the 40 bytes. */
#define HUGE LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG
#define ITEM(name) "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\"},\"spec\":\"" LONG "\"}"
#define EVENT(name) "{\"type\":\"ADDED\",\"object\":" ITEM(name) "}"

static void test_lines(void **state)
{
	static const struct split_case cases[] = {
		{ "", "", SPLIT_MORE },
		{ "a", "", SPLIT_MORE },
		{ "a\nb\n", "a|b|", SPLIT_MORE },
		{ "\n\r\n \na\n\n", "a|", SPLIT_MORE },
		{ "ab\ncd", "ab|", SPLIT_MORE },
		{ "a\nstop\nb\n", "a|stop|", SPLIT_STOPPED },
		{ LONG "\n", LONG "|", SPLIT_MORE },
		/* What is too long is let go, to its end. */
		{ "a\n" LONG "x\nb\n", "a|?|b|", SPLIT_MORE },
		{ "a\n" LONG "x", "a|", SPLIT_MORE },
		{ "a\n" EVENT("n") "\n" EVENT("m") "\nb\n", "a|?ADDEDn|?ADDEDm|b|", SPLIT_MORE },
		{ EVENT("stop") "\nb\n", "?ADDEDstop|", SPLIT_STOPPED },
		/* … if it has one. */
		{ HUGE "x\nb\n", "?|b|", SPLIT_MORE },
		{ HUGE HUGE "\nb\n", "", SPLIT_TOO_LONG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		try_case(split_lines, &cases[i]);
}

static void test_lists(void **state)
{
	static const struct split_case cases[] = {
		{ "", "", SPLIT_MORE, NULL },
		{ "{}", "", SPLIT_MORE, "{}" },
		{ "{\"items\":[]}", "", SPLIT_MORE, "{\"items\":[]}" },
		{ "{\"items\":null,\"a\":[1]}", "", SPLIT_MORE, "{\"items\":null,\"a\":[1]}" },
		{ "{\"items\":[{\"a\":1},{\"b\":[2,{}]}],\"m\":{\"c\":\"t\"}}", "{\"a\":1}|{\"b\":[2,{}]}|", SPLIT_MORE,
		  "{\"items\":[],\"m\":{\"c\":\"t\"}}" },
		{ " { \"m\" : 1 , \"items\" : [ {} , [ 1 ] ] } \n", "{}|[ 1 ]|", SPLIT_MORE,
		  " { \"m\" : 1 , \"items\" : [] } \n" },
		{ "{\"items\":[{\"a\":\"]}\\\"{[\\\\\"}]}", "{\"a\":\"]}\\\"{[\\\\\"}|", SPLIT_MORE, "{\"items\":[]}" },
		{ "{\"items\":[{\"a\":\"\\n\"},{}]}", "{\"a\":\"\\n\"}|{}|", SPLIT_MORE, "{\"items\":[]}" },
		{ "{\"items\":[1,\"x,y\", null ,{}]}", "1|\"x,y\"|null|{}|", SPLIT_MORE, "{\"items\":[]}" },
		{ "{\"x\":{\"items\":[{}]}}", "", SPLIT_MORE, "{\"x\":{\"items\":[{}]}}" },
		{ "{\"a\":\"items\",\"b\":[{}]}", "", SPLIT_MORE, "{\"a\":\"items\",\"b\":[{}]}" },
		{ "{\"items\":{\"a\":[1]}}", "", SPLIT_MORE, "{\"items\":{\"a\":[1]}}" },
		{ "{\"items\":[{\"a\":1}", "{\"a\":1}|", SPLIT_MORE, NULL },
		{ "{\"items\":[{\"a\":", "", SPLIT_MORE, NULL },
		{ "{\"items\":[stop,{}]}", "stop|", SPLIT_STOPPED, NULL },
		/* What is too long is let go: in the middle, as the last one, several of them. */
		{ "{\"items\":[{},\"" LONG "\"]}", "{}|?|", SPLIT_MORE, "{\"items\":[]}" },
		{ "{\"items\":[{},\"" LONG, "{}|", SPLIT_MORE, NULL },
		{ "{\"items\":[" ITEM("a") "," ITEM("b") ",{}," ITEM("c") "],\"m\":1}", "?a|?b|{}|?c|", SPLIT_MORE,
		  "{\"items\":[],\"m\":1}" },
		/* Cut in an escape, and with a name that comes late. */
		{ "{\"items\":[{\"x\":\"\\u003c\\\\\\\"]}," LONG "\",\"metadata\":{\"name\":\"a\"}},{}]}", "?a|{}|",
		  SPLIT_MORE, "{\"items\":[]}" },
		{ "{\"items\":[" ITEM("stop") ",{}]}", "?stop|", SPLIT_STOPPED, NULL },
		{ "{\"items\":[\"" HUGE HUGE "\",{}]}", "", SPLIT_TOO_LONG, NULL },
		{ "}{\"items\":[{}]}", "{}|", SPLIT_MORE, "}{\"items\":[]}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		try_case(split_list, &cases[i]);
}

/* The list around the items is bounded, too. */
static void test_long_rest(void **state)
{
	struct splitter s = splitter_make(40);
	struct buf out = BUF_INIT(100);
	struct split_to to = { note, note_skipped, &out };
	enum split got = split_list(&s, STR("{\"a\":\""), &to);

	(void)state;
	for (size_t i = 0; got == SPLIT_MORE && i < SPLIT_REST_MAX; i++)
		got = split_list(&s, STR("ab"), &to);
	assert_int_equal(got, SPLIT_TOO_LONG);
	assert_true(s.rest.cap <= 2 * SPLIT_REST_MAX);
	splitter_release(&s);
	buf_release(&out);
}

/* One huge object does not leave its memory behind, and one that is too large takes none. */
static void test_memory(void **state)
{
	struct splitter s = splitter_make(4 << 20);
	struct buf out = BUF_INIT(8 << 20);
	struct split_to to = { note, note_skipped, &out };
	char *huge = xcalloc(1, 2 << 20);
	struct str piece = { huge, 2 << 20 };

	(void)state;
	memset(huge, 'x', 2 << 20);
	assert_int_equal(split_lines(&s, piece, &to), SPLIT_MORE);
	assert_true(s.part.cap >= 2 << 20);
	assert_int_equal(split_lines(&s, STR("\n"), &to), SPLIT_MORE);
	assert_int_equal(out.n, (2 << 20) + 1);
	assert_int_equal(s.part.cap, 0);
	buf_clear(&out);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(split_lines(&s, piece, &to), SPLIT_MORE);
		assert_true(i < 2 || s.part.cap == 0);
	}
	assert_int_equal(split_lines(&s, STR("\nb\n"), &to), SPLIT_MORE);
	assert_string_equal(out.p, "?|b|");
	free(huge);
	splitter_release(&s);
	buf_release(&out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_long_rest),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
