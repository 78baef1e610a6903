#include "base/json.h"

#include <math.h>
#include <stdarg.h>

/* Objects up to this size are searched key by key; larger ones are sorted. */
enum { FEW_KEYS = 24 };

static struct str string_of(yyjson_val *val)
{
	return (struct str){ unsafe_yyjson_get_str(val), unsafe_yyjson_get_len(val) };
}

static int by_key(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The key that OBJ has twice, or STR_NONE. Sorting, not hashing: nobody can choose keys that make it slow. */
static struct str key_twice(yyjson_val *obj)
{
	size_t n = yyjson_obj_size(obj), i, max;
	struct str few[FEW_KEYS], twice = STR_NONE;
	struct str *keys = n <= FEW_KEYS ? few : xcalloc(n, sizeof(*keys));
	yyjson_val *key, *val;

	yyjson_obj_foreach(obj, i, max, key, val) keys[i] = string_of(key);
	if (n <= FEW_KEYS) {
		for (i = 1; i < n; i++)
			for (size_t j = 0; j < i; j++)
				if (str_eq(keys[i], keys[j]))
					return keys[i];
		return STR_NONE;
	}
	qsort(keys, n, sizeof(*keys), by_key);
	for (i = 1; i < n && !twice.p; i++)
		if (str_eq(keys[i - 1], keys[i]))
			twice = keys[i];
	free(keys);
	return twice;
}

static bool duplicate(struct str key, struct err *e)
{
	struct buf quoted = BUF_INIT(1024);

	buf_json_str(&quoted, str_sub(key, 0, 100));
	err_set(e, ERR_INVALID, "duplicate key %s in one object", buf_str(&quoted).p);
	buf_release(&quoted);
	return false;
}

/* The values of a document lie one behind the other, containers before what they hold: one walk
   with a short stack sees them all. */
static bool check_tree(yyjson_doc *doc, struct err *e)
{
	size_t left[JSON_MAX_DEPTH], depth = 0, total = yyjson_doc_get_val_count(doc);
	yyjson_val *val = yyjson_doc_get_root(doc);

	for (size_t i = 0; i < total; i++, val++) {
		while (depth && left[depth - 1] == 0)
			depth--;
		if (depth)
			left[depth - 1]--;
		if (!yyjson_is_ctn(val))
			continue;
		if (depth == JSON_MAX_DEPTH)
			return err_set(e, ERR_LIMIT, "nested more than %d deep", JSON_MAX_DEPTH);
		left[depth++] = unsafe_yyjson_get_len(val) * (yyjson_is_obj(val) ? 2 : 1);
		if (yyjson_is_obj(val)) {
			struct str twice = key_twice(val);

			if (twice.p)
				return duplicate(twice, e);
		}
	}
	return true;
}

static bool fault_at(struct str text, const yyjson_read_err *fault, struct err *e)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < MIN(fault->pos, text.n); i++) {
		if (text.p[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)text.p[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	return err_set(e, ERR_INVALID, "line %zu, column %zu: %s", line, column, text.n ? fault->msg : "empty text");
}

yyjson_doc *json_parse(struct str text, struct err *e)
{
	yyjson_read_err fault;
	yyjson_doc *doc;

	text.p = str_text(text);
	/* Without YYJSON_READ_INSITU the text is only read. */
	doc = yyjson_read_opts((char *)(uintptr_t)text.p, text.n, 0, NULL, &fault);
	if (!doc) {
		fault_at(text, &fault, e);
		return NULL;
	}
	if (!check_tree(doc, e)) {
		yyjson_doc_free(doc);
		return NULL;
	}
	return doc;
}

void json_docp(yyjson_doc **doc)
{
	yyjson_doc_free(*doc);
	*doc = NULL;
}

void json_mut_docp(yyjson_mut_doc **doc)
{
	yyjson_mut_doc_free(*doc);
	*doc = NULL;
}

yyjson_val *json_get(yyjson_val *obj, const char *key)
{
	return json_get_str(obj, str_c(key));
}

yyjson_val *json_get_str(yyjson_val *obj, struct str key)
{
	return yyjson_obj_getn(obj, key.p ? key.p : "", key.n);
}

yyjson_val *json_at(yyjson_val *obj, ...)
{
	va_list ap;
	const char *key;

	va_start(ap, obj);
	while (obj && (key = va_arg(ap, const char *)))
		obj = json_get(obj, key);
	va_end(ap);
	return obj;
}

struct str json_str(yyjson_val *val)
{
	return yyjson_is_str(val) ? string_of(val) : STR_NONE;
}

struct str json_mut_text(yyjson_mut_val *val)
{
	return yyjson_mut_is_str(val) ? (struct str){ yyjson_mut_get_str(val), yyjson_mut_get_len(val) } : STR_NONE;
}

bool json_int(yyjson_val *val, int64_t *ret)
{
	double real;

	if (yyjson_is_sint(val)) {
		*ret = unsafe_yyjson_get_sint(val);
		return true;
	}
	if (yyjson_is_uint(val)) {
		if (unsafe_yyjson_get_uint(val) > (uint64_t)INT64_MAX)
			return false;
		*ret = (int64_t)unsafe_yyjson_get_uint(val);
		return true;
	}
	if (!yyjson_is_real(val))
		return false;
	real = unsafe_yyjson_get_real(val);
	/* 2^63 itself is a double, INT64_MAX is not. */
	if (!(real >= -0x1p63 && real < 0x1p63) || real != trunc(real))
		return false;
	*ret = (int64_t)real;
	return true;
}

const char *json_type_name(yyjson_val *val)
{
	switch (yyjson_get_type(val)) {
	case YYJSON_TYPE_NULL:
		return "null";
	case YYJSON_TYPE_BOOL:
		return "a boolean";
	case YYJSON_TYPE_NUM:
		return "a number";
	case YYJSON_TYPE_STR:
		return "a string";
	case YYJSON_TYPE_ARR:
		return "a list";
	case YYJSON_TYPE_OBJ:
		return "an object";
	default:
		return "nothing";
	}
}

struct str json_quote_it(yyjson_val *val, struct arena *a)
{
	if (yyjson_is_bool(val))
		return arena_printf(a, ": quote it, since YAML reads %s as a boolean",
		                    yyjson_get_bool(val) ? "true, yes, on and y" : "false, no, off and n");
	return yyjson_is_num(val) ? STR(JSON_QUOTE_IT) : STR_NONE;
}

/* By value: 1 and 1.0 are the same number. Whole numbers past int64 need the unsigned comparison. */
static bool num_eq(yyjson_val *a, yyjson_val *b)
{
	bool a_real = yyjson_is_real(a), b_real = yyjson_is_real(b);
	int64_t i, j;

	if (a_real && b_real)
		return unsafe_yyjson_get_real(a) == unsafe_yyjson_get_real(b);
	if (json_int(a, &i) && json_int(b, &j))
		return i == j;
	if (a_real || b_real) {
		double real = unsafe_yyjson_get_real(a_real ? a : b);
		yyjson_val *whole = a_real ? b : a;

		return yyjson_is_uint(whole) && real >= 0x1p63 && real < 0x1p64 &&
		       (uint64_t)real == unsafe_yyjson_get_uint(whole);
	}
	return yyjson_is_uint(a) && yyjson_is_uint(b) && unsafe_yyjson_get_uint(a) == unsafe_yyjson_get_uint(b);
}

static bool arr_eq(yyjson_val *a, yyjson_val *b)
{
	yyjson_val *x, *y = yyjson_arr_get_first(b);
	size_t i, max;

	if (yyjson_arr_size(a) != yyjson_arr_size(b))
		return false;
	yyjson_arr_foreach(a, i, max, x)
	{
		if (!json_eq(x, y))
			return false;
		y = unsafe_yyjson_get_next(y);
	}
	return true;
}

static bool obj_eq(yyjson_val *a, yyjson_val *b)
{
	yyjson_obj_iter other = yyjson_obj_iter_with(b);
	yyjson_val *key, *val, *found;
	size_t i, max;

	if (yyjson_obj_size(a) != yyjson_obj_size(b))
		return false;
	yyjson_obj_foreach(a, i, max, key, val)
	{
		found = yyjson_obj_iter_getn(&other, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
		if (!found || !json_eq(val, found))
			return false;
	}
	return true;
}

bool json_eq(yyjson_val *a, yyjson_val *b)
{
	if (!a || !b)
		return a == b;
	if (yyjson_get_type(a) != yyjson_get_type(b))
		return false;
	if (yyjson_is_obj(a))
		return obj_eq(a, b);
	if (yyjson_is_arr(a))
		return arr_eq(a, b);
	if (yyjson_is_num(a))
		return num_eq(a, b);
	if (yyjson_is_str(a))
		return str_eq(string_of(a), string_of(b));
	return yyjson_get_bool(a) == yyjson_get_bool(b);
}

yyjson_mut_val *json_mut_str(yyjson_mut_doc *doc, struct str s)
{
	yyjson_mut_val *val;
	struct buf clean = BUF_INIT(SIZE_MAX / 4);

	/* What is no UTF-8 cannot be written as JSON later: it is mended where it comes in. */
	if (!str_is_utf8(s)) {
		buf_utf8(&clean, s);
		s = buf_str(&clean);
	}
	val = yyjson_mut_strncpy(doc, s.p ? s.p : "", s.n);
	ASSERT(val);
	buf_release(&clean);
	return val;
}

void json_mut_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, struct str key, yyjson_mut_val *val)
{
	bool ok = val && yyjson_mut_obj_put(obj, json_mut_str(doc, key), val);

	ASSERT(ok);
}

static void put_written(char *text, size_t n, struct buf *out)
{
	ASSERT(text);
	buf_put(out, (struct str){ text, n });
	free(text);
}

void json_write(yyjson_mut_val *val, struct buf *out)
{
	size_t n = 0;
	char *text = yyjson_mut_val_write(val, YYJSON_WRITE_INF_AND_NAN_AS_NULL, &n);

	put_written(text, n, out);
}

void json_write_val(yyjson_val *val, struct buf *out)
{
	size_t n = 0;
	char *text = yyjson_val_write(val, YYJSON_WRITE_INF_AND_NAN_AS_NULL, &n);

	put_written(text, n, out);
}
