/* The file: what was acknowledged is there after any end of the process, and what is no such file is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "local/store/testing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void what_was_stored_is_there_again(void **state)
{
	struct folder *d = *state;
	struct fixture *f = folder_begin(d);
	const char *uid;
	uint64_t rv;
	struct stat st;

	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"w\"}}"), 201);
	uid = fmt(f, "%s", said(f, "metadata.uid"));
	rv = store_version(f->store);
	assert_int_equal(stat(d->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	folder_end(d);
	folder_begin(d);
	assert_true(store_version(f->store) == rv);
	assert_int_equal(get(f, "widgets", "w"), 200);
	assert_said(f, "metadata.uid", uid);
	/* The same seed does not give the same names and UIDs again. */
	assert_int_equal(delete_one(f, "widgets", "w", NULL), 200);
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"w\"}}"), 201);
	assert_string_not_equal(said(f, "metadata.uid"), uid);
	assert_true(f->answer.rv == rv + 2);
}

static void ignore(void *cookie, const struct store_event *ev)
{
	(void)ev;
	++*(int *)cookie;
}

static void the_history_ends_with_the_process(void **state)
{
	struct folder *d = *state;
	struct fixture *f = folder_begin(d);
	struct store_watch_config c = { .event = ignore };
	struct err e = ERR_INIT;
	int seen = 0;

	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
	folder_end(d);
	folder_begin(d);
	c.type = type_named(f, "namespaces");
	c.cookie = &seen;
	c.from = store_version(f->store) - 1;
	assert_null(store_watch_new(f->store, &c, &e));
	assert_int_equal(e.code, ERR_LIMIT);
	err_release(&e);
	c.from++;
	store_watch_free(store_watch_new(f->store, &c, NULL));
	assert_int_equal(seen, 0);
}

static void refused(struct folder *d, enum err_code code, const char *word)
{
	struct err e = ERR_INIT;

	assert_null(folder_open(d, d->path, &e));
	assert_int_equal(e.code, code);
	if (!strstr(err_msg(&e), word))
		fail_msg("%s", err_msg(&e));
	err_release(&e);
}

static void write_file(struct folder *d, off_t at, const char *text, size_t n)
{
	int fd = open(d->path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, n, at), n);
	close(fd);
}

/* Small ones of others, each without a mark: one page, or less than one of ours. */
static void a_small_file_of_others_stays_as_it_is(void **state)
{
	static const char *const others[] = {
		"PRAGMA page_size = 512; CREATE TABLE t (a)",
		"PRAGMA page_size = 512; PRAGMA user_version = 1",
		"PRAGMA page_size = 4096; PRAGMA user_version = 1",
		"PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA user_version = 1",
		"PRAGMA page_size = 4096; CREATE TABLE t (a); DROP TABLE t; PRAGMA journal_mode = WAL",
		"PRAGMA page_size = 2048; PRAGMA journal_mode = WAL; CREATE TABLE t (a)",
	};
	struct folder *d = *state;
	struct arena a = ARENA_INIT;
	struct str before, after;
	sqlite3 *sql;

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		folder_clear(d);
		assert_int_equal(sqlite3_open(d->path, &sql), SQLITE_OK);
		assert_int_equal(sqlite3_exec(sql, others[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(sql);
		assert_int_equal(file_read(&before, d->path, &a, NULL), FILE_READ);
		assert_in_range(before.n, 512, 8192);
		refused(d, ERR_INVALID, "dljob local reset");
		assert_int_equal(file_read(&after, d->path, &a, NULL), FILE_READ);
		assert_true(str_eq(before, after));
	}
	arena_release(&a);
}

/* Killed before its first transaction. */
static void a_new_file_of_ours_is_opened(void **state)
{
	struct folder *d = *state;
	sqlite3 *sql;
	struct stat st;

	assert_int_equal(sqlite3_open(d->path, &sql), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(sql, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(sql);
	assert_int_equal(chmod(d->path, 0600), 0);
	assert_int_equal(stat(d->path, &st), 0);
	assert_int_equal(st.st_size, 4096);
	folder_begin(d);
	folder_end(d);
}

static void another_file_is_refused(void **state)
{
	struct folder *d = *state;
	char noise[8192];
	sqlite3 *sql;

	memset(noise, 'x', sizeof(noise));
	write_file(d, 0, noise, sizeof(noise));
	refused(d, ERR_INVALID, "dljob local reset");
	folder_clear(d);
	assert_int_equal(sqlite3_open(d->path, &sql), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sql, "CREATE TABLE objects (id INTEGER)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	refused(d, ERR_INVALID, "dljob local reset");
	folder_clear(d);
	folder_begin(d);
	folder_end(d);
	assert_int_equal(sqlite3_open(d->path, &sql), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sql, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	refused(d, ERR_INVALID, "another version");
	folder_clear(d);
	folder_begin(d);
	folder_end(d);
	assert_int_equal(sqlite3_open(d->path, &sql), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sql, "DROP TABLE owners", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	refused(d, ERR_INVALID, "dljob local reset");
}

static void a_damaged_file_is_refused(void **state)
{
	struct folder *d = *state;
	struct fixture *f = folder_begin(d);
	char noise[4096];

	memset(noise, 0xff, sizeof(noise));
	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
	for (int i = 0; i < 200; i++)
		assert_int_equal(create(f, "configmaps", fmt(f, "{\"metadata\":{\"name\":\"c%d\"}}", i)), 201);
	folder_end(d);
	write_file(d, 3 * 4096, noise, sizeof(noise));
	refused(d, ERR_INVALID, "dljob local reset");
	assert_int_equal(truncate(d->path, 2 * 4096), 0);
	refused(d, ERR_INVALID, "dljob local reset");
}

static void a_file_has_one_owner(void **state)
{
	struct folder *d = *state;

	folder_begin(d);
	refused(d, ERR_IO, "another process");
}

static void what_cannot_be_opened_is_said(void **state)
{
	struct folder *d = *state;
	struct err e = ERR_INIT;

	assert_null(folder_open(d, "/nowhere/at/all/db", &e));
	assert_int_equal(e.code, ERR_IO);
	err_release(&e);
	assert_null(folder_open(d, d->dir, &e));
	assert_int_equal(e.code, ERR_IO);
	err_release(&e);
}

/* SQLite's files with an accident at the N-th write. */

enum accident { NO_ACCIDENT, KILLED, DISK_FULL };

static struct {
	enum accident accident;
	long writes_left;    /* until it happens */
	const char *reserve; /* on a full disk there is as much room as was taken from that file */
	off_t kept, used;
} fate;

struct shim {
	sqlite3_io_methods methods; /* first */
	const sqlite3_io_methods *real;
};

static sqlite3_vfs *real_vfs, shim_vfs;

static off_t reserve_now(void)
{
	struct stat st;

	return fate.reserve && stat(fate.reserve, &st) == 0 ? st.st_size : 0;
}

static void fill_disk(struct fixture *f, struct folder *d)
{
	fate.reserve = fmt(f, "%s-reserve", d->path);
	fate.kept = reserve_now();
	fate.used = 0;
	fate.accident = DISK_FULL;
}

/* In place of the C library's. */
int posix_fallocate(int fd, off_t at, off_t n)
{
	if (fate.accident == DISK_FULL && n > fate.kept - fate.used - reserve_now())
		return ENOSPC;
	return ftruncate(fd, at + n) == 0 ? 0 : errno;
}

/* What lies within the file has its room. */
static bool has_room(sqlite3_file *file, const sqlite3_io_methods *real, sqlite3_int64 end)
{
	sqlite3_int64 size = 0;

	assert_int_equal(real->xFileSize(file, &size), SQLITE_OK);
	if (end <= size)
		return true;
	if (fate.used + (end - size) > fate.kept - reserve_now())
		return false;
	fate.used += end - size;
	return true;
}

static int shim_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 at)
{
	const sqlite3_io_methods *real = ((const struct shim *)(const void *)file->pMethods)->real;

	if (fate.accident == DISK_FULL && !has_room(file, real, at + n))
		return SQLITE_FULL;
	if (fate.accident != KILLED || --fate.writes_left > 0)
		return real->xWrite(file, data, n, at);
	/* In the middle of it. */
	real->xWrite(file, data, n / 2, at);
	raise(SIGKILL);
	return SQLITE_IOERR;
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	static struct shim shims[8];
	static size_t n;
	int code = real_vfs->xOpen(real_vfs, name, file, flags, ret_flags);
	size_t i = 0;

	(void)vfs;
	if (code != SQLITE_OK || !file->pMethods)
		return code;
	while (i < n && shims[i].real != file->pMethods)
		i++;
	if (i == n) {
		assert_true(++n <= ARRAY_LEN(shims));
		shims[i] = (struct shim){ *file->pMethods, file->pMethods };
		shims[i].methods.xWrite = shim_write;
	}
	file->pMethods = &shims[i].methods;
	return code;
}

static void use_shim(void)
{
	if (real_vfs)
		return;
	real_vfs = sqlite3_vfs_find(NULL);
	shim_vfs = *real_vfs;
	shim_vfs.zName = "accidents";
	shim_vfs.xOpen = shim_open;
	assert_int_equal(sqlite3_vfs_register(&shim_vfs, 1), SQLITE_OK);
}

/* Works until it is killed, and says each time that something was acknowledged: one line, in one write. */
_Noreturn static void work(struct folder *d, long writes, int to)
{
	struct fixture *f = &d->f;
	struct rng rng = rng_seed((uint64_t)writes);
	char line[64];

	fate.accident = KILLED;
	fate.writes_left = writes;
	f->store = folder_open(d, d->path, NULL);
	if (!f->store)
		_exit(1);
	create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}");
	for (int i = 0;; i++) {
		int n = (int)rng_below(&rng, 20), code;
		const char *name = fmt(f, "c%d", n);
		char what;

		switch (rng_below(&rng, 3)) {
		case 0:
			what = '+';
			code = create(f, "configmaps",
			              fmt(f, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"i\":\"0\"}}", name));
			break;
		case 1:
			what = '~';
			code = merge_patch(f, "configmaps", name, fmt(f, "{\"data\":{\"i\":\"%d\"}}", i));
			break;
		default:
			what = '-';
			code = delete_one(f, "configmaps", name, NULL);
			break;
		}
		if (code >= 300)
			continue;
		snprintf(line, sizeof(line), "%c %d %d %llu\n", what, n, i,
		         (unsigned long long)store_version(f->store));
		if (write(to, line, strlen(line)) < 0)
			_exit(2);
	}
}

struct expected {
	bool there;
	int value;
};

/* Compares what was acknowledged with what is there. One more call may have been done: the one that was cut off. */
static void check(struct folder *d, FILE *acks)
{
	struct expected all[20] = { 0 };
	unsigned long long rv = 0;
	struct fixture *f;
	int n, i, odd = 0;
	char what;

	while (fscanf(acks, "%c %d %d %llu\n", &what, &n, &i, &rv) == 4)
		all[n] = (struct expected){ what != '-', what == '~' ? i : 0 };
	f = folder_begin(d);
	assert_in_range(store_version(f->store), rv, rv + 2);
	for (n = 0; n < 20; n++) {
		bool there = get(f, "configmaps", fmt(f, "c%d", n)) == 200;

		odd += there != all[n].there || (there && strcmp(said(f, "data.i"), fmt(f, "%d", all[n].value)) != 0);
	}
	assert_in_range(odd, 0, 1);
	assert_int_equal(settle(f), NEVER);
}

static void killed_at_any_write_it_loses_nothing(void **state)
{
	struct folder *d = *state;

	use_shim();
	for (long writes = 1; writes < 400; writes += writes < 40 ? 1 : 37) {
		int ends[2], status;
		pid_t child;
		FILE *acks;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		assert_true(child >= 0);
		if (!child) {
			close(ends[0]);
			work(d, writes, ends[1]);
		}
		close(ends[1]);
		acks = fdopen(ends[0], "r");
		assert_non_null(acks);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		check(d, acks);
		fclose(acks);
		folder_end(d);
		folder_clear(d);
	}
}

/* Something of all sorts, and the disk is full. */
static struct fixture *begin_full(struct folder *d)
{
	struct fixture *f;

	use_shim();
	f = folder_begin(d);
	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	assert_int_equal(create(f, "widgets", "{\"metadata\":{\"name\":\"w\"}}"), 201);
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"a/b\"]}}"), 201);
	for (int i = 0; i < 300; i++)
		assert_int_equal(create(f, "configmaps", fmt(f, "{\"metadata\":{\"name\":\"c%d\"}}", i)), 201);
	fill_disk(f, d);
	/* There is room in the files still; in the end there is none. */
	for (int i = 0; create(f, "configmaps", fmt(f, "{\"metadata\":{\"name\":\"x%d\"}}", i)) == 201; i++)
		assert_true(i < 5000);
	return f;
}

static void refuse_for_lack_of_room(struct fixture *f, int code)
{
	assert_int_equal(code, 500);
	assert_said(f, "reason", "InternalError");
	assert_non_null(strstr(said(f, "message"), "/db cannot be written: the disk is full"));
}

static void end_full(void)
{
	fate.accident = NO_ACCIDENT;
}

static void a_full_disk_changes_nothing(void **state)
{
	struct folder *d = *state;
	struct fixture *f = begin_full(d);
	uint64_t rv = store_version(f->store);

	refuse_for_lack_of_room(f, create(f, "configmaps", "{\"metadata\":{\"name\":\"b\"}}"));
	refuse_for_lack_of_room(f, merge_patch(f, "configmaps", "c1", "{\"data\":{\"a\":\"b\"}}"));
	assert_true(store_version(f->store) == rv);
	end_full();
	assert_int_equal(get(f, "configmaps", "c1"), 200);
	assert_int_equal(get(f, "configmaps", "b"), 404);
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"b\"}}"), 201);
	assert_true(f->answer.rv == rv + 1);
}

static void a_full_disk_lets_go(void **state)
{
	struct folder *d = *state;
	struct fixture *f = begin_full(d);

	assert_true(fate.kept > 0);
	for (int i = 0; i < 150; i++)
		assert_int_equal(delete_one(f, "configmaps", fmt(f, "c%d", i), NULL), 200);
	assert_int_equal(delete_one(f, "configmaps", "held", NULL), 200);
	assert_int_equal(merge_patch(f, "configmaps", "held", "{\"metadata\":{\"finalizers\":null}}"), 200);
	assert_int_equal(get(f, "configmaps", "held"), 404);
	assert_int_equal(ask(f, (struct store_request){ .verb = STORE_PATCH,
	                                                .type = type_named(f, "widgets"),
	                                                .ns = STR("ml"),
	                                                .name = STR("w"),
	                                                .status = true,
	                                                .body = STR("{\"status\":{\"phase\":\"Failed\"}}") }),
	                 200);
	/* What is deleted by and by, too. */
	assert_int_equal(delete_one(f, "namespaces", "ml", NULL), 200);
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(get(f, "namespaces", "ml"), 404);
	assert_int_equal(get(f, "configmaps", "c200"), 404);
	end_full();
	folder_end(d);
	f = folder_begin(d);
	assert_int_equal(get(f, "namespaces", "ml"), 404);
}

/* Deletions have room however often others write what there is room for after them. */
static void the_room_is_for_deletions(void **state)
{
	struct folder *d = *state;
	struct fixture *f = begin_full(d);
	char large[2000];
	bool refused = false;
	int made = 0;

	memset(large, 'x', sizeof(large));
	for (int i = 0; i < 300; i++) {
		assert_int_equal(delete_one(f, "configmaps", fmt(f, "c%d", i), NULL), 200);
		for (int k = 0; k < 20; k++, made++)
			refused |= create(f, "configmaps",
			                  fmt(f, "{\"metadata\":{\"name\":\"l%d\"},\"data\":{\"a\":\"%.*s\"}}", made,
			                      (int)sizeof(large), large)) != 201;
	}
	refuse_for_lack_of_room(f, create(f, "configmaps", "{\"metadata\":{\"name\":\"b\"}}"));
	assert_true(refused && reserve_now() > 0);
	end_full();
	/* There is room again. */
	assert_int_equal(get(f, "configmaps", "l0"), 200);
	assert_true(reserve_now() == fate.kept);
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"b\"}}"), 201);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(what_was_stored_is_there_again),
		FILE_TEST(the_history_ends_with_the_process),
		FILE_TEST(another_file_is_refused),
		FILE_TEST(a_small_file_of_others_stays_as_it_is),
		FILE_TEST(a_new_file_of_ours_is_opened),
		FILE_TEST(a_damaged_file_is_refused),
		FILE_TEST(a_file_has_one_owner),
		FILE_TEST(what_cannot_be_opened_is_said),
		FILE_TEST(killed_at_any_write_it_loses_nothing),
		FILE_TEST(a_full_disk_changes_nothing),
		FILE_TEST(a_full_disk_lets_go),
		FILE_TEST(the_room_is_for_deletions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
