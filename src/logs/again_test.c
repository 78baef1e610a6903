#include "logs/again.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define POD(uid, generation, restarts)                                                                                 \
	"{\"metadata\":{\"name\":\"p\",\"uid\":\"" uid                                                                 \
	"\",\"labels\":{\"dl-operator.mpba.fbk.eu/generation\":\"" generation                                          \
	"\"}},\"status\":{\"containerStatuses\":[{\"name\":\"other\",\"restartCount\":9},{\"name\":\"c\"," restarts    \
	"}]}}"
#define RESTARTS(n) "\"restartCount\":" n

/* The second run, of generation 4. */
static void where_the_rest_is(void **state)
{
	static const struct {
		int code;
		const char *pod;
		enum log_again want, kept;
	} cases[] = {
		{ 200, POD("u", "4", RESTARTS("1")), AGAIN_SAME, AGAIN_SAME },
		{ 200, POD("u", "4", "\"ready\":true"), AGAIN_SAME, AGAIN_SAME },
		{ 200, POD("u", "4", RESTARTS("2")), AGAIN_PREVIOUS, AGAIN_PREVIOUS },
		{ 200, POD("u", "4", RESTARTS("3")), AGAIN_GONE, AGAIN_GONE },
		{ 200, POD("v", "4", RESTARTS("1")), AGAIN_GONE, AGAIN_PREVIOUS },
		{ 200, POD("v", "5", RESTARTS("0")), AGAIN_GONE, AGAIN_PREVIOUS },
		{ 200, POD("v", "6", RESTARTS("0")), AGAIN_GONE, AGAIN_GONE },
		{ 200, NULL, AGAIN_LATER, AGAIN_LATER },
		{ 404, NULL, AGAIN_GONE, AGAIN_SAME },
		{ 403, NULL, AGAIN_REFUSED, AGAIN_REFUSED },
		{ 401, NULL, AGAIN_REFUSED, AGAIN_REFUSED },
		{ 429, NULL, AGAIN_LATER, AGAIN_LATER },
		{ 503, NULL, AGAIN_LATER, AGAIN_LATER },
		{ 0, NULL, AGAIN_LATER, AGAIN_LATER },
	};
	struct log_run r = { .uid = STR("u"), .container = STR("c"), .restarts = 1, .generation = 4 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *text = cases[i].pod;
		yyjson_doc *doc = text ? json_parse(str_c(text), NULL) : NULL;

		assert_true(!text == !doc);
		r.kept = false;
		assert_int_equal(log_again_judge(&r, cases[i].code, yyjson_doc_get_root(doc)), cases[i].want);
		r.kept = true;
		assert_int_equal(log_again_judge(&r, cases[i].code, yyjson_doc_get_root(doc)), cases[i].kept);
		yyjson_doc_free(doc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(where_the_rest_is) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
