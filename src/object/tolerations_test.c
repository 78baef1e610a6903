#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "object/tolerations.h"

#define KEY(k) "\"key\":\"node.kubernetes.io/" k "\","

static void test_read(void **state)
{
	static const struct {
		const char *list;
		int32_t not_ready, unreachable;
	} table[] = {
		/* what the API server adds */
		{ "[{" KEY("not-ready") "\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300},"
		                        "{" KEY("unreachable") "\"operator\":\"Exists\",\"effect\":\"NoExecute\","
		                                               "\"tolerationSeconds\":200}]",
		  300, 200 },
		/* the longest; nothing is longer than for ever */
		{ "[{" KEY("not-ready") "\"tolerationSeconds\":5},{" KEY(
			  "not-ready") "\"tolerationSeconds\":7},"
		                       "{" KEY("unreachable") "\"operator\":\"Exists\"},"
		                                              "{" KEY("unreachable") "\"tolerationSeconds\":5}]",
		  7, TOLERATED_FOR_EVER },
		/* any taint */
		{ "[{\"operator\":\"Exists\",\"tolerationSeconds\":9}]", 9, 9 },
		{ "[{\"tolerationSeconds\":9}]", -1, -1 },
		/* another effect, another value, before now */
		{ "[{" KEY("not-ready") "\"effect\":\"NoSchedule\",\"tolerationSeconds\":5}]", -1, -1 },
		{ "[{" KEY("not-ready") "\"value\":\"x\",\"tolerationSeconds\":5}]", -1, -1 },
		{ "[{" KEY("not-ready") "\"tolerationSeconds\":-5}]", 0, -1 },
		{ "[{" KEY("not-ready") "\"tolerationSeconds\":99999999999}]", TOLERATED_FOR_EVER - 1, -1 },
		/* nonsense */
		{ "[7,{" KEY("not-ready") "\"tolerationSeconds\":\"5\"}]", -1, -1 },
		{ "{\"operator\":\"Exists\"}", -1, -1 },
		{ "null", -1, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(table[i].list), NULL);
		struct tolerations t = tolerations_read(yyjson_doc_get_root(doc));

		assert_non_null(doc);
		assert_int_equal(t.not_ready, table[i].not_ready);
		assert_int_equal(t.unreachable, table[i].unreachable);
	}
	assert_int_equal(tolerations_read(NULL).not_ready, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_read) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
