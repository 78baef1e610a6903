#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/api/table_cells.h"
#include "local/store/testing.h"

/* The cells of the rows of what the store answered last. */
static const char *rows(struct fixture *f, const char *plural, const char *include)
{
	struct api_table *t = table_new(f->store, type_named(f, plural));
	struct table_style style = { .include = str_c(include), .now = f->now + SECONDS(90), .columns = true };
	struct buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	const char *ret;

	table_write(t, yyjson_doc_get_root(f->doc), &style, &b);
	table_free(t);
	yyjson_doc_free(f->doc);
	f->doc = json_parse(buf_str(&b), &e);
	if (!f->doc)
		fail_msg("%s: %s", err_msg(&e), b.p);
	ret = arena_str(&f->arena, buf_str(&b)).p;
	buf_release(&b);
	return ret;
}

static void pod_is(struct fixture *f, const char *pod, const char *cells)
{
	assert_int_equal(create(f, "pods",
	                        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\"},{\"name\":"
	                        "\"d\"}],\"initContainers\":[{\"name\":\"i\"},{\"name\":\"s\",\"restartPolicy\":"
	                        "\"Always\"}]}}"),
	                 201);
	assert_int_equal(merge_patch(f, "pods", "p", "{\"metadata\":{\"finalizers\":[\"a/b\"]}}"), 200);
	assert_int_equal(ask(f, (struct store_request){ .verb = STORE_PATCH,
	                                                .type = type_named(f, "pods"),
	                                                .ns = STR("ml"),
	                                                .name = STR("p"),
	                                                .status = true,
	                                                .patch = STORE_PATCH_MERGE,
	                                                .body = str_c(pod) }),
	                 200);
	rows(f, "pods", "None");
	assert_said(f, "rows.0.cells", cells);
	assert_int_equal(merge_patch(f, "pods", "p", "{\"metadata\":{\"finalizers\":null}}"), 200);
	assert_int_equal(delete_one(f, "pods", "p", "{\"gracePeriodSeconds\":0}"), 200);
}

#define TAIL "\"90s\",\"<none>\",\"<none>\",\"<none>\",\"<none>\"]"

static void pods_say_what_goes_on(void **state)
{
	struct fixture *f = *state;

	pod_is(f, "{\"status\":{\"phase\":\"Pending\"}}", "[\"p\",\"0/3\",\"Pending\",\"0\"," TAIL);
	pod_is(f, "{\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}",
	       "[\"p\",\"0/3\",\"Evicted\",\"0\"," TAIL);
	pod_is(f,
	       "{\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"restartCount\":2,"
	       "\"state\":{"
	       "\"running\":{}}}]}}",
	       "[\"p\",\"0/3\",\"Init:0/2\",\"2\"," TAIL);
	pod_is(f,
	       "{\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{"
	       "\"terminated\":{"
	       "\"exitCode\":3}}}]}}",
	       "[\"p\",\"0/3\",\"Init:ExitCode:3\",\"0\"," TAIL);
	pod_is(f,
	       "{\"status\":{\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"waiting\":{"
	       "\"reason\":"
	       "\"CrashLoopBackOff\"}}}]}}",
	       "[\"p\",\"0/3\",\"Init:CrashLoopBackOff\",\"0\"," TAIL);
	/* A sidecar counts among the ready. */
	pod_is(f,
	       "{\"status\":{\"phase\":\"Running\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{"
	       "\"terminated\":{"
	       "\"exitCode\":0}}},{\"name\":\"s\",\"started\":true,\"ready\":true,\"restartCount\":1,\"state\":{"
	       "\"running\":{}}}],"
	       "\"containerStatuses\":[{\"name\":\"c\",\"ready\":true,\"restartCount\":1,\"state\":{\"running\":{}},"
	       "\"lastState\":{"
	       "\"terminated\":{\"finishedAt\":\"2027-01-15T07:59:30Z\"}}},{\"name\":\"d\",\"ready\":false,\"state\":{"
	       "\"running\":{}}}]}}",
	       "[\"p\",\"2/3\",\"Running\",\"2 (2m ago)\"," TAIL);
	pod_is(f,
	       "{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{"
	       "\"exitCode\":0,"
	       "\"reason\":\"Completed\"}}},{\"name\":\"d\",\"ready\":true,\"state\":{\"running\":{}}}]}}",
	       "[\"p\",\"1/3\",\"NotReady\",\"0\"," TAIL);
	pod_is(f,
	       "{\"status\":{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{"
	       "\"exitCode\":137,"
	       "\"signal\":9}}},{\"name\":\"d\",\"state\":{\"waiting\":{\"reason\":\"ContainerCreating\"}}}]}}",
	       "[\"p\",\"0/3\",\"Signal:9\",\"0\"," TAIL);
	/* Whatever stands there. */
	pod_is(f,
	       "{\"status\":{\"phase\":7,\"containerStatuses\":[1,null,{\"state\":[],\"restartCount\":\"x\"}],"
	       "\"initContainerStatuses\":{}}}",
	       "[\"p\",\"0/3\",\"\",\"0\"," TAIL);
}

static void a_pod_that_goes_is_terminating(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "pods",
	                        "{\"metadata\":{\"name\":\"p\",\"finalizers\":[\"a/b\"]},\"spec\":{\"containers\":[{"
	                        "\"name\":\"c\"}]}}"),
	                 201);
	assert_int_equal(delete_one(f, "pods", "p", NULL), 200);
	assert_int_equal(get(f, "pods", "p"), 200);
	rows(f, "pods", "Metadata");
	assert_said(f, "rows.0.cells.2", "Terminating");
	assert_said(f, "rows.0.object.kind", "PartialObjectMetadata");
	assert_said(f, "rows.0.object.metadata.name", "p");
	assert_unsaid(f, "rows.0.object.spec");
	assert_said(f, "columnDefinitions.5.priority", "1");
	assert_int_equal(get(f, "pods", "p"), 200);
	rows(f, "pods", "Object");
	assert_said(f, "rows.0.object.spec.containers.0.name", "c");
}

static void crds_choose_their_columns(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		create(f, "customresourcedefinitions",
	               widget_crd(f,
	                          "[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"additionalPrinterColumns\":["
	                          "{\"name\":\"N\",\"type\":\"integer\",\"jsonPath\":\".spec.n\"},"
	                          "{\"name\":\"T\",\"type\":\"string\",\"jsonPath\":\".spec.t\",\"priority\":1},"
	                          "{\"name\":\"B\",\"type\":\"boolean\",\"jsonPath\":\".spec.b\"},"
	                          "{\"name\":\"F\",\"type\":\"number\",\"jsonPath\":\".spec.f\"},"
	                          "{\"name\":\"Since\",\"type\":\"date\",\"jsonPath\":\".metadata.creationTimestamp\"},"
	                          "{\"name\":\"Ready\",\"type\":\"string\",\"jsonPath\":\".spec.conditions[?(@.type=="
	                          "\\\"Ready\\\")].status\"}]}]")),
		201);
	assert_int_equal(
		create(f, "widgets",
	               "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"},\"spec\":{"
	               "\"n\":3,\"t\":\"x\",\"b\":true,\"f\":1.5,\"conditions\":[{\"type\":\"A\",\"status\":\"1\"},{"
	               "\"type\":"
	               "\"Ready\",\"status\":\"2\"}]}}"),
		201);
	assert_int_equal(create(f, "widgets",
	                        "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"x\"},"
	                        "\"spec\":{\"n\":\"3\",\"t\":[1],\"b\":1,\"f\":\"\"}}"),
	                 201);
	assert_int_equal(list(f, "widgets", NULL, NULL), 200);
	rows(f, "widgets", "None");
	assert_said(f, "rows.0.cells", "[\"w\",3,\"x\",true,1.5,\"90s\",\"2\"]");
	assert_said(f, "rows.1.cells", "[\"x\",null,\"[1]\",null,null,\"90s\",null]");
	assert_said(f, "columnDefinitions.2.name", "T");
	assert_said(f, "columnDefinitions.2.priority", "1");
	assert_said(f, "columnDefinitions.0.format", "name");
}

static void other_types(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "configmaps",
	                        "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"b\"},\"binaryData\":{\"c\":"
	                        "\"AA==\"}}"),
	                 201);
	rows(f, "configmaps", "None");
	assert_said(f, "rows.0.cells", "[\"c\",\"2\",\"90s\"]");
	assert_int_equal(create(f, "services",
	                        "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"a\":"
	                        "\"b\",\"c\":\"d\"},\"ports\":[{\"port\":80},{\"port\":81,\"protocol\":\"UDP\","
	                        "\"nodePort\":30000}]}}"),
	                 201);
	rows(f, "services", "None");
	assert_said(f, "rows.0.cells",
	            "[\"s\",\"ClusterIP\",\"None\",\"<none>\",\"80/TCP,81:30000/UDP\",\"90s\",\"a=b,c=d\"]");
	assert_int_equal(
		create(f, "nodes",
	               "{\"metadata\":{\"name\":\"n\",\"labels\":{\"node-role.kubernetes.io/x\":\"\"}},\"spec\":{"
	               "\"unschedulable\":true},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
	               "\"False\"}]}}"),
		201);
	rows(f, "nodes", "None");
	assert_said(f, "rows.0.cells.1", "NotReady,SchedulingDisabled");
	assert_said(f, "rows.0.cells.2", "x");
	assert_int_equal(create(f, "events",
	                        "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"TfJob\",\"name\":\"j\","
	                        "\"namespace\":"
	                        "\"ml\"},\"type\":\"Normal\",\"reason\":\"R\",\"message\":\"m\\n\",\"eventTime\":"
	                        "\"2027-01-15T07:00:00.000000Z\",\"reportingComponent\":\"dl-operator\"}"),
	                 201);
	rows(f, "events", "None");
	assert_said(f, "rows.0.cells",
	            "[\"61m\",\"Normal\",\"R\",\"tfjob/j\",\"\",\"dl-operator\",\"m\",\"61m\",\"1\",\"e\"]");
}

static void paths(void **state)
{
	static const struct {
		const char *path, *want; /* NULL: nothing */
	} cases[] = {
		{ ".a.b", "1" },
		{ "{.a.b}", "1" },
		{ ".a['b']", "1" },
		{ ".l[1]", "\"y\"" },
		{ ".l[-1]", "\"y\"" },
		{ ".l[*]", "\"x\"" },
		{ ".l[2]", NULL },
		{ ".l[-3]", NULL },
		{ ".a.c", NULL },
		{ ".l.x", NULL },
		{ ".a[", NULL },
		{ ".a]", NULL },
		{ "", "" },
		{ ".", "" },
		{ ".d\\.e/f", "2" },
		{ ".a.b.c", NULL },
		{ ".o[?(@.k==\"v\")].w", "3" },
		{ ".o[?(@.k=='z')].w", NULL },
		{ ".o[?(@.k", NULL },
		{ ".o[?(@.k==", NULL },
		{ ".o[?]", NULL },
		{ ".['d.e/f']", "2" },
		{ ".l[99999999999999999999]", NULL },
	};
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(
		STR("{\"a\":{\"b\":1},\"l\":[\"x\",\"y\"],\"d.e/f\":2,\"o\":[{\"k\":\"u\"},{\"k\":\"v\",\"w\":3}]}"),
		NULL);
	yyjson_val *root = yyjson_doc_get_root(doc);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		yyjson_val *v = column_value(root, str_c(cases[i].path));
		struct buf b = BUF_INIT(1024);

		if (v && v != root)
			json_write_val(v, &b);
		if (!v != !cases[i].want || (v && strcmp(b.p ? b.p : "", cases[i].want) != 0))
			fail_msg("%s: %s", cases[i].path, v ? b.p : "nothing");
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(pods_say_what_goes_on),
		STORE_TEST(a_pod_that_goes_is_terminating),
		STORE_TEST(crds_choose_their_columns),
		STORE_TEST(other_types),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
