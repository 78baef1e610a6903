#include "local/runner/call.h"

int runner_ask(struct runner *r, const struct store_request *q, struct store_answer *ret)
{
	struct store_answer own;
	int code;

	store_call(r->c.store, q, ret ? ret : &own);
	code = ret ? ret->code : own.code;
	if (!ret)
		store_answer_release(&own);
	return code;
}

bool runner_do(struct runner *r, const struct store_request *q, int *code, struct err *e)
{
	struct store_answer a;
	yyjson_doc *doc;
	struct str why;

	*code = runner_ask(r, q, &a);
	if (!http_is_good(*code)) {
		doc = json_parse(buf_str(&a.body), NULL);
		why = json_str(json_get(yyjson_doc_get_root(doc), "message"));
		err_set(e, ERR_IO, "%.*s", STR_F(why));
		yyjson_doc_free(doc);
	}
	store_answer_release(&a);
	return http_is_good(*code);
}

bool runner_patch_pod(struct runner *r, const struct runner_pod *p, bool status, struct str body, int *code,
                      struct err *e)
{
	return runner_do(r,
	                 &(struct store_request){ .verb = STORE_PATCH,
	                                          .type = r->pod_type,
	                                          .ns = str_c(p->ns),
	                                          .name = str_c(p->name),
	                                          .status = status,
	                                          .urgent = true,
	                                          .patch = STORE_PATCH_MERGE,
	                                          .body = body },
	                 code, e);
}

yyjson_doc *runner_read(struct runner *r, const struct store_type *t, struct str ns, struct str name)
{
	struct store_answer a;
	yyjson_doc *doc = NULL;

	if (!t)
		return NULL;
	runner_ask(r, &(struct store_request){ .verb = STORE_GET, .type = t, .ns = ns, .name = name }, &a);
	if (a.code == HTTP_OK)
		doc = json_parse(buf_str(&a.body), NULL);
	store_answer_release(&a);
	return doc;
}
