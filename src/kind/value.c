#include "kind/value.h"

#include <math.h>

static const char opaque_name[] = "dl-operator.template";

void value_push_opaque(struct sandbox *sb, yyjson_val *val)
{
	struct opaque *o = lua_newuserdatauv(sb->L, sizeof(*o), 0);

	*o = (struct opaque){ sb->serial, val };
	luaL_newmetatable(sb->L, opaque_name);
	lua_setmetatable(sb->L, -2);
}

const struct opaque *value_opaque(struct sandbox *sb, int idx)
{
	struct opaque *o = luaL_testudata(sb->L, idx, opaque_name);

	return o && o->serial == sb->serial ? o : NULL;
}

void value_push_str(struct sandbox *sb, struct str s)
{
	lua_pushlstring(sb->L, s.n ? s.p : "", s.n);
}

void value_mark_list(struct sandbox *sb)
{
	lua_rawgeti(sb->L, LUA_REGISTRYINDEX, sb->lists);
	lua_setmetatable(sb->L, -2);
}

static bool marked_list(struct sandbox *sb, int idx)
{
	bool same;

	if (!lua_getmetatable(sb->L, idx))
		return false;
	lua_rawgeti(sb->L, LUA_REGISTRYINDEX, sb->lists);
	same = lua_rawequal(sb->L, -1, -2);
	lua_pop(sb->L, 2);
	return same;
}

static void push_object(struct sandbox *sb, yyjson_val *val)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(val);
	yyjson_val *key;

	lua_createtable(sb->L, 0, (int)MIN(yyjson_obj_size(val), (size_t)1000));
	while ((key = yyjson_obj_iter_next(&it))) {
		yyjson_val *v = yyjson_obj_iter_get_val(key);

		if (yyjson_is_null(v))
			continue;
		value_push_str(sb, json_str(key));
		value_push(sb, v);
		lua_rawset(sb->L, -3);
	}
}

static void push_list(struct sandbox *sb, yyjson_val *val)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(val);
	yyjson_val *v;
	lua_Integer n = 0;

	lua_createtable(sb->L, (int)MIN(yyjson_arr_size(val), (size_t)1000), 0);
	value_mark_list(sb);
	while ((v = yyjson_arr_iter_next(&it))) {
		if (yyjson_is_null(v))
			continue;
		value_push(sb, v);
		lua_rawseti(sb->L, -2, ++n);
	}
}

void value_push(struct sandbox *sb, yyjson_val *val)
{
	/* Depth is bounded: whoever parsed the tree did so within JSON_MAX_DEPTH. */
	luaL_checkstack(sb->L, 8, "nested too deep");
	if (yyjson_is_obj(val))
		push_object(sb, val);
	else if (yyjson_is_arr(val))
		push_list(sb, val);
	else if (yyjson_is_str(val))
		value_push_str(sb, json_str(val));
	else if (yyjson_is_bool(val))
		lua_pushboolean(sb->L, yyjson_get_bool(val));
	else if (yyjson_is_sint(val))
		lua_pushinteger(sb->L, yyjson_get_sint(val));
	else if (yyjson_is_uint(val) && yyjson_get_uint(val) <= INT64_MAX)
		lua_pushinteger(sb->L, (lua_Integer)yyjson_get_uint(val));
	else if (yyjson_is_num(val))
		lua_pushnumber(sb->L, yyjson_get_num(val));
	else
		lua_pushnil(sb->L);
}

struct str value_field_str(lua_State *L, int idx, const char *key)
{
	struct str s = STR_NONE;

	idx = lua_absindex(L, idx);
	lua_pushstring(L, key);
	lua_rawget(L, idx);
	if (lua_type(L, -1) == LUA_TSTRING)
		s.p = lua_tolstring(L, -1, &s.n);
	lua_pop(L, 1);
	return s;
}

/* One conversion: where it is, and how much is left. */
struct value_walk {
	struct sandbox *sb;
	yyjson_mut_doc *doc;
	struct err *e;
	const char *what;
	size_t nodes, bytes;
	int depth;
	struct value_step {
		struct str key; /* NULL: a list's element */
		lua_Integer index;
	} path[VALUE_MAX_DEPTH + 1];
};

static yyjson_mut_val *refuse(struct value_walk *w, enum err_code code, const char *reason)
{
	struct buf b = BUF_INIT(4096);

	for (int i = 0; i < w->depth; i++) {
		const struct value_step *s = &w->path[i];

		if (s->key.p)
			buf_printf(&b, ".%.*s", (int)MIN(s->key.n, (size_t)100), s->key.p);
		else
			buf_printf(&b, "[%lld]", (long long)s->index);
	}
	err_set(w->e, code, "`%s`%s%.*s: %s", w->what, b.n ? " returned " : "", STR_F(buf_str(&b)), reason);
	buf_release(&b);
	return NULL;
}

static yyjson_mut_val *convert(struct value_walk *w, int idx);

static bool down(struct value_walk *w, struct str key, lua_Integer index)
{
	if (w->depth >= VALUE_MAX_DEPTH) {
		refuse(w, ERR_LUA, "nested too deep, or a table that holds itself");
		return false;
	}
	w->path[w->depth++] = (struct value_step){ key, index };
	return true;
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The keys of the table at IDX, sorted, so that the same table always gives the same bytes. */
static yyjson_mut_val *convert_object(struct value_walk *w, int idx)
{
	lua_State *L = w->sb->L;
	yyjson_mut_val *obj = yyjson_mut_obj(w->doc);
	struct arena a = ARENA_INIT;
	VEC(struct str) keys = { 0 };

	lua_pushnil(L);
	while (lua_next(L, idx)) {
		struct str key = STR_NONE;

		lua_pop(L, 1);
		if (lua_type(L, -1) != LUA_TSTRING) {
			lua_pop(L, 1);
			arena_release(&a);
			return refuse(w, ERR_LUA, "keys that are neither 1, 2, 3 … nor all strings");
		}
		key.p = lua_tolstring(L, -1, &key.n);
		if (!str_is_utf8(key)) {
			lua_pop(L, 1);
			arena_release(&a);
			return refuse(w, ERR_LUA, "a key that is not UTF-8");
		}
		*vec_push(&a, &keys) = key;
	}
	if (keys.n)
		qsort(keys.v, keys.n, sizeof(*keys.v), by_text);
	for (size_t i = 0; i < keys.n; i++) {
		yyjson_mut_val *val = NULL;

		value_push_str(w->sb, keys.v[i]);
		lua_rawget(L, idx);
		if (down(w, keys.v[i], 0)) {
			val = convert(w, lua_gettop(L));
			w->depth--;
		}
		lua_pop(L, 1);
		if (!val) {
			arena_release(&a);
			return NULL;
		}
		w->bytes += keys.v[i].n;
		json_mut_put(w->doc, obj, keys.v[i], val);
	}
	arena_release(&a);
	return obj;
}

static yyjson_mut_val *convert_list(struct value_walk *w, int idx, lua_Integer n)
{
	lua_State *L = w->sb->L;
	yyjson_mut_val *arr = yyjson_mut_arr(w->doc);
	lua_Integer seen = 0;

	for (lua_Integer i = 1; i <= n; i++) {
		yyjson_mut_val *val = NULL;

		if (lua_rawgeti(L, idx, i) == LUA_TNIL) {
			lua_pop(L, 1);
			return refuse(w, ERR_LUA, "a list with holes or with keys of other kinds");
		}
		if (down(w, STR_NONE, i)) {
			val = convert(w, lua_gettop(L));
			w->depth--;
		}
		lua_pop(L, 1);
		if (!val)
			return NULL;
		yyjson_mut_arr_append(arr, val);
	}
	lua_pushnil(L);
	while (lua_next(L, idx)) {
		lua_pop(L, 1);
		if (++seen > n) {
			lua_pop(L, 1);
			return refuse(w, ERR_LUA, "a list with holes or with keys of other kinds");
		}
	}
	return arr;
}

static yyjson_mut_val *convert_table(struct value_walk *w, int idx)
{
	lua_Integer n = (lua_Integer)lua_rawlen(w->sb->L, idx);

	if (n > 0 || marked_list(w->sb, idx))
		return convert_list(w, idx, n);
	return convert_object(w, idx);
}

static yyjson_mut_val *convert_number(struct value_walk *w, int idx)
{
	double d;

	if (lua_isinteger(w->sb->L, idx))
		return yyjson_mut_sint(w->doc, lua_tointeger(w->sb->L, idx));
	d = lua_tonumber(w->sb->L, idx);
	if (!isfinite(d))
		return refuse(w, ERR_LUA, "a number that is not finite");
	/* 4 / 2 is 2.0 in Lua, and 2 for everybody else. */
	if (d == floor(d) && fabs(d) < 9e15)
		return yyjson_mut_sint(w->doc, (int64_t)d);
	return yyjson_mut_real(w->doc, d);
}

static yyjson_mut_val *convert(struct value_walk *w, int idx)
{
	lua_State *L = w->sb->L;
	const struct opaque *o;
	struct str s;

	if (!lua_checkstack(L, 8))
		return refuse(w, ERR_LUA, "nested too deep");
	if (++w->nodes > VALUE_MAX_NODES || w->bytes > VALUE_MAX_BYTES)
		return refuse(w, ERR_LUA, "too much");
	switch (lua_type(L, idx)) {
	case LUA_TSTRING:
		s.p = lua_tolstring(L, idx, &s.n);
		w->bytes += s.n;
		return str_is_utf8(s) ? json_mut_str(w->doc, s) : refuse(w, ERR_LUA, "a string that is not UTF-8");
	case LUA_TNUMBER:
		return convert_number(w, idx);
	case LUA_TBOOLEAN:
		return yyjson_mut_bool(w->doc, lua_toboolean(L, idx));
	case LUA_TNIL:
		return yyjson_mut_null(w->doc);
	case LUA_TTABLE:
		return convert_table(w, idx);
	case LUA_TUSERDATA:
		o = value_opaque(w->sb, idx);
		if (!o)
			return refuse(w, ERR_LUA, "a template of another job");
		return yyjson_val_mut_copy(w->doc, o->val);
	default:
		return refuse(w, ERR_LUA, "a function is not a value");
	}
}

yyjson_mut_val *value_json(struct sandbox *sb, int idx, yyjson_mut_doc *doc, const char *what, struct err *e)
{
	struct value_walk *w = xcalloc(1, sizeof(*w));
	yyjson_mut_val *val;

	w->sb = sb;
	w->doc = doc;
	w->e = e;
	w->what = what;
	val = convert(w, lua_absindex(sb->L, idx));
	free(w);
	return val;
}
