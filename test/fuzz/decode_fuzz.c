/* Any JSON as a pod, a service, a node, a job, a Status: read or refused with a reason; the strings are of the
   text's own bytes, clipped where they say so. */
#include "base/json.h"
#include "cluster/decode.h"
#include "cluster/shallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_pod(const struct pod *pod)
{
	ASSERT(!str_empty(pod->meta.name) && pod->index >= -1 && pod->generation >= 0);
	ASSERT(pod->message.n <= DECODE_TEXT_MAX && str_is_utf8(pod->message) && str_is_utf8(pod->reason));
	for (size_t i = 0; i < pod->n_containers; i++) {
		const struct container *c = &pod->containers[i];

		ASSERT(!str_empty(c->name) && c->message.n <= DECODE_TEXT_MAX && str_is_utf8(c->message));
		ASSERT(c->state == CONTAINER_TERMINATED || (c->exit_code == 0 && c->finished == 0));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	yyjson_doc *doc = yyjson_read((const char *)data, n, 0);
	yyjson_val *val = yyjson_doc_get_root(doc);
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct outcome o = { 0 };
	struct job_object job;
	struct service service;
	struct node node;
	struct group group;
	struct str left_out;
	struct pod pod;
	bool ok = decode_pod(&pod, val, &a, &e);

	ASSERT(ok == (e.code == ERR_NONE));
	ASSERT(ok == decode_service(&service, val, &a, &e) && ok == decode_node(&node, val, &a, &e));
	ASSERT(ok == decode_group(&group, val, &a, &e));
	if (decode_job(&job, val, STR("K"), &a, NULL))
		ASSERT(ok && str_eq(job.meta.name, pod.meta.name) && str_eq(node.name, pod.meta.name));
	if (yyjson_is_obj(val)) {
		yyjson_doc *shallow = shallow_copy(val, &left_out, &a);

		ASSERT(yyjson_is_obj(yyjson_doc_get_root(shallow)));
		yyjson_doc_free(shallow);
	}
	decode_status(&o, val);
	yyjson_doc_free(doc);
	if (ok)
		check_pod(&pod);
	err_release(&e);
	arena_release(&a);
	return 0;
}
