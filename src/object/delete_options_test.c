#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "object/delete_options.h"

static void test_put(void **state)
{
	static const struct {
		struct delete_options o;
		const char *text;
	} table[] = {
		{ { -1, STR_INIT(""), STR_INIT("") }, "}" },
		{ { 0, STR_INIT("u\"1"), STR_INIT("") },
		  ",\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"u\\\"1\"}}" },
		{ { 30, STR_INIT(""), STR_INIT("Orphan") },
		  ",\"gracePeriodSeconds\":30,\"propagationPolicy\":\"Orphan\"}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b = BUF_INIT(256), want = BUF_INIT(256);

		delete_options_put(&b, &table[i].o);
		buf_printf(&want, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"%s", table[i].text);
		assert_true(str_eq(buf_str(&b), buf_str(&want)));
		buf_release(&b);
		buf_release(&want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_put) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
