#include "operator/internal.h"

#include "base/json.h"
#include "operator/copy.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { JOBS = 3 };

static struct str text_of(int i)
{
	struct arena a = ARENA_INIT;
	struct str json = arena_printf(&a,
	                               "{\"metadata\":{\"name\":\"job-%d\"},"
	                               "\"spec\":{\"n\":%d,\"twice\":1,\"twice\":2},\"status\":{}}",
	                               i, i);
	yyjson_doc *doc = yyjson_read(json.p, json.n, 0);
	struct str text = copy_text(yyjson_doc_get_root(doc));

	yyjson_doc_free(doc);
	arena_release(&a);
	return text;
}

static int64_t number(const struct cached_job *job)
{
	int64_t n = -1;

	json_int(json_at(yyjson_doc_get_root(job->doc), "spec", "n", NULL), &n);
	return n;
}

/* Only so many are trees; the one that was not looked at for longest is text again. */
static void the_oldest_is_folded(void **state)
{
	struct operator_loop op = { .config = { .jobs_open = 2 } };
	struct cached_job jobs[JOBS] = { 0 };

	(void)state;
	for (int i = 0; i < JOBS; i++)
		jobs[i].text = text_of(i);
	open_job(&op, &jobs[0]);
	open_job(&op, &jobs[1]);
	open_job(&op, &jobs[0]);
	open_job(&op, &jobs[2]);
	assert_int_equal(op.n_open, 2);
	assert_null(jobs[1].doc);
	assert_string_equal(
		jobs[1].text.p,
		"{\"metadata\":{\"name\":\"job-1\"},\"spec\":{\"n\":1,\"twice\":1,\"twice\":2},\"status\":{}}");
	assert_int_equal(number(&jobs[0]), 0);
	assert_int_equal(jobs[0].text.n, 0);
	/* What waits for answers stays, though there are too many then. */
	jobs[0].in_flight = jobs[2].in_flight = 1;
	open_job(&op, &jobs[1]);
	assert_int_equal(op.n_open, 3);
	assert_int_equal(number(&jobs[1]), 1);
	jobs[0].in_flight = 0;
	open_job(&op, &jobs[1]);
	assert_int_equal(op.n_open, 2);
	assert_null(jobs[0].doc);
	for (int i = 0; i < JOBS; i++) {
		open_forget(&op, &jobs[i]);
		yyjson_doc_free(jobs[i].doc);
		str_free(jobs[i].text);
	}
	assert_int_equal(op.n_open, 0);
	assert_null(op.open_first);
	assert_null(op.open_last);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_oldest_is_folded) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
