#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "object/status.h"

static void test_put(void **state)
{
	static const struct {
		struct status s;
		const char *text;
	} table[] = {
		{ { HTTP_OK, NULL, STR_INIT(""), STR_INIT("{\"name\":\"a\"}") },
		  "\"Success\",\"details\":{\"name\":\"a\"}}" },
		{ { HTTP_CREATED, NULL, STR_INIT(""), STR_INIT("") }, "\"Success\",\"code\":201}" },
		{ { HTTP_NOT_FOUND, "NotFound", STR_INIT("no \"a\""), STR_INIT("") },
		  "\"Failure\",\"message\":\"no \\\"a\\\"\",\"reason\":\"NotFound\",\"code\":404}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b = BUF_INIT(256), want = BUF_INIT(256);

		status_put(&b, &table[i].s);
		buf_printf(&want, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":%s",
		           table[i].text);
		assert_true(str_eq(buf_str(&b), buf_str(&want)));
		buf_release(&b);
		buf_release(&want);
	}
}

static void test_reasons(void **state)
{
	(void)state;
	assert_string_equal(status_reason(HTTP_GONE), "Expired");
	assert_string_equal(status_reason(HTTP_OK), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_put), cmocka_unit_test(test_reasons) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
