#include "local/pod/codec.h"

#include "base/json.h"

typedef VEC(void) list;

static const void *field_of(const struct codec_field *f, const void *object)
{
	return (const char *)object + f->offset;
}

static yyjson_mut_val *write_strs(yyjson_mut_doc *doc, const list *l)
{
	yyjson_mut_val *array = yyjson_mut_arr(doc);
	const struct str *v = l->v;

	for (size_t i = 0; i < l->n; i++)
		yyjson_mut_arr_append(array, json_mut_str(doc, v[i]));
	return array;
}

static yyjson_mut_val *write_list(yyjson_mut_doc *doc, const struct codec *sub, const list *l)
{
	yyjson_mut_val *array = yyjson_mut_arr(doc);

	for (size_t i = 0; i < l->n; i++)
		yyjson_mut_arr_append(array, codec_write(doc, sub, (const char *)l->v + i * sub->size));
	return array;
}

/* NULL: it is zero. */
static yyjson_mut_val *write_field(yyjson_mut_doc *doc, const struct codec_field *f, const void *at)
{
	const list *l = at;
	yyjson_mut_val *object;

	switch (f->type) {
	case CODEC_STR:
		return str_empty(*(const struct str *)at) ? NULL : json_mut_str(doc, *(const struct str *)at);
	case CODEC_BOOL:
		return *(const bool *)at ? yyjson_mut_true(doc) : NULL;
	case CODEC_INT:
		return *(const int64_t *)at ? yyjson_mut_sint(doc, *(const int64_t *)at) : NULL;
	case CODEC_ENUM:
		return *(const unsigned *)at ? yyjson_mut_str(doc, f->names[*(const unsigned *)at]) : NULL;
	case CODEC_STRS:
		return l->n ? write_strs(doc, l) : NULL;
	case CODEC_OBJECT:
		object = codec_write(doc, f->sub, at);
		return yyjson_mut_obj_size(object) ? object : NULL;
	case CODEC_LIST:
		return l->n ? write_list(doc, f->sub, l) : NULL;
	}
	BUG("no such type of a field");
}

yyjson_mut_val *codec_write(yyjson_mut_doc *doc, const struct codec *c, const void *from)
{
	yyjson_mut_val *object = yyjson_mut_obj(doc);

	for (size_t i = 0; i < c->n; i++) {
		yyjson_mut_val *v = write_field(doc, &c->fields[i], field_of(&c->fields[i], from));

		if (v)
			yyjson_mut_obj_add_val(doc, object, c->fields[i].name, v);
	}
	return object;
}

static bool read_enum(const struct codec_field *f, unsigned *at, yyjson_val *v, struct err *e)
{
	for (unsigned i = 0; f->names[i]; i++)
		if (str_eqc(json_str(v), f->names[i])) {
			*at = i;
			return true;
		}
	return err_set(e, ERR_INVALID, "%s: not one of its words", f->name);
}

static bool read_strs(const struct codec_field *f, list *l, yyjson_val *v, struct arena *a, struct err *e)
{
	struct str *strs = arena_array(a, struct str, yyjson_arr_size(v));
	size_t i, max;
	yyjson_val *item;

	yyjson_arr_foreach(v, i, max, item)
	{
		if (!yyjson_is_str(item))
			return err_set(e, ERR_INVALID, "%s: not a list of strings", f->name);
		strs[i] = arena_str(a, json_str(item));
	}
	l->v = strs;
	l->n = l->cap = yyjson_arr_size(v);
	return true;
}

static bool read_list(const struct codec_field *f, list *l, yyjson_val *v, struct arena *a, struct err *e)
{
	char *items = arena_many(a, yyjson_arr_size(v), f->sub->size);
	size_t i, max;
	yyjson_val *item;

	yyjson_arr_foreach(v, i, max, item)
	{
		if (!codec_read(f->sub, items + i * f->sub->size, item, a, e))
			return err_wrap(e, "%s[%zu]", f->name, i);
	}
	l->v = items;
	l->n = l->cap = yyjson_arr_size(v);
	return true;
}

static bool read_field(const struct codec_field *f, void *at, yyjson_val *v, struct arena *a, struct err *e)
{
	bool fits = false;

	switch (f->type) {
	case CODEC_STR:
		fits = yyjson_is_str(v);
		if (fits)
			*(struct str *)at = arena_str(a, json_str(v));
		break;
	case CODEC_BOOL:
		fits = yyjson_is_bool(v);
		*(bool *)at = yyjson_is_true(v);
		break;
	case CODEC_INT:
		fits = json_int(v, at);
		break;
	case CODEC_ENUM:
		return read_enum(f, at, v, e);
	case CODEC_STRS:
		if (yyjson_is_arr(v))
			return read_strs(f, at, v, a, e);
		break;
	case CODEC_OBJECT:
		if (!codec_read(f->sub, at, v, a, e))
			return err_wrap(e, "%s", f->name);
		return true;
	case CODEC_LIST:
		if (yyjson_is_arr(v))
			return read_list(f, at, v, a, e);
		break;
	}
	return fits || err_set(e, ERR_INVALID, "%s: is %s", f->name, json_type_name(v));
}

bool codec_read(const struct codec *c, void *ret, yyjson_val *from, struct arena *a, struct err *e)
{
	if (!yyjson_is_obj(from))
		return err_set(e, ERR_INVALID, "is %s, not an object", json_type_name(from));
	memset(ret, 0, c->size);
	for (size_t i = 0; i < c->n; i++) {
		yyjson_val *v = json_get(from, c->fields[i].name);

		if (v && !read_field(&c->fields[i], (char *)ret + c->fields[i].offset, v, a, e))
			return false;
	}
	return true;
}
