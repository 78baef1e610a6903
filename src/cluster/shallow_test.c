#include "cluster/shallow.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void nest(struct buf *b, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		buf_put(b, i % 2 ? STR("[") : STR("{\"a\":"));
	buf_put(b, STR("1"));
	for (size_t i = depth; i > 0; i--)
		buf_putc(b, (i - 1) % 2 ? ']' : '}');
}

/* BEFORE, so many levels, AFTER. */
static void expect(const char *before, size_t depth, const char *after, const char *left_out, const char *want)
{
	struct buf b = BUF_INIT(1 << 24), out = BUF_INIT(1 << 24);
	struct arena a = ARENA_INIT;
	struct str where;
	yyjson_doc *doc, *copy;

	buf_put(&b, str_c(before));
	nest(&b, depth);
	buf_put(&b, str_c(after));
	doc = yyjson_read(b.p, b.n, 0);
	assert_non_null(doc);
	copy = shallow_copy(yyjson_doc_get_root(doc), &where, &a);
	yyjson_doc_free(doc);
	json_write_val(yyjson_doc_get_root(copy), &out);
	assert_string_equal(str_text(arena_str(&a, where)), left_out);
	assert_string_equal(buf_str(&out).p, want ? want : b.p);
	/* Whatever it was, it can be read again. */
	doc = json_parse(buf_str(&out), NULL);
	assert_non_null(doc);
	yyjson_doc_free(doc);
	yyjson_doc_free(copy);
	arena_release(&a);
	buf_release(&b);
	buf_release(&out);
}

static void what_is_not_too_deep_stays(void **state)
{
	(void)state;
	expect("{\"spec\":", 1, "}", "", NULL);
	expect("{\"spec\":", JSON_MAX_DEPTH - 1, "}", "", NULL);
	expect("{\"metadata\":{\"labels\":", JSON_MAX_DEPTH - 2, "}}", "", NULL);
}

static void what_is_too_deep_goes(void **state)
{
	(void)state;
	expect("{\"metadata\":{\"name\":\"j\"},\"spec\":{\"n\":[1],\"deep\":", JSON_MAX_DEPTH - 1,
	       ",\"m\":{\"x\":2}},\"status\":{\"dlOperator\":{\"version\":1}}}", "spec.deep",
	       "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"n\":[1],\"m\":{\"x\":2}},"
	       "\"status\":{\"dlOperator\":{\"version\":1}}}");
	expect("{\"spec\":[", JSON_MAX_DEPTH - 1, "],\"kind\":\"K\"}", "spec", "{\"kind\":\"K\"}");
	/* As deep as an API server lets it be, and deeper. */
	expect("{\"metadata\":{\"name\":\"j\"},\"spec\":{\"deep\":", 10000, "}}", "spec.deep",
	       "{\"metadata\":{\"name\":\"j\"},\"spec\":{}}");
	expect("{\"metadata\":{\"name\":\"j\"},\"spec\":{\"deep\":", 1000000, "}}", "spec.deep",
	       "{\"metadata\":{\"name\":\"j\"},\"spec\":{}}");
	expect("{\"status\":{\"dlOperator\":", 300, "},\"spec\":{}}", "status.dlOperator",
	       "{\"status\":{},\"spec\":{}}");
}

static void managed_fields_do_not_matter(void **state)
{
	(void)state;
	expect("{\"metadata\":{\"managedFields\":", 1, ",\"name\":\"j\"},\"spec\":{\"managedFields\":1}}", "",
	       "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"managedFields\":1}}");
	expect("{\"metadata\":{\"name\":\"j\",\"managedFields\":", 300, "},\"spec\":{}}", "",
	       "{\"metadata\":{\"name\":\"j\"},\"spec\":{}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_too_deep_stays),
		cmocka_unit_test(what_is_too_deep_goes),
		cmocka_unit_test(managed_fields_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
