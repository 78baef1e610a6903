/*
 * The rows of the store in SQLite. Inside a transaction the first failure is remembered and makes everything after it
 * do nothing; db_end() then rolls back and says so. So callers look once, at the end.
 */
#ifndef LOCAL_STORE_DB_H
#define LOCAL_STORE_DB_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"

struct db;

struct db_row {
	int64_t id; /* 0: not stored yet */
	struct str resource, ns, name, uid, text;
	uint64_t rv;
	msec written;
	bool deleting;
};

/* PATH NULL: in memory. As store_open() says. */
struct db *db_open(const char *path, struct err *e);
void db_close(struct db *d);

void db_begin(struct db *d);
/* Commits if KEEP and nothing failed, else rolls back. False, with *E, if it had to be rolled back. */
bool db_end(struct db *d, bool keep, struct err *e);
/* Did the disk have no room for what db_end() was to commit last? Then it can be done again between the other two:
   beside the database there is room for such a time. */
bool db_is_full(const struct db *d);
void db_release_reserve(struct db *d);
void db_take_reserve(struct db *d);
/* What was written since db_begin() can wait: it fails if that room would become too small for what cannot. */
void db_leave_reserve(struct db *d);
/* Has something failed since db_begin()? */
bool db_failed(const struct db *d);

/* The strings are in A. False: there is none. */
bool db_get(struct db *d, struct str resource, struct str ns, struct str name, struct db_row *ret, struct arena *a);
bool db_get_id(struct db *d, int64_t id, struct db_row *ret, struct arena *a);
/* Inserts, or replaces if the id is set. OWNERS: the UIDs of its owners. Returns the id. */
int64_t db_put(struct db *d, const struct db_row *r, const struct str *owners, size_t n_owners);
void db_remove(struct db *d, int64_t id);

/* The list of whose child each object is, from which db_children() and db_orphans() answer. */
void db_each_owner(struct db *d, void (*each)(void *cookie, struct str owner, int64_t child, struct str ns),
                   void *cookie);
void db_disown_all(struct db *d);
void db_own(struct db *d, int64_t id, struct str ns, const struct str *owners, size_t n);

/* Rows of one resource in the order of namespace and name, after AFTER_NS and AFTER_NAME. NS empty: of all. The
   callback's row is valid inside it only; it must not write; false ends. */
struct db_range {
	struct str resource, ns, after_ns, after_name;
};
void db_each(struct db *d, const struct db_range *r, bool (*each)(void *cookie, const struct db_row *row),
             void *cookie);
/* The same of all objects. */
void db_all(struct db *d, bool (*each)(void *cookie, const struct db_row *row), void *cookie);
/* How many db_each() would show. */
int64_t db_count(struct db *d, const struct db_range *r);

/* Ids, at most N of them; each returns how many. */
size_t db_orphans(struct db *d, int64_t *ret, size_t n); /* have an owner that is gone; not deleting */
size_t db_children(struct db *d, struct str uid, int64_t *ret, size_t n);
size_t db_in_namespace(struct db *d, struct str ns, bool deleting_too, int64_t *ret, size_t n);
size_t db_of_resource(struct db *d, struct str resource, bool deleting_too, int64_t *ret, size_t n);
size_t db_draining(struct db *d, struct str resource, int64_t *ret, size_t n); /* of that resource, being deleted */
size_t db_older(struct db *d, struct str resource, msec than, int64_t *ret, size_t n);
msec db_oldest(struct db *d, struct str resource); /* NEVER: there is none */
/* Is there an object of that UID in the namespace, or in none? */
bool db_has_owner(struct db *d, struct str uid, struct str ns);
bool db_has_children(struct db *d, struct str uid);

uint64_t db_version(struct db *d);
void db_set_version(struct db *d, uint64_t rv);

#endif
