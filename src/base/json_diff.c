/* The merge patch between two JSON trees. */
#include "base/json.h"

struct diff {
	yyjson_mut_doc *doc;
	bool (*keep)(struct str path);
	struct buf path; /* keys from the root to where we are, with dots between */
};

static yyjson_mut_val *copy(struct diff *d, yyjson_val *val)
{
	yyjson_mut_val *c = yyjson_val_mut_copy(d->doc, val);

	ASSERT(c);
	return c;
}

/* PATCH[key] = val; the patch is made when it gets its first field. KEY stands once in its object, so
   that nothing needs to be searched. */
static void put_field(struct diff *d, yyjson_mut_val **patch, yyjson_val *key, yyjson_mut_val *val)
{
	bool ok;

	if (!*patch)
		*patch = yyjson_mut_obj(d->doc);
	ok = yyjson_mut_obj_add(*patch, json_mut_str(d->doc, json_str(key)), val);
	ASSERT(ok);
}

static yyjson_val *find_value(yyjson_obj_iter *in, yyjson_val *key)
{
	yyjson_val *val = yyjson_obj_iter_getn(in, json_str(key).p, json_str(key).n);

	return yyjson_is_null(val) ? NULL : val;
}

static bool keeps(struct diff *d)
{
	return d->keep && d->keep(buf_str(&d->path));
}

static void enter(struct diff *d, yyjson_val *key)
{
	if (d->path.n)
		buf_putc(&d->path, '.');
	buf_put(&d->path, json_str(key));
}

static void leave(struct diff *d, size_t length)
{
	d->path.n = length;
	if (d->path.p)
		d->path.p[length] = 0;
}

static yyjson_mut_val *diff_objects(struct diff *d, yyjson_val *before, yyjson_val *after)
{
	yyjson_obj_iter in_before = yyjson_obj_iter_with(before), in_after = yyjson_obj_iter_with(after);
	yyjson_mut_val *patch = NULL;
	yyjson_val *key, *val;
	size_t i, max;

	yyjson_obj_foreach(after, i, max, key, val)
	{
		yyjson_val *old = find_value(&in_before, key);

		if (yyjson_is_null(val)) {
			/* Said in so many words, it goes where unknown fields stay too. */
			if (old && keeps(d))
				put_field(d, &patch, key, yyjson_mut_null(d->doc));
			continue;
		}
		if (old && json_eq(old, val))
			continue;
		if (yyjson_is_obj(old) && yyjson_is_obj(val)) {
			size_t length = d->path.n;
			yyjson_mut_val *inner;

			enter(d, key);
			inner = diff_objects(d, old, val);
			leave(d, length);
			if (inner)
				put_field(d, &patch, key, inner);
		} else {
			put_field(d, &patch, key, copy(d, val));
		}
	}
	if (keeps(d))
		return patch;
	yyjson_obj_foreach(before, i, max, key, val) if (!yyjson_is_null(val) && !find_value(&in_after, key))
		put_field(d, &patch, key, yyjson_mut_null(d->doc));
	return patch;
}

yyjson_mut_val *json_merge_diff(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *after,
                                bool (*keep)(struct str path))
{
	struct diff d = { doc, keep, BUF_INIT(SIZE_MAX / 4) };
	yyjson_mut_val *patch;

	ASSERT(after);
	if (json_eq(before, after))
		return NULL;
	patch = yyjson_is_obj(before) && yyjson_is_obj(after) ? diff_objects(&d, before, after) : copy(&d, after);
	buf_release(&d.path);
	return patch;
}
