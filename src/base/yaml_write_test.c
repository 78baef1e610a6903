#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random_json.h"
#include "base/yaml.h"

static void written_and_read(yyjson_val *val)
{
	struct buf b = BUF_INIT(1 << 22);
	struct err e = ERR_INIT;
	struct yaml_file *y;

	yaml_write(val, &b);
	assert_false(b.overflow);
	y = yaml_parse(STR("f"), buf_str(&b), &e);
	if (!y)
		fail_msg("%s\n%s", err_msg(&e), b.p);
	if (yyjson_is_null(val))
		assert_int_equal(yaml_count(y), 0);
	else if (!json_eq(yaml_root(y, 0), val))
		fail_msg("read back as something else:\n%s", b.p);
	yaml_close(y);
	buf_release(&b);
}

static void test_random_trees(void **state)
{
	struct rng r = rng_seed(3);

	(void)state;
	for (int i = 0; i < 5000; i++) {
		CLEANUP(json_docp) yyjson_doc *doc = random_doc(&r, 5, true);

		written_and_read(yyjson_doc_get_root(doc));
	}
}

static void check(const char *json, const char *want)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(json), NULL);
	struct buf b = BUF_INIT(10000);

	assert_non_null(doc);
	yaml_write(yyjson_doc_get_root(doc), &b);
	assert_string_equal(b.p, want);
	written_and_read(yyjson_doc_get_root(doc));
	buf_release(&b);
}

static void test_shape(void **state)
{
	(void)state;
	check("{\"kind\":\"Pod\",\"metadata\":{\"labels\":{},\"name\":\"a\"},\"spec\":{\"containers\":[{\"args\":[\"--"
	      "x=1\",\"-c\"],"
	      "\"env\":[],\"name\":\"c\"},{\"name\":\"d\"}],\"nn\":null,\"t\":true,\"x\":1.5}}",
	      "kind: Pod\n"
	      "metadata:\n"
	      "  labels: {}\n"
	      "  name: a\n"
	      "spec:\n"
	      "  containers:\n"
	      "  - args:\n"
	      "    - --x=1\n"
	      "    - -c\n"
	      "    env: []\n"
	      "    name: c\n"
	      "  - name: d\n"
	      "  nn: null\n"
	      "  t: true\n"
	      "  x: 1.5\n");
	check("[[1,[2,3]],{\"a\":[[4]]}]", "- - 1\n"
	                                   "  - - 2\n"
	                                   "    - 3\n"
	                                   "- a:\n"
	                                   "  - - 4\n");
	check("[]", "[]\n");
	check("\"x\"", "x\n");
}

static void test_strings(void **state)
{
	static const struct {
		const char *json, *yaml;
	} cases[] = {
		{ "yes", "\"yes\"" },
		{ "0644", "\"0644\"" },
		{ "1e3", "\"1e3\"" },
		{ "~", "\"~\"" },
		{ "", "\"\"" },
		{ "null", "\"null\"" },
		{ "12:30", "\"12:30\"" },
		{ "2026-11-15", "\"2026-11-15\"" },
		{ "=", "\"=\"" },
		{ "<<", "\"<<\"" },
		{ ".inf", "\".inf\"" },
		{ "1_000", "\"1_000\"" },
		{ "0x1f", "\"0x1f\"" },
		{ " x", "' x'" },
		{ "x ", "'x '" },
		{ "a: b", "'a: b'" },
		{ "a:", "'a:'" },
		{ "#x", "'#x'" },
		{ "a #b", "'a #b'" },
		{ "- a", "'- a'" },
		{ "-", "'-'" },
		{ "---", "'---'" },
		{ "...", "'...'" },
		{ "*a", "'*a'" },
		{ "'a", "'''a'" },
		{ "%a", "'%a'" },
		{ "@a", "'@a'" },
		{ "[a", "'[a'" },
		{ "a b", "a b" },
		{ "it's", "it's" },
		{ "a#b", "a#b" },
		{ "a:b", "a:b" },
		{ "-x", "-x" },
		{ "--x", "--x" },
		{ "10.0.0.1", "10.0.0.1" },
		{ "500m", "500m" },
		{ "1Gi", "1Gi" },
		{ "a, b", "a, b" },
		{ "\xc3\xa4", "\xc3\xa4" },
		{ "a\\tb", "\"a\\tb\"" },
		{ "\\u0001\\u007f", "\"\\x01\\x7F\"" },
		{ "a\\r\\nb", "\"a\\r\\nb\"" },
		{ "\\u2028", "\"\\u2028\"" },
		{ "a\\u202eb", "\"a\\u202Eb\"" },
		{ "\\ufeff", "\"\\uFEFF\"" },
		{ "\\ud83f\\udffe", "\"\\U0001FFFE\"" },
		{ "a\\nb", "|-\n  a\n  b" },
		{ "a\\nb\\n", "|\n  a\n  b" },
		{ "a\\n\\n", "|+\n  a\n" },
		{ "a\\n\\n  b\\n", "|\n  a\n\n    b" },
		{ "a\\n\\tb", "|-\n  a\n  \tb" },
		{ "\\na", "\"\\na\"" },
		{ " a\\nb", "\" a\\nb\"" },
		{ "a \\nb", "\"a \\nb\"" },
		{ "\\n", "\"\\n\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf json = BUF_INIT(1000), yaml = BUF_INIT(1000);

		buf_printf(&json, "{\"k\":\"%s\",\"z\":1}", cases[i].json);
		buf_printf(&yaml, "k: %s\nz: 1\n", cases[i].yaml);
		check(json.p, yaml.p);
		buf_release(&json);
		buf_release(&yaml);
	}
	check("{\"yes\":1,\"a\\nb\":2,\"a: b\":3,\"\":4}", "\"yes\": 1\n\"a\\nb\": 2\n'a: b': 3\n\"\": 4\n");
	check("[\"a\\nb\\n\",[\"c\\nd\"]]", "- |\n  a\n  b\n- - |-\n    c\n    d\n");
	check("\"a\\nb\\n\"", "|\n  a\n  b\n");
}

/* Past 1024 characters readers want a key announced. */
static void test_long_keys(void **state)
{
	static const char *const values[] = { "1", "{\"a\":1}", "[1,2]", "\"a\\nb\"", "{}" };
	static const int lengths[] = { 999, 1000, 1001, 1023, 1024, 1025, 5000 };

	(void)state;
	for (size_t v = 0; v < ARRAY_LEN(values); v++)
		for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
			struct buf b = BUF_INIT(1 << 16);
			yyjson_doc *doc;

			buf_put(&b, STR("[{\"a\":0,\""));
			for (int i = 0; i < lengths[l]; i++)
				buf_put(&b, v % 2 ? STR("k") : STR("\\u0001"));
			buf_printf(&b, "\":%s,\"z\":0}]", values[v]);
			doc = json_parse(buf_str(&b), NULL);
			assert_non_null(doc);
			written_and_read(yyjson_doc_get_root(doc));
			yyjson_doc_free(doc);
			buf_release(&b);
		}
}

static void test_bytes_that_are_no_text(void **state)
{
	yyjson_val val = { 0 };
	struct buf b = BUF_INIT(100);

	(void)state;
	unsafe_yyjson_set_strn(&val, "a\xff", 2);
	yaml_write(&val, &b);
	assert_string_equal(b.p, "\"a\\uFFFD\"\n");
	buf_release(&b);
}

static void test_limit(void **state)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(STR("{\"key\":[\"value\",\"a\\nb\"]}"), NULL);

	(void)state;
	for (size_t max = 0; max < 20; max++) {
		struct buf b = BUF_INIT(max);

		yaml_write(yyjson_doc_get_root(doc), &b);
		assert_true(b.overflow && b.n <= max);
		buf_release(&b);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_trees),
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_long_keys),
		cmocka_unit_test(test_bytes_that_are_no_text),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
