/* A manifest becomes Lua tables by its schema: canonical spellings, defaults, and a problem for
   everything that does not fit, named as the user wrote it. */
#include "kind/schema.h"

#include "job/decode.h"
#include "kind/path.h"
#include "kind/table.h"

/* The object or list on top of the stack stands at PATH. */
static void remember_path(struct schema_read *r, struct str path)
{
	lua_State *L = r->sb->L;

	lua_rawgeti(L, LUA_REGISTRYINDEX, r->sb->paths);
	lua_pushvalue(L, -2);
	value_push_str(r->sb, path);
	lua_rawset(L, -3);
	lua_pop(L, 1);
}

/* Its field NAME was spelt SPELLING. */
static void remember_spelling(struct schema_read *r, struct str name, struct str spelling)
{
	lua_State *L = r->sb->L;

	lua_rawgeti(L, LUA_REGISTRYINDEX, r->sb->spellings);
	lua_pushvalue(L, -2);
	if (lua_rawget(L, -2) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -3);
		lua_pushvalue(L, -2);
		lua_rawset(L, -4);
	}
	value_push_str(r->sb, name);
	value_push_str(r->sb, spelling);
	lua_rawset(L, -3);
	lua_pop(L, 2);
}

static void push_default(struct schema_read *r, const struct schema *s)
{
	if (!s->has_default)
		lua_pushnil(r->sb->L);
	else if (s->type == SCHEMA_INT)
		lua_pushinteger(r->sb->L, s->default_int);
	else if (s->type == SCHEMA_BOOL)
		lua_pushboolean(r->sb->L, s->default_int != 0);
	else
		value_push_str(r->sb, s->default_text);
}

/* Something of the right type in the place of what is wrong or missing, so that Lua goes on. */
static void push_stand_in(struct schema_read *r, const struct schema *s, struct str path)
{
	lua_State *L = r->sb->L;

	luaL_checkstack(L, 12, NULL);
	if (s->has_default) {
		push_default(r, s);
		return;
	}
	switch (s->type) {
	case SCHEMA_OBJECT:
		lua_newtable(L);
		remember_path(r, path);
		for (size_t i = 0; i < s->n_fields; i++) {
			const struct schema *f = &s->fields[i];

			value_push_str(r->sb, f->name);
			if (f->required)
				push_stand_in(r, f, path_key(r->a, path, f->name));
			else
				push_default(r, f);
			lua_rawset(L, -3);
		}
		return;
	case SCHEMA_ARRAY:
	case SCHEMA_MAP:
		lua_newtable(L);
		if (s->type == SCHEMA_ARRAY)
			value_mark_list(r->sb);
		remember_path(r, path);
		return;
	case SCHEMA_STRING:
		lua_pushliteral(L, "");
		return;
	case SCHEMA_INT:
		lua_pushinteger(L, s->has_min ? s->min : 0);
		return;
	case SCHEMA_BOOL:
		lua_pushboolean(L, false);
		return;
	case SCHEMA_ENUM:
		value_push_str(r->sb, s->values[0]);
		return;
	case SCHEMA_TEMPLATE:
	case SCHEMA_ANY:
		/* Nobody looks into it. */
		value_push_opaque(r->sb, r->object);
		return;
	case SCHEMA_TYPES:
		break;
	}
	BUG("schema type %d", (int)s->type);
}

static void wrong_type(struct schema_read *r, const struct schema *s, struct str path, const char *wanted,
                       yyjson_val *val)
{
	r->broken = true;
	problem_error(r->p, path, "must be %s, found %s", wanted, json_type_name(val));
	push_stand_in(r, s, path);
}

static void wrong_string(struct schema_read *r, const struct schema *s, struct str path, yyjson_val *val)
{
	r->broken = true;
	problem_error(r->p, path, "must be a string, found %s%.*s", json_type_name(val),
	              STR_F(json_quote_it(val, r->a)));
	push_stand_in(r, s, path);
}

static bool out_of_range(struct schema_read *r, const struct schema *s, int64_t n, struct str path, const char *what)
{
	if (s->has_min && s->has_max && (n < s->min || n > s->max))
		problem_error(r->p, path, "must be %s%lld to %lld, found %lld", what, (long long)s->min,
		              (long long)s->max, (long long)n);
	else if (s->has_min && n < s->min)
		problem_error(r->p, path, "must be %sat least %lld, found %lld", what, (long long)s->min, (long long)n);
	else if (s->has_max && n > s->max)
		problem_error(r->p, path, "must be %sat most %lld, found %lld", what, (long long)s->max, (long long)n);
	else
		return false;
	return true;
}

static void push_int(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	int64_t n;

	if (!json_int(val, &n)) {
		if (yyjson_is_num(val)) {
			problem_error(r->p, path, "must be a whole number");
			r->broken = true;
			push_stand_in(r, s, path);
		} else {
			wrong_type(r, s, path, "a whole number", val);
		}
		return;
	}
	/* Reading goes on with a number that nothing stumbles over. */
	if (out_of_range(r, s, n, path, ""))
		n = s->has_default ? s->default_int : s->has_min ? s->min : s->max;
	lua_pushinteger(r->sb->L, n);
}

static void push_text(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	struct str text = json_str(val);
	int64_t n;

	if (s->numbers && json_int(val, &n)) {
		lua_pushfstring(r->sb->L, "%I", (LUAI_UACINT)n);
		return;
	}
	if (!yyjson_is_str(val)) {
		wrong_string(r, s, path, val);
		return;
	}
	out_of_range(r, s, (int64_t)text.n, path, "of length ");
	value_push_str(r->sb, text);
}

static void push_enum(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	struct str text = json_str(val), hint;

	if (!yyjson_is_str(val)) {
		wrong_string(r, s, path, val);
		return;
	}
	for (size_t i = 0; i < s->n_values; i++)
		if (s->nocase ? str_eq_nocase(text, s->values[i]) : str_eq(text, s->values[i])) {
			value_push_str(r->sb, s->values[i]);
			return;
		}
	hint = table_nearest(text, s->values, s->n_values);
	problem_error(r->p, path, "must be %.*s, found \"%.*s\"%s%.*s%s",
	              STR_F(text_list(s->values, s->n_values, r->a)), STR_F(text_shown(text, r->a)),
	              hint.n ? "; did you mean \"" : "", STR_F(hint), hint.n ? "\"?" : "");
	/* What was probably meant keeps one mistake from being reported as several. */
	value_push_str(r->sb, hint.n ? hint : text);
}

static void push_template(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	if (s->type == SCHEMA_TEMPLATE && !yyjson_is_obj(val))
		wrong_type(r, s, path, "an object", val);
	else
		value_push_opaque(r->sb, val);
}

static void push_array(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(val);
	yyjson_val *v;
	lua_Integer n = 0;

	if (!yyjson_is_arr(val)) {
		wrong_type(r, s, path, "a list", val);
		return;
	}
	out_of_range(r, s, (int64_t)yyjson_arr_size(val), path, "a list of ");
	lua_newtable(r->sb->L);
	value_mark_list(r->sb);
	remember_path(r, path);
	while ((v = yyjson_arr_iter_next(&it))) {
		schema_push(r, s->items, v, path_index(r->a, path, it.idx - 1));
		lua_rawseti(r->sb->L, -2, ++n);
	}
}

static void push_map(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(val);
	yyjson_val *key;

	if (!yyjson_is_obj(val)) {
		wrong_type(r, s, path, "an object", val);
		return;
	}
	out_of_range(r, s, (int64_t)yyjson_obj_size(val), path, "a map of ");
	lua_newtable(r->sb->L);
	remember_path(r, path);
	while ((key = yyjson_obj_iter_next(&it))) {
		value_push_str(r->sb, json_str(key));
		schema_push(r, s->items, yyjson_obj_iter_get_val(key), path_key(r->a, path, json_str(key)));
		lua_rawset(r->sb->L, -3);
	}
}

const struct schema *schema_field(const struct schema *s, struct str key)
{
	for (size_t i = 0; i < s->n_fields; i++) {
		if (str_eq(key, s->fields[i].name))
			return &s->fields[i];
		for (size_t k = 0; k < s->fields[i].n_also; k++)
			if (str_eq(key, s->fields[i].also[k]))
				return &s->fields[i];
	}
	return NULL;
}

/* Reports an unknown field; returns the one that was probably meant, or NULL. */
static const struct schema *unknown_field(struct schema_read *r, const struct schema *s, struct str key,
                                          struct str path)
{
	VEC(struct str) names = { 0 };
	struct str hint;

	for (size_t i = 0; i < s->n_fields; i++)
		*vec_push(r->a, &names) = s->fields[i].name;
	for (size_t i = 0; i < s->n_fields; i++)
		for (size_t k = 0; k < s->fields[i].n_also; k++)
			*vec_push(r->a, &names) = s->fields[i].also[k];
	if (r->skipped.n)
		*vec_push(r->a, &names) = r->skipped;
	hint = table_nearest(key, names.v, names.n);
	if (!hint.n) {
		problem_warning(r->p, path, "unknown field, it is ignored");
		return NULL;
	}
	problem_error(r->p, path, "unknown field, did you mean `%.*s`?", STR_F(hint));
	return schema_field(s, hint);
}

struct schema_given {
	yyjson_val *val;
	struct str spelling;
	bool guessed; /* a misspelt key: the right one takes its place */
};

/* Which value each field has; RET has one place for each field. */
static void collect(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path,
                    struct schema_given *ret)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(val);
	struct str skipped = r->skipped;
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it))) {
		struct str key = json_str(k);
		yyjson_val *v = yyjson_obj_iter_get_val(k);
		const struct schema *f = schema_field(s, key);
		bool guessed = !f;
		struct schema_given *g;

		if (yyjson_is_null(v) || (skipped.n && str_eq(key, skipped)))
			continue;
		if (!f) {
			f = unknown_field(r, s, key, path_key(r->a, path, key));
			if (!f || ret[f - s->fields].val)
				continue;
		}
		g = &ret[f - s->fields];
		if (g->val && !g->guessed) {
			problem_error(r->p, path_key(r->a, path, key), "the same field is already set as `%.*s`",
			              STR_F(g->spelling));
			continue;
		}
		*g = (struct schema_given){ v, key, guessed };
	}
}

static void push_object(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	struct schema_given *given = arena_array(r->a, struct schema_given, s->n_fields + 1);

	if (!yyjson_is_obj(val)) {
		wrong_type(r, s, path, "an object", val);
		return;
	}
	collect(r, s, val, path, given);
	r->skipped = STR_NONE;
	lua_newtable(r->sb->L);
	remember_path(r, path);
	for (size_t i = 0; i < s->n_fields; i++) {
		const struct schema *f = &s->fields[i];

		if (given[i].val && !str_eq(given[i].spelling, f->name))
			remember_spelling(r, f->name, given[i].spelling);
		value_push_str(r->sb, f->name);
		if (given[i].val) {
			schema_push(r, f, given[i].val, path_key(r->a, path, given[i].spelling));
		} else {
			if (f->required) {
				problem_error(r->p, path_key(r->a, path, f->name), "is missing");
				r->broken = true;
				push_stand_in(r, f, path_key(r->a, path, f->name));
			} else {
				push_default(r, f);
			}
		}
		lua_rawset(r->sb->L, -3);
	}
}

void schema_push(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path)
{
	luaL_checkstack(r->sb->L, 12, NULL);
	switch (s->type) {
	case SCHEMA_OBJECT:
		push_object(r, s, val, path);
		return;
	case SCHEMA_ARRAY:
		push_array(r, s, val, path);
		return;
	case SCHEMA_MAP:
		push_map(r, s, val, path);
		return;
	case SCHEMA_STRING:
		push_text(r, s, val, path);
		return;
	case SCHEMA_INT:
		push_int(r, s, val, path);
		return;
	case SCHEMA_BOOL:
		if (yyjson_is_bool(val))
			lua_pushboolean(r->sb->L, yyjson_get_bool(val));
		else
			wrong_type(r, s, path, "true or false", val);
		return;
	case SCHEMA_ENUM:
		push_enum(r, s, val, path);
		return;
	case SCHEMA_TEMPLATE:
	case SCHEMA_ANY:
		push_template(r, s, val, path);
		return;
	case SCHEMA_TYPES:
		break;
	}
	BUG("schema type %d", (int)s->type);
}

bool schema_has_error(const struct problems *p, struct str path)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (p->list.v[i].severity == PROBLEM_ERROR && str_eq(p->list.v[i].path, path))
			return true;
	return false;
}
