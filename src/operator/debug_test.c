#include "operator/testing.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static yyjson_doc *page(struct operator_script *s, const char *ns, const char *name)
{
	struct buf out = BUF_INIT(1 << 20);
	yyjson_doc *doc = NULL;

	if (operator_debug(s->op, str_c(ns), str_c(name), &out))
		doc = json_parse(buf_str(&out), NULL);
	buf_release(&out);
	return doc;
}

static void test_shows_the_plan_and_sends_nothing(void **state)
{
	struct operator_script *s = *state;
	struct job_object job = job_object(s, "10", "", 1);
	size_t sent;
	yyjson_doc *doc;
	yyjson_val *first, *plan;

	listed(s);
	put_job(s, "10", "", 1);
	sent = s->n_sent;
	doc = page(s, job.meta.ns.p, job.meta.name.p);
	assert_non_null(doc);
	first = yyjson_arr_get_first(yyjson_doc_get_root(doc));
	assert_true(str_eqc(json_str(json_get(first, "kind")), "TfJob.mlkube.io"));
	plan = json_get(first, "plan");
	assert_true(yyjson_is_arr(json_get(plan, "actions")));
	assert_true(yyjson_is_obj(json_get(plan, "record")));
	assert_int_equal(s->n_sent, sent);
	yyjson_doc_free(doc);
	/* Looking changes nothing: the job goes its way. */
	settle_all(s);
	doc = page(s, job.meta.ns.p, job.meta.name.p);
	assert_true(yyjson_get_int(json_get(yyjson_arr_get_first(yyjson_doc_get_root(doc)), "podsKnown")) > 0);
	yyjson_doc_free(doc);
}

static void test_no_such_job(void **state)
{
	struct operator_script *s = *state;

	listed(s);
	assert_null(page(s, "default", "nobody"));
	assert_null(page(s, "", ""));
}

static void test_a_job_that_is_left_alone(void **state)
{
	struct operator_script *s = *state;
	struct job_object job = job_object(s, "10", "", 1);
	yyjson_doc *doc;

	listed(s);
	put_job(s, "10", "{\"dlOperator\":{\"version\":99}}", 1);
	doc = page(s, job.meta.ns.p, job.meta.name.p);
	assert_non_null(doc);
	assert_true(yyjson_is_true(json_get(yyjson_arr_get_first(yyjson_doc_get_root(doc)), "leftAlone")));
	yyjson_doc_free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_shows_the_plan_and_sends_nothing),
		SCRIPT_TEST(test_no_such_job),
		SCRIPT_TEST(test_a_job_that_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
