#include "local/store/verify.h"

#include "base/log.h"

struct owners_seen {
	struct db *db;
	struct arena arena;
	uint64_t owners; /* a sum of hashes, in whatever order */
	uint64_t version;
};

static void count_owner(void *cookie, struct str owner, int64_t child, struct str ns)
{
	struct owners_seen *t = cookie;

	t->owners += (str_hash(owner) ^ str_hash(ns) * 3) * (2 * (uint64_t)child + 1);
}

/* Each once, as the list has them. */
static size_t owners_in(struct owners_seen *t, yyjson_val *root, struct str **ret)
{
	yyjson_val *one, *list = json_at(root, "metadata", "ownerReferences", NULL);
	size_t n = 0, i, max, k;

	*ret = arena_array(&t->arena, struct str, yyjson_arr_size(list));
	yyjson_arr_foreach(list, i, max, one)
	{
		struct str uid = json_str(json_get(one, "uid"));

		for (k = 0; k < n && !str_eq((*ret)[k], uid); k++)
			;
		if (k == n)
			(*ret)[n++] = uid;
	}
	return n;
}

static bool count_object(void *cookie, const struct db_row *row)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(row->text, NULL);
	struct owners_seen *t = cookie;
	struct str *owners;
	size_t n = owners_in(t, yyjson_doc_get_root(doc), &owners);

	for (size_t i = 0; i < n; i++)
		count_owner(t, owners[i], row->id, row->ns);
	t->version = MAX(t->version, row->rv);
	arena_reset(&t->arena);
	return true;
}

static bool own_object(void *cookie, const struct db_row *row)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(row->text, NULL);
	struct owners_seen *t = cookie;
	struct str *owners;
	size_t n = owners_in(t, yyjson_doc_get_root(doc), &owners);

	db_own(t->db, row->id, row->ns, owners, n);
	arena_reset(&t->arena);
	return true;
}

bool store_verify(struct db *d, struct err *e)
{
	struct owners_seen said = { .db = d }, is = { .db = d };
	uint64_t version;

	db_begin(d);
	db_all(d, count_object, &is);
	db_each_owner(d, count_owner, &said);
	version = db_version(d);
	if (!db_failed(d) && said.owners != is.owners) {
		log_warn(NO_FIELDS, "the database's list of owners is damaged: it is made anew from the objects");
		db_disown_all(d);
		db_all(d, own_object, &is);
	}
	if (!db_failed(d) && (version < is.version || version > INT64_MAX)) {
		log_warn(NO_FIELDS, "the database's version is damaged: it continues after that of the newest object");
		db_set_version(d, is.version);
	}
	arena_release(&is.arena);
	return db_end(d, true, e);
}
