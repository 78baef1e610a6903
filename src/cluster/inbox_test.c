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
	assert_true(inbox_next(&in, &ev));
	assert_string_equal(ev.object.node->name.p, "n");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_in_first_out),
		cmocka_unit_test(what_is_no_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
