#include "local/store/object.h"

#include "local/store/answer.h"
#include "local/store/meta.h"
#include "local/store/select.h"
#include "local/store/types.h"
#include "local/store/watch.h"

/* Every object that can be stored fits, however its text is escaped. */
enum { TEXT_MAX = 2 * STORE_BODY_MAX };

bool object_has_finalizers(yyjson_val *root)
{
	return yyjson_arr_size(json_at(root, "metadata", "finalizers", NULL)) > 0;
}

static struct str object_text(struct store *s, yyjson_mut_doc *doc)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	struct str text = STR_NONE;

	json_write(yyjson_mut_doc_get_root(doc), &b);
	if (!b.overflow)
		text = arena_str(&s->arena, buf_str(&b));
	buf_release(&b);
	return text;
}

static uint64_t next_version(struct store *s, yyjson_mut_doc *doc)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)++s->version);
	meta_put_str(doc, meta_of(doc), "resourceVersion", str_c(text));
	return s->version;
}

/* The UIDs of its owners; one that is not there makes work for store_step(). */
static const struct str *owners_of(struct store *s, yyjson_val *root, struct str ns, size_t *ret_n)
{
	yyjson_val *one, *list = json_at(root, "metadata", "ownerReferences", NULL);
	struct str *uids = arena_array(&s->arena, struct str, yyjson_arr_size(list));
	size_t i, max;

	*ret_n = 0;
	yyjson_arr_foreach(list, i, max, one)
	{
		uids[i] = json_str(json_get(one, "uid"));
		if (!db_has_owner(s->db, uids[i], ns))
			store_untidy(s);
		*ret_n = i + 1;
	}
	return uids;
}

static void push_event(struct store *s, enum store_change change, const struct stored_type *t, struct str ns,
                       uint64_t rv, struct str text, yyjson_doc *tree, struct str before)
{
	struct history_event *ev = history_event_new(change, t, ns, rv, text, before);

	ASSERT(tree);
	ev->now.doc = tree;
	*vec_push(&s->arena, &s->events) = ev;
	if (str_eq(t->resource, RES_CRDS))
		s->types_changed = true;
}

/* What is as large as may be can still be deleted. */
static bool only_deletes(const struct store_call *c)
{
	return c->r->verb == STORE_DELETE || c->r->verb == STORE_DELETE_ALL;
}

struct str object_put(struct store_call *c, const struct db_row *old, yyjson_val *before, yyjson_mut_doc *doc)
{
	struct store *s = c->s;
	uint64_t rv = next_version(s, doc);
	yyjson_doc *tree = yyjson_mut_doc_imut_copy(doc, NULL);
	yyjson_val *after = yyjson_doc_get_root(tree), *meta = json_get(after, "metadata");
	struct db_row row = { .resource = c->type->resource,
		              .ns = json_str(json_get(meta, "namespace")),
		              .name = json_str(json_get(meta, "name")),
		              .uid = json_str(json_get(meta, "uid")),
		              .rv = rv,
		              .written = clock_now(s->config.clock),
		              .deleting = !str_empty(json_str(json_get(meta, "deletionTimestamp"))) };
	const struct str *owners;
	size_t n_owners;

	row.id = old ? old->id : 0;
	row.text = object_text(s, doc);
	if (!row.text.n || (row.text.n > STORE_BODY_MAX && !only_deletes(c))) {
		answer_refusal(c, HTTP_TOO_LARGE, "RequestEntityTooLarge", "Request entity too large: limit is %d",
		               STORE_BODY_MAX);
		yyjson_doc_free(tree);
		return STR_NONE;
	}
	owners = owners_of(s, after, row.ns, &n_owners);
	db_put(s->db, &row, owners, n_owners);
	push_event(s, old ? STORE_MODIFIED : STORE_ADDED, c->type, row.ns, row.rv, row.text, tree,
	           old && !selector_same(c->type, before, after) ? old->text : STR_NONE);
	return row.text;
}

struct str object_remove(struct store *s, const struct stored_type *t, const struct db_row *old, yyjson_val *before,
                         yyjson_mut_doc *doc)
{
	uint64_t rv = next_version(s, doc);
	struct str text = object_text(s, doc);
	yyjson_doc *tree = yyjson_mut_doc_imut_copy(doc, NULL);

	ASSERT(text.n);
	if (db_has_children(s->db, old->uid))
		store_untidy(s);
	db_remove(s->db, old->id);
	if (s->draining)
		store_untidy(s);
	push_event(s, STORE_DELETED, t, old->ns, rv, text, tree,
	           selector_same(t, before, yyjson_doc_get_root(tree)) ? STR_NONE : old->text);
	return text;
}
