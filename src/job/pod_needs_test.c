#include "job/pod_needs.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* "cpu=1500m memory=1Gi" of a pod's spec. */
static struct str of(const char *spec, struct arena *a)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(spec), NULL);
	struct needs n;
	struct str out = STR("");
	char text[QUANTITY_TEXT];

	assert_non_null(doc);
	n = needs_of_pod(yyjson_doc_get_root(doc), a);
	for (size_t i = 0; i < n.n; i++)
		out = arena_printf(a, "%.*s%s%.*s=%s", STR_F(out), i ? " " : "", STR_F(n.v[i].name),
		                   need_write(&n.v[i], text).p);
	return out;
}

#define REQUESTS(text) "{\"resources\":{\"requests\":{" text "}}}"
#define LIMITS(text) "{\"resources\":{\"limits\":{" text "}}}"

static void test_pods(void **state)
{
	static const struct {
		const char *spec, *needs;
	} cases[] = {
		{ "{}", "" },
		{ "{\"containers\":[" REQUESTS("\"cpu\":\"1500m\",\"memory\":\"1Gi\"") "," REQUESTS("\"cpu\":2") "]}",
		  "cpu=3500m memory=1Gi" },
		/* A limit stands in for a request of that resource only. */
		{ "{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":4,\"x.y/z\":1},\"requests\":{\"cpu\":1}}}]}",
		  "cpu=1 x.y/z=1" },
		{ "{\"containers\":[" LIMITS("\"nvidia.com/gpu\":8") "," LIMITS("\"nvidia.com/gpu\":\"1\"") "]}",
		  "nvidia.com/gpu=9" },
		/* The largest init container, or all the others. */
		{ "{\"initContainers\":[" REQUESTS("\"cpu\":4,\"memory\":\"1Ki\"") "," REQUESTS(
			  "\"cpu\":3") "],"
		                       "\"containers\":[" REQUESTS("\"cpu\":1,\"memory\":\"2Ki\"") "," REQUESTS(
					       "\"cpu\":1") "]}",
		  "cpu=4 memory=2Ki" },
		/* A sidecar runs beside the init containers after it, and beside the others. */
		{ "{\"initContainers\":[" REQUESTS(
			  "\"cpu\":5") ",{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":2}}}"
		                       "," REQUESTS("\"cpu\":4") "],\"containers\":[" REQUESTS("\"cpu\":3") "]}",
		  "cpu=6" },
		{ "{\"containers\":[" REQUESTS("\"cpu\":1,\"memory\":5") "],\"resources\":{\"limits\":{\"cpu\":3}},"
		                                                         "\"overhead\":{\"cpu\":\"250m\"}}",
		  "cpu=3250m memory=5" },
		/* Not ours to judge here. */
		{ "{\"containers\":[7,{\"resources\":[]}," REQUESTS("\"cpu\":\"many\",\"memory\":-1") "]}", "" },
	};
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(of(cases[i].spec, &a).p, cases[i].needs);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
