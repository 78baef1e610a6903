#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/random_json.h"

static yyjson_doc *parse(const char *text)
{
	struct err e = ERR_INIT;
	yyjson_doc *doc = json_parse(str_c(text), &e);

	if (!doc)
		fail_msg("%s: %s", text, err_msg(&e));
	return doc;
}

static void refuse(struct str text, enum err_code code, const char *message)
{
	struct err e = ERR_INIT;

	assert_null(json_parse(text, &e));
	assert_string_equal(err_msg(&e), message);
	assert_int_equal(e.code, code);
	err_release(&e);
}

static void test_parse_errors(void **state)
{
	(void)state;
	refuse(STR(""), ERR_INVALID, "line 1, column 1: empty text");
	refuse(STR_NONE, ERR_INVALID, "line 1, column 1: empty text");
	refuse(STR("{\n  \"\xc3\xa4\": x}"), ERR_INVALID,
	       "line 2, column 8: unexpected character, expected a valid JSON value");
	refuse(STR("{\"a\":1,\"b\":2,\"a\":3}"), ERR_INVALID, "duplicate key \"a\" in one object");
	refuse(STR("[{\"b\":{\"x\\n\":1,\"x\\u000a\":3}}]"), ERR_INVALID, "duplicate key \"x\\n\" in one object");
	assert_null(json_parse(STR("{\"a\":1"), NULL));
	assert_null(json_parse(STR("[1,]"), NULL));
	assert_null(json_parse(STR("[1] 2"), NULL));
	assert_null(json_parse(STR("\"\xff\""), NULL));
	assert_null(json_parse(STR("\"\\ud800\""), NULL));
	assert_null(json_parse(STR("[1e999]"), NULL));
	assert_null(json_parse(STR("[NaN]"), NULL));
	assert_null(json_parse(STR("// c\n1"), NULL));
}

static void test_duplicate_among_many(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	yyjson_doc *doc;

	(void)state;
	buf_putc(&b, '{');
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "\"k%d\":0,", i);
	buf_put(&b, STR("\"z\":0}"));
	doc = json_parse(buf_str(&b), NULL);
	assert_non_null(doc);
	yyjson_doc_free(doc);
	b.n--;
	buf_put(&b, STR(",\"k500\":0}"));
	refuse(buf_str(&b), ERR_INVALID, "duplicate key \"k500\" in one object");
	buf_release(&b);
}

static void nest(struct buf *b, int depth)
{
	buf_clear(b);
	for (int i = 0; i < depth; i++)
		buf_put(b, i % 2 ? STR("{\"a\":") : STR("[1,"));
	buf_putc(b, '1');
	for (int i = depth; i-- > 0;)
		buf_putc(b, i % 2 ? '}' : ']');
}

static void test_depth(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	yyjson_doc *doc;

	(void)state;
	nest(&b, JSON_MAX_DEPTH);
	doc = json_parse(buf_str(&b), NULL);
	assert_non_null(doc);
	yyjson_doc_free(doc);
	nest(&b, JSON_MAX_DEPTH + 1);
	refuse(buf_str(&b), ERR_LIMIT, "nested more than 200 deep");
	nest(&b, 10000);
	refuse(buf_str(&b), ERR_LIMIT, "nested more than 200 deep");
	buf_release(&b);
	/* Many beside each other are not deep. */
	doc = parse("[[],[],{},{\"a\":[]},[[[]]],[]]");
	yyjson_doc_free(doc);
}

static void test_get(void **state)
{
	CLEANUP(json_docp) yyjson_doc *doc = parse("{\"a\":{\"b\":{\"c\":\"x\\u0000y\"}},\"n\":7}");
	yyjson_val *root = yyjson_doc_get_root(doc);

	(void)state;
	assert_true(str_eq(json_str(json_at(root, "a", "b", "c", NULL)), STR("x\0y")));
	assert_null(json_at(root, "a", "x", "c", NULL));
	assert_null(json_at(root, "n", "x", NULL));
	assert_ptr_equal(json_at(root, NULL), root);
	assert_null(json_at(NULL, "a", NULL));
	assert_null(json_get(NULL, "a"));
	assert_null(json_get(json_get(root, "n"), "a"));
	assert_null(json_get_str(root, STR_NONE));
	assert_non_null(json_get_str(root, str_sub(STR("ab"), 0, 1)));
	assert_int_equal(json_str(json_get(root, "n")).n, 0);
	assert_int_equal(json_str(NULL).n, 0);
}

/* A list and an object have a length, too: it is not that of a text. */
static void test_text_of_anything(void **state)
{
	CLEANUP(json_docp)
	yyjson_doc *doc = parse("[[\"a\",\"b\"],{\"a\":\"b\"},null,true,7,0.5,\"\",\"x\\u0000y\"]");
	CLEANUP(json_mut_docp) yyjson_mut_doc *mut = yyjson_doc_mut_copy(doc, NULL);
	yyjson_val *root = yyjson_doc_get_root(doc);
	yyjson_mut_val *mut_root = yyjson_mut_doc_get_root(mut);
	size_t n = yyjson_arr_size(root);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct str want = i == n - 1 ? STR("x\0y") : STR_NONE;

		assert_true(str_eq(json_str(yyjson_arr_get(root, i)), want));
		assert_true(str_eq(json_mut_text(yyjson_mut_arr_get(mut_root, i)), want));
	}
	assert_int_equal(json_mut_text(NULL).n, 0);
}

static void test_int(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} cases[] = {
		{ "[0]", true, 0 },
		{ "[-5]", true, -5 },
		{ "[1.0]", true, 1 },
		{ "[-2e3]", true, -2000 },
		{ "[9223372036854775807]", true, INT64_MAX },
		{ "[-9223372036854775808]", true, INT64_MIN },
		{ "[-9223372036854775808.0]", true, INT64_MIN },
		{ "[9223372036854775808]", false, 0 },
		{ "[9223372036854775808.0]", false, 0 },
		{ "[1e300]", false, 0 },
		{ "[1.5]", false, 0 },
		{ "[\"1\"]", false, 0 },
		{ "[true]", false, 0 },
		{ "[null]", false, 0 },
		{ "[]", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(json_docp) yyjson_doc *doc = parse(cases[i].text);
		int64_t v = 99;

		if (json_int(yyjson_arr_get_first(yyjson_doc_get_root(doc)), &v) != cases[i].ok)
			fail_msg("%s", cases[i].text);
		assert_int_equal(v, cases[i].ok ? cases[i].want : 99);
	}
}

static void test_type_names(void **state)
{
	static const char *const want[] = { "null",     "a boolean", "a boolean", "a number",
		                            "a number", "a string",  "a list",    "an object" };
	CLEANUP(json_docp) yyjson_doc *doc = parse("[null,true,false,1,1.5,\"\",[],{}]");
	yyjson_val *val;
	size_t i, max;

	(void)state;
	yyjson_arr_foreach(yyjson_doc_get_root(doc), i, max, val) assert_string_equal(json_type_name(val), want[i]);
	assert_string_equal(json_type_name(NULL), "nothing");
}

static void test_eq(void **state)
{
	static const struct {
		const char *a, *b;
		bool eq;
	} cases[] = {
		{ "1", "1.0", true },
		{ "-1", "-1.0", true },
		{ "1", "2", false },
		{ "1", "1.5", false },
		{ "18446744073709551615", "18446744073709551615", true },
		{ "18446744073709551615", "18446744073709551614", false },
		{ "18446744073709551615", "-1", false },
		{ "9223372036854775808", "9223372036854775808.0", true },
		{ "9223372036854775809", "9223372036854775808.0", false },
		{ "18446744073709551615", "18446744073709551616.0", false },
		{ "1", "\"1\"", false },
		{ "0", "false", false },
		{ "true", "false", false },
		{ "true", "true", true },
		{ "null", "null", true },
		{ "null", "false", false },
		{ "\"a\"", "\"b\"", false },
		{ "[1,2]", "[1,2]", true },
		{ "[1,2]", "[2,1]", false },
		{ "[1,2]", "[1,2,3]", false },
		{ "[[1],{\"a\":[2]},3]", "[[1],{\"a\":[2]},3]", true },
		{ "[[1],{\"a\":[2]},3]", "[[1],{\"a\":[3]},3]", false },
		{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
		{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"c\":1}", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
		{ "{}", "[]", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(json_docp) yyjson_doc *a = parse(cases[i].a);
		CLEANUP(json_docp) yyjson_doc *b = parse(cases[i].b);

		if (json_eq(yyjson_doc_get_root(a), yyjson_doc_get_root(b)) != cases[i].eq ||
		    json_eq(yyjson_doc_get_root(b), yyjson_doc_get_root(a)) != cases[i].eq)
			fail_msg("%s == %s", cases[i].a, cases[i].b);
	}
	assert_true(json_eq(NULL, NULL));
}

static void test_write(void **state)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *obj = yyjson_mut_obj(doc);
	struct buf b = BUF_INIT(1000);
	char key[] = "key";

	(void)state;
	json_mut_put(doc, obj, str_c(key), json_mut_str(doc, STR("a\"\xff\n")));
	key[0] = 'x'; /* the tree has its own copy */
	json_mut_put(doc, obj, STR("gone"), yyjson_mut_int(doc, 1));
	json_mut_put(doc, obj, STR("gone"), yyjson_mut_real(doc, 1.0 / 0.0));
	json_mut_put(doc, obj, STR("none"), json_mut_str(doc, STR_NONE));
	json_write(obj, &b);
	assert_string_equal(b.p, "{\"key\":\"a\\\"\xef\xbf\xbd\\n\",\"gone\":null,\"none\":\"\"}");
	buf_clear(&b);
	{
		CLEANUP(json_docp) yyjson_doc *d = parse("{ \"a\" : [ 1, 2.5, \"x\" ] }");

		buf_put(&b, STR("> "));
		json_write_val(yyjson_doc_get_root(d), &b);
		assert_string_equal(b.p, "> {\"a\":[1,2.5,\"x\"]}");
	}
	buf_release(&b);
}

static void test_random_written_and_read(void **state)
{
	struct rng r = rng_seed(1);
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		CLEANUP(json_docp) yyjson_doc *doc = random_doc(&r, 4, true);
		CLEANUP(json_docp) yyjson_doc *back = NULL;

		buf_clear(&b);
		json_write_val(yyjson_doc_get_root(doc), &b);
		back = parse(b.p);
		if (!json_eq(yyjson_doc_get_root(doc), yyjson_doc_get_root(back)))
			fail_msg("round %d: %s", i, b.p);
	}
	buf_release(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_errors),
		cmocka_unit_test(test_duplicate_among_many),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_text_of_anything),
		cmocka_unit_test(test_int),
		cmocka_unit_test(test_type_names),
		cmocka_unit_test(test_eq),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_random_written_and_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
