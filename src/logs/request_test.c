#include "logs/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define LOG "/api/v1/namespaces/ml/pods/demo-0/log?timestamps=true&container=main"

static void is_what_was_asked_for(void **state)
{
	static const struct {
		struct log_request q;
		const char *path;
	} cases[] = {
		{ { .tail = -1 }, LOG },
		{ { .tail = 0 }, LOG "&tailLines=0" },
		{ { .follow = true, .tail = 5 }, LOG "&follow=true&tailLines=5" },
		{ { .previous = true, .since = 90, .tail = -1 }, LOG "&previous=true&sinceSeconds=90" },
		/* A log that goes on does so from its last line, whatever it began with. */
		{ { .since_time = 1767323045000000006, .since = 90, .tail = -1 },
		  LOG "&sinceTime=2026-01-02T03:04:05Z" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf path = BUF_INIT(LOG_PATH_MAX);
		struct log_request q = cases[i].q;

		q.ns = STR("ml");
		q.pod = STR("demo-0");
		q.container = STR("main");
		log_request_path(&path, &q);
		assert_string_equal(buf_str(&path).p, cases[i].path);
		buf_release(&path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
