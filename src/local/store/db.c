#include "local/store/db.h"

#include "base/buf.h"
#include "local/store/db_file.h"
#include "local/store/reserve.h"

#include <sqlite3.h>

/* SQLite's own number for the shape of a file. */
enum { SHAPE = 2, UNSUMMED = 1, SUM_AT = 9 };

/* Beside SQLite's own codes. */
enum { ROW_DAMAGED = 1 << 20 | SQLITE_CORRUPT };

static const char shape[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
	"INSERT INTO meta VALUES ('version', 0);"
	"CREATE TABLE objects (id INTEGER PRIMARY KEY, resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
	" uid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, written INTEGER NOT NULL, deleting INTEGER NOT NULL,"
	" text TEXT NOT NULL, sum INTEGER NOT NULL DEFAULT 0);"
	"CREATE UNIQUE INDEX objects_by_name ON objects (resource, ns, name);"
	"CREATE INDEX objects_by_namespace ON objects (ns, deleting) WHERE ns != '';"
	"CREATE INDEX objects_by_age ON objects (resource, written);"
	"CREATE TABLE owners (owner TEXT NOT NULL, child INTEGER NOT NULL, ns TEXT NOT NULL,"
	" PRIMARY KEY (owner, child)) WITHOUT ROWID;"
	"CREATE INDEX owners_by_child ON owners (child);"
	"PRAGMA application_id = 1684826722;" /* DB_APPLICATION */
	"PRAGMA user_version = 2;";           /* SHAPE */

enum statement {
	S_BEGIN,
	S_COMMIT,
	S_ROLLBACK,
	S_ALL,
	S_SUM,
	S_GET,
	S_GET_ID,
	S_INSERT,
	S_UPDATE,
	S_REMOVE,
	S_DISOWN,
	S_DISOWN_ALL,
	S_OWN,
	S_OWNERS,
	S_LIST,
	S_LIST_NS,
	S_COUNT,
	S_COUNT_NS,
	S_ORPHANS,
	S_CHILDREN,
	S_IN_NAMESPACE,
	S_OF_RESOURCE,
	S_DRAINING,
	S_OLDER,
	S_OLDEST,
	S_HAS_OWNER,
	S_VERSION,
	S_SET_VERSION,
	S_STATEMENTS
};

#define COLUMNS "id, resource, ns, name, uid, version, written, deleting, text, sum"

static const char *const texts[S_STATEMENTS] = {
	[S_BEGIN] = "BEGIN IMMEDIATE",
	[S_COMMIT] = "COMMIT",
	[S_ROLLBACK] = "ROLLBACK",
	[S_ALL] = "SELECT " COLUMNS " FROM objects",
	[S_SUM] = "UPDATE objects SET sum = ?2 WHERE id = ?1",
	[S_GET] = "SELECT " COLUMNS " FROM objects WHERE resource = ?1 AND ns = ?2 AND name = ?3",
	[S_GET_ID] = "SELECT " COLUMNS " FROM objects WHERE id = ?1",
	[S_INSERT] = "INSERT INTO objects (resource, ns, name, uid, version, written, deleting, text, sum)"
		     " VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[S_UPDATE] = "UPDATE objects SET version = ?6, written = ?7, deleting = ?8, text = ?9, sum = ?10 WHERE id = ?1",
	[S_REMOVE] = "DELETE FROM objects WHERE id = ?1",
	[S_DISOWN] = "DELETE FROM owners WHERE child = ?1",
	[S_DISOWN_ALL] = "DELETE FROM owners",
	[S_OWNERS] = "SELECT owner, child, ns FROM owners",
	[S_OWN] = "INSERT OR IGNORE INTO owners (owner, child, ns) VALUES (?1, ?2, ?3)",
	[S_LIST] = "SELECT " COLUMNS " FROM objects WHERE resource = ?1 AND (ns, name) > (?3, ?4) ORDER BY ns, name",
	[S_LIST_NS] = "SELECT " COLUMNS " FROM objects WHERE resource = ?1 AND ns = ?2 AND name > ?4 ORDER BY name",
	[S_COUNT] = "SELECT count(*) FROM objects WHERE resource = ?1 AND (ns, name) > (?3, ?4)",
	[S_COUNT_NS] = "SELECT count(*) FROM objects WHERE resource = ?1 AND ns = ?2 AND name > ?4",
	[S_ORPHANS] = "SELECT DISTINCT w.child FROM owners w JOIN objects c ON c.id = w.child AND c.deleting = 0"
		      " WHERE NOT EXISTS (SELECT 1 FROM objects o WHERE o.uid = w.owner AND o.ns IN (w.ns, ''))"
		      " LIMIT ?1",
	[S_CHILDREN] = "SELECT child FROM owners WHERE owner = ?2 LIMIT ?1",
	[S_IN_NAMESPACE] = "SELECT id FROM objects WHERE ns = ?2 AND ns != '' AND deleting <= ?3 LIMIT ?1",
	[S_OF_RESOURCE] = "SELECT id FROM objects WHERE resource = ?2 AND deleting <= ?3 LIMIT ?1",
	[S_DRAINING] = "SELECT id FROM objects WHERE resource = ?2 AND deleting = 1 LIMIT ?1",
	[S_OLDER] = "SELECT id FROM objects WHERE resource = ?2 AND written < ?3 ORDER BY written LIMIT ?1",
	[S_OLDEST] = "SELECT min(written) FROM objects WHERE resource = ?1",
	[S_HAS_OWNER] = "SELECT 1 FROM objects WHERE uid = ?1 AND ns IN (?2, '')",
	[S_VERSION] = "SELECT value FROM meta WHERE key = 'version'",
	[S_SET_VERSION] = "UPDATE meta SET value = ?1 WHERE key = 'version'",
};

struct db {
	sqlite3 *sql;
	sqlite3_stmt *statements[S_STATEMENTS];
	char *path; /* NULL: in memory */
	int failed; /* SQLite's code */
	char *why;  /* its words */
	bool full;  /* no room for the last transaction */
	struct reserve reserve;
};

static void fail(struct db *d, int code)
{
	if (d->failed)
		return;
	d->failed = code;
	d->why = xstrndup(sqlite3_errmsg(d->sql), strlen(sqlite3_errmsg(d->sql)));
}

static void forget_failure(struct db *d)
{
	free(d->why);
	d->why = NULL;
	d->failed = SQLITE_OK;
}

static bool say_damaged(const struct db *d, const char *what, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s: %s; `dljob local reset` creates a new one", d->path ? d->path : "memory",
	               what);
}

static bool say_failure(struct db *d, struct err *e)
{
	int code = d->failed & 0xff;

	if (d->failed == ROW_DAMAGED)
		say_damaged(d, d->why, e);
	else if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		say_damaged(
			d, code == SQLITE_NOTADB ? "is not a database of the local cluster" : "the database is damaged",
			e);
	else if (code == SQLITE_FULL)
		err_set(e, ERR_IO, "%s cannot be written: the disk is full", d->path ? d->path : "memory");
	else if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		err_set(e, ERR_IO, "%s: another process uses it", d->path ? d->path : "memory");
	else
		err_set(e, ERR_IO, "%s: %s", d->path ? d->path : "memory", d->why);
	forget_failure(d);
	return false;
}

/* Runs texts without results that matter. */
static bool exec(struct db *d, const char *text)
{
	int code = d->failed ? d->failed : sqlite3_exec(d->sql, text, NULL, NULL, NULL);

	if (code != SQLITE_OK)
		fail(d, code);
	return code == SQLITE_OK;
}

static int64_t pragma(struct db *d, const char *text)
{
	sqlite3_stmt *s = NULL;
	int64_t ret = 0;
	int code = sqlite3_prepare_v2(d->sql, text, -1, &s, NULL);

	if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW)
		ret = sqlite3_column_int64(s, 0);
	if (code != SQLITE_ROW && code != SQLITE_DONE && code != SQLITE_OK)
		fail(d, code);
	sqlite3_finalize(s);
	return ret;
}

/* "ok", or the first thing that is wrong. */
static bool sound(struct db *d)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(d->sql, "PRAGMA quick_check(1)", -1, &s, NULL);
	bool ok = false;

	if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW)
		ok = str_eqc(str_c((const char *)sqlite3_column_text(s, 0)), "ok");
	else
		fail(d, code);
	sqlite3_finalize(s);
	return ok;
}

/* A new file gets its tables; one of ours is looked through; any other is refused. */
static bool take_file(struct db *d, bool *unsummed, struct err *e)
{
	int64_t application = pragma(d, "PRAGMA application_id"), version = pragma(d, "PRAGMA user_version");
	int64_t tables = pragma(d, "SELECT count(*) FROM sqlite_schema");

	if (d->failed)
		return say_failure(d, e);
	if (!tables && !application) {
		if (exec(d, "BEGIN IMMEDIATE") && exec(d, shape) && exec(d, "COMMIT"))
			return true;
		return say_failure(d, e);
	}
	if (application != DB_APPLICATION)
		return say_damaged(d, "is not a database of the local cluster", e);
	if (version != SHAPE && version != UNSUMMED)
		return say_damaged(d, "was written by another version of dljob", e);
	if (!sound(d))
		return d->failed ? say_failure(d, e) : say_damaged(d, "the database is damaged", e);
	if (version == UNSUMMED &&
	    !exec(d, "BEGIN IMMEDIATE; ALTER TABLE objects ADD COLUMN sum INTEGER NOT NULL DEFAULT 0"))
		return say_failure(d, e);
	*unsummed = version == UNSUMMED;
	return true;
}

static bool prepare_statements(struct db *d, struct err *e)
{
	for (size_t i = 0; i < S_STATEMENTS; i++) {
		int code = sqlite3_prepare_v3(d->sql, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &d->statements[i], NULL);

		if (code == SQLITE_OK)
			continue;
		/* The tables of another program, or a damaged list of them. */
		if ((code & 0xff) == SQLITE_ERROR)
			return say_damaged(d, "the database is damaged", e);
		fail(d, code);
		return say_failure(d, e);
	}
	return true;
}

/* Statements. What is bound must live until done(). */

static void bind_str(struct db *d, enum statement s, int at, struct str v)
{
	sqlite3_bind_text64(d->statements[s], at, str_text(v), v.n, SQLITE_STATIC, SQLITE_UTF8);
}

static void bind_int(struct db *d, enum statement s, int at, int64_t v)
{
	sqlite3_bind_int64(d->statements[s], at, v);
}

/* True: there is a row. */
static bool step_statement(struct db *d, enum statement s)
{
	int code;

	if (d->failed)
		return false;
	code = sqlite3_step(d->statements[s]);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		fail(d, code);
	return code == SQLITE_ROW;
}

static void done(struct db *d, enum statement s)
{
	sqlite3_reset(d->statements[s]);
	sqlite3_clear_bindings(d->statements[s]);
}

static struct str column(sqlite3_stmt *s, int at)
{
	const char *p = (const char *)sqlite3_column_text(s, at);

	return (struct str){ p, (size_t)sqlite3_column_bytes(s, at) };
}

/* The strings are SQLite's, until the next step. */
static struct db_row row_of(sqlite3_stmt *s)
{
	return (struct db_row){ .id = sqlite3_column_int64(s, 0),
		                .resource = column(s, 1),
		                .ns = column(s, 2),
		                .name = column(s, 3),
		                .uid = column(s, 4),
		                .rv = (uint64_t)sqlite3_column_int64(s, 5),
		                .written = sqlite3_column_int64(s, 6),
		                .deleting = sqlite3_column_int(s, 7) != 0,
		                .text = column(s, 8) };
}

/* FNV-1a, over what an object is and where it stands; the lengths keep its parts apart. */
static int64_t row_sum(const struct db_row *r)
{
	const struct str parts[] = { r->resource, r->ns, r->name, r->uid, r->text };
	const uint64_t numbers[] = { r->rv, (uint64_t)r->written, r->deleting };
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		sum = (sum ^ numbers[i]) * 0x100000001b3;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		for (size_t k = 0; k < parts[i].n; k++)
			sum = (sum ^ (unsigned char)parts[i].p[k]) * 0x100000001b3;
		sum = (sum ^ parts[i].n) * 0x100000001b3;
	}
	return (int64_t)sum;
}

/* The row that S shows. False: it is not as it was written, which is a failure that names it. */
static bool read_row(struct db *d, enum statement s, struct db_row *ret)
{
	struct buf b = BUF_INIT(4096);

	*ret = row_of(d->statements[s]);
	if (sqlite3_column_int64(d->statements[s], SUM_AT) == row_sum(ret))
		return true;
	buf_printf(&b, "the object %.*s %.*s%s%.*s is damaged", STR_F(ret->resource), STR_F(ret->ns),
	           ret->ns.n ? "/" : "", STR_F(ret->name));
	if (!d->failed) {
		d->failed = ROW_DAMAGED;
		d->why = xstrndup(b.p, b.n);
	}
	buf_release(&b);
	return false;
}

/* All of them, once: better now than when somebody asks. A file from before there were sums gets them. */
static bool check_rows(struct db *d, bool unsummed, struct err *e)
{
	struct db_row row;

	while (step_statement(d, S_ALL)) {
		if (!unsummed) {
			if (!read_row(d, S_ALL, &row))
				break;
			continue;
		}
		row = row_of(d->statements[S_ALL]);
		bind_int(d, S_SUM, 1, row.id);
		bind_int(d, S_SUM, 2, row_sum(&row));
		step_statement(d, S_SUM);
		done(d, S_SUM);
	}
	done(d, S_ALL);
	if (unsummed)
		exec(d, "PRAGMA user_version = 2; COMMIT");
	return !d->failed || say_failure(d, e);
}

struct db *db_open(const char *path, struct err *e)
{
	struct db *d = xcalloc(1, sizeof(*d));
	bool unsummed = false;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int code;

	d->path = path ? xstrndup(path, strlen(path)) : NULL;
	d->reserve = (struct reserve)RESERVE_INIT;
	if (path && !db_file_check(path, e))
		goto failed;
	code = sqlite3_open_v2(path ? path : ":memory:", &d->sql, flags, NULL);
	if (code != SQLITE_OK) {
		fail(d, code);
		say_failure(d, e);
		goto failed;
	}
	/* What was committed survives the end of the process; only a power failure can take the last moments. */
	if (!exec(d, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
	             "PRAGMA journal_size_limit = 4194304; PRAGMA temp_store = MEMORY;")) {
		say_failure(d, e);
		goto failed;
	}
	if (!take_file(d, &unsummed, e) || !prepare_statements(d, e) || !check_rows(d, unsummed, e))
		goto failed;
	if (path)
		reserve_open(&d->reserve, path);
	return d;
failed:
	db_close(d);
	return NULL;
}

void db_close(struct db *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < S_STATEMENTS; i++)
		sqlite3_finalize(d->statements[i]);
	sqlite3_close(d->sql);
	forget_failure(d);
	reserve_close(&d->reserve);
	free(d->path);
	free(d);
}

static int64_t query_number(struct db *d, enum statement s)
{
	int64_t ret = step_statement(d, s) ? sqlite3_column_int64(d->statements[s], 0) : 0;

	done(d, s);
	return ret;
}

void db_begin(struct db *d)
{
	forget_failure(d);
}

/* Nobody else has the file open, so that reading needs no transaction; the first write begins one. */
static void begin_writing(struct db *d)
{
	if (!sqlite3_get_autocommit(d->sql))
		return;
	step_statement(d, S_BEGIN);
	done(d, S_BEGIN);
}

bool db_end(struct db *d, bool keep, struct err *e)
{
	if (keep && !d->failed && !sqlite3_get_autocommit(d->sql)) {
		step_statement(d, S_COMMIT);
		done(d, S_COMMIT);
	}
	if (!sqlite3_get_autocommit(d->sql)) {
		sqlite3_step(d->statements[S_ROLLBACK]);
		done(d, S_ROLLBACK);
	}
	d->full = (d->failed & 0xff) == SQLITE_FULL;
	if (d->failed)
		return say_failure(d, e);
	reserve_fill(&d->reserve, false);
	return true;
}

bool db_is_full(const struct db *d)
{
	return d->full;
}

/* After a checkpoint SQLite's log begins anew, in blocks that it has already: what is written then takes no room. */
void db_release_reserve(struct db *d)
{
	reserve_release(&d->reserve);
	sqlite3_wal_checkpoint_v2(d->sql, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void db_leave_reserve(struct db *d)
{
	if (!d->failed && !sqlite3_get_autocommit(d->sql) && reserve_is_short(&d->reserve))
		d->failed = SQLITE_FULL;
}

void db_take_reserve(struct db *d)
{
	reserve_fill(&d->reserve, true);
}

bool db_failed(const struct db *d)
{
	return d->failed != SQLITE_OK;
}

static bool one_row(struct db *d, enum statement s, struct db_row *ret, struct arena *a)
{
	bool found = step_statement(d, s) && read_row(d, s, ret);

	if (found) {
		ret->resource = arena_str(a, ret->resource);
		ret->ns = arena_str(a, ret->ns);
		ret->name = arena_str(a, ret->name);
		ret->uid = arena_str(a, ret->uid);
		ret->text = arena_str(a, ret->text);
	}
	done(d, s);
	return found;
}

bool db_get(struct db *d, struct str resource, struct str ns, struct str name, struct db_row *ret, struct arena *a)
{
	bind_str(d, S_GET, 1, resource);
	bind_str(d, S_GET, 2, ns);
	bind_str(d, S_GET, 3, name);
	return one_row(d, S_GET, ret, a);
}

bool db_get_id(struct db *d, int64_t id, struct db_row *ret, struct arena *a)
{
	bind_int(d, S_GET_ID, 1, id);
	return one_row(d, S_GET_ID, ret, a);
}

static void disown(struct db *d, int64_t id)
{
	bind_int(d, S_DISOWN, 1, id);
	step_statement(d, S_DISOWN);
	done(d, S_DISOWN);
}

void db_own(struct db *d, int64_t id, struct str ns, const struct str *owners, size_t n)
{
	begin_writing(d);
	for (size_t i = 0; i < n; i++) {
		bind_str(d, S_OWN, 1, owners[i]);
		bind_int(d, S_OWN, 2, id);
		bind_str(d, S_OWN, 3, ns);
		step_statement(d, S_OWN);
		done(d, S_OWN);
	}
}

void db_disown_all(struct db *d)
{
	begin_writing(d);
	step_statement(d, S_DISOWN_ALL);
	done(d, S_DISOWN_ALL);
}

void db_each_owner(struct db *d, void (*each)(void *cookie, struct str owner, int64_t child, struct str ns),
                   void *cookie)
{
	while (step_statement(d, S_OWNERS)) {
		sqlite3_stmt *s = d->statements[S_OWNERS];

		each(cookie, column(s, 0), sqlite3_column_int64(s, 1), column(s, 2));
	}
	done(d, S_OWNERS);
}

int64_t db_put(struct db *d, const struct db_row *r, const struct str *owners, size_t n_owners)
{
	enum statement s = r->id ? S_UPDATE : S_INSERT;
	int64_t id;

	begin_writing(d);
	if (r->id) {
		bind_int(d, s, 1, r->id);
	} else {
		bind_str(d, s, 2, r->resource);
		bind_str(d, s, 3, r->ns);
		bind_str(d, s, 4, r->name);
		bind_str(d, s, 5, r->uid);
	}
	bind_int(d, s, 6, (int64_t)r->rv);
	bind_int(d, s, 7, r->written);
	bind_int(d, s, 8, r->deleting);
	bind_str(d, s, 9, r->text);
	bind_int(d, s, 10, row_sum(r));
	step_statement(d, s);
	done(d, s);
	id = r->id ? r->id : sqlite3_last_insert_rowid(d->sql);
	if (r->id)
		disown(d, id);
	db_own(d, id, r->ns, owners, n_owners);
	return id;
}

void db_remove(struct db *d, int64_t id)
{
	begin_writing(d);
	disown(d, id);
	bind_int(d, S_REMOVE, 1, id);
	step_statement(d, S_REMOVE);
	done(d, S_REMOVE);
}

static enum statement bind_range(struct db *d, const struct db_range *r, enum statement all, enum statement of_ns)
{
	enum statement s = str_empty(r->ns) ? all : of_ns;

	bind_str(d, s, 1, r->resource);
	if (s == of_ns)
		bind_str(d, s, 2, r->ns);
	else
		bind_str(d, s, 3, r->after_ns);
	bind_str(d, s, 4, r->after_name);
	return s;
}

static void each_row(struct db *d, enum statement s, bool (*each)(void *cookie, const struct db_row *row), void *cookie)
{
	bool more = true;

	while (more && step_statement(d, s)) {
		struct db_row row;

		more = read_row(d, s, &row) && each(cookie, &row);
	}
	done(d, s);
}

void db_each(struct db *d, const struct db_range *r, bool (*each)(void *cookie, const struct db_row *row), void *cookie)
{
	each_row(d, bind_range(d, r, S_LIST, S_LIST_NS), each, cookie);
}

void db_all(struct db *d, bool (*each)(void *cookie, const struct db_row *row), void *cookie)
{
	each_row(d, S_ALL, each, cookie);
}

int64_t db_count(struct db *d, const struct db_range *r)
{
	return query_number(d, bind_range(d, r, S_COUNT, S_COUNT_NS));
}

static size_t ids(struct db *d, enum statement s, int64_t *ret, size_t n)
{
	size_t found = 0;

	bind_int(d, s, 1, (int64_t)n);
	while (found < n && step_statement(d, s))
		ret[found++] = sqlite3_column_int64(d->statements[s], 0);
	done(d, s);
	return found;
}

size_t db_orphans(struct db *d, int64_t *ret, size_t n)
{
	return ids(d, S_ORPHANS, ret, n);
}

size_t db_children(struct db *d, struct str uid, int64_t *ret, size_t n)
{
	bind_str(d, S_CHILDREN, 2, uid);
	return ids(d, S_CHILDREN, ret, n);
}

bool db_has_children(struct db *d, struct str uid)
{
	int64_t one;

	return db_children(d, uid, &one, 1) == 1;
}

size_t db_in_namespace(struct db *d, struct str ns, bool deleting_too, int64_t *ret, size_t n)
{
	bind_str(d, S_IN_NAMESPACE, 2, ns);
	bind_int(d, S_IN_NAMESPACE, 3, deleting_too);
	return ids(d, S_IN_NAMESPACE, ret, n);
}

size_t db_of_resource(struct db *d, struct str resource, bool deleting_too, int64_t *ret, size_t n)
{
	bind_str(d, S_OF_RESOURCE, 2, resource);
	bind_int(d, S_OF_RESOURCE, 3, deleting_too);
	return ids(d, S_OF_RESOURCE, ret, n);
}

size_t db_draining(struct db *d, struct str resource, int64_t *ret, size_t n)
{
	bind_str(d, S_DRAINING, 2, resource);
	return ids(d, S_DRAINING, ret, n);
}

size_t db_older(struct db *d, struct str resource, msec than, int64_t *ret, size_t n)
{
	bind_str(d, S_OLDER, 2, resource);
	bind_int(d, S_OLDER, 3, than);
	return ids(d, S_OLDER, ret, n);
}

msec db_oldest(struct db *d, struct str resource)
{
	msec ret = NEVER;

	bind_str(d, S_OLDEST, 1, resource);
	if (step_statement(d, S_OLDEST) && sqlite3_column_type(d->statements[S_OLDEST], 0) != SQLITE_NULL)
		ret = sqlite3_column_int64(d->statements[S_OLDEST], 0);
	done(d, S_OLDEST);
	return ret;
}

bool db_has_owner(struct db *d, struct str uid, struct str ns)
{
	bind_str(d, S_HAS_OWNER, 1, uid);
	bind_str(d, S_HAS_OWNER, 2, ns);
	return query_number(d, S_HAS_OWNER) != 0;
}

uint64_t db_version(struct db *d)
{
	return (uint64_t)query_number(d, S_VERSION);
}

void db_set_version(struct db *d, uint64_t rv)
{
	begin_writing(d);
	bind_int(d, S_SET_VERSION, 1, (int64_t)rv);
	step_statement(d, S_SET_VERSION);
	done(d, S_SET_VERSION);
}
