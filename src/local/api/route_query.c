#include "local/api/route_query.h"

#include "local/api/protobuf.h"
#include "local/api/status.h"
#include "object/delete_options.h"

/* "application/json; charset=utf-8" without what follows the semicolon. */
static struct str media_type(struct str content_type)
{
	struct str type = STR_NONE;

	str_next(&content_type, ';', &type);
	return str_trim(type);
}

static const struct {
	const char *type;
	enum store_patch patch;
} patches[] = {
	{ "application/merge-patch+json", STORE_PATCH_MERGE },
	{ "application/json-patch+json", STORE_PATCH_JSON },
	{ "application/strategic-merge-patch+json", STORE_PATCH_STRATEGIC },
};

static bool patch_type(struct api_routing *r, struct str type)
{
	for (size_t i = 0; i < ARRAY_LEN(patches); i++) {
		if (str_eq_nocase(type, str_c(patches[i].type))) {
			r->ret->request.patch = patches[i].patch;
			return true;
		}
	}
	if (str_has_prefix(type, STR("application/apply-patch+")))
		return route_refuse(r, HTTP_UNSUPPORTED,
		                    "the local cluster has no server-side apply: use apply without --server-side");
	return route_refuse(r, HTTP_UNSUPPORTED,
	                    "the body of the request was in an unknown format - accepted media types include: "
	                    "application/json-patch+json, application/merge-patch+json, "
	                    "application/strategic-merge-patch+json");
}

bool route_body_type(struct api_routing *r)
{
	struct str type = media_type(r->ask->content_type);

	if (!r->ret->takes_body)
		return true;
	if (r->ret->request.verb == STORE_PATCH)
		return patch_type(r, type);
	if (str_empty(type) || str_eq_nocase(type, STR("application/json")))
		return true;
	if (str_eqc(type, "application/vnd.kubernetes.protobuf") && r->ret->request.verb == STORE_CREATE &&
	    str_empty(r->ret->group) && protobuf_knows(r->ret->request.type->kind)) {
		r->ret->protobuf = true;
		return true;
	}
	return route_refuse(r, HTTP_UNSUPPORTED,
	                    "the body of the request was in an unknown format - accepted media types include: "
	                    "application/json%s",
	                    r->ret->request.verb == STORE_CREATE ? "; write it as YAML and use create -f" : "");
}

static bool number_parameter(struct api_routing *r, const char *name, int64_t least, int64_t *ret)
{
	struct str text = uri_value(&r->query, name);

	if (str_empty(text))
		return true;
	if (!str_int(text, ret) || *ret < least)
		return route_refuse(r, HTTP_BAD_REQUEST, "%s=%.*s: not a number of at least %lld", name,
		                    STR_F(str_sub(text, 0, 64)), (long long)least);
	return true;
}

/* Versions are numbers here; what is none was never given out. */
static bool version(struct api_routing *r, uint64_t *ret)
{
	struct str text = uri_value(&r->query, "resourceVersion");
	int64_t n = 0;

	if (text.n && (!str_int(text, &n) || n < 0))
		return route_refuse(r, HTTP_BAD_REQUEST, "resourceVersion: Invalid value: \"%.*s\"",
		                    STR_F(str_sub(text, 0, 64)));
	*ret = (uint64_t)n;
	return true;
}

static bool list_versions(struct api_routing *r)
{
	struct str match = uri_value(&r->query, "resourceVersionMatch");
	uint64_t v = 0;

	if (!version(r, &v))
		return false;
	if (match.n && !uri_has(&r->query, "resourceVersion"))
		return route_refuse(r, HTTP_INVALID,
		                    "resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (str_eqc(match, "Exact")) {
		if (!v)
			return route_refuse(r, HTTP_INVALID,
			                    "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
		r->ret->exact = v;
	} else if (str_empty(match) || str_eqc(match, "NotOlderThan")) {
		r->ret->not_older = v;
	} else {
		return route_refuse(r, HTTP_INVALID, "resourceVersionMatch: Unsupported value: \"%.*s\"",
		                    STR_F(str_sub(match, 0, 64)));
	}
	return true;
}

static bool list_options(struct api_routing *r)
{
	struct store_request *q = &r->ret->request;
	int64_t limit = 0;

	q->label_selector = uri_value(&r->query, "labelSelector");
	q->field_selector = uri_value(&r->query, "fieldSelector");
	q->continue_token = uri_value(&r->query, "continue");
	if (!number_parameter(r, "limit", 0, &limit))
		return false;
	q->limit = (size_t)limit;
	return q->verb != STORE_LIST || list_versions(r);
}

static bool is_policy(struct str s)
{
	return str_eqc(s, "Orphan") || str_eqc(s, "Background") || str_eqc(s, "Foreground");
}

/* Where there is no body, the query may hold the options of a delete. */
static bool delete_options(struct api_routing *r)
{
	struct str policy = uri_value(&r->query, "propagationPolicy");
	struct buf b = BUF_INIT(DELETE_OPTIONS_MAX);
	int64_t grace = -1;

	if (!number_parameter(r, "gracePeriodSeconds", 0, &grace))
		return false;
	if (policy.n && !is_policy(policy))
		return route_refuse(r, HTTP_INVALID,
		                    "propagationPolicy: must be one of Foreground, Background, Orphan");
	if (grace < 0 && str_empty(policy))
		return true;
	delete_options_put(&b, &(struct delete_options){ grace, STR_NONE, policy });
	r->ret->request.body = arena_str(r->arena, buf_str(&b));
	buf_release(&b);
	return true;
}

static bool include_object(struct api_routing *r)
{
	struct str v = uri_value(&r->query, "includeObject");

	if (v.n && !str_eqc(v, "None") && !str_eqc(v, "Metadata") && !str_eqc(v, "Object"))
		return route_refuse(r, HTTP_BAD_REQUEST, "includeObject: must be one of None, Metadata, Object");
	r->ret->include_object = v.n ? v : STR("Metadata");
	return true;
}

/* Kubernetes warns where nothing is said. */
static bool field_validation(struct api_routing *r)
{
	struct str v = uri_value(&r->query, "fieldValidation");

	r->ret->unknown = UNKNOWN_WARN;
	if (!v.n || str_eqc(v, "Ignore") || str_eqc(v, "Warn") || str_eqc(v, "Strict"))
		return !v.n || unknown_fields_parse(v, &r->ret->unknown);
	return route_refuse(r, HTTP_INVALID,
	                    "fieldValidation: Unsupported value: \"%.*s\": supported values: \"Ignore\", \"Warn\", "
	                    "\"Strict\"",
	                    STR_F(str_sub(v, 0, 64)));
}

bool route_options(struct api_routing *r)
{
	struct store_request *q = &r->ret->request;
	struct str dry_run = uri_value(&r->query, "dryRun");

	if (dry_run.n && !str_eqc(dry_run, "All"))
		return route_refuse(r, HTTP_INVALID, "dryRun: Unsupported value: \"%.*s\": supported values: \"All\"",
		                    STR_F(str_sub(dry_run, 0, 64)));
	q->dry_run = dry_run.n > 0;
	if (!include_object(r) || !field_validation(r))
		return false;
	if ((q->verb == STORE_LIST || q->verb == STORE_DELETE_ALL) && !list_options(r))
		return false;
	return (q->verb != STORE_DELETE && q->verb != STORE_DELETE_ALL) || delete_options(r);
}

bool route_watch(struct api_routing *r)
{
	struct api_watch_options *w = &r->ret->watch;
	const struct store_request *q = &r->ret->request;

	r->ret->action = API_WATCH;
	*w = (struct api_watch_options){ .type = q->type,
		                         .ns = q->ns,
		                         .label_selector = uri_value(&r->query, "labelSelector"),
		                         .field_selector = uri_value(&r->query, "fieldSelector"),
		                         .bookmarks = uri_bool(&r->query, "allowWatchBookmarks"),
		                         .initial_events = uri_bool(&r->query, "sendInitialEvents") };
	if (w->initial_events && !str_eqc(uri_value(&r->query, "resourceVersionMatch"), "NotOlderThan"))
		return route_refuse(r, HTTP_INVALID,
		                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
	if (w->initial_events && !w->bookmarks)
		return route_refuse(r, HTTP_INVALID, "sendInitialEvents requires allowWatchBookmarks");
	return include_object(r) && version(r, &w->from) && number_parameter(r, "timeoutSeconds", 0, &w->timeout_s);
}

bool route_log(struct api_routing *r)
{
	struct api_log_options *l = &r->ret->log;
	struct str time = uri_value(&r->query, "sinceTime");

	*l = (struct api_log_options){ .container = uri_value(&r->query, "container"),
		                       .follow = uri_bool(&r->query, "follow"),
		                       .previous = uri_bool(&r->query, "previous"),
		                       .timestamps = uri_bool(&r->query, "timestamps"),
		                       .tail_lines = -1 };
	if (!number_parameter(r, "tailLines", 0, &l->tail_lines) ||
	    !number_parameter(r, "sinceSeconds", 1, &l->since_seconds) ||
	    !number_parameter(r, "limitBytes", 1, &l->limit_bytes))
		return false;
	if (time.n && !time_parse(time, &l->since_time))
		return route_refuse(r, HTTP_BAD_REQUEST, "sinceTime: not an RFC 3339 time");
	if (time.n && l->since_seconds)
		return route_refuse(r, HTTP_INVALID, "at most one of sinceTime or sinceSeconds may be specified");
	return true;
}

bool route_exec(struct api_routing *r)
{
	struct api_exec_options *x = &r->ret->exec;

	*x = (struct api_exec_options){ .container = uri_value(&r->query, "container"),
		                        .in = uri_bool(&r->query, "stdin"),
		                        .out = uri_bool(&r->query, "stdout"),
		                        .err = uri_bool(&r->query, "stderr"),
		                        .tty = uri_bool(&r->query, "tty") };
	for (size_t i = 0; i < r->query.n; i++)
		if (str_eqc(r->query.v[i].name, "command"))
			*vec_push(r->arena, &x->command) = r->query.v[i].value;
	if (!x->command.n)
		return route_refuse(r, HTTP_BAD_REQUEST, "you must specify at least one command for the container");
	if (!x->in && !x->out && !x->err)
		return route_refuse(r, HTTP_BAD_REQUEST, "you must specify at least one of stdin, stdout, stderr");
	return true;
}

/* kubectl names the ports inside of SPDY: none is ok, until it is a WebSocket. */
bool route_forward(struct api_routing *r)
{
	struct str ports = uri_value(&r->query, "ports");

	if (!ports.n || (str_int(ports, &r->ret->port) && r->ret->port > 0 && r->ret->port <= UINT16_MAX))
		return true;
	return route_refuse(r, HTTP_BAD_REQUEST, "ports: one port, 1 to 65535");
}
