#include "local/store/gc.h"

#include "local/store/delete.h"
#include "local/store/meta.h"
#include "local/store/object.h"
#include "local/store/types.h"

enum { AT_ONCE = 128 };

static const struct delete_wish as_usual = { .grace = -1 };

/* As somebody who deletes, whom nobody answers. */
struct sweeper {
	struct store_request request;
	struct store_answer answer;
	struct store_call call;
};

static bool sweep_begin(struct sweeper *w, struct store *s, int64_t id, struct db_row *row)
{
	*w = (struct sweeper){ .request = { .verb = STORE_DELETE } };
	w->call = (struct store_call){ .s = s, .r = &w->request, .ret = &w->answer };
	if (!db_get_id(s->db, id, row, &s->arena))
		return false;
	w->call.type = type_of_resource(s, row->resource);
	return w->call.type;
}

static void sweep_end(struct sweeper *w)
{
	store_answer_release(&w->answer);
}

static void delete_id(struct store *s, int64_t id)
{
	struct sweeper w;
	struct delete_done done;
	struct db_row row;

	if (sweep_begin(&w, s, id, &row))
		store_delete_object(&w.call, &row, &as_usual, &done);
	sweep_end(&w);
}

/* Takes the owners for which GONE says so out of the object. */
static void drop_owners(struct store *s, int64_t id, bool (*gone)(struct store *s, struct str uid, const void *cookie),
                        const void *cookie, bool delete_last)
{
	struct sweeper w;
	struct db_row row;
	bool begun = sweep_begin(&w, s, id, &row);
	yyjson_val *before = begun ? store_tree(s, row.text) : NULL, *one;
	yyjson_val *owners = json_at(before, "metadata", "ownerReferences", NULL);
	yyjson_mut_doc *doc = store_mut(s);
	yyjson_mut_val *left = yyjson_mut_arr(doc);
	struct delete_done done;
	size_t i, max;

	yyjson_arr_foreach(owners, i, max, one)
	{
		if (!gone(s, json_str(json_get(one, "uid")), cookie))
			yyjson_mut_arr_append(left, yyjson_val_mut_copy(doc, one));
	}
	if (begun && !yyjson_mut_arr_size(left) && delete_last) {
		store_delete_object(&w.call, &row, &as_usual, &done);
	} else if (begun && yyjson_mut_arr_size(left) < yyjson_arr_size(owners)) {
		yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, before));
		yyjson_mut_obj_put(meta_of(doc), yyjson_mut_str(doc, "ownerReferences"), left);
		if (!yyjson_mut_arr_size(left))
			yyjson_mut_obj_remove_key(meta_of(doc), "ownerReferences");
		object_put(&w.call, &row, before, doc);
	}
	sweep_end(&w);
}

static bool is_gone(struct store *s, struct str uid, const void *ns)
{
	return !db_has_owner(s->db, uid, *(const struct str *)ns);
}

static bool collect_orphans(struct store *s)
{
	int64_t ids[AT_ONCE];
	size_t n = db_orphans(s->db, ids, ARRAY_LEN(ids));

	for (size_t i = 0; i < n; i++) {
		struct db_row row;

		if (db_get_id(s->db, ids[i], &row, &s->arena))
			drop_owners(s, ids[i], is_gone, &row.ns, true);
	}
	return n == ARRAY_LEN(ids);
}

static bool is_this(struct store *s, struct str uid, const void *cookie)
{
	(void)s;
	return str_eq(uid, *(const struct str *)cookie);
}

void gc_orphan(struct store_call *c, struct str owner)
{
	int64_t ids[AT_ONCE];
	size_t n;

	do {
		n = db_children(c->s->db, owner, ids, ARRAY_LEN(ids));
		for (size_t i = 0; i < n; i++)
			drop_owners(c->s, ids[i], is_this, &owner, false);
	} while (n == ARRAY_LEN(ids) && !db_failed(c->s->db));
}

/* What was drained is empty now: it goes itself. */
static void end_drained(struct store *s, int64_t id)
{
	struct sweeper w;
	struct db_row row;

	if (sweep_begin(&w, s, id, &row)) {
		yyjson_val *before = store_tree(s, row.text);
		yyjson_mut_doc *doc = store_mut(s);

		yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, before));
		if (!object_has_finalizers(before))
			object_remove(s, w.call.type, &row, before, doc);
	}
	sweep_end(&w);
}

typedef size_t inside(struct db *d, struct str name, bool deleting_too, int64_t *ret, size_t n);

/* Deletes what is in one of them; *WAITS if something stays there a while. True: there is more to delete. */
static bool drain_one(struct store *s, int64_t id, inside *find, bool *waits)
{
	int64_t ids[AT_ONCE];
	struct db_row row;
	size_t n;

	if (!db_get_id(s->db, id, &row, &s->arena))
		return false;
	n = find(s->db, row.name, false, ids, ARRAY_LEN(ids));
	for (size_t i = 0; i < n; i++)
		delete_id(s, ids[i]);
	if (n == ARRAY_LEN(ids))
		return true;
	if (find(s->db, row.name, true, ids, 1))
		*waits = true;
	else
		end_drained(s, id);
	return false;
}

static bool drain(struct store *s, struct str resource, inside *find, bool *waits)
{
	int64_t ids[AT_ONCE];
	size_t n = db_draining(s->db, resource, ids, ARRAY_LEN(ids));
	bool more = false;

	for (size_t i = 0; i < n; i++)
		more = drain_one(s, ids[i], find, waits) || more;
	return more;
}

bool gc_step(struct store *s)
{
	bool waits = false, more;

	/* While this goes on nothing new is draining: what is removed here need not ask for another round. */
	s->draining = false;
	more = drain(s, RES_NAMESPACES, db_in_namespace, &waits);
	more = drain(s, RES_CRDS, db_of_resource, &waits) || more;
	more = collect_orphans(s) || more;
	s->draining = s->draining || waits || more;
	return more;
}
