#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/api/route.h"
#include "local/store/testing.h"

struct fixture_route {
	struct api_route route;
	bool ok;
};

static struct fixture_route ask_as(struct fixture *f, const char *method, const char *address, const char *type)
{
	struct str path = str_c(address);
	const char *mark = strchr(address, '?');
	struct fixture_route ret;
	struct api_ask q = { .method = str_c(method), .content_type = str_c(type) };

	q.path = mark ? str_sub(path, 0, (size_t)(mark - address)) : path;
	q.query = mark ? str_c(mark + 1) : STR_NONE;
	ret.ok = api_route(&ret.route, f->store, &q, &f->arena);
	return ret;
}

static struct api_route route_ok(struct fixture *f, const char *method, const char *address)
{
	struct fixture_route r = ask_as(
		f, method, address, strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json");

	if (!r.ok)
		fail_msg("%s %s: %d %.*s", method, address, r.route.code, STR_F(r.route.body));
	return r.route;
}

static void refused_as(struct fixture *f, const char *method, const char *address, const char *type, int code)
{
	struct fixture_route r = ask_as(f, method, address, type);
	yyjson_doc *doc CLEANUP(json_docp) = NULL;
	int64_t said_code = 0;

	if (r.ok)
		fail_msg("%s %s: not refused", method, address);
	if (r.route.code != code)
		fail_msg("%s %s: %d, not %d: %.*s", method, address, r.route.code, code, STR_F(r.route.body));
	doc = json_parse(r.route.body, NULL);
	assert_non_null(doc);
	assert_true(str_eqc(json_str(json_get(yyjson_doc_get_root(doc), "kind")), "Status"));
	assert_true(json_int(json_get(yyjson_doc_get_root(doc), "code"), &said_code));
	assert_int_equal(said_code, code);
	assert_true(json_str(json_get(yyjson_doc_get_root(doc), "reason")).n > 0);
}

static void refused(struct fixture *f, const char *method, const char *address, int code)
{
	refused_as(f, method, address, NULL, code);
}

static void says(struct fixture_route r, int code, const char *words)
{
	assert_false(r.ok);
	assert_int_equal(r.route.code, code);
	if (!memmem(r.route.body.p, r.route.body.n, words, strlen(words)))
		fail_msg("%.*s", STR_F(r.route.body));
}

static void is_text(struct str s, const char *text)
{
	if (!str_eqc(s, text))
		fail_msg("\"%.*s\", not \"%s\"", STR_F(s), text);
}

static void addresses_of_objects(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *method, *address;
		enum store_verb verb;
		const char *plural, *ns, *name;
		bool status, takes_body;
	} cases[] = {
		{ "GET", "/api/v1/pods", STORE_LIST, "pods", "", "", false, false },
		{ "GET", "/api/v1/namespaces/ml/pods", STORE_LIST, "pods", "ml", "", false, false },
		{ "GET", "/api/v1/namespaces/ml/pods/", STORE_LIST, "pods", "ml", "", false, false },
		{ "GET", "/api/v1/namespaces/ml/pods/a", STORE_GET, "pods", "ml", "a", false, false },
		{ "GET", "/api/v1/namespaces/ml/pods/a/status", STORE_GET, "pods", "ml", "a", true, false },
		{ "PUT", "/api/v1/namespaces/ml/pods/a/status", STORE_UPDATE, "pods", "ml", "a", true, true },
		{ "PATCH", "/api/v1/namespaces/ml/pods/a", STORE_PATCH, "pods", "ml", "a", false, true },
		{ "POST", "/api/v1/namespaces/ml/pods", STORE_CREATE, "pods", "ml", "", false, true },
		{ "DELETE", "/api/v1/namespaces/ml/pods/a", STORE_DELETE, "pods", "ml", "a", false, true },
		{ "DELETE", "/api/v1/namespaces/ml/pods", STORE_DELETE_ALL, "pods", "ml", "", false, true },
		{ "DELETE", "/api/v1/nodes", STORE_DELETE_ALL, "nodes", "", "", false, true },
		{ "GET", "/api/v1/namespaces", STORE_LIST, "namespaces", "", "", false, false },
		{ "POST", "/api/v1/namespaces", STORE_CREATE, "namespaces", "", "", false, true },
		{ "GET", "/api/v1/namespaces/ml", STORE_GET, "namespaces", "", "ml", false, false },
		{ "PATCH", "/api/v1/namespaces/ml/status", STORE_PATCH, "namespaces", "", "ml", true, true },
		{ "GET", "/api/v1/nodes/n/status", STORE_GET, "nodes", "", "n", true, false },
		{ "PUT", "/apis/coordination.k8s.io/v1/namespaces/ml/leases/l", STORE_UPDATE, "leases", "ml", "l",
		  false, true },
		{ "GET", "/apis/example.org/v1/widgets", STORE_LIST, "widgets", "", "", false, false },
		{ "GET", "/apis/example.org/v1/namespaces/ml/widgets/w/status", STORE_GET, "widgets", "ml", "w", true,
		  false },
		/* A namespace and an object may be called as a type or a subresource is. */
		{ "GET", "/api/v1/namespaces/pods/pods/status", STORE_GET, "pods", "pods", "status", false, false },
		{ "GET", "/api/v1/namespaces/namespaces", STORE_GET, "namespaces", "", "namespaces", false, false },
		{ "GET", "/api/v1/namespaces/ml/pods/%61%2db", STORE_GET, "pods", "ml", "a-b", false, false },
	};

	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct api_route r = route_ok(f, cases[i].method, cases[i].address);

		assert_int_equal(r.action, API_STORE);
		assert_int_equal(r.request.verb, cases[i].verb);
		is_text(r.request.type->plural, cases[i].plural);
		is_text(r.request.ns, cases[i].ns);
		is_text(r.request.name, cases[i].name);
		assert_int_equal(r.request.status, cases[i].status);
		assert_int_equal(r.takes_body, cases[i].takes_body);
		assert_false(r.request.dry_run);
	}
}

static void other_addresses(void **state)
{
	static const struct {
		const char *address;
		enum api_action action;
		const char *group, *version;
	} cases[] = {
		{ "/", API_PATHS, "", "" },
		{ "/healthz", API_HEALTH, "", "" },
		{ "/readyz?verbose", API_HEALTH, "", "" },
		{ "/livez", API_HEALTH, "", "" },
		{ "/version", API_VERSION, "", "" },
		{ "/version/", API_VERSION, "", "" },
		{ "/api", API_CORE, "", "" },
		{ "/apis", API_GROUPS, "", "" },
		{ "/apis/coordination.k8s.io", API_GROUP, "coordination.k8s.io", "" },
		{ "/api/v1", API_RESOURCES, "", "v1" },
		{ "/apis/coordination.k8s.io/v1", API_RESOURCES, "coordination.k8s.io", "v1" },
		{ "/openapi/v2", API_OPENAPI_V2, "", "" },
		{ "/openapi/v3", API_OPENAPI_V3, "", "" },
		{ "/openapi/v3/api/v1", API_OPENAPI_GROUP, "", "v1" },
		{ "/openapi/v3/apis/coordination.k8s.io/v1", API_OPENAPI_GROUP, "coordination.k8s.io", "v1" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct api_route r = route_ok(f, "GET", cases[i].address);

		assert_int_equal(r.action, cases[i].action);
		is_text(r.group, cases[i].group);
		is_text(r.version, cases[i].version);
		refused(f, "POST", cases[i].address, 405);
	}
	assert_int_equal(route_ok(f, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").action,
	                 API_ACCESS);
	refused(f, "GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405);
}

static void what_is_not_there(void **state)
{
	static const char *const none[] = {
		"", "api", "//", "/api/", "/api//v1", "/api/v2", "/api/v2/pods", "/api/v1/things", "/api/v1/pods/a",
		"/api/v1/namespaces/ml/nodes", "/api/v1/namespaces/ml/nodes/n", "/api/v1/namespaces/ml/things",
		"/api/v1/namespaces/ml/namespaces", "/api/v1/namespaces/ml/finalize",
		"/api/v1/namespaces/ml/pods/a/scale", "/api/v1/namespaces/ml/pods/a/status/x",
		"/api/v1/namespaces/ml/configmaps/c/status", "/api/v1/namespaces/ml/configmaps/c/log",
		"/api/v1/watch/pods", "/apis/nowhere.org", "/apis/nowhere.org/v1", "/apis/nowhere.org/v1/pods",
		"/apis/coordination.k8s.io/v2", "/apis/coordination.k8s.io/v1/pods",
		"/apis/coordination.k8s.io/v1/leases/l", "/apis//v1/pods", "/apis/v1/pods", "/openapi/v4",
		"/openapi/v3/api", "/openapi/v3/api/v9", "/metrics", "/healthz/x", "/a/b/c/d/e/f/g/h/i/j",
		/* Segments that no name can be. */
		"/api/v1/namespaces/ml/pods/..", "/api/v1/namespaces/../pods", "/api/v1/namespaces/ml/pods/a%2Fb",
		"/api/v1/namespaces/ml/pods/%2e%2e", "/api/v1/namespaces/ml/pods/a%00", "/api/v1/namespaces/ml/pods/%",
		"/api/v1/namespaces/ml/pods/%4", "/api/v1/namespaces/ml/pods/%zz", "/api/v1/namespaces/ml/pods/%ff",
		"/api/v1/namespaces/ml/pods/a%25b", "/api/v1/namespaces/ml/pods/a%0ab", "/api/v1/namespaces//pods"
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		if (strcmp(none[i], "/api/") != 0)
			refused(f, "GET", none[i], 404);
	assert_int_equal(route_ok(f, "GET", "/api/").action, API_CORE);
}

/* Jobs have roles to scale; leases and other people's objects have none. */
static void what_scale_says(void **state)
{
	static const struct {
		const char *address, *words;
	} cases[] = {
		{ "/apis/example.org/v1/namespaces/ml/gears/a/scale", "use 'dljob scale --local a ROLE=N'" },
		{ "/apis/example.org/v1/namespaces/ml/widgets/a/scale", "could not find the requested resource" },
		{ "/apis/coordination.k8s.io/v1/namespaces/ml/leases/a/scale",
		  "could not find the requested resource" },
	};
	struct fixture *f = *state;

	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	assert_int_equal(create(f, "customresourcedefinitions",
	                        "{\"metadata\":{\"name\":\"gears.example.org\"},\"spec\":{\"group\":\"example.org\","
	                        "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"gears\",\"kind\":\"Gear\","
	                        "\"categories\":[\"all\",\"dljobs\"]},\"versions\":[{\"name\":\"v1\",\"served\":true,"
	                        "\"storage\":true}]}}"),
	                 201);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		says(ask_as(f, "PATCH", cases[i].address, NULL), 404, cases[i].words);
}

static void methods_that_do_not_fit(void **state)
{
	struct fixture *f = *state;

	refused(f, "POST", "/api/v1/pods", 405);
	refused(f, "DELETE", "/api/v1/pods", 405);
	refused(f, "DELETE", "/api/v1/namespaces", 405);
	refused(f, "POST", "/api/v1/namespaces/ml/pods/a", 405);
	refused(f, "PUT", "/api/v1/namespaces/ml/pods", 405);
	refused(f, "PATCH", "/api/v1/namespaces/ml/pods", 405);
	refused(f, "DELETE", "/api/v1/namespaces/ml/pods/a/status", 405);
	refused(f, "POST", "/api/v1/namespaces/ml/pods/a/log", 405);
	refused(f, "DELETE", "/api/v1/namespaces/ml/pods/a/exec?command=sh&stdout=1", 405);
	refused(f, "GET", "/api/v1/namespaces/ml/pods/a/exec?stdout=1", 400);
	refused(f, "GET", "/api/v1/namespaces/ml/pods/a/exec?command=sh", 400);
	refused(f, "POST", "/api/v1/namespaces/ml/pods/a/attach", 405);
	refused(f, "DELETE", "/api/v1/namespaces/ml/pods/a/portforward?ports=80", 405);
	refused(f, "GET", "/api/v1/namespaces/ml/pods/a/portforward?ports=0", 400);
	refused(f, "GET", "/api/v1/namespaces/ml/pods/a/portforward?ports=80,81", 400);
	refused(f, "GET", "/api/v1/namespaces/ml/pods/a/proxy", 405);
	refused(f, "GET", "/api/v1/namespaces/ml/pods/a/eviction", 405);
	refused(f, "POST", "/api/v1/namespaces/ml/services/a/eviction", 404);
	refused(f, "HEAD", "/api/v1/namespaces/ml/pods", 405);
	refused(f, "get", "/api/v1/namespaces/ml/pods", 405);
	refused(f, "", "/api/v1/namespaces/ml/pods", 405);
}

static void types_of_bodies(void **state)
{
	struct fixture *f = *state;
	const char *pods = "/api/v1/namespaces/ml/pods", *pod = "/api/v1/namespaces/ml/pods/a";

	assert_true(ask_as(f, "POST", pods, "application/json; charset=utf-8").ok);
	assert_true(ask_as(f, "POST", pods, "Application/JSON").ok);
	assert_true(ask_as(f, "POST", pods, NULL).ok);
	refused_as(f, "POST", pods, "application/vnd.kubernetes.protobuf", 415);
	says(ask_as(f, "POST", "/api/v1/namespaces/ml/services", "application/vnd.kubernetes.protobuf"), 415,
	     "write it as YAML and use create -f");
	refused_as(f, "PUT", pod, "application/cbor", 415);
	assert_true(ask_as(f, "POST", "/api/v1/namespaces", "application/vnd.kubernetes.protobuf").route.protobuf);
	refused_as(f, "PUT", "/api/v1/namespaces/ml", "application/vnd.kubernetes.protobuf", 415);
	refused_as(f, "PATCH", pod, NULL, 415);
	refused_as(f, "PATCH", pod, "application/json", 415);
	refused_as(f, "PATCH", pod, "application/apply-patch+yaml", 415);
	assert_int_equal(ask_as(f, "PATCH", pod, "application/json-patch+json").route.request.patch, STORE_PATCH_JSON);
	assert_int_equal(ask_as(f, "PATCH", pod, "application/merge-patch+json").route.request.patch,
	                 STORE_PATCH_MERGE);
	assert_int_equal(ask_as(f, "PATCH", pod, "application/strategic-merge-patch+json;a=b").route.request.patch,
	                 STORE_PATCH_STRATEGIC);
	/* What has no body is not asked for its type. */
	assert_true(ask_as(f, "GET", pod, "application/cbor").ok);
}

static void options_of_lists(void **state)
{
	struct fixture *f = *state;
	struct api_route r = route_ok(f, "GET",
	                              "/api/v1/pods?labelSelector=a%3Db%2Cc+in+%28d%29&fieldSelector=metadata.name%3Dx&"
	                              "limit=5&continue=abc%3D&resourceVersion=7&limit=9&pretty=true");

	is_text(r.request.label_selector, "a=b,c in (d)");
	is_text(r.request.field_selector, "metadata.name=x");
	is_text(r.request.continue_token, "abc=");
	assert_int_equal(r.request.limit, 5);
	assert_int_equal(r.not_older, 7);
	assert_int_equal(r.exact, 0);
	is_text(r.include_object, "Metadata");
	r = route_ok(f, "GET", "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact&includeObject=Object");
	assert_int_equal(r.exact, 7);
	is_text(r.include_object, "Object");
	refused(f, "GET", "/api/v1/pods?limit=x", 400);
	refused(f, "GET", "/api/v1/pods?limit=-1", 400);
	refused(f, "GET", "/api/v1/pods?resourceVersion=x", 400);
	refused(f, "GET", "/api/v1/pods?resourceVersion=-4", 400);
	refused(f, "GET", "/api/v1/pods?resourceVersion=1&resourceVersionMatch=x", 422);
	refused(f, "GET", "/api/v1/pods?resourceVersionMatch=Exact", 422);
	refused(f, "GET", "/api/v1/pods?resourceVersion=0&resourceVersionMatch=Exact", 422);
	refused(f, "GET", "/api/v1/pods?includeObject=x", 400);
	refused(f, "GET", "/api/v1/pods?labelSelector=%", 400);
	refused(f, "GET", "/api/v1/pods?labelSelector=%00", 400);
}

static void options_of_writes(void **state)
{
	struct fixture *f = *state;
	struct api_route r;

	assert_true(route_ok(f, "POST", "/api/v1/namespaces/ml/pods?dryRun=All&fieldManager=k&fieldValidation=Strict")
	                    .request.dry_run);
	refused(f, "POST", "/api/v1/namespaces/ml/pods?dryRun=Some", 422);
	r = route_ok(f, "DELETE", "/api/v1/namespaces/ml/pods/a?gracePeriodSeconds=0&propagationPolicy=Orphan");
	is_text(r.request.body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":0,"
	                        "\"propagationPolicy\":\"Orphan\"}");
	is_text(route_ok(f, "DELETE", "/api/v1/namespaces/ml/pods/a").request.body, "");
	is_text(route_ok(f, "DELETE", "/api/v1/namespaces/ml/pods?labelSelector=a").request.label_selector, "a");
	refused(f, "DELETE", "/api/v1/namespaces/ml/pods/a?propagationPolicy=%22", 422);
	refused(f, "DELETE", "/api/v1/namespaces/ml/pods/a?gracePeriodSeconds=soon", 400);
}

static void options_of_watches(void **state)
{
	struct fixture *f = *state;
	struct api_route r = route_ok(f, "GET",
	                              "/api/v1/namespaces/ml/pods?watch=true&resourceVersion=12&allowWatchBookmarks=1&"
	                              "timeoutSeconds=60&labelSelector=a");

	assert_int_equal(r.action, API_WATCH);
	is_text(r.watch.type->plural, "pods");
	is_text(r.watch.ns, "ml");
	is_text(r.watch.label_selector, "a");
	assert_int_equal(r.watch.from, 12);
	assert_true(r.watch.bookmarks);
	assert_false(r.watch.initial_events);
	assert_int_equal(r.watch.timeout_s, 60);
	assert_int_equal(route_ok(f, "GET", "/api/v1/pods?watch=false").action, API_STORE);
	assert_int_equal(route_ok(f, "GET", "/api/v1/pods?watch=0").action, API_STORE);
	assert_int_equal(route_ok(f, "GET", "/api/v1/pods?watch").action, API_WATCH);
	r = route_ok(f, "GET",
	             "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
	             "allowWatchBookmarks=true");
	assert_true(r.watch.initial_events);
	refused(f, "GET", "/api/v1/pods?watch=1&sendInitialEvents=true&allowWatchBookmarks=true", 422);
	refused(f, "GET", "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 422);
	refused(f, "GET", "/api/v1/pods?watch=1&timeoutSeconds=-1", 400);
	refused(f, "GET", "/api/v1/pods?watch=1&resourceVersion=99999999999999999999", 400);
}

static void options_of_logs(void **state)
{
	struct fixture *f = *state;
	const char *log = "/api/v1/namespaces/ml/pods/a/log";
	struct api_route r = route_ok(f, "GET",
	                              fmt(f,
	                                  "%s?container=c&follow=true&tailLines=0&sinceSeconds=5&timestamps=true&"
	                                  "limitBytes=9",
	                                  log));

	assert_int_equal(r.action, API_LOG);
	is_text(r.request.name, "a");
	is_text(r.log.container, "c");
	assert_true(r.log.follow && r.log.timestamps && !r.log.previous);
	assert_int_equal(r.log.tail_lines, 0);
	assert_int_equal(r.log.since_seconds, 5);
	assert_int_equal(r.log.limit_bytes, 9);
	assert_int_equal(route_ok(f, "GET", log).log.tail_lines, -1);
	r = route_ok(f, "GET", fmt(f, "%s?sinceTime=2026-01-02T03:04:05Z", log));
	assert_true(r.log.since_time > 0);
	refused(f, "GET", fmt(f, "%s?sinceTime=x", log), 400);
	refused(f, "GET", fmt(f, "%s?sinceTime=2026-01-02T03:04:05Z&sinceSeconds=4", log), 422);
	refused(f, "GET", fmt(f, "%s?tailLines=-2", log), 400);
	refused(f, "GET", fmt(f, "%s?limitBytes=0", log), 400);
}

/* Whatever stands in an address: an answer, and names that a path can hold. */
static void any_address(void **state)
{
	static const char *const parts[] = { "/",      "api", "v1",    "apis", "namespaces", "ml",   "pods",
		                             "status", "%2f", "%",     "..",   "?",          "&",    "=",
		                             "watch",  "log", "limit", "-1",   "+",          "\xff", "%00" };
	struct fixture *f = *state;
	struct rng rng = rng_seed(5);

	for (int i = 0; i < 20000; i++) {
		struct buf b = BUF_INIT(4096);
		size_t n = rng_below(&rng, 14);
		struct fixture_route r;

		buf_putc(&b, '/');
		while (n--)
			buf_put(&b, str_c(parts[rng_below(&rng, ARRAY_LEN(parts))]));
		r = ask_as(f, rng_below(&rng, 2) ? "GET" : "DELETE", b.p, NULL);
		if (r.ok && (r.route.action == API_STORE || r.route.action == API_LOG)) {
			assert_non_null(r.route.request.type);
			assert_null(memchr(str_text(r.route.request.name), '/', r.route.request.name.n));
			assert_null(memchr(str_text(r.route.request.ns), '/', r.route.request.ns.n));
		} else if (!r.ok) {
			assert_true(r.route.code >= 400 && r.route.code < 500 && r.route.body.n);
		}
		buf_release(&b);
		arena_reset(&f->arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(addresses_of_objects),    STORE_TEST(other_addresses),  STORE_TEST(what_is_not_there),
		STORE_TEST(methods_that_do_not_fit), STORE_TEST(what_scale_says),  STORE_TEST(methods_that_do_not_fit),
		STORE_TEST(types_of_bodies),         STORE_TEST(options_of_lists), STORE_TEST(options_of_writes),
		STORE_TEST(options_of_watches),      STORE_TEST(options_of_logs),  STORE_TEST(any_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
