#include "local/runner/call.h"

int store_ask(struct runner *r, const struct store_request *q, struct store_answer *ret)
{
	struct store_answer own;
	int code;

	store_call(r->c.store, q, ret ? ret : &own);
	code = ret ? ret->code : own.code;
	if (!ret)
		store_answer_release(&own);
	return code;
}

int store_patch_pod(struct runner *r, const struct runner_pod *p, bool status, struct str body)
{
	return store_ask(r,
	                 &(struct store_request){ .verb = STORE_PATCH,
	                                          .type = r->pod_type,
	                                          .ns = str_c(p->ns),
	                                          .name = str_c(p->name),
	                                          .status = status,
	                                          .patch = STORE_PATCH_MERGE,
	                                          .body = body },
	                 NULL);
}

yyjson_doc *store_read(struct runner *r, const struct store_type *t, struct str ns, struct str name)
{
	struct store_answer a;
	yyjson_doc *doc = NULL;

	if (!t)
		return NULL;
	store_ask(r, &(struct store_request){ .verb = STORE_GET, .type = t, .ns = ns, .name = name }, &a);
	if (a.code == HTTP_OK)
		doc = json_parse(buf_str(&a.body), NULL);
	store_answer_release(&a);
	return doc;
}
