#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/request.h"

static const struct kube_resource tfjobs = { STR_INIT("mlkube.io"), STR_INIT("v1beta1"), STR_INIT("tfjobs"), true };
static const struct kube_resource fleets = { STR_INIT("x.io"), STR_INIT("v1"), STR_INIT("fleets"), false };

static struct arena arena;

static void same(struct str s, const char *want)
{
	assert_string_equal(arena_str(&arena, s).p, want);
}

#define OPTIONS "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\""
#define BACKGROUND ",\"propagationPolicy\":\"Background\"}"
#define MERGE "application/merge-patch+json"
#define NAMED .ns = STR_INIT("ns"), .name = STR_INIT("a")

static void test_verbs(void **state)
{
	static const struct {
		struct request r;
		enum http_method method;
		const char *path, *body, *type;
	} cases[] = {
		{ { .verb = VERB_GET, .resource = RES_POD, NAMED, .body = STR_INIT("x") },
		  HTTP_GET,
		  "/api/v1/namespaces/ns/pods/a",
		  "",
		  "" },
		{ { .verb = VERB_GET, .resource = RES_NODE, .name = STR_INIT("n.example") },
		  HTTP_GET,
		  "/api/v1/nodes/n.example",
		  "",
		  "" },
		{ { .verb = VERB_CREATE, .resource = RES_SERVICE, NAMED, .body = STR_INIT("{}") },
		  HTTP_POST,
		  "/api/v1/namespaces/ns/services",
		  "{}",
		  "application/json" },
		{ { .verb = VERB_PATCH, .resource = RES_POD, NAMED, .body = STR_INIT("{}") },
		  HTTP_PATCH,
		  "/api/v1/namespaces/ns/pods/a",
		  "{}",
		  MERGE },
		{ { .verb = VERB_PATCH, .resource = RES_GROUP, NAMED, .body = STR_INIT("{}") },
		  HTTP_PATCH,
		  "/apis/mlkube.io/v1beta1/namespaces/ns/tfjobs/a", /* as it was told */
		  "{}",
		  MERGE },
		{ { .verb = VERB_PATCH_STATUS, .resource = RES_JOB, NAMED, .body = STR_INIT("{\"status\":{}}") },
		  HTTP_PATCH,
		  "/apis/mlkube.io/v1beta1/namespaces/ns/tfjobs/a/status",
		  "{\"status\":{}}",
		  MERGE },
		{ { .verb = VERB_DELETE, .resource = RES_JOB, NAMED, .grace = -1 },
		  HTTP_DELETE,
		  "/apis/mlkube.io/v1beta1/namespaces/ns/tfjobs/a",
		  OPTIONS BACKGROUND,
		  "application/json" },
		{ { .verb = VERB_DELETE, .resource = RES_POD, NAMED, .uid = STR_INIT("u\"1") },
		  HTTP_DELETE,
		  "/api/v1/namespaces/ns/pods/a",
		  OPTIONS ",\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"u\\\"1\"}" BACKGROUND,
		  "application/json" },
		{ { .verb = VERB_GET,
		    .resource = RES_POD,
		    .ns = STR_INIT("n s"),
		    .name = STR_INIT("a?b#c\xc3\xa4+&;") },
		  HTTP_GET,
		  "/api/v1/namespaces/n%20s/pods/a%3Fb%23c%C3%A4%2B%26%3B",
		  "",
		  "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kube_wire w;

		assert_true(kube_wire_request(&w, &cases[i].r, &tfjobs, &arena, NULL));
		assert_int_equal(w.method, cases[i].method);
		same(w.path, cases[i].path);
		same(w.body, cases[i].body);
		same(w.content_type, cases[i].type);
	}
}

/* The server would take these for another object, or for all of them. */
static void test_names(void **state)
{
	static const struct {
		struct str ns, name;
		const char *want;
	} cases[] = {
		{ STR_INIT("ns"), STR_INIT(""), "the name is empty" },
		{ STR_INIT(""), STR_INIT("a"), "the namespace is empty" },
		{ STR_INIT("ns"), STR_INIT(".."), "\"..\" cannot be a name" },
		{ STR_INIT("."), STR_INIT("a"), "\".\" cannot be a namespace" },
		{ STR_INIT("ns"), STR_INIT("a/status"), "\"a/status\" cannot be a name" },
		{ STR_INIT("ns"), STR_INIT("a%2Fb"), "\"a%2Fb\" cannot be a name" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct request r = {
			.verb = VERB_DELETE, .resource = RES_POD, .ns = cases[i].ns, .name = cases[i].name
		};
		struct err e = ERR_INIT;
		struct kube_wire w;

		assert_false(kube_wire_request(&w, &r, NULL, &arena, &e));
		assert_string_equal(err_msg(&e), cases[i].want);
		err_release(&e);
	}
}

static void test_cluster_scoped(void **state)
{
	struct request r = { .verb = VERB_CREATE, .resource = RES_JOB, .ns = STR("ns"), .body = STR("{}") };
	struct kube_wire w;

	(void)state;
	assert_true(kube_wire_request(&w, &r, &fleets, &arena, NULL));
	same(w.path, "/apis/x.io/v1/fleets");
}

static void test_lists(void **state)
{
	static const struct {
		const struct kube_resource *r;
		struct kube_list_options o;
		const char *want;
	} cases[] = {
		{ &tfjobs, { .limit = 0 }, "/apis/mlkube.io/v1beta1/tfjobs" },
		{ &tfjobs,
		  { .ns = STR_INIT("ns"), .limit = 500 },
		  "/apis/mlkube.io/v1beta1/namespaces/ns/tfjobs?limit=500" },
		{ &fleets, { .ns = STR_INIT("ns") }, "/apis/x.io/v1/fleets" },
		{ &tfjobs,
		  { .limit = 500,
		    .continue_token = STR_INIT("a+b/c="),
		    .resource_version = STR_INIT("7"),
		    .resource_version_match = STR_INIT("Exact") },
		  "/apis/mlkube.io/v1beta1/tfjobs?limit=500&continue=a%2Bb%2Fc%3D" },
		{ &tfjobs,
		  { .resource_version = STR_INIT("7"), .resource_version_match = STR_INIT("NotOlderThan") },
		  "/apis/mlkube.io/v1beta1/tfjobs?resourceVersion=7&resourceVersionMatch=NotOlderThan" },
		{ &tfjobs,
		  { .watch = true,
		    .bookmarks = true,
		    .label_selector = STR_INIT("x.io/uid,a in (b,c)"),
		    .resource_version = STR_INIT("12"),
		    .timeout_seconds = 300 },
		  "/apis/mlkube.io/v1beta1/"
		  "tfjobs?watch=true&allowWatchBookmarks=true&labelSelector=x.io%2Fuid%2Ca%20in%20"
		  "%28b%2Cc%29&resourceVersion=12&timeoutSeconds=300" },
		{ &tfjobs,
		  { .ns = STR_INIT("team"), .field_selector = STR_INIT("metadata.name=demo") },
		  "/apis/mlkube.io/v1beta1/namespaces/team/tfjobs?fieldSelector=metadata.name%3Ddemo" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		same(kube_list_path(cases[i].r, &cases[i].o, &arena), cases[i].want);
	same(kube_object_path(kube_builtin_resource(RES_POD), STR("ml"), STR("a-0"), &arena),
	     "/api/v1/namespaces/ml/pods/a-0");
	same(kube_object_path(kube_builtin_resource(RES_POD), STR("ml"), STR("x/../y?a=\x1b[2J b"), &arena),
	     "/api/v1/namespaces/ml/pods/x%2F..%2Fy%3Fa%3D%1B%5B2J%20b");
	same(kube_list_path(kube_builtin_resource(RES_NODE), &(struct kube_list_options){ 0 }, &arena),
	     "/api/v1/nodes");
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_verbs, teardown),
		cmocka_unit_test_teardown(test_names, teardown),
		cmocka_unit_test_teardown(test_cluster_scoped, teardown),
		cmocka_unit_test_teardown(test_lists, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
