#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/yaml.h"

#include <unistd.h>

/* Each document as compact JSON, one in a line. */
static void check(const char *text, const char *want)
{
	struct err e = ERR_INIT;
	CLEANUP(yaml_closep) struct yaml_file *y = yaml_parse(STR("f"), str_c(text), &e);
	struct buf b = BUF_INIT(1 << 20);

	if (!y) {
		fail_msg("%s: %s", text, err_msg(&e));
		return;
	}
	for (size_t i = 0; i < yaml_count(y); i++) {
		if (i)
			buf_putc(&b, '\n');
		json_write_val(yaml_root(y, i), &b);
	}
	if (!str_eqc(buf_str(&b), want))
		fail_msg("%s: got %s, want %s", text, buf_str(&b).p, want);
	assert_null(yaml_root(y, yaml_count(y)));
	buf_release(&b);
}

static void refuse_str(struct str text, const char *want)
{
	struct err e = ERR_INIT;

	if (yaml_parse(STR("f"), text, &e))
		fail_msg("taken: %.*s", STR_F(text));
	if (strcmp(err_msg(&e), want) != 0)
		fail_msg("%.*s: got %s, want %s", STR_F(str_sub(text, 0, 200)), err_msg(&e), want);
	assert_true(e.code == ERR_INVALID || e.code == ERR_LIMIT);
	err_release(&e);
}

static void refuse(const char *text, const char *want)
{
	refuse_str(str_c(text), want);
}

static void test_documents(void **state)
{
	(void)state;
	check("", "");
	check("# only a comment\n", "");
	check("---\n---\n# x\n---\nnull\n---\n~\n...\n", "");
	check("a: 1\n---\n---\nb: 2\n--- # note\n- c\n...\n", "{\"a\":1}\n{\"b\":2}\n[\"c\"]");
	check("\xef\xbb\xbf"
	      "a: 1\r\nb: |\r\n  x\r\n  y\r\n",
	      "{\"a\":1,\"b\":\"x\\ny\\n\"}");
	check("just text", "\"just text\"");
	check("%YAML 1.1\n---\na: 1\n", "{\"a\":1}");
	check("{\n\t\"a\":\t[1, 2.5, \"x\\/\", null, true], \"b\":{}\n}\n",
	      "{\"a\":[1,2.5,\"x/\",null,true],\"b\":{}}");
}

static void test_json_is_read_as_json(void **state)
{
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	/* None of these is YAML to libyaml. */
	check(" {\"a\": \"\\ud83d\\ude00\"}", "{\"a\":\"\xf0\x9f\x98\x80\"}");
	check("{\"a\": \"x\xe2\x80\xa8y\"}", "{\"a\":\"x\xe2\x80\xa8y\"}");
	check("{\"a\": \"\x7f\"}", "{\"a\":\"\x7f\"}");
	buf_put(&b, STR("{\""));
	for (int i = 0; i < 2000; i++)
		buf_putc(&b, 'k');
	buf_put(&b, STR("\":1}"));
	check(b.p, b.p);
	buf_release(&b);
	/* And this is YAML, though it begins like JSON. */
	check("{a: b, c: [d]}", "{\"a\":\"b\",\"c\":[\"d\"]}");
	check("{\"a\": 1}\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}");
	refuse("{\"a\": 1, \"a\": 2}", "f:1:10: duplicate key \"a\" in this map (first in line 1)");
}

static void test_scalars(void **state)
{
	static const struct {
		const char *plain, *json;
	} cases[] = {
		{ "", "null" },
		{ "~", "null" },
		{ "null", "null" },
		{ "Null", "null" },
		{ "NULL", "null" },
		{ "nULL", "\"nULL\"" },
		{ "y", "true" },
		{ "Y", "true" },
		{ "yes", "true" },
		{ "Yes", "true" },
		{ "YES", "true" },
		{ "on", "true" },
		{ "On", "true" },
		{ "ON", "true" },
		{ "true", "true" },
		{ "True", "true" },
		{ "TRUE", "true" },
		{ "yEs", "\"yEs\"" },
		{ "n", "false" },
		{ "N", "false" },
		{ "no", "false" },
		{ "No", "false" },
		{ "NO", "false" },
		{ "off", "false" },
		{ "Off", "false" },
		{ "OFF", "false" },
		{ "false", "false" },
		{ "False", "false" },
		{ "FALSE", "false" },
		{ "0", "0" },
		{ "-1", "-1" },
		{ "+1", "1" },
		{ "0644", "420" },
		{ "-010", "-8" },
		{ "08", "8" },
		{ "0o17", "15" },
		{ "0x1F", "31" },
		{ "0X1f", "31" },
		{ "-0x10", "-16" },
		{ "0b101", "5" },
		{ "-0b11", "-3" },
		{ "0x", "\"0x\"" },
		{ "0xg", "\"0xg\"" },
		{ "0b2", "\"0b2\"" },
		{ "1_000", "1000" },
		{ "-_1", "-1" },
		{ "_1", "\"_1\"" },
		{ "0x_ff", "255" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "9223372036854775808", "9223372036854775808" },
		{ "-9223372036854775808", "-9223372036854775808" },
		{ "18446744073709551615", "18446744073709551615" },
		{ "18446744073709551616", "18446744073709552000.0" },
		{ "-9223372036854775809", "-9223372036854776000.0" },
		{ "+18446744073709551615", "18446744073709552000.0" },
		{ "0xFFFFFFFFFFFFFFFF", "18446744073709551615" },
		{ "0x10000000000000000", "\"0x10000000000000000\"" },
		{ "1.5", "1.5" },
		{ "1.", "1" },
		{ ".5", "0.5" },
		{ "-.5", "-0.5" },
		{ "1e3", "1000" },
		{ "1E-3", "0.001" },
		{ "1_0.5", "10.5" },
		{ ".5_5", "0.55" },
		{ "._5", "\"._5\"" },
		{ "1e", "\"1e\"" },
		{ ".", "\".\"" },
		{ "-", "[null]" },
		{ "-.", "\"-.\"" },
		{ "+", "\"+\"" },
		{ "1.2.3", "\"1.2.3\"" },
		{ "1e999", "\"1e999\"" },
		{ "1e-999", "0" },
		{ "1e22", "1e22" },
		{ "0x1p3", "\"0x1p3\"" },
		{ "inf", "\"inf\"" },
		{ "nan", "\"nan\"" },
		{ "2001-01-01", "\"2001-01-01\"" },
		{ "2001-12-14t21:59:43.10-05:00", "\"2001-12-14t21:59:43.10-05:00\"" },
		{ "1:30", "\"1:30\"" },
		{ "500m", "\"500m\"" },
		{ "10.0.0.1", "\"10.0.0.1\"" },
		{ "a:b", "\"a:b\"" },
		{ "'1'", "\"1\"" },
		{ "\"yes\"", "\"yes\"" },
		{ "''", "\"\"" },
		{ "'it''s'", "\"it's\"" },
		{ "\"\\x41\\u00e4\\n\\0\"", "\"A\xc3\xa4\\n\\u0000\"" },
		{ "!!str 1", "\"1\"" },
		{ "!!str", "\"\"" },
		{ "!!int \"12\"", "12" },
		{ "!!float 1", "1" },
		{ "!!float 0.5", "0.5" },
		{ "!!bool 'yes'", "true" },
		{ "!!null ''", "null" },
		{ "! 1", "\"1\"" },
		{ "!!map {}", "{}" },
		{ "!!seq []", "[]" },
		{ "! [1]", "[1]" },
		{ "!!binary aGVsbG8=", "\"hello\"" },
		{ "!!binary YQ==", "\"a\"" },
		{ "!!binary ''", "\"\"" },
		{ "!!binary \"aGVs\\nbG8=\"", "\"hello\"" },
		{ "|\n  a\n   b\n\n", "\"a\\n b\\n\"" },
		{ "|-\n  a\n", "\"a\"" },
		{ "|+\n  a\n\n", "\"a\\n\\n\"" },
		{ ">\n  a\n  b\n\n  c\n", "\"a b\\nc\\n\"" },
		{ "one\n  two", "\"one two\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf text = BUF_INIT(1000), want = BUF_INIT(1000);

		buf_printf(&text, "a: %s", cases[i].plain);
		buf_printf(&want, "{\"a\":%s}", cases[i].json);
		/* "a: -" is no list, but "a:\n-" is. */
		if (strcmp(cases[i].plain, "-") == 0) {
			buf_clear(&text);
			buf_put(&text, STR("a:\n-"));
		}
		check(text.p, want.p);
		buf_release(&text);
		buf_release(&want);
	}
}

static void test_scalar_errors(void **state)
{
	(void)state;
	refuse("a: .nan", "f:1:4: JSON has no infinity and no NaN");
	refuse("a: -.Inf", "f:1:4: JSON has no infinity and no NaN");
	refuse(".inf", "f:1:1: JSON has no infinity and no NaN");
	refuse("a: !!int 1.5", "f:1:4: !!int needs a whole number");
	refuse("a: !!int x", "f:1:4: !!int needs a whole number");
	refuse("a: !!float x", "f:1:4: !!float needs a number");
	refuse("a: !!float 18446744073709551615", "f:1:4: !!float needs a number");
	refuse("a: !!bool 1", "f:1:4: !!bool needs true or false");
	refuse("a: !!null x", "f:1:4: !!null needs null");
	refuse("a: !!binary YQ", "f:1:4: !!binary needs base64");
	refuse("a: !!binary Y===", "f:1:4: !!binary needs base64");
	refuse("a: !!binary YQ=a", "f:1:4: !!binary needs base64");
	refuse("a: !!binary \"YQ==\\0\"", "f:1:4: !!binary needs base64");
	refuse("a: !!binary /w==", "f:1:4: !!binary that is not text cannot be written as JSON");
	refuse("a: !mine x", "f:1:4: unknown tag");
	refuse("a: !!timestamp 2001-01-01", "f:1:4: unknown tag");
	refuse("a: !!map x", "f:1:4: this tag is not for a single value");
	refuse("a: !!seq {}", "f:1:4: this tag is not for a map");
	refuse("a: !!str [1]", "f:1:4: this tag is not for a list");
	refuse("a: !x!y z", "f:1:4: unknown tag");
}

static void test_keys(void **state)
{
	(void)state;
	check("1: a\n0x10: b\ntrue: c\nno: d\n1.5: e\n'x': f\n2001-01-01: g\n",
	      "{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\",\"false\":\"d\",\"1.5\":\"e\",\"x\":\"f\",\"2001-01-01\":"
	      "\"g\"}");
	check("1e3: a\n1e10: b\n0.0001: c\n0.00001: d\n3.14159265358979: e\n.inf: f\n",
	      "{\"1000\":\"a\",\"1e+10\":\"b\",\"0.0001\":\"c\",\"1e-05\":\"d\",\"3.1415927\":\"e\",\".inf\":\"f\"}");
}

static void test_key_errors(void **state)
{
	(void)state;
	refuse("a: 1\nb: 2\na: 3\n", "f:3:1: duplicate key \"a\" in this map (first in line 1)");
	refuse("- x:\n    1: a\n    '1': b\n", "f:3:5: duplicate key \"1\" in this map (first in line 2)");
	refuse("{a: 1, \"a\": 2}", "f:1:8: duplicate key \"a\" in this map (first in line 1)");
	refuse("~: a", "f:1:1: a key cannot be null");
	refuse("? \n: a", "f:1:2: a key cannot be null");
	refuse("18446744073709551615: a", "f:1:1: a number this large cannot be a key: put it in quotes");
	refuse("? [a]\n: b", "f:1:3: a list cannot be a key");
	refuse("{a: b}: c", "f:1:1: a map cannot be a key");
	refuse("a: &x [1]\n*x : 2\n", "f:2:1: a list cannot be a key");
}

static void test_duplicate_among_many(void **state)
{
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "k%d: 0\n", i);
	buf_put(&b, STR("k500: 1\n"));
	refuse(b.p, "f:1001:1: duplicate key \"k500\" in this map (first in line 501)");
	buf_release(&b);
}

static void test_aliases(void **state)
{
	(void)state;
	check("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n",
	      "{\"a\":{\"b\":[1]},\"c\":{\"b\":[1]},\"d\":[{\"b\":[1]},{\"b\":[1]}]}");
	check("a: &x 1\nb: &x two\nc: *x\n*x : 3\n", "{\"a\":1,\"b\":\"two\",\"c\":\"two\",\"two\":3}");
	check("&k key: &v\nb: *k\nc: *v\n", "{\"key\":null,\"b\":\"key\",\"c\":null}");
	refuse("a: *x\n", "f:1:4: there is no anchor &x before this alias");
	refuse("a: &x 1\n---\nb: *x\n", "f:3:4: there is no anchor &x before this alias");
	refuse("a: &x [1, *x]\n", "f:1:11: anchor &x contains itself");
	refuse("a: &x\n  b:\n    c: *x\n", "f:3:8: anchor &x contains itself");
}

static void test_merge(void **state)
{
	(void)state;
	check("x: &x {a: 1, b: 2}\np: {<<: *x, b: 3, c: 4}\n",
	      "{\"x\":{\"a\":1,\"b\":2},\"p\":{\"b\":3,\"c\":4,\"a\":1}}");
	/* A map's own keys win also where they stand before. */
	check("x: &x {a: 1, b: 2}\np: {b: 3, <<: *x}\n", "{\"x\":{\"a\":1,\"b\":2},\"p\":{\"b\":3,\"a\":1}}");
	check("x: &x {a: 1}\np: &p {a: 2, b: 2}\nz: {<<: [*x, *p, {b: 3, c: 3}]}\n",
	      "{\"x\":{\"a\":1},\"p\":{\"a\":2,\"b\":2},\"z\":{\"a\":1,\"b\":2,\"c\":3}}");
	check("x: &x {a: 1}\np: &p {a: 2}\nz:\n  <<: *x\n  <<: *p\n",
	      "{\"x\":{\"a\":1},\"p\":{\"a\":2},\"z\":{\"a\":2}}");
	check("x: &x {a: 1}\np: &p {<<: *x, b: 2}\nz: {<<: *p}\n",
	      "{\"x\":{\"a\":1},\"p\":{\"b\":2,\"a\":1},\"z\":{\"b\":2,\"a\":1}}");
	check("x: {<<: {a: 1}}\np: {<<: []}\n", "{\"x\":{\"a\":1},\"p\":{}}");
	check("x: {'<<': 1}\n", "{\"x\":{\"<<\":1}}");
	check("x: <<\n", "{\"x\":\"<<\"}");
	refuse("x: {<<: 1}", "f:1:5: \"<<\" merges a map or a list of maps, and this is neither");
	refuse("x: {<<: [{a: 1}, 2]}", "f:1:18: \"<<\" merges a map or a list of maps, and this is neither");
	refuse("x: &x [1]\np: {<<: *x}", "f:2:9: \"<<\" merges a map, and *x is not a map");
	refuse("x: &x {a: 1}\np: {<<: *x, b: 1, b: 2}", "f:2:19: duplicate key \"b\" in this map (first in line 2)");
}

static void test_syntax_errors(void **state)
{
	(void)state;
	refuse("a:\n\t- 1\n", "f:2:1: a tab cannot indent: use spaces");
	refuse("a: b: c\n", "f:1:5: unexpected ':': put the value in quotes, or fix the indentation");
	refuse("a: @x\n", "f:1:4: a value cannot begin with @: put it in quotes");
	refuse("a: `x`\n", "f:1:4: a value cannot begin with `: put it in quotes");
	refuse("a: \"\\z\"\n", "f:1:5: unknown escape in a double-quoted string: write \\\\ for a backslash");
	refuse("a: - b\n", "f:1:4: a list cannot begin here: put it on the next line");
	refuse("a: \x01\n", "f:1:4: not UTF-8 text: control characters are not allowed");
	refuse("a: 1\n\xc3\xa4\xc3\xa4: \xff\n", "f:2:5: not UTF-8 text: invalid leading UTF-8 octet");
	refuse_str(STR("a: b\0c"), "f:1:5: not UTF-8 text: control characters are not allowed");
	refuse("a: [1, 2\nb: 3\n",
	       "f:2:2: expected ',' or ']' in a list (while parsing a flow sequence that begins in line 1)");
	refuse("a: 'x\n",
	       "f:2:1: the file ends inside a quoted string (while scanning a quoted scalar that begins in line 1)");
}

static void test_truncated(void **state)
{
	static const char text[] = "# job\napiVersion: v1\nmetadata: {name: \"x\\u00e4\", labels: {a: 'b'}}\nspec:\n"
				   "  - &a !!str x\n  - *a\n  - |\n    block\n  - ? k\n    : <<\n  - <<: {a: [1, "
				   "2.5]}\n...\n---\n- 0x1f\n";

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		struct err e = ERR_INIT;
		struct yaml_file *y = yaml_parse(STR("f"), (struct str){ text, n }, &e);

		if (!y)
			assert_true(str_has_prefix(str_c(err_msg(&e)), STR("f:")));
		yaml_close(y);
		err_release(&e);
	}
}

static void test_depth(void **state)
{
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	for (int i = 0; i < YAML_MAX_DEPTH; i++)
		buf_putc(&b, '[');
	for (int i = 0; i < YAML_MAX_DEPTH; i++)
		buf_putc(&b, ']');
	check(b.p, b.p);
	buf_clear(&b);
	for (int i = 0; i < 10000; i++)
		buf_putc(&b, '[');
	refuse(b.p, "f:1:201: nested more than 200 deep");
	buf_clear(&b);
	for (int i = 0; i < 10000; i++)
		buf_put(&b, STR("- "));
	refuse(b.p, "f:1:401: nested more than 200 deep");
	buf_clear(&b);
	for (int i = 0; i < 300; i++)
		buf_printf(&b, "%*s\n", i + 2, "a:");
	refuse(b.p, "f:201:201: nested more than 200 deep");
	/* Each line is two deep, and holds the one before. */
	buf_clear(&b);
	buf_put(&b, STR("- &a0 [1]\n"));
	for (int i = 1; i < 300; i++)
		buf_printf(&b, "- &a%d [*a%d]\n", i, i - 1);
	refuse(b.p, "f:200:10: nested more than 200 deep, with what aliases expand to");
	buf_release(&b);
}

static void test_alias_bombs(void **state)
{
	struct buf b = BUF_INIT(1 << 22);

	(void)state;
	buf_put(&b, STR("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"));
	for (int i = 1; i < 30; i++) {
		buf_printf(&b, "a%d: &a%d [", i, i);
		for (int j = 0; j < 10; j++)
			buf_printf(&b, "%s*a%d", j ? ", " : "", i - 1);
		buf_put(&b, STR("]\n"));
	}
	refuse(b.p, "f:6:45: more than 1000000 values, with what aliases expand to");
	/* Few values, but long ones. */
	buf_clear(&b);
	buf_put(&b, STR("a: &a "));
	for (int i = 0; i < 100000; i++)
		buf_putc(&b, 'x');
	buf_put(&b, STR("\nb:\n"));
	for (int i = 0; i < 1000; i++)
		buf_put(&b, STR("- *a\n"));
	refuse(b.p, "f:337:3: more than 32 MiB of text, with what aliases expand to");
	/* Merging costs what it copies. */
	buf_clear(&b);
	buf_put(&b, STR("- &m {"));
	for (int i = 0; i < 2000; i++)
		buf_printf(&b, "k%d: 1,", i);
	buf_put(&b, STR("}\n"));
	for (int i = 0; i < 2000; i++)
		buf_put(&b, STR("- <<: *m\n"));
	refuse(b.p, "f:250:7: more than 1000000 values, with what aliases expand to");
	buf_clear(&b);
	for (int i = 0; i < 10001; i++)
		buf_printf(&b, "- &a%d\n", i);
	refuse(b.p, "f:10001:3: more than 10000 anchors");
	buf_release(&b);
}

static void test_many_values(void **state)
{
	struct buf b = BUF_INIT(1 << 22);

	(void)state;
	buf_putc(&b, '[');
	for (int i = 0; i < YAML_MAX_NODES; i++)
		buf_put(&b, STR("1,"));
	refuse(b.p, "f:1:2000000: more than 1000000 values, with what aliases expand to");
	/* JSON is no way round it. */
	buf_clear(&b);
	buf_put(&b, STR("{\"a\":["));
	for (int i = 0; i < YAML_MAX_NODES; i++)
		buf_put(&b, STR("1,"));
	buf_put(&b, STR("1]}"));
	refuse(b.p, "f:1:2000001: more than 1000000 values, with what aliases expand to");
	buf_release(&b);
}

/* A hole of 100 MB in a file that goes away by itself. */
static void test_large_file(void **state)
{
	char path[] = "/tmp/yaml_test.XXXXXX";
	struct err e = ERR_INIT;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 100 << 20), 0);
	assert_null(yaml_read(path, &e));
	assert_int_equal(e.code, ERR_LIMIT);
	assert_non_null(strstr(err_msg(&e), ": larger than 16 MiB"));
	/* Nothing was read of it. */
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
	unlink(path);
	err_release(&e);
	assert_null(yaml_read("/dev/zero", &e));
	assert_string_equal(err_msg(&e), "/dev/zero: larger than 16 MiB");
	assert_null(yaml_parse(STR("f"), (struct str){ "", YAML_MAX_BYTES + 1 }, &e));
	assert_string_equal(err_msg(&e), "f: larger than 16 MiB");
	err_release(&e);
}

static void test_read(void **state)
{
	char path[] = "/tmp/yaml_test.XXXXXX";
	struct err e = ERR_INIT;
	int fd = mkstemp(path), old = dup(STDIN_FILENO);
	struct yaml_file *y;

	(void)state;
	assert_true(fd >= 0 && old >= 0);
	assert_int_equal(write(fd, "a: 1\n", 5), 5);
	y = yaml_read(path, &e);
	assert_non_null(y);
	assert_int_equal(yyjson_get_int(json_get(yaml_root(y, 0), "a")), 1);
	yaml_close(y);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_true(dup2(fd, STDIN_FILENO) >= 0);
	y = yaml_read("-", &e);
	assert_non_null(y);
	assert_int_equal(yaml_count(y), 1);
	yaml_close(y);
	assert_int_equal(pwrite(fd, "[a: 1", 5, 0), 5);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_null(yaml_read("-", &e));
	assert_true(str_has_prefix(str_c(err_msg(&e)), STR("stdin:2:1: ")));
	assert_true(dup2(old, STDIN_FILENO) >= 0);
	close(old);
	close(fd);
	unlink(path);
	assert_null(yaml_read("/nowhere/x.yaml", &e));
	assert_string_equal(err_msg(&e), "/nowhere/x.yaml: No such file or directory");
	assert_int_equal(e.code, ERR_IO);
	assert_null(yaml_read("/tmp", &e));
	assert_string_equal(err_msg(&e), "/tmp: Is a directory");
	err_release(&e);
}

static void test_where(void **state)
{
	static const char text[] = "# a job\n"                   /* 1 */
				   "metadata:\n"                 /* 2 */
				   "  annotations:\n"            /* 3 */
				   "    a.b/c: x\n"              /* 4 */
				   "    'q\"[1]\\': y\n"         /* 5 */
				   "spec:\n"                     /* 6 */
				   "  replicaSpecs:\n"           /* 7 */
				   "  - &w {template: {a: 1}}\n" /* 8 */
				   "  - <<: *w\n"                /* 9 */
				   "    replicas: 3\n"           /* 10 */
				   "  -   - deep\n"              /* 11 */
				   "---\n"                       /* 12 */
				   "- 1\n";                      /* 13 */
	static const struct {
		size_t doc;
		const char *path;
		size_t line, column;
	} cases[] = {
		{ 0, "", 2, 1 },
		{ 0, "metadata", 2, 1 },
		{ 0, "spec.replicaSpecs", 7, 3 },
		{ 0, "spec.replicaSpecs[0]", 8, 5 },
		{ 0, "spec.replicaSpecs[0].template.a", 8, 20 },
		{ 0, "spec.replicaSpecs[1].replicas", 10, 5 },
		{ 0, "spec.replicaSpecs[1].template", 8, 9 },
		{ 0, "spec.replicaSpecs[2][0]", 11, 9 },
		{ 0, "metadata.annotations[\"a.b/c\"]", 4, 5 },
		{ 0, "metadata.annotations[a.b/c]", 4, 5 },
		{ 0, "metadata.annotations[\"q\\\"[1]\\\\\"]", 5, 5 },
		/* Not there: what is around it. */
		{ 0, "spec.replicaSpecs[1].nothing.x", 9, 5 },
		{ 0, "spec.replicaSpecs[3]", 7, 3 },
		{ 0, "spec.replicaSpecs[-1]", 7, 3 },
		{ 0, "spec.replicaSpecs.x", 7, 3 },
		{ 0, "nothing", 2, 1 },
		{ 0, "metadata.annotations[\"a.b", 3, 3 },
		{ 0, "metadata.annotations[", 3, 3 },
		{ 0, "metadata.annotations[\"", 3, 3 },
		{ 0, "metadata.annotations[\"\\", 3, 3 },
		{ 0, "metadata.annotations[\"a.b/cd\"]", 3, 3 },
		{ 1, "[0]", 13, 3 },
		{ 1, "", 13, 1 },
		{ 2, "", 0, 0 },
	};
	CLEANUP(yaml_closep) struct yaml_file *y = yaml_parse(STR("f"), str_c(text), NULL);

	(void)state;
	assert_non_null(y);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct yaml_pos at = yaml_where(y, cases[i].doc, str_c(cases[i].path));

		if (at.line != cases[i].line || at.column != cases[i].column)
			fail_msg("%s: %zu:%zu", cases[i].path, at.line, at.column);
	}
}

/* As they are written; what is around a path that is not there is another number. */
static void test_numbers(void **state)
{
	static const struct {
		const char *path, *text;
	} cases[] = {
		{ "a", "3.10" },    { "b[0]", "0777" },
		{ "b[1]", "0x1F" }, { "b[2]", "18446744073709551615" },
		{ "b[3]", "3.10" }, { "c[\"d.e\"]", "5" },
		{ "a.x", "" },      { "b", "" },
		{ "b[4]", "" },     { "text", "" },
		{ "quoted", "" },   { "yes", "" },
		{ "nothing", "" },  { "", "" },
		{ "none", "" },
	};
	CLEANUP(yaml_closep)
	struct yaml_file *y =
		yaml_parse(STR("f"),
	                   STR("a: &x 3.10\nb: [0777, 0x1F, 18446744073709551615, *x]\nc: {d.e: !!int \"5\"}\n"
	                       "text: t\nquoted: \"1\"\n\"yes\": true\nnothing: ~\n"),
	                   NULL);

	(void)state;
	assert_non_null(y);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (!str_eqc(yaml_number(y, 0, str_c(cases[i].path)), cases[i].text))
			fail_msg("%s", cases[i].path);
	assert_true(str_empty(yaml_number(y, 1, STR("a"))));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_json_is_read_as_json),
		cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_scalar_errors),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_key_errors),
		cmocka_unit_test(test_duplicate_among_many),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_syntax_errors),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_alias_bombs),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_large_file),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
