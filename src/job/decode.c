#include "job/decode.h"

#include "base/json.h"

#include <stdarg.h>

static struct str spot_key(const struct decode_spot *s, struct arena *a)
{
	struct str name = text_shown(s->name, a);

	if (!s->up)
		return name;
	return arena_printf(a, "%.*s.%.*s", STR_F(spot_key(s->up, a)), STR_F(name));
}

struct str place_path(struct policy_place at, struct str key, struct arena *a)
{
	yyjson_val *own = json_get_str(at.fields, key);

	if (yyjson_is_str(own))
		key = json_str(own);
	if (!key.n)
		return at.path;
	return arena_printf(a, "%.*s.%.*s", STR_F(at.path), STR_F(key));
}

struct str spot_path(const struct decode *d, const struct decode_spot *s)
{
	return place_path(d->at, s ? spot_key(s, d->p->arena) : STR_NONE, d->p->arena);
}

void decode_blame(struct problems *p, struct policy_place at, struct str word, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (p->of_kind.message.n)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->of_kind.message = arena_printf(p->arena, "%.*s%s%s", STR_F(at.who), at.who.n ? ": " : "", text);
	p->of_kind.word = arena_str(p->arena, word);
}

/* What the user can set under a name of the kind's is the user's mistake. */
static bool is_users(const struct decode *d, const struct decode_spot *s)
{
	return !d->made_up || (s && yyjson_is_str(json_get_str(d->at.fields, spot_key(s, d->p->arena))));
}

/* A value that does not fit, whoever it comes from. */
static void wrong_value(const struct decode *d, const struct decode_spot *s, struct str message)
{
	problem_error(d->p, spot_path(d, s), "%.*s", STR_F(message));
	if (is_users(d, s))
		return;
	if (s)
		decode_blame(d->p, d->at, s->name, "\"%.*s\" %.*s", STR_F(spot_key(s, d->p->arena)), STR_F(message));
	else
		decode_blame(d->p, d->at, STR_NONE, "%.*s", STR_F(message));
}

static void wrong_type(const struct decode *d, const struct decode_spot *s, const char *wanted, yyjson_val *found)
{
	wrong_value(d, s, arena_printf(d->p->arena, "must be %s, found %s", wanted, json_type_name(found)));
}

/* To YAML's reading the user's words come without quotes, the kind's own never. */
static void wrong_string(const struct decode *d, const struct decode_spot *s, yyjson_val *found)
{
	struct str remedy = is_users(d, s) ? json_quote_it(found, d->p->arena) : STR_NONE;

	wrong_value(d, s,
	            arena_printf(d->p->arena, "must be a string, found %s%.*s", json_type_name(found), STR_F(remedy)));
}

bool decode_enum(const struct decode *d, yyjson_val *val, const struct decode_names *names, unsigned *ret,
                 const struct decode_spot *s)
{
	struct arena *a = d->p->arena;
	struct str text = json_str(val), *all;

	if (!yyjson_is_str(val)) {
		wrong_string(d, s, val);
		return false;
	}
	for (size_t i = 0; i < names->n; i++) {
		if (str_eqc(text, names->v[i])) {
			*ret = (unsigned)i;
			return true;
		}
	}
	all = arena_array(a, struct str, names->n);
	for (size_t i = 0; i < names->n; i++)
		all[i] = str_c(names->v[i]);
	wrong_value(d, s,
	            arena_printf(a, "must be %.*s, found \"%.*s\"%.*s", STR_F(text_list(all, names->n, a)),
	                         STR_F(text_shown(text, a)), STR_F(text_hint(text, NULL, all, names->n, a))));
	return false;
}

static bool decode_int(const struct decode *d, const struct decode_field *f, yyjson_val *val, int64_t *ret,
                       const struct decode_spot *s)
{
	long long min = f->min, max = f->max;

	if (!yyjson_is_num(val)) {
		wrong_type(d, s, "a whole number", val);
	} else if (!json_int(val, ret)) {
		problem_error(d->p, spot_path(d, s), "must be a whole number between %lld and %lld", min, max);
	} else if (*ret < f->min) {
		problem_error(d->p, spot_path(d, s), "must be at least %lld, found %lld", min, (long long)*ret);
	} else if (*ret > f->max) {
		problem_error(d->p, spot_path(d, s), "must be at most %lld, found %lld", max, (long long)*ret);
	} else {
		return true;
	}
	return false;
}

static bool decode_value(const struct decode *d, const struct decode_field *f, yyjson_val *val, void *base,
                         const struct decode_spot *s)
{
	void *to = (char *)base + f->offset;
	int64_t number;

	switch (f->type) {
	case FIELD_BOOL:
		if (!yyjson_is_bool(val)) {
			wrong_type(d, s, "true or false", val);
			return false;
		}
		*(bool *)to = yyjson_get_bool(val);
		return true;
	case FIELD_INT32:
		if (!decode_int(d, f, val, &number, s))
			return false;
		*(int32_t *)to = (int32_t)number;
		return true;
	case FIELD_INT64:
		if (!decode_int(d, f, val, &number, s))
			return false;
		*(int64_t *)to = number;
		return true;
	case FIELD_STR:
		if (!yyjson_is_str(val)) {
			wrong_string(d, s, val);
			return false;
		}
		*(struct str *)to = json_str(val);
		return true;
	case FIELD_ENUM:
		return decode_enum(d, val, f->names, to, s);
	case FIELD_VAL:
		*(yyjson_val **)to = val;
		return true;
	case FIELD_TABLE:
		decode_object(d, f->table, val, base, s);
		return true;
	case FIELD_READ:
		return f->read(d, val, base, s);
	}
	BUG("field type %d", (int)f->type);
}

static bool allowed(const struct decode *d, const struct decode_field *f)
{
	return f->who == FIELD_OF_ALL || (f->who == FIELD_OF_KINDS) == d->by_kind;
}

static const struct decode_field *find_field(const struct decode *d, const struct decode_table *t, struct str name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eqc(name, t->v[i].name) && allowed(d, &t->v[i]))
			return &t->v[i];
	return NULL;
}

static void unknown_field(const struct decode *d, const struct decode_table *t, const struct decode_spot *s)
{
	struct arena *a = d->p->arena;
	struct str *all = arena_array(a, struct str, t->n), hint;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (allowed(d, &t->v[i]))
			all[n++] = str_c(t->v[i].name);
	hint = text_hint(s->name, "must be", all, n, a);
	problem_error(d->p, spot_path(d, s), "unknown field%.*s", STR_F(hint));
	if (d->by_kind)
		decode_blame(d->p, d->at, s->name, "unknown field \"%.*s\"%.*s", STR_F(spot_key(s, a)), STR_F(hint));
}

void decode_object(const struct decode *d, const struct decode_table *t, yyjson_val *val, void *base,
                   const struct decode_spot *up)
{
	yyjson_obj_iter iter;
	yyjson_val *key;

	if (d->by_kind && yyjson_is_arr(val) && yyjson_arr_size(val) == 0)
		return;
	if (!yyjson_is_obj(val)) {
		wrong_type(d, up, "an object", val);
		return;
	}
	yyjson_obj_iter_init(val, &iter);
	while ((key = yyjson_obj_iter_next(&iter))) {
		struct decode_spot s = { up, json_str(key) };
		const struct decode_field *f = find_field(d, t, s.name);
		yyjson_val *field = yyjson_obj_iter_get_val(key);

		if (!f)
			unknown_field(d, t, &s);
		else if (!yyjson_is_null(field) && decode_value(d, f, field, base, &s))
			*(unsigned *)base |= f->said;
	}
}

bool decode_has_key(const struct decode_table *t, struct str key)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct decode_field *f = &t->v[i];
		size_t n = strlen(f->name);

		if (f->who == FIELD_OF_USERS || !str_has_prefix(key, str_c(f->name)))
			continue;
		if (key.n == n || (key.p[n] == '.' && f->type == FIELD_READ))
			return true;
		if (key.p[n] == '.' && f->type == FIELD_TABLE)
			return decode_has_key(f->table, str_sub(key, n + 1, key.n));
	}
	return false;
}
