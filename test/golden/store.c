/* An object as an API server keeps it. */
#include "golden.h"

static yyjson_mut_val *child_object(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key)
{
	yyjson_mut_val *val = yyjson_mut_obj_get(obj, key);

	if (!yyjson_mut_is_obj(val)) {
		val = yyjson_mut_obj(doc);
		yyjson_mut_obj_remove_key(obj, key);
		json_mut_put(doc, obj, str_c(key), val);
	}
	return val;
}

yyjson_mut_doc *store_object(yyjson_val *manifest, struct str uid)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *root = yyjson_val_mut_copy(doc, manifest), *meta;

	yyjson_mut_doc_set_root(doc, root);
	meta = child_object(doc, root, "metadata");
	json_mut_put(doc, meta, STR("uid"), json_mut_str(doc, uid));
	if (!yyjson_mut_obj_get(meta, "namespace"))
		json_mut_put(doc, meta, STR("namespace"), yyjson_mut_str(doc, "default"));
	json_mut_put(doc, meta, STR("generation"), yyjson_mut_int(doc, 1));
	json_mut_put(doc, meta, STR("creationTimestamp"), yyjson_mut_str(doc, "2026-01-01T00:00:00Z"));
	return doc;
}

/* Cuts the next key off PATH; *INDEX is the [number] behind it, or -1. */
static struct str next_key(struct str *path, int64_t *index)
{
	struct str part = STR_NONE, rest;

	*index = -1;
	str_next(path, '.', &part);
	rest = part;
	if (memchr(part.p, '[', part.n) && str_next(&rest, '[', &part))
		str_int(str_sub(rest, 0, rest.n - 1), index);
	return part;
}

static bool set_here(yyjson_mut_doc *doc, yyjson_mut_val *at, struct str key, int64_t index, yyjson_val *value)
{
	yyjson_mut_val *copy = yyjson_val_mut_copy(doc, value);

	if (index >= 0) {
		yyjson_mut_val *list = yyjson_mut_obj_getn(at, key.p, key.n);

		return yyjson_mut_arr_replace(list, (size_t)index, copy) != NULL;
	}
	if (!yyjson_mut_is_obj(at))
		return false;
	yyjson_mut_obj_remove_keyn(at, key.p, key.n);
	if (!yyjson_is_null(value))
		json_mut_put(doc, at, key, copy);
	return true;
}

bool store_set(yyjson_mut_doc *object, struct str path, yyjson_val *value)
{
	yyjson_mut_val *at = yyjson_mut_doc_get_root(object);

	for (;;) {
		int64_t index;
		struct str key = next_key(&path, &index);
		yyjson_mut_val *next;

		if (!path.n)
			return set_here(object, at, key, index, value);
		next = yyjson_mut_obj_getn(at, key.p, key.n);
		if (!next && index < 0 && yyjson_mut_is_obj(at)) {
			next = yyjson_mut_obj(object);
			json_mut_put(object, at, key, next);
		}
		at = index < 0 ? next : yyjson_mut_arr_get(next, (size_t)index);
		if (!at)
			return false;
	}
}

void store_annotate(yyjson_mut_doc *object, struct str key, yyjson_val *value)
{
	yyjson_mut_val *meta = child_object(object, yyjson_mut_doc_get_root(object), "metadata");
	yyjson_mut_val *annotations = child_object(object, meta, "annotations");

	yyjson_mut_obj_remove_keyn(annotations, key.p, key.n);
	if (!yyjson_is_null(value))
		json_mut_put(object, annotations, key, yyjson_val_mut_copy(object, value));
}

void store_bump_generation(yyjson_mut_doc *object)
{
	yyjson_mut_val *meta = yyjson_mut_obj_get(yyjson_mut_doc_get_root(object), "metadata");
	int64_t now = yyjson_mut_get_sint(yyjson_mut_obj_get(meta, "generation"));

	yyjson_mut_obj_remove_key(meta, "generation");
	json_mut_put(object, meta, STR("generation"), yyjson_mut_int(object, now + 1));
}
