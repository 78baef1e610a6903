/* What clients ask for at their start: forms of answers, groups and versions, OpenAPI. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/api/discovery.h"
#include "local/api/openapi.h"
#include "local/store/testing.h"

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"
#define LIST(v) "application/json;g=apidiscovery.k8s.io;v=" v ";as=APIGroupDiscoveryList"

static void forms(void **state)
{
	const unsigned all = ~0u, plain = 1u << ACCEPT_JSON;
	static const struct {
		const char *header;
		enum accept_form all, plain;
	} cases[] = {
		{ "", ACCEPT_JSON, ACCEPT_JSON },
		{ "*/*", ACCEPT_JSON, ACCEPT_JSON },
		{ "application/json", ACCEPT_JSON, ACCEPT_JSON },
		{ "application/vnd.kubernetes.protobuf,application/json", ACCEPT_JSON, ACCEPT_JSON },
		{ "application/vnd.kubernetes.protobuf", ACCEPT_NONE, ACCEPT_NONE },
		{ TABLE ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", ACCEPT_TABLE,
		  ACCEPT_JSON },
		{ "application/json;as=Table;v=v1beta1;g=meta.k8s.io", ACCEPT_NONE, ACCEPT_NONE },
		{ TABLE, ACCEPT_TABLE, ACCEPT_NONE },
		{ LIST("v2") "," LIST("v2beta1") ",application/json", ACCEPT_DISCOVERY, ACCEPT_JSON },
		{ LIST("v3") " , " LIST("v2beta1"), ACCEPT_DISCOVERY_BETA, ACCEPT_NONE },
		{ ",;,=;;as=,", ACCEPT_NONE, ACCEPT_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(accept_form(str_c(cases[i].header), all), cases[i].all);
		assert_int_equal(accept_form(str_c(cases[i].header), plain), cases[i].plain);
	}
}

/* Makes B what the fixture was told last. */
static void tell(struct fixture *f, struct buf *b)
{
	struct err e = ERR_INIT;

	yyjson_doc_free(f->doc);
	f->doc = json_parse(buf_str(b), &e);
	if (!f->doc)
		fail_msg("%s: %s", err_msg(&e), b->p);
	buf_release(b);
	*b = (struct buf)BUF_INIT(1 << 20);
}

static void install(struct fixture *f)
{
	assert_int_equal(
		create(f, "customresourcedefinitions",
	               widget_crd(f,
	                          "[{\"name\":\"v1beta2\",\"served\":true,\"storage\":false},"
	                          "{\"name\":\"v1alpha9\",\"served\":true,\"storage\":false},"
	                          "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},"
	                          "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"description\":\"one\"}}},"
	                          "{\"name\":\"v10beta1\",\"served\":true,\"storage\":false},"
	                          "{\"name\":\"v2\",\"served\":true,\"storage\":false}]")),
		201);
}

static void groups_and_versions(void **state)
{
	struct fixture *f = *state;
	struct buf b = BUF_INIT(1 << 20);

	install(f);
	discovery_group(&b, f->store, STR("example.org"));
	tell(f, &b);
	assert_said(f, "versions.0.version", "v2");
	assert_said(f, "versions.1.version", "v1");
	assert_said(f, "versions.2.version", "v10beta1");
	assert_said(f, "versions.3.version", "v1beta2");
	assert_said(f, "versions.4.version", "v1alpha9");
	assert_unsaid(f, "versions.5");
	assert_said(f, "preferredVersion.groupVersion", "example.org/v2");
	discovery_groups(&b, f->store);
	tell(f, &b);
	assert_said(f, "groups.0.name", "metrics.k8s.io");
	assert_said(f, "groups.0.preferredVersion.groupVersion", "metrics.k8s.io/v1beta1");
	assert_said(f, "groups.3.name", "example.org");
	assert_unsaid(f, "groups.4");
	discovery_resources(&b, f->store, STR("example.org"), STR("v1"));
	tell(f, &b);
	assert_said(f, "groupVersion", "example.org/v1");
	assert_said(f, "resources.0.name", "widgets");
	assert_said(f, "resources.0.shortNames", "[\"wd\",\"w\"]");
	assert_said(f, "resources.1.name", "widgets/status");
	assert_unsaid(f, "resources.2");
	discovery_resources(&b, f->store, STR(""), STR("v1"));
	tell(f, &b);
	assert_said(f, "groupVersion", "v1");
	discovery_paths(&b, f->store);
	tell(f, &b);
	assert_said(f, "paths.2", "/api/v1");
	discovery_core(&b);
	tell(f, &b);
	assert_said(f, "versions.0", "v1");
	discovery_version(&b, "7");
	tell(f, &b);
	assert_said(f, "minor", "32");
	buf_release(&b);
}

static void all_at_once(void **state)
{
	struct fixture *f = *state;
	struct buf b = BUF_INIT(1 << 20);

	install(f);
	discovery_all(&b, f->store, true, ACCEPT_DISCOVERY);
	tell(f, &b);
	assert_said(f, "apiVersion", "apidiscovery.k8s.io/v2");
	assert_unsaid(f, "items.1");
	assert_said(f, "items.0.versions.0.resources.0.resource", "configmaps");
	assert_said(f, "items.0.versions.0.resources.0.scope", "Namespaced");
	discovery_all(&b, f->store, false, ACCEPT_DISCOVERY_BETA);
	tell(f, &b);
	assert_said(f, "items.0.metadata.name", "metrics.k8s.io");
	assert_said(f, "items.0.versions.0.resources.0.responseKind.kind", "PodMetrics");
	assert_said(f, "apiVersion", "apidiscovery.k8s.io/v2beta1");
	assert_said(f, "items.3.metadata.name", "example.org");
	assert_said(f, "items.3.versions.0.version", "v2");
	assert_said(f, "items.3.versions.1.resources.0.subresources.0.subresource", "status");
	assert_said(f, "items.3.versions.1.resources.0.responseKind.kind", "Widget");
	buf_release(&b);
}

/* kubectl leaves validation to the server if PATCH of a kind takes fieldValidation. */
static void openapi(void **state)
{
	struct fixture *f = *state;
	struct buf b = BUF_INIT(1 << 20);
	yyjson_val *patch;

	install(f);
	openapi_index(&b, f->store);
	tell(f, &b);
	assert_non_null(
		json_at(yyjson_doc_get_root(f->doc), "paths", "apis/example.org/v1", "serverRelativeURL", NULL));
	openapi_group(&b, f->store, STR("example.org"), STR("v1"));
	tell(f, &b);
	patch = json_at(yyjson_doc_get_root(f->doc), "paths",
	                "/apis/example.org/v1/namespaces/{namespace}/widgets/{name}", "patch", NULL);
	assert_true(str_eqc(json_str(json_at(patch, "x-kubernetes-group-version-kind", "kind", NULL)), "Widget"));
	assert_true(str_eqc(json_str(json_get(yyjson_arr_get(json_get(patch, "parameters"), 2), "name")),
	                    "fieldValidation"));
	assert_true(str_eqc(json_str(json_at(yyjson_doc_get_root(f->doc), "components", "schemas",
	                                     "example.org.v1.Widget", "description", NULL)),
	                    "one"));
	openapi_group(&b, f->store, STR(""), STR("v1"));
	tell(f, &b);
	assert_non_null(json_at(yyjson_doc_get_root(f->doc), "paths", "/api/v1/nodes/{name}", NULL));
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		STORE_TEST(groups_and_versions),
		STORE_TEST(all_at_once),
		STORE_TEST(openapi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
