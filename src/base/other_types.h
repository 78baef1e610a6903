/* For tests: a real object in which one value has another type. */
#ifndef BASE_OTHER_TYPES_H
#define BASE_OTHER_TYPES_H

#include "base/json.h"

enum { OTHER_TYPES = 10 };

static inline void retype_value(yyjson_mut_doc *doc, yyjson_mut_val *val, unsigned type)
{
	switch (type % OTHER_TYPES) {
	case 0:
		yyjson_mut_set_null(val);
		break;
	case 1:
		yyjson_mut_set_bool(val, true);
		break;
	case 2:
		yyjson_mut_set_sint(val, 7);
		break;
	case 3:
		yyjson_mut_set_real(val, -0.5);
		break;
	case 4:
		yyjson_mut_set_str(val, "");
		break;
	case 5:
		yyjson_mut_set_str(val, "x");
		break;
	case 6:
		yyjson_mut_set_arr(val);
		break;
	case 7: /* as long as a name may be, to whoever asks only for a length */
		yyjson_mut_set_arr(val);
		yyjson_mut_arr_add_str(doc, val, "x");
		break;
	case 8:
		yyjson_mut_set_obj(val);
		break;
	case 9:
		yyjson_mut_set_obj(val);
		yyjson_mut_obj_add_str(doc, val, "name", "x");
		break;
	}
}

/* The value number *AT, the root being 0, depth first; NULL: there are not so many, and *AT is less by as many. */
static inline yyjson_mut_val *value_at(yyjson_mut_val *val, size_t *at)
{
	yyjson_mut_val *found = NULL, *key, *child;
	size_t i, max;

	if ((*at)-- == 0)
		return val;
	if (yyjson_mut_is_obj(val)) {
		yyjson_mut_obj_foreach(val, i, max, key, child) if ((found = value_at(child, at))) return found;
	} else if (yyjson_mut_is_arr(val)) {
		yyjson_mut_arr_foreach(val, i, max, child) if ((found = value_at(child, at))) return found;
	}
	return NULL;
}

/* Appends ROOT as JSON, its value number AT being of another type. False: there are not so many values. */
static inline bool put_retyped(yyjson_val *root, size_t at, unsigned type, struct buf *out)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *copy = yyjson_val_mut_copy(doc, root), *val = value_at(copy, &at);

	if (val) {
		retype_value(doc, val, type);
		json_write(copy, out);
	}
	yyjson_mut_doc_free(doc);
	return val;
}

#endif
