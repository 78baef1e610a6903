#include "local/api/route.h"

#include "local/api/route_query.h"
#include "local/api/status.h"

#include <stdarg.h>

#define NO_SUCH "the server could not find the requested resource"
#define NO_METHOD "the server does not allow this method on the requested resource"

bool route_refuse(struct api_routing *r, int code, const char *fmt, ...)
{
	char text[1024];
	struct buf b = BUF_INIT(8192);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	api_status(&b, code, str_c(text));
	r->ret->code = code;
	r->ret->body = arena_str(r->arena, buf_str(&b));
	buf_release(&b);
	return false;
}

static bool method_is(const struct api_routing *r, const char *method)
{
	return str_eqc(r->ask->method, method);
}

/* Addresses that are no objects */

static const struct {
	const char *path[3]; /* NULL ends it; "*" is any segment: a group, then a version */
	enum api_action action;
} fixed[] = {
	{ { NULL }, API_PATHS },
	{ { "healthz", NULL }, API_HEALTH },
	{ { "livez", NULL }, API_HEALTH },
	{ { "readyz", NULL }, API_HEALTH },
	{ { "version", NULL }, API_VERSION },
	{ { "api", NULL }, API_CORE },
	{ { "apis", NULL }, API_GROUPS },
	{ { "apis", "*", NULL }, API_GROUP },
	{ { "api", "v1", NULL }, API_RESOURCES },
	{ { "apis", "*", "*" }, API_RESOURCES },
	{ { "openapi", "v2", NULL }, API_OPENAPI_V2 },
	{ { "openapi", "v3", NULL }, API_OPENAPI_V3 },
};

static bool is_fixed(const struct uri_path *p, const char *const path[3])
{
	size_t n = 0;

	while (n < 3 && path[n])
		n++;
	if (p->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(path[i], "*") != 0 && !str_eqc(p->v[i], path[i]))
			return false;
	return true;
}

static bool served(const struct store *s, struct str group, struct str version)
{
	const struct store_type *t;

	if (str_eqc(group, METRICS_GROUP))
		return str_empty(version) || str_eqc(version, METRICS_VERSION);
	for (size_t i = 0; (t = store_type_at(s, i)); i++)
		if (str_eq(t->group, group) && (str_empty(version) || str_eq(t->version, version)))
			return true;
	return false;
}

static bool read_only(struct api_routing *r, enum api_action action, struct str group, struct str version)
{
	if (!method_is(r, "GET") && !method_is(r, "HEAD"))
		return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
	if ((group.n || version.n) && !served(r->store, group, version))
		return route_refuse(r, HTTP_NOT_FOUND, NO_SUCH);
	r->ret->action = action;
	r->ret->group = group;
	r->ret->version = version;
	return true;
}

/* *DONE: it is one of these; the result is in the return value. */
static bool route_fixed(struct api_routing *r, bool *done)
{
	const struct uri_path *p = &r->path;

	*done = true;
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		bool core = p->n == 2 && str_eqc(p->v[0], "api"), group = p->n > 1 && str_eqc(p->v[0], "apis");

		if (is_fixed(p, fixed[i].path))
			return read_only(r, fixed[i].action, group ? p->v[1] : STR_NONE,
			                 core        ? p->v[1]
			                 : p->n == 3 ? p->v[2]
			                             : STR_NONE);
	}
	if (p->n == 4 && str_eqc(p->v[0], "openapi") && str_eqc(p->v[1], "v3") && str_eqc(p->v[2], "api"))
		return read_only(r, API_OPENAPI_GROUP, STR_NONE, p->v[3]);
	if (p->n == 5 && str_eqc(p->v[0], "openapi") && str_eqc(p->v[1], "v3") && str_eqc(p->v[2], "apis"))
		return read_only(r, API_OPENAPI_GROUP, p->v[3], p->v[4]);
	if (p->n == 4 && str_eqc(p->v[0], "apis") && str_eqc(p->v[1], "authorization.k8s.io") &&
	    str_eqc(p->v[2], "v1") && str_eqc(p->v[3], "selfsubjectaccessreviews")) {
		if (!method_is(r, "POST"))
			return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
		r->ret->action = API_ACCESS;
		r->ret->takes_body = true;
		return true;
	}
	*done = false;
	return false;
}

/* Metrics: of pods alone */

static bool is_metrics(const struct uri_path *p)
{
	return p->n > 3 && str_eqc(p->v[0], "apis") && str_eqc(p->v[1], METRICS_GROUP) &&
	       str_eqc(p->v[2], METRICS_VERSION);
}

/* pods, namespaces/NS/pods or namespaces/NS/pods/NAME behind the version. */
static bool route_metrics(struct api_routing *r)
{
	const struct uri_path *p = &r->path;
	bool in_namespace = p->n > 5 && str_eqc(p->v[3], "namespaces");
	size_t at = in_namespace ? 5 : 3;
	struct store_request *q = &r->ret->request;

	if (!method_is(r, "GET"))
		return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
	if (str_eqc(p->v[3], "nodes"))
		return route_refuse(r, HTTP_NOT_FOUND,
		                    "the local cluster measures pods only: its node is this machine, which top shows");
	if (!str_eqc(p->v[at], "pods") || p->n > at + (in_namespace ? 2 : 1))
		return route_refuse(r, HTTP_NOT_FOUND, NO_SUCH);
	*q = (struct store_request){ .verb = p->n > at + 1 ? STORE_GET : STORE_LIST,
		                     .type = store_type(r->store, STR_NONE, STR("v1"), STR("pods")),
		                     .ns = in_namespace ? p->v[4] : STR_NONE,
		                     .name = p->n > at + 1 ? p->v[at + 1] : STR_NONE };
	r->ret->action = API_METRICS;
	return route_options(r);
}

/* Objects */

/* What stands behind the group and version of an address. */
struct target {
	const struct store_type *type;
	struct str ns, name, sub;
	bool in_namespace; /* the address names one */
};

static bool read_target(struct api_routing *r, struct target *ret)
{
	const struct uri_path *p = &r->path;
	bool core = str_eqc(p->v[0], "api");
	struct str group = core || p->n < 2 ? STR_NONE : p->v[1], version;
	size_t at = core ? 2 : 3;

	*ret = (struct target){ 0 };
	if (p->n <= at || (!core && !str_eqc(p->v[0], "apis")))
		return false;
	version = p->v[at - 1];
	if (str_eqc(p->v[at], "namespaces") && p->n > at + 2) {
		ret->type = store_type(r->store, group, version, p->v[at + 2]);
		if (ret->type && ret->type->namespaced) {
			ret->in_namespace = true;
			ret->ns = p->v[at + 1];
			at += 2;
		} else {
			ret->type = NULL;
		}
	}
	if (!ret->in_namespace)
		ret->type = store_type(r->store, group, version, p->v[at]);
	if (!ret->type || p->n > at + 3)
		return false;
	ret->name = p->n > at + 1 ? p->v[at + 1] : STR_NONE;
	ret->sub = p->n > at + 2 ? p->v[at + 2] : STR_NONE;
	/* An object with a namespace is not found without one. */
	return str_empty(ret->name) || ret->in_namespace == ret->type->namespaced;
}

/* What pods have in Kubernetes and not here; the words are what kubectl shows. */
static const struct {
	const char *sub, *why;
} left_out[] = {
	{ "attach", "the local cluster has no attach: use logs -f for the output, exec for another program" },
	{ "proxy", "the local cluster has no proxy: use 'dljob port-forward --local JOB REPLICA PORT'" },
	{ "ephemeralcontainers",
	  "the local cluster has no ephemeral containers: exec runs this machine's own tools in a "
	  "pod without a root file system of its own" },
	{ "binding", "the local cluster has one node and no bindings" },
	{ "resize", "the local cluster does not resize pods" },
};

/* Of a kind of ours: their CRDs have this category. */
static bool is_job_type(const struct store_type *t)
{
	struct str rest = t->categories, one;

	while (str_next(&rest, ',', &one))
		if (str_eqc(one, "dljobs"))
			return true;
	return false;
}

static bool route_sub(struct api_routing *r, const struct target *t)
{
	struct store_request *q = &r->ret->request;
	bool pod = str_empty(t->type->group) && str_eqc(t->type->plural, "pods");

	if (str_eqc(t->sub, "status") && t->type->status) {
		q->status = true;
		if (!method_is(r, "GET") && !method_is(r, "PUT") && !method_is(r, "PATCH"))
			return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
		return true;
	}
	if (pod && str_eqc(t->sub, "log")) {
		if (!method_is(r, "GET"))
			return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
		r->ret->action = API_LOG;
		return route_log(r);
	}
	/* GET is a WebSocket, POST was SPDY: whether it is one is seen later. */
	if (pod && str_eqc(t->sub, "exec")) {
		if (!method_is(r, "GET") && !method_is(r, "POST"))
			return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
		r->ret->action = API_EXEC;
		return route_exec(r);
	}
	if (pod && str_eqc(t->sub, "portforward")) {
		if (!method_is(r, "GET") && !method_is(r, "POST"))
			return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
		r->ret->action = API_FORWARD;
		return route_forward(r);
	}
	if (pod && str_eqc(t->sub, "eviction")) {
		if (!method_is(r, "POST"))
			return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
		r->ret->action = API_EVICT;
		r->ret->takes_body = true;
		q->dry_run = !str_empty(uri_value(&r->query, "dryRun"));
		return route_body_type(r);
	}
	for (size_t i = 0; pod && i < ARRAY_LEN(left_out); i++)
		if (str_eqc(t->sub, left_out[i].sub))
			return route_refuse(r, HTTP_NOT_ALLOWED, "%s", left_out[i].why);
	/* kubectl cannot know which role is meant. */
	if (str_eqc(t->sub, "scale") && is_job_type(t->type))
		return route_refuse(r, HTTP_NOT_FOUND,
		                    "%.*s have no scale subresource: a job may have several roles; use 'dljob scale "
		                    "--local %.*s ROLE=N'",
		                    STR_F(t->type->plural), STR_F(t->name));
	return route_refuse(r, HTTP_NOT_FOUND, NO_SUCH);
}

static const struct {
	const char *method;
	bool named;
	enum store_verb verb;
	bool takes_body;
} verbs[] = {
	{ "GET", true, STORE_GET, false },           { "GET", false, STORE_LIST, false },
	{ "POST", false, STORE_CREATE, true },       { "PUT", true, STORE_UPDATE, true },
	{ "PATCH", true, STORE_PATCH, true },        { "DELETE", true, STORE_DELETE, true },
	{ "DELETE", false, STORE_DELETE_ALL, true },
};

static bool find_verb(struct api_routing *r, const struct target *t)
{
	bool named = !str_empty(t->name);

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		bool writes_many = verbs[i].verb == STORE_CREATE || verbs[i].verb == STORE_DELETE_ALL;

		if (verbs[i].named != named || !method_is(r, verbs[i].method))
			continue;
		if (writes_many && t->type->namespaced && !t->in_namespace)
			break;
		/* As Kubernetes: all namespaces at once is a slip. */
		if (verbs[i].verb == STORE_DELETE_ALL && str_eqc(t->type->plural, "namespaces") &&
		    str_empty(t->type->group))
			break;
		r->ret->request.verb = verbs[i].verb;
		r->ret->takes_body = verbs[i].takes_body;
		return true;
	}
	return route_refuse(r, HTTP_NOT_ALLOWED, NO_METHOD);
}

static bool route_object(struct api_routing *r, const struct target *t)
{
	struct store_request *q = &r->ret->request;

	*q = (struct store_request){ .type = t->type, .ns = t->ns, .name = t->name };
	r->ret->action = API_STORE;
	r->ret->group = t->type->group;
	r->ret->version = t->type->version;
	if (t->sub.n && !route_sub(r, t))
		return false;
	if (r->ret->action != API_STORE)
		return true;
	if (!find_verb(r, t) || !route_body_type(r))
		return false;
	return q->verb == STORE_LIST && uri_bool(&r->query, "watch") ? route_watch(r) : route_options(r);
}

bool api_route(struct api_route *ret, const struct store *s, const struct api_ask *ask, struct arena *a)
{
	struct api_routing r = { .ret = ret, .store = s, .ask = ask, .arena = a };
	struct target target;
	bool done, ok;

	*ret = (struct api_route){ 0 };
	if (!uri_path(&r.path, ask->path, a))
		return route_refuse(&r, HTTP_NOT_FOUND, NO_SUCH);
	if (!uri_query(&r.query, ask->query, a))
		return route_refuse(&r, HTTP_BAD_REQUEST, "the query cannot be read");
	ok = route_fixed(&r, &done);
	if (done)
		return ok;
	if (is_metrics(&r.path))
		return route_metrics(&r);
	if (!read_target(&r, &target))
		return route_refuse(&r, HTTP_NOT_FOUND, NO_SUCH);
	return route_object(&r, &target);
}
