#include "kind/table.h"

#include "job/decode.h"

int table_get(lua_State *L, const char *name)
{
	lua_pushstring(L, name);
	return lua_rawget(L, -2);
}

bool table_bool(lua_State *L, const char *name)
{
	bool yes = table_get(L, name) == LUA_TBOOLEAN && lua_toboolean(L, -1);

	lua_pop(L, 1);
	return yes;
}

bool table_strs(lua_State *L, const char *name, struct arena *a, const struct str **ret, size_t *n, struct str where,
                struct err *e)
{
	VEC(struct str) list = { 0 };
	bool ok = true;
	size_t keys = 0;

	*ret = NULL;
	*n = 0;
	if (table_get(L, name) == LUA_TTABLE) {
		for (lua_Integer i = 1; ok && lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
			ok = lua_type(L, -1) == LUA_TSTRING;
			if (ok)
				*vec_push(a, &list) =
					arena_str(a, (struct str){ lua_tostring(L, -1), lua_rawlen(L, -1) });
			lua_pop(L, 1);
		}
		if (ok)
			lua_pop(L, 1);
		for (lua_pushnil(L); ok && lua_next(L, -2); lua_pop(L, 1))
			keys++;
		if (!ok)
			lua_pop(L, 1);
		ok = ok && keys == list.n;
	}
	lua_pop(L, 1);
	*ret = list.v;
	*n = list.n;
	return ok ||
	       err_set(e, ERR_LUA, "%.*s%s`%s` must be a list of strings", STR_F(where), where.n ? ": " : "", name);
}

static struct str squeeze(struct str s, char *out, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n && n < cap; i++)
		if (s.p[i] != '_' && s.p[i] != '-')
			out[n++] = s.p[i];
	return (struct str){ out, n };
}

struct str table_nearest(struct str s, const struct str *candidates, size_t n)
{
	char a[64], b[64];

	for (size_t i = 0; s.n && i < n; i++)
		if (str_eq_nocase(squeeze(s, a, sizeof(a)), squeeze(candidates[i], b, sizeof(b))))
			return candidates[i];
	return text_nearest(s, candidates, n);
}

static const char *type_word(int type)
{
	static const char *const words[] = {
		[LUA_TBOOLEAN] = "true or false", [LUA_TNUMBER] = "a number",     [LUA_TSTRING] = "a text",
		[LUA_TTABLE] = "a table",         [LUA_TFUNCTION] = "a function",
	};

	return type >= 0 && (size_t)type < ARRAY_LEN(words) && words[type] ? words[type] : "something else";
}

static bool unknown_key(struct str key, const struct table_key *keys, size_t n, struct str where, struct err *e)
{
	struct str names[64], hint;

	ASSERT(n <= ARRAY_LEN(names));
	for (size_t i = 0; i < n; i++)
		names[i] = str_c(keys[i].name);
	hint = table_nearest(key, names, n);
	if (hint.n)
		return err_set(e, ERR_LUA, "%.*s%sunknown field `%.*s`, did you mean `%.*s`?", STR_F(where),
		               where.n ? ": " : "", STR_F(key), STR_F(hint));
	return err_set(e, ERR_LUA, "%.*s%sunknown field `%.*s`", STR_F(where), where.n ? ": " : "", STR_F(key));
}

static bool check_key(lua_State *L, const struct table_key *keys, size_t n, size_t list, struct str where,
                      struct err *e)
{
	struct str key;

	if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && (size_t)lua_tointeger(L, -2) <= list)
		return true;
	if (lua_type(L, -2) != LUA_TSTRING)
		return err_set(e, ERR_LUA, "%.*s%sa key that is not a name", STR_F(where), where.n ? ": " : "");
	key.p = lua_tolstring(L, -2, &key.n);
	for (size_t i = 0; i < n; i++) {
		if (!str_eqc(key, keys[i].name))
			continue;
		if (keys[i].type == TABLE_ANY || keys[i].type == lua_type(L, -1))
			return true;
		return err_set(e, ERR_LUA, "%.*s%s`%s` must be %s, not %s", STR_F(where), where.n ? ": " : "",
		               keys[i].name, type_word(keys[i].type), type_word(lua_type(L, -1)));
	}
	return unknown_key(key, keys, n, where, e);
}

bool table_check(lua_State *L, const struct table_key *keys, size_t n, size_t list, struct str where, struct err *e)
{
	struct err bad = ERR_INIT;
	struct str first = STR_NONE; /* by name, so that two mistakes give the same message each time */

	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		struct str key = STR_NONE;

		if (check_key(L, keys, n, list, where, &bad))
			continue;
		if (lua_type(L, -2) == LUA_TSTRING)
			key.p = lua_tolstring(L, -2, &key.n);
		if (!first.p || str_cmp(key, first) < 0) {
			first = key.p ? key : STR("");
			err_set(e, ERR_LUA, "%s", err_msg(&bad));
		}
	}
	err_release(&bad);
	if (first.p)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool there = table_get(L, keys[i].name) != LUA_TNIL;

		lua_pop(L, 1);
		if (keys[i].required && !there)
			return err_set(e, ERR_LUA, "%.*s%smissing field `%s`", STR_F(where), where.n ? ": " : "",
			               keys[i].name);
	}
	return true;
}
