/* The declaration of fields in a kind's file, checked and copied. */
#include "kind/schema.h"

#include "job/decode.h"
#include "kind/table.h"

static const char *const type_names[SCHEMA_TYPES] = {
	[SCHEMA_OBJECT] = "object", [SCHEMA_ARRAY] = "array",       [SCHEMA_MAP] = "map",
	[SCHEMA_STRING] = "string", [SCHEMA_INT] = "int",           [SCHEMA_BOOL] = "bool",
	[SCHEMA_ENUM] = "enum",     [SCHEMA_TEMPLATE] = "template", [SCHEMA_ANY] = "any",
};

#define T(type) (1u << SCHEMA_##type)
enum { ALL_TYPES = (1 << SCHEMA_TYPES) - 1 };

/* What a field's declaration may hold: which Lua type, with which field types. */
static const struct attribute {
	struct table_key key;
	unsigned types;
} attributes[] = {
	{ { "also", LUA_TTABLE, false }, ALL_TYPES },
	{ { "default", TABLE_ANY, false }, T(STRING) | T(INT) | T(BOOL) | T(ENUM) },
	{ { "description", LUA_TSTRING, false }, ALL_TYPES },
	{ { "fields", LUA_TTABLE, false }, T(OBJECT) },
	{ { "items", LUA_TTABLE, false }, T(ARRAY) | T(MAP) },
	{ { "max", LUA_TNUMBER, false }, T(INT) | T(STRING) | T(ARRAY) | T(MAP) },
	{ { "min", LUA_TNUMBER, false }, T(INT) | T(STRING) | T(ARRAY) | T(MAP) },
	{ { "nocase", LUA_TBOOLEAN, false }, T(ENUM) },
	{ { "numbers", LUA_TBOOLEAN, false }, T(STRING) },
	{ { "required", LUA_TBOOLEAN, false }, ALL_TYPES },
	{ { "values", LUA_TTABLE, false }, T(ENUM) },
};

static bool load_type(struct schema *ret, struct sandbox *sb, struct arena *a, struct str path, struct err *e)
{
	struct str names[SCHEMA_TYPES], given = STR_NONE, hint;

	for (int i = 0; i < SCHEMA_TYPES; i++)
		names[i] = str_c(type_names[i]);
	lua_rawgeti(sb->L, -1, 1);
	if (lua_type(sb->L, -1) == LUA_TSTRING)
		given.p = lua_tolstring(sb->L, -1, &given.n);
	lua_pop(sb->L, 1);
	for (int i = 0; i < SCHEMA_TYPES; i++)
		if (given.p && str_eq(given, names[i])) {
			ret->type = (enum schema_type)i;
			return true;
		}
	if (!given.p)
		return err_set(e, ERR_LUA, "`%.*s` must begin with its type: %.*s", STR_F(path),
		               STR_F(text_list(names, SCHEMA_TYPES, a)));
	hint = table_nearest(given, names, SCHEMA_TYPES);
	if (hint.n)
		return err_set(e, ERR_LUA, "`%.*s` has the unknown type `%.*s`, did you mean `%.*s`?", STR_F(path),
		               STR_F(given), STR_F(hint));
	return err_set(e, ERR_LUA, "`%.*s` has the unknown type `%.*s`; there are %.*s", STR_F(path), STR_F(given),
	               STR_F(text_list(names, SCHEMA_TYPES, a)));
}

/* Every key is known and of the right Lua type; *RET_SEEN is a bit for each attribute that is there. */
static bool check_keys(const struct schema *s, struct sandbox *sb, struct str path, struct err *e)
{
	struct table_key keys[ARRAY_LEN(attributes)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
		if (attributes[i].types & (1u << s->type))
			keys[n++] = attributes[i].key;
	return table_check(sb->L, keys, n, 1, path, e);
}

static bool load_range(struct schema *s, struct sandbox *sb, struct str path, struct err *e)
{
	lua_State *L = sb->L;

	if (table_get(L, "min") != LUA_TNIL) {
		s->has_min = true;
		if (!lua_isinteger(L, -1))
			goto fraction;
		s->min = lua_tointeger(L, -1);
	}
	lua_pop(L, 1);
	if (table_get(L, "max") != LUA_TNIL) {
		s->has_max = true;
		if (!lua_isinteger(L, -1))
			goto fraction;
		s->max = lua_tointeger(L, -1);
	}
	lua_pop(L, 1);
	if (s->has_min && s->has_max && s->min > s->max)
		return err_set(e, ERR_LUA, "`%.*s` has a min above its max", STR_F(path));
	return true;
fraction:
	lua_pop(L, 1);
	return err_set(e, ERR_LUA, "`%.*s`: min and max must be whole numbers", STR_F(path));
}

static bool one_of(const struct schema *s, struct str text)
{
	for (size_t i = 0; i < s->n_values; i++)
		if (str_eq(text, s->values[i]))
			return true;
	return false;
}

static bool load_default(struct schema *s, struct sandbox *sb, struct arena *a, struct str path, struct err *e)
{
	lua_State *L = sb->L;
	int type = table_get(L, "default");
	bool good = true;

	s->has_default = type != LUA_TNIL;
	if (!s->has_default) {
	} else if (s->type == SCHEMA_INT) {
		good = lua_isinteger(L, -1);
		s->default_int = lua_tointeger(L, -1);
		good = good && !(s->has_min && s->default_int < s->min) && !(s->has_max && s->default_int > s->max);
	} else if (s->type == SCHEMA_BOOL) {
		good = type == LUA_TBOOLEAN;
		s->default_int = lua_toboolean(L, -1);
	} else {
		good = type == LUA_TSTRING;
		if (good)
			s->default_text = arena_str(a, (struct str){ lua_tostring(L, -1), lua_rawlen(L, -1) });
		good = good && (s->type != SCHEMA_ENUM || one_of(s, s->default_text));
	}
	lua_pop(L, 1);
	if (!good)
		return err_set(e, ERR_LUA, "`%.*s` has a default that is not valid itself", STR_F(path));
	if (s->has_default && s->required)
		return err_set(e, ERR_LUA, "`%.*s` has a default, so it cannot be required", STR_F(path));
	return true;
}

static int by_field_name(const void *a, const void *b)
{
	return str_cmp(((const struct schema *)a)->name, ((const struct schema *)b)->name);
}

static bool load(struct schema *s, struct sandbox *sb, struct arena *a, struct str path, int depth, struct err *e);

/* No two fields of an object may answer to one spelling. */
static bool check_spellings(const struct schema *s, struct str path, struct err *e)
{
	for (size_t i = 0; i < s->n_fields; i++)
		for (size_t j = 0; j < s->n_fields; j++)
			for (size_t k = 0; k < s->fields[j].n_also; k++)
				if (str_eq(s->fields[i].name, s->fields[j].also[k]))
					return err_set(e, ERR_LUA, "`%.*s.%.*s` is also a spelling of `%.*s`",
					               STR_F(path), STR_F(s->fields[i].name), STR_F(s->fields[j].name));
	return true;
}

static bool load_fields(struct schema *s, struct sandbox *sb, struct arena *a, struct str path, int depth,
                        struct err *e)
{
	lua_State *L = sb->L;
	VEC(struct schema) fields = { 0 };
	bool ok = true;

	if (table_get(L, "fields") == LUA_TNIL) {
		lua_pop(L, 1);
		return err_set(e, ERR_LUA, "`%.*s` is an object without `fields`", STR_F(path));
	}
	lua_pushnil(L);
	while (ok && lua_next(L, -2)) {
		struct schema *f = vec_push(a, &fields);
		struct str key = STR_NONE;

		if (lua_type(L, -2) == LUA_TSTRING)
			key.p = lua_tolstring(L, -2, &key.n);
		*f = (struct schema){ .name = arena_str(a, key) };
		if (!key.p || lua_type(L, -1) != LUA_TTABLE)
			ok = err_set(e, ERR_LUA, "`%.*s.fields` must be a table of name = { type, … }", STR_F(path));
		else
			ok = load(f, sb, a, arena_printf(a, "%.*s.%.*s", STR_F(path), STR_F(key)), depth + 1, e);
		lua_pop(L, 1);
	}
	lua_pop(L, ok ? 1 : 2);
	if (fields.n)
		qsort(fields.v, fields.n, sizeof(*fields.v), by_field_name);
	s->fields = fields.v;
	s->n_fields = fields.n;
	return ok && check_spellings(s, path, e);
}

static bool load_items(struct schema *s, struct sandbox *sb, struct arena *a, struct str path, int depth, struct err *e)
{
	struct schema *items = arena_new(a, struct schema);
	bool ok;

	if (table_get(sb->L, "items") == LUA_TNIL) {
		lua_pop(sb->L, 1);
		return err_set(e, ERR_LUA, "`%.*s` is %s without `items`", STR_F(path),
		               s->type == SCHEMA_MAP ? "a map" : "an array");
	}
	ok = load(items, sb, a, arena_printf(a, "%.*s[]", STR_F(path)), depth + 1, e);
	lua_pop(sb->L, 1);
	s->items = items;
	return ok;
}

static bool load(struct schema *s, struct sandbox *sb, struct arena *a, struct str path, int depth, struct err *e)
{
	lua_State *L = sb->L;

	if (depth > SCHEMA_MAX_DEPTH || !lua_checkstack(L, 8))
		return err_set(e, ERR_LUA, "`%.*s` is nested too deep", STR_F(path));
	if (!load_type(s, sb, a, path, e) || !check_keys(s, sb, path, e))
		return false;
	s->required = table_bool(L, "required");
	s->nocase = table_bool(L, "nocase");
	s->numbers = table_bool(L, "numbers");
	s->description = arena_str(a, value_field_str(L, -1, "description"));
	if (!table_strs(L, "also", a, &s->also, &s->n_also, path, e) ||
	    !table_strs(L, "values", a, &s->values, &s->n_values, path, e) || !load_range(s, sb, path, e) ||
	    !load_default(s, sb, a, path, e))
		return false;
	if (s->type == SCHEMA_ENUM && s->n_values == 0)
		return err_set(e, ERR_LUA, "`%.*s` is an enum without `values`", STR_F(path));
	if (s->type == SCHEMA_OBJECT)
		return load_fields(s, sb, a, path, depth, e);
	if (s->type == SCHEMA_ARRAY || s->type == SCHEMA_MAP)
		return load_items(s, sb, a, path, depth, e);
	return true;
}

bool schema_load(struct schema *ret, struct sandbox *sb, struct arena *a, struct str path, struct err *e)
{
	*ret = (struct schema){ .name = STR_NONE };
	return load(ret, sb, a, path, 0, e);
}
