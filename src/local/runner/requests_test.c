#include "local/runner/requests.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static struct amount of(const char *spec)
{
	yyjson_doc *doc = json_parse(str_c(spec), NULL);
	struct amount a;

	assert_non_null(doc);
	a = requests_of_pod(yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
	return a;
}

#define WANTS(field, text) "{\"name\":\"c\",\"resources\":{\"" field "\":" text "}}"

static void test_sum(void **state)
{
	struct amount a = of("{\"containers\":[" WANTS("requests", "{\"cpu\":\"1500m\",\"memory\":\"1Gi\"}") "," WANTS(
		"requests", "{\"cpu\":2,\"memory\":1.5}") "]}");

	(void)state;
	assert_int_equal(a.cpu, 3500);
	assert_int_equal(a.memory, (1 << 30) + 2);
	assert_int_equal(a.gpus, 0);
}

static void test_limits_stand_in(void **state)
{
	struct amount a = of("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"2\",\"nvidia.com/gpu\":\"2\","
	                     "\"memory\":\"1Ki\"},\"requests\":{\"cpu\":\"1\"}}}," WANTS(
				     "limits", "{\"alpha.kubernetes.io/nvidia-gpu\":1}") "]}");

	(void)state;
	assert_int_equal(a.cpu, 1000);
	assert_int_equal(a.memory, 1024);
	assert_int_equal(a.gpus, 3);
}

static void test_init(void **state)
{
	struct amount a = of("{\"initContainers\":[" WANTS("requests", "{\"cpu\":4,\"memory\":10}") "," WANTS(
		"requests",
		"{\"cpu\":3}") "],\"containers\":[" WANTS("requests",
	                                                  "{\"cpu\":1,\"memory\":20}") "," WANTS("requests",
	                                                                                         "{\"cpu\":1}") "]}");

	(void)state;
	assert_int_equal(a.cpu, 4000);
	assert_int_equal(a.memory, 20);
}

/* It runs beside the init containers after it, and beside the others. */
static void test_sidecar(void **state)
{
	struct amount a = of("{\"initContainers\":[" WANTS(
		"requests",
		"{\"memory\":100}") ",{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":1}}}"
	                            "," WANTS("requests", "{\"cpu\":4}") "],\"containers\":[" WANTS(
					    "requests", "{\"cpu\":2}") "]}");

	(void)state;
	assert_int_equal(a.cpu, 5000);
	assert_int_equal(a.memory, 100);
}

static void test_hostile(void **state)
{
	struct amount a = of("{\"containers\":[{\"resources\":[]},7," WANTS(
		"requests", "{\"cpu\":\"many\",\"memory\":-5,\"nvidia.com/gpu\":{}}") "]}");

	(void)state;
	assert_int_equal(a.cpu, 0);
	assert_int_equal(a.memory, 0);
	assert_int_equal(a.gpus, 0);
	a = of("{}");
	assert_int_equal(a.cpu, 0);
	a = amount_times((struct amount){ INT64_MAX / 2, 3, 1 }, 1000);
	assert_int_equal(a.cpu, INT64_MAX);
	assert_int_equal(a.memory, 3000);
	amount_add(&a, a);
	assert_int_equal(a.cpu, INT64_MAX);
	assert_int_equal(a.gpus, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),     cmocka_unit_test(test_limits_stand_in), cmocka_unit_test(test_init),
		cmocka_unit_test(test_sidecar), cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
