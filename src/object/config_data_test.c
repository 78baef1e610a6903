#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "object/config_data.h"

enum { MAX_FAULTS = 3 };

static void check(const char *text, const char *want)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(text), NULL);
	struct config_fault faults[MAX_FAULTS];
	struct buf b = BUF_INIT(4096);
	struct arena a = ARENA_INIT;
	size_t n = config_faults(yyjson_doc_get_root(doc), &a, faults, ARRAY_LEN(faults));

	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%.*s: %.*s\n", STR_F(faults[i].path), STR_F(faults[i].message));
	assert_string_equal(buf_str(&b).n ? b.p : "", want);
	buf_release(&b);
	arena_release(&a);
}

static void test_faults(void **state)
{
	(void)state;
	check("{}", "");
	check("[]", "");
	check("{\"data\":null,\"binaryData\":{}}", "");
	check("{\"data\":{\"LR\":\"0.1\",\"EMPTY\":null},\"stringData\":{\"a\":\"\"}}", "");
	check("{\"data\":{\"LR\":0.1}}", "data.LR: must be a string, found a number: quote it\n");
	check("{\"stringData\":{\"a.b\":true},\"binaryData\":{\"c\":[]}}",
	      "stringData[\"a.b\"]: must be a string, found a boolean: quote it, since YAML reads true, yes, on and y "
	      "as a "
	      "boolean\n"
	      "binaryData.c: must be a string, found a list\n");
	check("{\"data\":\"x\",\"stringData\":[1]}",
	      "data: must be an object, found a string\nstringData: must be an object, found a list\n");
	check("{\"data\":{\"a\":1,\"b\":2,\"c\":3,\"d\":4},\"stringData\":5}",
	      "data.a: must be a string, found a number: quote it\n"
	      "data.b: must be a string, found a number: quote it\n"
	      "data.c: must be a string, found a number: quote it\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_faults) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
