#include "local/api/api.h"

#include "local/api/discovery.h"
#include "base/json.h"
#include "local/api/internal.h"
#include "local/api/openapi.h"
#include "local/api/protobuf.h"
#include "local/api/strict.h"
#include "local/api/table.h"

#include <stdarg.h>

void answer_json(struct api_answering *q, int code, struct buf *body)
{
	http_answer(q->x, code, "application/json", body);
}

void answer_status(struct api_answering *q, int code, const char *fmt, ...)
{
	struct buf b = BUF_INIT(64 << 10);
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	api_status(&b, code, str_c(text));
	answer_json(q, code, &b);
}

bool may_stream(struct api_answering *q)
{
	if (q->api->streams < STREAMS_MAX)
		return true;
	answer_status(q, HTTP_TOO_MANY, "too many watches: the local cluster serves %d at once", STREAMS_MAX);
	return false;
}

/* Calls of the store */

/* The version that was asked for cannot be had. */
static bool refuse_version(struct api_answering *q)
{
	uint64_t now = store_version(q->api->config.store);
	const struct api_route *r = q->route;

	if (r->not_older > now)
		answer_status(q, HTTP_GATEWAY_TIMEOUT, "Too large resource version: %llu, current: %llu",
		              (unsigned long long)r->not_older, (unsigned long long)now);
	else if (r->exact && r->exact != now)
		answer_status(q, HTTP_GONE, "The resourceVersion for the provided list is too old.");
	else
		return false;
	return true;
}

static void answer_table(struct api_answering *q, struct store_answer *a)
{
	struct store *s = q->api->config.store;
	struct table_style style = { .include = q->route->include_object,
		                     .now = clock_now(q->api->config.clock),
		                     .columns = true };
	yyjson_doc *doc = yyjson_read(a->body.p, a->body.n, 0);
	struct buf b = BUF_INIT(API_ANSWER_MAX);
	struct api_table *t;

	ASSERT(doc);
	/* Both at once would be twice as much. */
	buf_release(&a->body);
	t = table_new(s, q->route->request.type);
	table_write(t, yyjson_doc_get_root(doc), &style, &b);
	table_free(t);
	yyjson_doc_free(doc);
	answer_json(q, a->code, &b);
}

/* False: it has been answered. */
static bool read_protobuf(struct api_answering *q, struct buf *ret, struct str body)
{
	struct err e = ERR_INIT;

	if (protobuf_to_json(q->route->request.type->kind, body, ret, &e))
		return true;
	answer_status(q, HTTP_BAD_REQUEST, "%s", err_msg(&e));
	err_release(&e);
	buf_release(ret);
	return false;
}

static void answer_store(struct api_answering *q, struct str body)
{
	struct store_request r = q->route->request;
	bool reads = r.verb == STORE_GET || r.verb == STORE_LIST;
	struct store_answer a = { 0 };
	struct buf json = BUF_INIT(2 * STORE_BODY_MAX);

	if (r.verb == STORE_LIST && refuse_version(q))
		return;
	if (q->route->takes_body && body.n)
		r.body = body;
	if (q->route->protobuf) {
		if (!read_protobuf(q, &json, body))
			return;
		r.body = buf_str(&json);
	}
	if (!strict_check(q, r.body)) {
		buf_release(&json);
		return;
	}
	strict_patch(q, &r);
	store_call(q->api->config.store, &r, &a);
	buf_release(&json);
	if (q->form == ACCEPT_TABLE && reads && a.code == HTTP_OK)
		answer_table(q, &a);
	else
		answer_json(q, a.code, &a.body);
	store_answer_release(&a);
}

/* Everything else */

/* Whoever has the token may do everything. */
static void answer_access(struct api_answering *q)
{
	struct buf b = BUF_INIT(1024);

	buf_put(&b,
	        STR("{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"metadata\":{},"
	            "\"spec\":{},\"status\":{\"allowed\":true}}"));
	answer_json(q, HTTP_CREATED, &b);
}

static void answer_discovery(struct api_answering *q)
{
	struct store *s = q->api->config.store;
	const struct api_route *r = q->route;
	bool all = q->form == ACCEPT_DISCOVERY || q->form == ACCEPT_DISCOVERY_BETA;
	struct buf b = BUF_INIT(API_ANSWER_MAX);

	if (all)
		discovery_all(&b, s, r->action == API_CORE, q->form);
	else if (r->action == API_CORE)
		discovery_core(&b);
	else if (r->action == API_GROUPS)
		discovery_groups(&b, s);
	else if (r->action == API_GROUP)
		discovery_group(&b, s, r->group);
	else
		discovery_resources(&b, s, r->group, r->version);
	http_answer(q->x, HTTP_OK, accept_content_type(q->form), &b);
}

static void answer_fixed(struct api_answering *q, void (*write)(struct buf *b, const struct store *s))
{
	struct buf b = BUF_INIT(API_ANSWER_MAX);

	write(&b, q->api->config.store);
	answer_json(q, HTTP_OK, &b);
}

static void answer_other(struct api_answering *q)
{
	struct buf b = BUF_INIT(API_ANSWER_MAX);

	switch (q->route->action) {
	case API_HEALTH:
		buf_put(&b, STR("ok"));
		http_answer(q->x, HTTP_OK, "text/plain; charset=utf-8", &b);
		return;
	case API_VERSION:
		discovery_version(&b, q->api->config.version);
		answer_json(q, HTTP_OK, &b);
		return;
	case API_OPENAPI_GROUP:
		openapi_group(&b, q->api->config.store, q->route->group, q->route->version);
		answer_json(q, HTTP_OK, &b);
		return;
	case API_OPENAPI_V2:
		answer_status(q, HTTP_NOT_FOUND, "the local cluster has no OpenAPI v2: use /openapi/v3");
		return;
	case API_STORE:
	case API_WATCH:
	case API_LOG:
	case API_EXEC:
	case API_FORWARD:
	case API_METRICS:
	case API_EVICT:
	case API_PATHS:
	case API_CORE:
	case API_GROUPS:
	case API_GROUP:
	case API_RESOURCES:
	case API_OPENAPI_V3:
	case API_ACCESS:
		BUG("answered elsewhere");
	}
}

static void answer_openapi_v2(struct api_answering *q)
{
	struct buf b = BUF_INIT(1024);

	openapi_v2(&b);
	http_answer(q->x, HTTP_OK, OPENAPI_V2_CONTENT, &b);
}

static unsigned forms_of(enum api_action a)
{
	if (a == API_STORE || a == API_WATCH)
		return 1u << ACCEPT_JSON | 1u << ACCEPT_TABLE;
	if (a == API_CORE || a == API_GROUPS)
		return 1u << ACCEPT_JSON | 1u << ACCEPT_DISCOVERY | 1u << ACCEPT_DISCOVERY_BETA;
	return 1u << ACCEPT_JSON;
}

/* Logs and health are plain text, whatever was asked for; exec is no document at all. */
static bool is_text(enum api_action a)
{
	return a == API_LOG || a == API_EXEC || a == API_FORWARD || a == API_HEALTH;
}

static void dispatch(struct api_answering *q, struct str body)
{
	q->form = accept_form(http_header(q->x, "Accept"), forms_of(q->route->action));
	if (q->route->action == API_OPENAPI_V2 && str_eqc(http_header(q->x, "Accept"), OPENAPI_V2_ACCEPT)) {
		answer_openapi_v2(q);
		return;
	}
	if (q->form == ACCEPT_NONE && !is_text(q->route->action)) {
		answer_status(q, HTTP_NOT_ACCEPTABLE, "only the following media types are accepted: application/json");
		return;
	}
	switch (q->route->action) {
	case API_STORE:
		answer_store(q, body);
		return;
	case API_WATCH:
		answer_watch(q);
		return;
	case API_LOG:
		answer_log(q);
		return;
	case API_EXEC:
		answer_exec(q);
		return;
	case API_FORWARD:
		answer_forward(q);
		return;
	case API_METRICS:
		answer_metrics(q);
		return;
	case API_EVICT:
		answer_evict(q, body);
		return;
	case API_PATHS:
		answer_fixed(q, discovery_paths);
		return;
	case API_OPENAPI_V3:
		answer_fixed(q, openapi_index);
		return;
	case API_CORE:
	case API_GROUPS:
	case API_GROUP:
	case API_RESOURCES:
		answer_discovery(q);
		return;
	case API_ACCESS:
		answer_access(q);
		return;
	case API_HEALTH:
	case API_VERSION:
	case API_OPENAPI_V2:
	case API_OPENAPI_GROUP:
		answer_other(q);
		return;
	}
}

/* Requests */

static bool on_admit(void *cookie, struct http_exchange *x, const struct http_service_request *r)
{
	struct api *a = cookie;
	struct api_answering q = { .api = a, .x = x };

	(void)r;
	if (identity_admits(&a->identity, http_header(x, "Authorization")))
		return true;
	answer_status(&q, HTTP_UNAUTHORIZED, "Unauthorized");
	return false;
}

static void on_too_large(void *cookie, struct http_exchange *x)
{
	struct api_answering q = { .api = cookie, .x = x };

	answer_status(&q, HTTP_TOO_LARGE, "Request entity too large: limit is %d", STORE_BODY_MAX);
}

static void on_request(void *cookie, struct http_exchange *x, const struct http_service_request *r)
{
	struct api *a = cookie;
	struct api_ask ask = { r->method, r->path, r->query, http_header(x, "Content-Type") };
	struct api_route route;
	struct api_answering q = { .api = a, .x = x, .route = &route };
	struct buf b = BUF_INIT(64 << 10);

	if (api_route(&route, a->config.store, &ask, &a->arena)) {
		dispatch(&q, r->body);
	} else {
		buf_put(&b, route.body);
		answer_json(&q, route.code, &b);
	}
	arena_reset(&a->arena);
}

/* Opening */

static struct http_service *serve(struct api *a, int port, struct err *e)
{
	struct http_service_config c = { .loop = a->config.loop,
		                         .port = port,
		                         .key = a->identity.tls.key,
		                         .cert = a->identity.tls.cert,
		                         .body_max = STORE_BODY_MAX,
		                         .admit = on_admit,
		                         .handle = on_request,
		                         .too_large = on_too_large,
		                         .cookie = a };

	return http_service_new(&c, e);
}

static bool start_service(struct api *a, struct err *e)
{
	if (!identity_load(&a->identity, a->folder, clock_now(a->config.clock), &a->kept, e))
		return false;
	if (!a->config.port && a->identity.port)
		a->service = serve(a, a->identity.port, NULL);
	if (!a->service)
		a->service = serve(a, a->config.port, e);
	return a->service && identity_publish(&a->identity, a->folder, http_service_port(a->service), e);
}

struct api *api_open(const struct api_config *c, struct err *e)
{
	struct api *a = xcalloc(1, sizeof(*a));
	struct str folder = str_c(c->folder);

	a->config = *c;
	a->folder = xstrndup(folder.p, folder.n);
	a->config.folder = a->folder;
	a->kubeconfig = xmalloc(folder.n + sizeof("/kubeconfig"));
	snprintf(a->kubeconfig, folder.n + sizeof("/kubeconfig"), "%s/kubeconfig", a->folder);
	a->bookmarks = loop_timer_new(c->loop, watch_on_bookmarks, a);
	if (start_service(a, e))
		return a;
	api_close(a);
	return NULL;
}

void api_close(struct api *a)
{
	if (!a)
		return;
	http_service_free(a->service);
	ASSERT(a->streams == 0);
	loop_timer_free(a->bookmarks);
	arena_release(&a->arena);
	arena_release(&a->kept);
	free(a->folder);
	free(a->kubeconfig);
	free(a);
}

void api_set_kinds(struct api *a, const struct kinds *kinds)
{
	a->config.kinds = kinds;
}

int api_port(const struct api *a)
{
	return http_service_port(a->service);
}

const char *api_kubeconfig_path(const struct api *a)
{
	return a->kubeconfig;
}
