#include "cluster/shallow.h"

enum { FIELDS_DEEP = 2 }; /* spec.replicaSpecs, status.dlOperator, metadata.managedFields */

static bool too_deep(yyjson_val *val, size_t left)
{
	yyjson_val *key, *one;
	size_t i, max;

	if (!yyjson_is_ctn(val))
		return false;
	if (left == 0)
		return true;
	yyjson_arr_foreach(val, i, max, one)
	{
		if (too_deep(one, left - 1))
			return true;
	}
	yyjson_obj_foreach(val, i, max, key, one)
	{
		if (too_deep(one, left - 1))
			return true;
	}
	return false;
}

struct shallow {
	yyjson_mut_doc *doc;
	struct arena *arena;
	struct str *left_out;
};

/* Nobody of ours reads who manages which field. */
static void leave_out(const struct shallow *s, struct str at)
{
	if (!str_eqc(at, "metadata.managedFields") && str_empty(*s->left_out))
		*s->left_out = at;
}

/* The fields of an object that is too deep; those that are not to blame stay. */
static yyjson_mut_val *prune(const struct shallow *s, yyjson_val *val, struct str at, size_t level)
{
	yyjson_mut_val *ret = yyjson_mut_obj(s->doc), *copy;
	yyjson_val *key, *one;
	size_t i, max;

	yyjson_obj_foreach(val, i, max, key, one)
	{
		struct str below =
			arena_printf(s->arena, "%.*s%s%.*s", STR_F(at), at.n ? "." : "", STR_F(json_str(key)));

		if (!too_deep(one, JSON_MAX_DEPTH - level - 1)) {
			copy = yyjson_val_mut_copy(s->doc, one);
		} else if (yyjson_is_obj(one) && level + 1 < FIELDS_DEEP) {
			copy = prune(s, one, below, level + 1);
		} else {
			leave_out(s, below);
			continue;
		}
		yyjson_mut_obj_add(ret, yyjson_val_mut_copy(s->doc, key), copy);
	}
	return ret;
}

yyjson_doc *shallow_copy(yyjson_val *val, struct str *left_out, struct arena *a)
{
	struct shallow s = { yyjson_mut_doc_new(NULL), a, left_out };
	yyjson_mut_val *root;
	yyjson_doc *ret;

	ASSERT(yyjson_is_obj(val) && s.doc);
	*left_out = STR_NONE;
	root = too_deep(val, JSON_MAX_DEPTH) ? prune(&s, val, STR_NONE, 0) : yyjson_val_mut_copy(s.doc, val);
	yyjson_mut_obj_remove_key(yyjson_mut_obj_get(root, "metadata"), "managedFields");
	yyjson_mut_doc_set_root(s.doc, root);
	ret = yyjson_mut_doc_imut_copy(s.doc, NULL);
	yyjson_mut_doc_free(s.doc);
	ASSERT(ret);
	return ret;
}
