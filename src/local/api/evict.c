/* Evictions, as `kubectl drain` asks for them: the pod is deleted, and says first that nobody is to blame. */
#include "base/json.h"
#include "local/api/internal.h"

/* The operator, and everybody else who reads the pod, sees a disruption. */
static void mark(struct api_answering *q)
{
	const struct store_request *r = &q->route->request;
	struct store_answer a = { 0 };
	char now[TIME_TEXT];
	struct buf b = BUF_INIT(1024);

	buf_printf(&b,
	           "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
	           "\"EvictionByEvictionAPI\",\"message\":\"Eviction API: evicting\",\"lastTransitionTime\":\"%s\"}]}}",
	           time_format(clock_now(q->api->config.clock), now));
	store_call(q->api->config.store,
	           &(struct store_request){ .verb = STORE_PATCH,
	                                    .type = r->type,
	                                    .ns = r->ns,
	                                    .name = r->name,
	                                    .status = true,
	                                    .patch = STORE_PATCH_STRATEGIC,
	                                    .body = buf_str(&b) },
	           &a);
	store_answer_release(&a);
	buf_release(&b);
}

/* A pod whose eviction is refused lives on, and its next end is its own. */
static bool is_taken(struct api_answering *q, struct store_request r)
{
	struct store_answer a = { 0 };
	bool ret;

	r.dry_run = true;
	store_call(q->api->config.store, &r, &a);
	ret = http_is_good(a.code);
	store_answer_release(&a);
	return ret;
}

void answer_evict(struct api_answering *q, struct str body)
{
	struct store_request r = q->route->request;
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(body, NULL);
	yyjson_val *options = json_get(yyjson_doc_get_root(doc), "deleteOptions");
	struct store_answer a = { 0 };
	struct buf text = BUF_INIT(STORE_BODY_MAX), b = BUF_INIT(1024);
	char *written = yyjson_is_obj(options) ? yyjson_val_write(options, 0, NULL) : NULL;

	if (!yyjson_is_obj(yyjson_doc_get_root(doc))) {
		answer_status(q, HTTP_BAD_REQUEST, "the body is not an Eviction");
		return;
	}
	buf_put(&text, str_c(written));
	free(written);
	if (text.overflow) {
		buf_release(&text);
		answer_status(q, HTTP_BAD_REQUEST, "the deleteOptions are too large");
		return;
	}
	r.verb = STORE_DELETE;
	r.body = buf_str(&text);
	r.dry_run = r.dry_run || yyjson_arr_size(json_get(options, "dryRun")) > 0;
	/* A precondition on the version would not hold any more. */
	if (!r.dry_run && !json_get(options, "preconditions") && is_taken(q, r))
		mark(q);
	store_call(q->api->config.store, &r, &a);
	buf_release(&text);
	if (!http_is_good(a.code)) {
		answer_json(q, a.code, &a.body);
	} else {
		status_put(&b, &(struct status){ .code = HTTP_CREATED });
		answer_json(q, HTTP_CREATED, &b);
	}
	store_answer_release(&a);
}
