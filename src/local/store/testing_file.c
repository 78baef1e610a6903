#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing_file.h"

#include <sqlite3.h>
#include <unistd.h>

static msec now(void *cookie)
{
	return ((struct fixture *)cookie)->now;
}

int folder_setup(void **state)
{
	struct folder *d = xcalloc(1, sizeof(*d));

	snprintf(d->dir, sizeof(d->dir), "/tmp/store-test-XXXXXX");
	assert_non_null(mkdtemp(d->dir));
	snprintf(d->path, sizeof(d->path), "%s/db", d->dir);
	d->f.now = SECONDS(1800000000);
	d->f.clock = (struct clock){ now, &d->f };
	*state = d;
	return 0;
}

void folder_clear(struct folder *d)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal", "-reserve" };
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		snprintf(path, sizeof(path), "%s%s", d->path, ends[i]);
		unlink(path);
	}
}

void folder_end(struct folder *d)
{
	store_answer_release(&d->f.answer);
	d->f.answer = (struct store_answer){ 0 };
	yyjson_doc_free(d->f.doc);
	d->f.doc = NULL;
	store_close(d->f.store);
	d->f.store = NULL;
}

int folder_teardown(void **state)
{
	struct folder *d = *state;

	folder_end(d);
	folder_clear(d);
	assert_int_equal(rmdir(d->dir), 0);
	arena_release(&d->f.arena);
	free(d);
	return 0;
}

struct store *folder_open(struct folder *d, const char *path, struct err *e)
{
	return store_open(&(struct store_config){ .path = path, .clock = &d->f.clock, .seed = 1 }, e);
}

struct fixture *folder_begin(struct folder *d)
{
	struct err e = ERR_INIT;

	d->f.store = folder_open(d, d->path, &e);
	if (!d->f.store)
		fail_msg("%s", err_msg(&e));
	return &d->f;
}

void folder_change(struct folder *d, const char *text)
{
	sqlite3 *sql;

	assert_int_equal(sqlite3_open(d->path, &sql), SQLITE_OK);
	if (sqlite3_exec(sql, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(sql));
	sqlite3_close(sql);
}
