/* What has changed in the file behind the store's back is found, named, and mended where that can be. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not by SQLite, to whom any text is ok. */
static void a_damaged_row_is_named(void **state)
{
	static const char *const harm[] = {
		"UPDATE objects SET text = substr(text, 1, 40) WHERE name = 'it'",
		"UPDATE objects SET text = replace(text, 'one', 'two') WHERE name = 'it'",
		"UPDATE objects SET uid = 'u' WHERE name = 'it'",
		"UPDATE objects SET deleting = 1 WHERE name = 'it'",
		"UPDATE objects SET version = 1 WHERE name = 'it'",
	};
	struct folder *d = *state;
	struct fixture *f = &d->f;

	for (size_t i = 0; i < ARRAY_LEN(harm); i++) {
		struct err e = ERR_INIT;

		folder_begin(d);
		create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}");
		assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"it\"},\"data\":{\"k\":\"one\"}}"),
		                 201);
		folder_end(d);
		folder_change(d, harm[i]);
		assert_null(folder_open(d, d->path, &e));
		assert_int_equal(e.code, ERR_INVALID);
		assert_non_null(strstr(err_msg(&e), "the object configmaps ml/it is damaged"));
		assert_non_null(strstr(err_msg(&e), "dljob local reset"));
		err_release(&e);
		folder_clear(d);
	}
}

/* Changes each TEXT in one of the files to TO, which is as long. Returns how many there were. */
static size_t change_bytes(const char *path, const char *text, const char *to)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	size_t size, n = 0;
	struct stat st;
	char *all, *at;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	size = (size_t)st.st_size;
	all = xmalloc(size + 1);
	assert_int_equal(pread(fd, all, size, 0), size);
	for (at = all; (at = memmem(at, size - (size_t)(at - all), text, strlen(text))); at++, n++)
		assert_int_equal(pwrite(fd, to, strlen(to), at - all), strlen(to));
	free(all);
	close(fd);
	return n;
}

static void ignore_row(void *cookie, const struct store_event *ev)
{
	(void)cookie;
	(void)ev;
}

/* After the file was opened. What SQLite has in memory is not read again, so there is more than it keeps there. */
static void a_row_that_is_damaged_later_is_named(void **state)
{
	static const char why[] = "the object configmaps ml/it is damaged; `dljob local reset` creates a new one";
	struct folder *d = *state;
	struct fixture *f = folder_begin(d);
	struct store_watch_config c = { .event = ignore_row };
	struct err e = ERR_INIT;
	char large[4000];

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = 0;
	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
	for (int i = 0; i < 1500; i++) {
		/* Not beside what is read by each call. */
		if (i == 100)
			assert_int_equal(create(f, "configmaps",
			                        "{\"metadata\":{\"name\":\"it\"},\"data\":{\"k\":\"once it was\"}}"),
			                 201);
		assert_int_equal(create(f, "configmaps",
		                        fmt(f, "{\"metadata\":{\"name\":\"x%d\"},\"data\":{\"k\":\"%s\"}}", i, large)),
		                 201);
	}
	assert_true(change_bytes(d->path, "once it was", "once it wos") +
	                    change_bytes(fmt(f, "%s-wal", d->path), "once it was", "once it wos") >
	            0);
	assert_int_equal(get(f, "configmaps", "it"), 500);
	assert_non_null(strstr(said(f, "message"), why));
	assert_int_equal(list(f, "configmaps", NULL, NULL), 500);
	assert_non_null(strstr(said(f, "message"), why));
	assert_int_equal(delete_one(f, "configmaps", "it", NULL), 500);
	assert_non_null(strstr(said(f, "message"), why));
	c.type = type_named(f, "configmaps");
	assert_null(store_watch_new(f->store, &c, &e));
	assert_non_null(strstr(err_msg(&e), why));
	err_release(&e);
	assert_int_equal(get(f, "configmaps", "x7"), 200);
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"new\"}}"), 201);
}

/* A namespace full: what the list of owners says is not what the objects say. */
static void a_damaged_list_of_owners_is_mended(void **state)
{
	static const char *const harm[] = {
		"UPDATE owners SET owner = 'u' || owner",
		"UPDATE owners SET child = (SELECT id FROM objects WHERE name = 'free')",
		"INSERT INTO owners SELECT 'nobody', id, 'ml' FROM objects WHERE name = 'free'",
		"UPDATE owners SET ns = 'mk'",
		"DELETE FROM owners",
	};
	struct folder *d = *state;
	struct fixture *f = &d->f;

	for (size_t i = 0; i < ARRAY_LEN(harm); i++) {
		const char *rv;

		folder_begin(d);
		assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
		assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"free\"}}"), 201);
		assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"owner\"}}"), 201);
		assert_int_equal(
			create(f, "configmaps",
		               fmt(f,
		                   "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":\"v1\","
		                   "\"kind\":\"ConfigMap\",\"name\":\"owner\",\"uid\":\"%s\"}]}}",
		                   said(f, "metadata.uid"))),
			201);
		rv = fmt(f, "%s", said(f, "metadata.resourceVersion"));
		folder_end(d);
		folder_change(d, harm[i]);
		folder_begin(d);
		assert_int_equal(settle(f), NEVER);
		assert_int_equal(get(f, "configmaps", "free"), 200);
		assert_int_equal(get(f, "configmaps", "child"), 200);
		assert_said(f, "metadata.resourceVersion", rv);
		assert_int_equal(delete_one(f, "configmaps", "owner", NULL), 200);
		assert_int_equal(settle(f), NEVER);
		assert_int_equal(get(f, "configmaps", "child"), 404);
		assert_int_equal(get(f, "configmaps", "free"), 200);
		folder_end(d);
		folder_clear(d);
	}
}

static void versions_never_go_back(void **state)
{
	static const char *const harm[] = { "1", "0", "-1", "-9223372036854775807" };
	struct folder *d = *state;
	struct fixture *f = folder_begin(d);

	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
	for (size_t i = 0; i < ARRAY_LEN(harm); i++) {
		uint64_t rv;

		assert_int_equal(create(f, "configmaps", fmt(f, "{\"metadata\":{\"name\":\"c%zu\"}}", i)), 201);
		rv = f->answer.rv;
		folder_end(d);
		folder_change(d, fmt(f, "UPDATE meta SET value = %s", harm[i]));
		folder_begin(d);
		assert_true(store_version(f->store) == rv);
	}
}

/* As it was before rows had sums. */
static void an_older_file_gets_sums(void **state)
{
	struct folder *d = *state;
	struct fixture *f = folder_begin(d);
	struct err e = ERR_INIT;

	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"it\"}}"), 201);
	folder_end(d);
	folder_change(d, "ALTER TABLE objects DROP COLUMN sum; PRAGMA user_version = 1");
	folder_begin(d);
	assert_int_equal(get(f, "namespaces", "it"), 200);
	folder_end(d);
	folder_begin(d);
	assert_int_equal(get(f, "namespaces", "it"), 200);
	folder_end(d);
	folder_change(d, "UPDATE objects SET text = '{}' WHERE name = 'it'");
	assert_null(folder_open(d, d->path, &e));
	assert_non_null(strstr(err_msg(&e), "the object namespaces it is damaged"));
	err_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(a_damaged_row_is_named),
		FILE_TEST(a_row_that_is_damaged_later_is_named),
		FILE_TEST(a_damaged_list_of_owners_is_mended),
		FILE_TEST(versions_never_go_back),
		FILE_TEST(an_older_file_gets_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
