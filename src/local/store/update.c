#include "local/store/update.h"

#include "local/store/answer.h"
#include "local/store/check.h"
#include "local/store/create.h"
#include "local/store/meta.h"
#include "local/store/object.h"

/* Who asks may say which object, and which state of it, is meant. */
static bool check_same(struct store_call *c, const struct db_row *old, yyjson_val *wish)
{
	yyjson_val *meta = json_get(wish, "metadata");
	struct str name = json_str(json_get(meta, "name")), ns = json_str(json_get(meta, "namespace"));
	struct str uid = json_str(json_get(meta, "uid")), rv = json_str(json_get(meta, "resourceVersion"));
	char now[24];

	if (!str_eq(name, old->name))
		return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest",
		                      "the name of the object (%.*s) does not match the name on the URL (%.*s)",
		                      STR_F(str_sub(name, 0, 256)), STR_F(old->name));
	if (ns.n && !str_eq(ns, old->ns))
		return answer_refusal(
			c, HTTP_BAD_REQUEST, "BadRequest",
			"the namespace of the provided object does not match the namespace sent on the request");
	if (uid.n && !str_eq(uid, old->uid) && c->r->verb == STORE_PATCH)
		return answer_invalid(c, old->name, "metadata.uid", "Invalid value: \"%.*s\": field is immutable",
		                      STR_F(str_sub(uid, 0, 256)));
	if (uid.n && !str_eq(uid, old->uid))
		return answer_conflict(c, old->name,
		                       "Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
		                       STR_F(str_sub(uid, 0, 256)), STR_F(old->uid));
	snprintf(now, sizeof(now), "%llu", (unsigned long long)old->rv);
	if (!rv.n && c->type->rules->conditional)
		return answer_invalid(c, old->name, "metadata.resourceVersion",
		                      "Invalid value: 0x0: must be specified for an update");
	if (rv.n && !str_eqc(rv, now))
		return answer_conflict(c, old->name,
		                       "the object has been modified; please apply your changes to the latest version "
		                       "and try again");
	return true;
}

static bool has(yyjson_val *list, yyjson_val *text)
{
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		if (str_eq(json_str(one), json_str(text)))
			return true;
	}
	return false;
}

static bool check_finalizers(struct store_call *c, const struct db_row *old, yyjson_val *before, yyjson_val *wish)
{
	yyjson_val *had = json_at(before, "metadata", "finalizers", NULL), *one;
	yyjson_val *list = json_at(wish, "metadata", "finalizers", NULL);
	size_t i, max;

	if (!old->deleting)
		return true;
	yyjson_arr_foreach(list, i, max, one)
	{
		if (!has(had, one))
			return answer_invalid(
				c, old->name, "metadata.finalizers",
				"Forbidden: no new finalizers can be added if the object is being deleted, "
				"found new finalizer \"%.*s\"",
				STR_F(str_sub(json_str(one), 0, 256)));
	}
	return true;
}

/* obj[key] as it was. */
static void keep_field(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, yyjson_val *was)
{
	if (was)
		yyjson_mut_obj_put(obj, yyjson_mut_str(doc, key), yyjson_val_mut_copy(doc, was));
	else
		yyjson_mut_obj_remove_key(obj, key);
}

/* The main endpoint: everything as wished but the status, and what only the store writes. */
static void take_main(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *wish)
{
	static const char *const not_yours[] = { "name",
		                                 "namespace",
		                                 "uid",
		                                 "creationTimestamp",
		                                 "generation",
		                                 "deletionTimestamp",
		                                 "deletionGracePeriodSeconds",
		                                 "resourceVersion",
		                                 "managedFields",
		                                 "selfLink" };
	yyjson_val *meta = json_get(before, "metadata");
	yyjson_mut_val *root = yyjson_val_mut_copy(doc, wish);

	yyjson_mut_doc_set_root(doc, root);
	for (size_t i = 0; i < ARRAY_LEN(not_yours); i++)
		keep_field(doc, meta_of(doc), not_yours[i], json_get(meta, not_yours[i]));
	meta_put_str(doc, root, "apiVersion", answer_api_version(c->type, &c->s->arena));
	meta_put_str(doc, root, "kind", c->type->pub.kind);
	if (c->type->pub.status)
		keep_field(doc, root, "status", json_get(before, "status"));
}

static void take_status(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *wish)
{
	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, before));
	keep_field(doc, yyjson_mut_doc_get_root(doc), "status", json_get(wish, "status"));
}

/* Has anything but metadata, status and the names of the type changed? */
static bool spec_changed(yyjson_val *before, yyjson_val *after, bool has_status)
{
	yyjson_val *sides[2] = { before, after }, *key, *one;
	size_t i, max;

	for (int side = 0; side < 2; side++) {
		yyjson_obj_foreach(sides[side], i, max, key, one)
		{
			struct str k = json_str(key);
			yyjson_val *other = json_get_str(sides[1 - side], k);

			if (str_eqc(k, "metadata") || str_eqc(k, "apiVersion") || str_eqc(k, "kind") ||
			    (has_status && str_eqc(k, "status")))
				continue;
			if (!other || (side == 0 && !json_eq(one, other)))
				return true;
		}
	}
	return false;
}

static void count_generation(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *after)
{
	int64_t generation = 0;

	if (!c->type->rules->generation || !spec_changed(before, after, c->type->pub.status || !c->type->pub.custom))
		return;
	if (!json_int(json_at(before, "metadata", "generation", NULL), &generation))
		generation = 0;
	meta_put_int(doc, meta_of(doc), "generation", generation + 1);
}

/* The last finalizer of an object that was to be deleted has gone: so does the object. */
static bool ends_now(const struct db_row *old, yyjson_val *after)
{
	int64_t grace = 0;

	json_int(json_at(after, "metadata", "deletionGracePeriodSeconds", NULL), &grace);
	return old->deleting && !object_has_finalizers(after) && grace == 0;
}

bool update_object(struct store_call *c, const struct db_row *old, yyjson_val *before, yyjson_val *wish)
{
	yyjson_mut_doc *doc = store_mut(c->s);
	yyjson_val *after;
	struct str text;

	/* The last finalizer may go. */
	c->urgent = c->urgent || old->deleting;
	if (!store_check_object(c, wish) || !check_same(c, old, wish))
		return false;
	if (c->r->status)
		take_status(doc, before, wish);
	else if (check_finalizers(c, old, before, wish))
		take_main(c, doc, before, wish);
	else
		return false;
	if (!c->r->status && c->type->rules->prepare && !c->type->rules->prepare(c, before, doc))
		return false;
	after = store_frozen(c->s, doc);
	if (json_eq(before, after))
		return answer_object(c, HTTP_OK, old->text, old->rv);
	if (!c->r->status)
		count_generation(c, doc, before, after);
	if (c->type->rules->drained && old->deleting)
		store_untidy(c->s);
	if (!c->type->rules->drained && object_has_finalizers(before) && ends_now(old, after))
		text = object_remove(c->s, c->type, old, before, doc);
	else
		text = object_put(c, old, before, doc);
	return text.n && answer_object(c, HTTP_OK, text, c->s->version);
}

/* What is not there. A version that it once had says that it was to be there. */
static bool update_nothing(struct store_call *c, yyjson_val *wish)
{
	bool make = c->type->rules->made_by_update && !c->r->status &&
	            str_empty(json_str(json_at(wish, "metadata", "resourceVersion", NULL)));

	return make ? store_verb_create(c) : answer_not_found(c, c->r->name);
}

bool store_verb_update(struct store_call *c)
{
	struct err e = ERR_INIT;
	yyjson_doc *body = store_parse(c->s, c->r->body, &e);
	yyjson_val *wish = yyjson_doc_get_root(body);
	struct db_row old;

	if (!body) {
		answer_undecodable(c, "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	if (!db_get(c->s->db, c->type->resource, c->type->pub.namespaced ? c->r->ns : STR_NONE, c->r->name, &old,
	            &c->s->arena))
		return update_nothing(c, wish);
	return update_object(c, &old, store_tree(c->s, answer_in_version(c->s, c->type, old.text)), wish);
}
