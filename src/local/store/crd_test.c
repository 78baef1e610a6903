#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

static void a_crd_is_a_type_at_once(void **state)
{
	struct fixture *f = *state;
	const struct store_type *t;

	assert_null(store_type(f->store, STR("example.org"), STR("v1"), STR("widgets")));
	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	assert_said(f, "status.conditions.0.type", "NamesAccepted");
	assert_said(f, "status.conditions.1.type", "Established");
	assert_said(f, "status.conditions.1.status", "True");
	assert_said(f, "status.acceptedNames.singular", "widget");
	assert_said(f, "status.storedVersions", "[\"v1\"]");
	assert_said(f, "spec.names.listKind", "WidgetList");
	t = store_type(f->store, STR("example.org"), STR("v1"), STR("widgets"));
	assert_non_null(t);
	assert_true(t->namespaced && t->status && t->custom);
	assert_true(str_eqc(t->kind, "Widget") && str_eqc(t->singular, "widget") &&
	            str_eqc(t->list_kind, "WidgetList"));
	assert_true(str_eqc(t->short_names, "wd,w"));
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"any\":[{\"thing\":null}]}}"),
	                 201);
	assert_said(f, "apiVersion", "example.org/v1");
	assert_said(f, "kind", "Widget");
	assert_said(f, "spec.any.0.thing", "null");
	assert_int_equal(list(f, "widgets", NULL, NULL), 200);
	assert_said(f, "kind", "WidgetList");
	assert_said(f, "apiVersion", "example.org/v1");
}

static void a_dry_crd_is_none(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ask(f, (struct store_request){ .verb = STORE_CREATE,
	                                                .type = type_named(f, "customresourcedefinitions"),
	                                                .dry_run = true,
	                                                .body = str_c(widget_crd(f, NULL)) }),
	                 201);
	assert_null(store_type(f->store, STR("example.org"), STR("v1"), STR("widgets")));
}

static void versions_share_their_objects(void **state)
{
	struct fixture *f = *state;
	const struct store_type *v1, *v2;
	struct store_request r = { .verb = STORE_CREATE, .ns = STR("ml") };

	assert_int_equal(
		create(f, "customresourcedefinitions",
	               widget_crd(f, "[{\"name\":\"v1\",\"served\":true,\"storage\":false},{\"name\":\"v2\",\"served\":"
	                             "true,\"storage\":true},{\"name\":\"v3\",\"served\":false,\"storage\":false}]")),
		201);
	v1 = store_type(f->store, STR("example.org"), STR("v1"), STR("widgets"));
	v2 = store_type(f->store, STR("example.org"), STR("v2"), STR("widgets"));
	assert_null(store_type(f->store, STR("example.org"), STR("v3"), STR("widgets")));
	r.type = v1;
	r.body = STR("{\"metadata\":{\"name\":\"a\"},\"spec\":1}");
	assert_int_equal(ask(f, r), 201);
	r.verb = STORE_GET;
	r.name = STR("a");
	r.type = v2;
	assert_int_equal(ask(f, r), 200);
	assert_said(f, "apiVersion", "example.org/v2");
	r.verb = STORE_LIST;
	assert_int_equal(ask(f, r), 200);
	assert_said(f, "items.0.apiVersion", "example.org/v2");
	/* A patch that changes nothing does not rewrite it in another version. */
	r.verb = STORE_PATCH;
	r.body = STR("{\"spec\":1}");
	assert_int_equal(ask(f, r), 200);
	assert_said(f, "apiVersion", "example.org/v2");
	r.body = STR("{\"spec\":2}");
	assert_int_equal(ask(f, r), 200);
	assert_said(f, "metadata.generation", "2");
	r.type = v1;
	r.verb = STORE_GET;
	assert_int_equal(ask(f, r), 200);
	assert_said(f, "apiVersion", "example.org/v1");
	assert_said(f, "spec", "2");
}

static void bad_crds_are_refused(void **state)
{
	struct fixture *f = *state;
	static const char *const versions[] = {
		"[]",
		"{}",
		"[1]",
		"[{\"name\":\"v1\"}]",
		"[{\"name\":\"V1\",\"storage\":true}]",
		"[{\"name\":\"v1\",\"storage\":true},{\"name\":\"v1\"}]",
		"[{\"name\":\"v1\",\"storage\":true},{\"name\":\"v2\",\"storage\":true}]",
	};
	static const char *const bodies[] = {
		"{\"metadata\":{\"name\":\"a\"}}",
		"{\"metadata\":{\"name\":\"a.b\"},\"spec\":1}",
		"{\"metadata\":{\"name\":\"a.b\"},\"spec\":{\"group\":1,\"names\":[]}}",
		"{\"metadata\":{\"name\":\"as.b\"},\"spec\":{\"group\":\"b\",\"names\":{\"plural\":\"as\",\"kind\":"
		"\"A\"}}}",
		"{\"metadata\":{\"name\":\"x.b.c\"},\"spec\":{\"group\":\"b.c\",\"scope\":\"Cluster\",\"names\":{"
		"\"plural\":\"as\","
		"\"kind\":\"A\"}}}",
		"{\"metadata\":{\"name\":\"as.b.c\"},\"spec\":{\"group\":\"b.c\",\"scope\":\"x\",\"names\":{\"plural\":"
		"\"as\","
		"\"kind\":\"A\"}}}",
		"{\"metadata\":{\"name\":\"leases.coordination.k8s.io\"},\"spec\":{\"group\":\"coordination.k8s.io\","
		"\"scope\":"
		"\"Cluster\",\"names\":{\"plural\":\"leases\",\"kind\":\"A\"},\"versions\":[{\"name\":\"v1\","
		"\"storage\":true}]}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (create(f, "customresourcedefinitions", widget_crd(f, versions[i])) != 422)
			fail_msg("%s: %d", versions[i], f->answer.code);
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
		if (create(f, "customresourcedefinitions", bodies[i]) != 422)
			fail_msg("%s: %d", bodies[i], f->answer.code);
	assert_null(store_type_at(f->store, 9));
}

static void a_crd_takes_its_objects_along(void **state)
{
	struct fixture *f = *state;
	const struct store_type *t;

	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	t = type_named(f, "widgets");
	for (int i = 0; i < 300; i++)
		assert_int_equal(create(f, "widgets", fmt(f, "{\"metadata\":{\"name\":\"w%d\"}}", i)), 201);
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"slow\",\"finalizers\":[\"a\"]}}"), 201);
	assert_int_equal(delete_one(f, "customresourcedefinitions", "widgets.example.org", NULL), 200);
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"late\"}}"), 405);
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(list(f, "widgets", NULL, NULL), 200);
	assert_said(f, "items.0.metadata.name", "slow");
	assert_unsaid(f, "items.1");
	assert_int_equal(merge_patch(f, "widgets", "slow", "{\"metadata\":{\"finalizers\":null}}"), 200);
	settle(f);
	assert_int_equal(get(f, "customresourcedefinitions", "widgets.example.org"), 404);
	assert_null(store_type(f->store, STR("example.org"), STR("v1"), STR("widgets")));
	/* Who still has the type is told so; made again, it is the same one. */
	assert_int_equal(ask(f, (struct store_request){ .verb = STORE_LIST, .type = t }), 404);
	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	assert_ptr_equal(type_named(f, "widgets"), t);
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"new\"}}"), 201);
}

static void a_changed_crd_changes_its_type(void **state)
{
	struct fixture *f = *state;
	const struct store_type *t;

	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	t = type_named(f, "widgets");
	assert_int_equal(
		merge_patch(
			f, "customresourcedefinitions", "widgets.example.org",
			"{\"spec\":{\"names\":{\"shortNames\":[\"q\"]},\"versions\":[{\"name\":\"v1\",\"served\":true,"
			"\"storage\":true}]}}"),
		200);
	assert_said(f, "metadata.generation", "2");
	assert_ptr_equal(type_named(f, "widgets"), t);
	assert_true(str_eqc(t->short_names, "q"));
	assert_false(t->status);
	assert_int_equal(merge_patch(f, "customresourcedefinitions", "widgets.example.org",
	                             "{\"spec\":{\"scope\":\"Cluster\"}}"),
	                 422);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_crd_is_a_type_at_once),       STORE_TEST(a_dry_crd_is_none),
		STORE_TEST(versions_share_their_objects),  STORE_TEST(bad_crds_are_refused),
		STORE_TEST(a_crd_takes_its_objects_along), STORE_TEST(a_changed_crd_changes_its_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
