#include "kind/pod_fields.h"

#include "job/decode.h"
#include "kind/path.h"
#include "kind/schema.h"

enum field_kind {
	HOLDS_STRING,
	HOLDS_INT,
	HOLDS_BOOL,
	HOLDS_QUANTITY,
	HOLDS_INT_OR_STRING,
	HOLDS_OBJECT,
	HOLDS_ANY,
};

enum field_many { HOLDS_ONE, HOLDS_LIST, HOLDS_MAP };

struct pod_field {
	const char *name;
	enum field_kind kind;
	enum field_many many;
	unsigned of; /* OBJECT: which of the types */
};

struct pod_type {
	const char *name;
	unsigned first, n; /* its fields, sorted by name */
};

#include "kind/pod_fields.inc"

enum { WORDS_MAX = 200, FIELDS_MAX = 64 };

bool unknown_fields_parse(struct str text, enum unknown_fields *ret)
{
	static const char *const names[] = {
		[UNKNOWN_STRICT] = "strict",
		[UNKNOWN_WARN] = "warn",
		[UNKNOWN_IGNORE] = "ignore",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq_nocase(text, str_c(names[i]))) {
			*ret = (enum unknown_fields)i;
			return true;
		}
	return false;
}

/* --- What is wrong, and what would be right --- */

static void wrong(const struct pod_fields_check *c, struct str path, const char *wanted, yyjson_val *found,
                  struct str remedy)
{
	problem_error(c->problems, path, "must be %s, found %s%s%.*s", wanted, json_type_name(found),
	              remedy.n ? ": " : "", STR_F(remedy));
}

static bool is_string(const struct pod_fields_check *c, yyjson_val *val, struct str path)
{
	if (!yyjson_is_str(val))
		problem_error(c->problems, path, "must be a string, found %s%.*s", json_type_name(val),
		              STR_F(json_quote_it(val, c->problems->arena)));
	return yyjson_is_str(val);
}

static void check_int(const struct pod_fields_check *c, yyjson_val *val, struct str path)
{
	int64_t n;

	if (json_int(val, &n))
		return;
	if (yyjson_is_str(val) && str_int(json_str(val), &n))
		wrong(c, path, "a whole number", val, arena_printf(c->problems->arena, "write %lld", (long long)n));
	else
		wrong(c, path, "a whole number", val, STR_NONE);
}

static void check_bool(const struct pod_fields_check *c, yyjson_val *val, struct str path)
{
	struct str text = json_str(val);

	if (str_eq_nocase(text, STR("true")) || str_eq_nocase(text, STR("false")))
		wrong(c, path, "true or false", val, STR("write it without quotes"));
	else if (!yyjson_is_bool(val))
		wrong(c, path, "true or false", val, STR_NONE);
}

/* "python3 train.py" where a list is wanted: as a shell would take it apart, if it is as plain as that. */
static struct str as_list(const struct pod_fields_check *c, const struct pod_field *f, yyjson_val *val)
{
	struct buf b = BUF_INIT(2 * WORDS_MAX);
	struct str rest = json_str(val), word, ret;

	if (f->kind == HOLDS_OBJECT && yyjson_is_obj(val))
		return STR("put \"- \" before its first field");
	if (f->kind != HOLDS_STRING || !yyjson_is_str(val) || rest.n > WORDS_MAX || !str_is_utf8(rest))
		return STR_NONE;
	for (size_t i = 0; i < rest.n; i++)
		if (strchr("\"'\\$|&;<>`", rest.p[i]) || (unsigned char)rest.p[i] < ' ')
			return STR("write [\"/bin/sh\", \"-c\", \"…\"] for a line of shell");
	while (str_next(&rest, ' ', &word))
		if (word.n)
			buf_printf(&b, "%s\"%.*s\"", b.n ? ", " : "write [", STR_F(word));
	ret = b.n ? arena_printf(c->problems->arena, "%.*s]", STR_F(buf_str(&b))) : STR_NONE;
	buf_release(&b);
	return ret;
}

/* --- The walk --- */

static const struct pod_field *find_field(const struct pod_type *t, struct str name)
{
	size_t low = t->first, high = t->first + t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int d = str_cmp(name, str_c(fields[mid].name));

		if (d == 0)
			return &fields[mid];
		if (d < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static void unknown(const struct pod_fields_check *c, const struct pod_type *t, struct str key, struct str path)
{
	struct str names[FIELDS_MAX], hint;
	enum severity severity = c->unknown == UNKNOWN_WARN ? PROBLEM_WARNING : PROBLEM_ERROR;

	if (c->unknown == UNKNOWN_IGNORE || (c->patch && key.n && key.p[0] == '$'))
		return;
	path = path_key(c->problems->arena, path, key);
	if (schema_has_error(c->problems, path))
		return;
	ASSERT(t->n <= FIELDS_MAX);
	for (unsigned i = 0; i < t->n; i++)
		names[i] = str_c(fields[t->first + i].name);
	hint = text_nearest(key, names, t->n);
	if (hint.n)
		problems_add(c->problems, severity, path, "unknown field, did you mean `%.*s`?", STR_F(hint));
	else
		problems_add(c->problems, severity, path, "unknown field of a %s", t->name);
}

static void check_field(const struct pod_fields_check *c, const struct pod_field *f, yyjson_val *val, struct str path);

/* Depth is bounded: whoever parsed the tree did so within JSON_MAX_DEPTH. */
static void check_object(const struct pod_fields_check *c, const struct pod_type *t, yyjson_val *val, struct str path)
{
	yyjson_val *key, *v;
	size_t i, max;

	if (!yyjson_is_obj(val)) {
		wrong(c, path, "an object", val, STR_NONE);
		return;
	}
	yyjson_obj_foreach(val, i, max, key, v)
	{
		const struct pod_field *f = find_field(t, json_str(key));

		if (f)
			check_field(c, f, v, path_key(c->problems->arena, path, json_str(key)));
		else
			unknown(c, t, json_str(key), path);
	}
}

static void check_one(const struct pod_fields_check *c, const struct pod_field *f, yyjson_val *val, struct str path)
{
	int64_t n;

	/* What is null is not there. */
	if (yyjson_is_null(val))
		return;
	switch (f->kind) {
	case HOLDS_STRING:
		is_string(c, val, path);
		return;
	case HOLDS_INT:
		check_int(c, val, path);
		return;
	case HOLDS_BOOL:
		check_bool(c, val, path);
		return;
	case HOLDS_QUANTITY:
		if (!yyjson_is_str(val) && !yyjson_is_num(val))
			wrong(c, path, "an amount, such as 2 or 500Mi", val, STR_NONE);
		return;
	case HOLDS_INT_OR_STRING:
		if (!yyjson_is_str(val) && !json_int(val, &n))
			wrong(c, path, "a whole number or a string", val, STR_NONE);
		return;
	case HOLDS_OBJECT:
		check_object(c, &types[f->of], val, path);
		return;
	case HOLDS_ANY:
		return;
	}
	BUG("field kind %d", (int)f->kind);
}

static void check_list(const struct pod_fields_check *c, const struct pod_field *f, yyjson_val *val, struct str path)
{
	yyjson_val *v;
	size_t i, max;

	if (!yyjson_is_arr(val)) {
		wrong(c, path, f->kind == HOLDS_STRING ? "a list of strings" : "a list", val, as_list(c, f, val));
		return;
	}
	yyjson_arr_foreach(val, i, max, v)
	{
		check_one(c, f, v, path_index(c->problems->arena, path, i));
	}
}

static void check_map(const struct pod_fields_check *c, const struct pod_field *f, yyjson_val *val, struct str path)
{
	yyjson_val *key, *v;
	size_t i, max;

	if (!yyjson_is_obj(val)) {
		wrong(c, path, "an object", val, STR_NONE);
		return;
	}
	yyjson_obj_foreach(val, i, max, key, v)
	{
		check_one(c, f, v, path_key(c->problems->arena, path, json_str(key)));
	}
}

static void check_field(const struct pod_fields_check *c, const struct pod_field *f, yyjson_val *val, struct str path)
{
	if (yyjson_is_null(val))
		return;
	switch (f->many) {
	case HOLDS_ONE:
		check_one(c, f, val, path);
		return;
	case HOLDS_LIST:
		check_list(c, f, val, path);
		return;
	case HOLDS_MAP:
		check_map(c, f, val, path);
		return;
	}
	BUG("field of %d", (int)f->many);
}

void pod_fields_check(const struct pod_fields_check *c, yyjson_val *val, struct str path)
{
	check_object(c, &types[0], val, path);
}

void pod_fields_check_metadata(const struct pod_fields_check *c, yyjson_val *val, struct str path)
{
	const struct pod_field *f = find_field(&types[0], STR("metadata"));

	if (val)
		check_field(c, f, val, path);
}
