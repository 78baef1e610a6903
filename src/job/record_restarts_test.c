/* The last restarts, as the record keeps them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "job/record.h"

/* The last ten are kept. */
static void restarts_are_noted(void **state)
{
	struct record r = { 0 };

	(void)state;
	assert_null(record_restart(&r, 0));
	for (int i = 1; i <= RECORD_RESTARTS + 5; i++)
		record_note_restart(&r, (struct restart_note){ .at = i });
	for (size_t i = 0; i < RECORD_RESTARTS; i++)
		assert_int_equal(record_restart(&r, i)->at, RECORD_RESTARTS + 5 - i);
	assert_null(record_restart(&r, RECORD_RESTARTS));
	record_shorten(&r);
	assert_null(record_restart(&r, 1));
	assert_int_equal(record_restart(&r, 0)->at, RECORD_RESTARTS + 5);
}

#define NOTE(time, cause) "{\"time\":\"2026-11-15T12:00:0" time "Z\",\"cause\":\"" cause "\",\"scope\":\"Pod\"}"

/* The list begins with the last one; an earlier version writes that one alone, and what it does not know is skipped. */
static void restarts_are_read(void **state)
{
	static const struct {
		const char *last, *list;
		size_t n;
	} table[] = {
		{ NOTE("3", "Failed"), "[" NOTE("3", "Failed") "," NOTE("2", "Deleted") "," NOTE("1", "Failed") "]",
		  3 },
		{ NOTE("4", "Failed"), "[" NOTE("3", "Failed") "," NOTE("2", "Deleted") "]", 3 },
		{ NOTE("3", "Failed"), "[" NOTE("3", "Failed") "," NOTE("2", "Comet") "," NOTE("1", "Failed") "]", 2 },
		{ NOTE("3", "Failed"), "null", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct arena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct str text = arena_printf(&a, "{\"version\":1,\"lastRestart\":%s,\"restartHistory\":%s}",
		                               table[i].last, table[i].list);
		yyjson_doc *doc = yyjson_read(text.p, text.n, 0);
		struct record *r = record_read(yyjson_doc_get_root(doc), &a, &e);

		assert_non_null(r);
		assert_non_null(record_restart(r, table[i].n - 1));
		assert_null(record_restart(r, table[i].n));
		for (size_t k = 1; k < table[i].n; k++)
			assert_true(record_restart(r, k)->at < record_restart(r, k - 1)->at);
		yyjson_doc_free(doc);
		arena_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restarts_are_noted),
		cmocka_unit_test(restarts_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
