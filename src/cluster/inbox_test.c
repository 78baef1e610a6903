#include "cluster/inbox.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static yyjson_doc *parse(const char *text)
{
	yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

	assert_non_null(doc);
	return doc;
}

static void push(struct inbox *in, struct inbox_batch *b, enum resource resource, const char *text)
{
	yyjson_doc *doc = parse(text);
	struct err e = ERR_INIT;
	struct object object;
	struct cluster_event *ev;

	assert_true(inbox_object(b, &object, resource, STR("TfJob.mlkube.io"), yyjson_doc_get_root(doc), &e));
	/* The event must not need what it was made of. */
	yyjson_doc_free(doc);
	ev = inbox_push(in, b);
	ev->type = EVENT_PUT;
	ev->object = object;
}

#define NAMED(name)                                                                                                    \
	"{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"1\"},\"spec\":{\"a\":1}}"

/* In order, with memory of its own, across batches that end at other times than they are read. */
static void first_in_first_out(void **state)
{
	struct inbox in;
	struct inbox_batch *one, *two;
	yyjson_doc *doc;
	struct cluster_event ev;

	(void)state;
	inbox_init(&in);
	one = inbox_begin(&in);
	push(&in, one, RES_POD, NAMED("p"));
	push(&in, one, RES_JOB, NAMED("j"));
	assert_true(inbox_next(&in, &ev));
	assert_string_equal(ev.object.pod->meta.name.p, "p");
	two = inbox_begin(&in);
	inbox_end(&in, one);
	push(&in, two, RES_NODE, NAMED("n"));
	push(&in, two, RES_SERVICE, NAMED("s"));
	inbox_end(&in, two);
	assert_true(inbox_next(&in, &ev));
	assert_string_equal(ev.object.job->meta.name.p, "j");
	assert_int_equal(yyjson_get_int(json_at(ev.object.job->root, "spec", "a", NULL)), 1);
	/* Its document is whoever's that takes it. */
	doc = *ev.object.job->doc;
	*ev.object.job->doc = NULL;
	assert_true(inbox_next(&in, &ev));
	assert_string_equal(ev.object.node->name.p, "n");
	assert_int_equal(yyjson_get_int(json_at(yyjson_doc_get_root(doc), "spec", "a", NULL)), 1);
	yyjson_doc_free(doc);
	/* The last one is left in it: released with the inbox. */
	assert_int_equal(in.n, 1);
	inbox_release(&in);
	assert_false(inbox_next(&in, &ev));
}

static void what_is_no_object(void **state)
{
	static const char *const texts[] = { "[]", "{}", "null", "{\"metadata\":{}}", "{\"metadata\":3}" };
	struct inbox in;

	(void)state;
	inbox_init(&in);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		for (int r = 0; r < RES_COUNT; r++) {
			struct inbox_batch *b = inbox_begin(&in);
			yyjson_doc *doc = parse(texts[i]);
			struct err e = ERR_INIT;
			struct object o;

			assert_false(inbox_object(b, &o, (enum resource)r, STR("k"), yyjson_doc_get_root(doc), &e));
			assert_int_not_equal(e.code, 0);
			err_release(&e);
			yyjson_doc_free(doc);
			inbox_end(&in, b);
		}
	}
	inbox_release(&in);
}

static struct outcome outcome(struct inbox *in, const struct request *r, int code, const char *body)
{
	struct cluster_event ev;

	inbox_outcome(in, r, &(struct outcome){ .code = code, .message = STR("no answer"), .retry_after = 3 },
	              str_c(body));
	assert_true(inbox_next(in, &ev));
	assert_int_equal(ev.type, EVENT_OUTCOME);
	assert_int_equal(ev.resource, r->resource);
	assert_int_equal(ev.outcome.id, r->id);
	assert_int_equal(ev.outcome.retry_after, 3);
	return ev.outcome;
}

static void what_a_request_was_answered(void **state)
{
	struct request r = { .id = 7, .verb = VERB_PATCH, .resource = RES_JOB, .kind = STR("TfJob.mlkube.io") };
	struct outcome o;
	struct inbox in;

	(void)state;
	inbox_init(&in);
	o = outcome(&in, &r, 200, NAMED("j"));
	assert_int_equal(o.code, 200);
	assert_string_equal(o.object.job->meta.name.p, "j");
	assert_string_equal(o.object.job->kind.p, "TfJob.mlkube.io");
	/* Done, and nobody knows what. */
	o = outcome(&in, &r, 200, "{}");
	assert_int_equal(o.code, 0);
	assert_string_equal(o.message.p, "not an object: metadata.name is missing");
	o = outcome(&in, &r, 409, "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"another\"}");
	assert_int_equal(o.code, 409);
	assert_string_equal(o.reason.p, "Conflict");
	assert_string_equal(o.message.p, "another");
	o = outcome(&in, &r, 502, "<html>");
	assert_int_equal(o.code, 502);
	assert_string_equal(o.message.p, "no answer");
	o = outcome(&in, &r, 0, "");
	assert_int_equal(o.code, 0);
	assert_string_equal(o.message.p, "no answer");
	/* What a DELETE is answered with is no object that must be read. */
	r.verb = VERB_DELETE;
	o = outcome(&in, &r, 200, "{\"kind\":\"Status\"}");
	assert_int_equal(o.code, 200);
	assert_null(o.object.job);
	inbox_release(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_in_first_out),
		cmocka_unit_test(what_is_no_object),
		cmocka_unit_test(what_a_request_was_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
