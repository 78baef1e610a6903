/* What a kind's file may call. Everything here is deterministic: no addresses, no order of a hash, no
   time; and whatever takes long without executing Lua is charged for. */
#include "kind/hash.h"
#include "kind/use.h"
#include "kind/value.h"

#include <lualib.h>

static struct str arg_str(lua_State *L, int arg)
{
	struct str s;

	s.p = luaL_checklstring(L, arg, &s.n);
	sandbox_charge(L, s.n / 16);
	return s;
}

/* --- text --- */

/* lua's own lower() and upper() depend on the locale. */
static int change_case(lua_State *L, char from, char to)
{
	struct str s = arg_str(L, 1);
	luaL_Buffer b;
	char *p = luaL_buffinitsize(L, &b, s.n);

	for (size_t i = 0; i < s.n; i++)
		p[i] = s.p[i] >= from && s.p[i] <= from + 25 ? (char)(s.p[i] + to - from) : s.p[i];
	luaL_pushresultsize(&b, s.n);
	return 1;
}

static int lib_lower(lua_State *L)
{
	return change_case(L, 'A', 'a');
}

static int lib_upper(lua_State *L)
{
	return change_case(L, 'a', 'A');
}

static int lib_trim(lua_State *L)
{
	struct str s = str_trim(arg_str(L, 1));

	lua_pushlstring(L, s.n ? s.p : "", s.n);
	return 1;
}

static int lib_starts(lua_State *L)
{
	lua_pushboolean(L, str_has_prefix(arg_str(L, 1), arg_str(L, 2)));
	return 1;
}

static int lib_ends(lua_State *L)
{
	lua_pushboolean(L, str_has_suffix(arg_str(L, 1), arg_str(L, 2)));
	return 1;
}

/* Where PART first stands in S, or its length. */
static size_t find_part(struct str s, struct str part)
{
	const char *hit = s.n ? memmem(s.p, s.n, part.p, part.n) : NULL;

	return hit ? (size_t)(hit - s.p) : s.n;
}

static struct str arg_part(lua_State *L, int arg)
{
	struct str s = arg_str(L, arg);

	luaL_argcheck(L, s.n > 0, arg, "must not be empty");
	return s;
}

static int lib_split(lua_State *L)
{
	struct str s = arg_str(L, 1), sep = arg_part(L, 2);
	lua_Integer n = 0;

	lua_newtable(L);
	value_mark_list(sandbox_of(L));
	for (;;) {
		size_t at = find_part(s, sep);

		lua_pushlstring(L, s.n ? s.p : "", at);
		lua_rawseti(L, -2, ++n);
		sandbox_charge(L, 5);
		if (at == s.n)
			return 1;
		s = str_sub(s, at + sep.n, s.n);
	}
}

static int lib_replace(lua_State *L)
{
	struct str s = arg_str(L, 1), part = arg_part(L, 2), with = arg_str(L, 3);
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (;;) {
		size_t at = find_part(s, part);

		luaL_addlstring(&b, s.n ? s.p : "", at);
		if (at == s.n)
			break;
		luaL_addlstring(&b, with.p, with.n);
		s = str_sub(s, at + part.n, s.n);
	}
	luaL_pushresult(&b);
	return 1;
}

/* join(list, separator): also table.concat. */
static int lib_join(lua_State *L)
{
	struct str sep = STR_NONE;
	lua_Integer n;
	luaL_Buffer b;

	luaL_checktype(L, 1, LUA_TTABLE);
	if (!lua_isnoneornil(L, 2))
		sep = arg_str(L, 2);
	n = (lua_Integer)lua_rawlen(L, 1);
	sandbox_charge(L, (uint64_t)n);
	luaL_buffinit(L, &b);
	for (lua_Integer i = 1; i <= n; i++) {
		if (i > 1 && sep.n)
			luaL_addlstring(&b, sep.p, sep.n);
		if (lua_rawgeti(L, 1, i) != LUA_TSTRING && lua_type(L, -1) != LUA_TNUMBER)
			return luaL_error(L, "element %d of the list is a %s, not a string",
			                  (int)MIN(i, (lua_Integer)INT32_MAX), luaL_typename(L, -1));
		luaL_addvalue(&b);
	}
	luaL_pushresult(&b);
	return 1;
}

static int lib_sub(lua_State *L)
{
	struct str s = arg_str(L, 1);
	lua_Integer n = (lua_Integer)s.n, from = luaL_checkinteger(L, 2), to = luaL_optinteger(L, 3, -1);

	from = from < 0 ? MAX(n + from + 1, 1) : MAX(from, 1);
	to = to < 0 ? n + to + 1 : MIN(to, n);
	if (from > to)
		lua_pushliteral(L, "");
	else
		lua_pushlstring(L, s.p + from - 1, (size_t)(to - from + 1));
	return 1;
}

static int lib_len(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)arg_str(L, 1).n);
	return 1;
}

static int lib_byte(lua_State *L)
{
	struct str s = arg_str(L, 1);
	lua_Integer i = luaL_optinteger(L, 2, 1);

	i = i < 0 ? (lua_Integer)s.n + i + 1 : i;
	if (i < 1 || i > (lua_Integer)s.n)
		return 0;
	lua_pushinteger(L, (unsigned char)s.p[i - 1]);
	return 1;
}

static int lib_char(lua_State *L)
{
	char c[32];
	int n = lua_gettop(L);

	luaL_argcheck(L, n <= (int)sizeof(c), n, "too many characters");
	for (int i = 1; i <= n; i++) {
		lua_Integer v = luaL_checkinteger(L, i);

		luaL_argcheck(L, v >= 0 && v < 256, i, "no character");
		c[i - 1] = (char)v;
	}
	lua_pushlstring(L, c, (size_t)n);
	return 1;
}

/* Lua's own format, without what prints addresses. */
static int lib_format(lua_State *L)
{
	struct str fmt = arg_str(L, 1);
	int arg = 1;

	for (size_t i = 0; i + 1 < fmt.n; i++) {
		if (fmt.p[i] != '%')
			continue;
		i++;
		while (i + 1 < fmt.n && strchr("-+ #0.123456789", fmt.p[i]))
			i++;
		if (fmt.p[i] == '%')
			continue;
		arg++;
		luaL_argcheck(L, fmt.p[i] != 'p', 1, "%p is not offered");
		if (fmt.p[i] == 's' || fmt.p[i] == 'q')
			luaL_argcheck(L, lua_type(L, arg) <= LUA_TSTRING && lua_type(L, arg) != LUA_TLIGHTUSERDATA, arg,
			              "must be a string, number, boolean or nil");
	}
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

static int lib_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	if (lua_type(L, 1) <= LUA_TSTRING && lua_type(L, 1) != LUA_TLIGHTUSERDATA)
		luaL_tolstring(L, 1, NULL);
	else
		lua_pushstring(L, luaL_typename(L, 1));
	return 1;
}

/* Lua's own. A long text takes long to read. */
static int lib_tonumber(lua_State *L)
{
	if (lua_type(L, 1) == LUA_TSTRING)
		sandbox_charge(L, lua_rawlen(L, 1) / 4);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

static int lib_json(lua_State *L)
{
	struct sandbox *sb = sandbox_of(L);
	struct err e = ERR_INIT;
	yyjson_mut_doc *doc;
	yyjson_mut_val *val;
	bool running = sb->running;

	luaL_checkany(L, 1);
	/* An error raised by the allocator would jump over what is held here; the result is bounded. */
	sb->running = false;
	doc = yyjson_mut_doc_new(NULL);
	buf_clear(&sb->scratch);
	val = value_json(sb, 1, doc, "json", &e);
	if (val)
		json_write(val, &sb->scratch);
	else
		lua_pushstring(L, err_msg(&e));
	yyjson_mut_doc_free(doc);
	err_release(&e);
	sb->running = running;
	if (!val)
		return luaL_error(L, "%s", lua_tostring(L, -1));
	sandbox_charge(L, sb->scratch.n / 4);
	lua_pushlstring(L, buf_str(&sb->scratch).p, sb->scratch.n);
	return 1;
}

static int lib_hash(lua_State *L)
{
	struct str s = arg_str(L, 1);
	lua_Integer n = luaL_checkinteger(L, 2);
	char text[HASH_MAX];

	luaL_argcheck(L, n >= 1 && n <= HASH_MAX, 2, "from 1 to 32 characters");
	hash_text(s, text, (size_t)n);
	lua_pushlstring(L, text, (size_t)n);
	return 1;
}

/* --- tables --- */

static int lib_list(lua_State *L)
{
	if (lua_isnone(L, 1))
		lua_newtable(L);
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	value_mark_list(sandbox_of(L));
	return 1;
}

struct key {
	bool text;
	double number;
	struct str s;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->text != y->text)
		return x->text - y->text;
	if (x->text)
		return str_cmp(x->s, y->s);
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Pushes a list of the keys of table 1: numbers first, then texts, each in order. */
static void push_sorted_keys(lua_State *L)
{
	size_t n = 0, i = 0, bytes = 0;
	struct key *keys;

	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1), n++)
		bytes += lua_type(L, -2) == LUA_TSTRING ? lua_rawlen(L, -2) : 0;
	sandbox_charge(L, n * 20 + bytes);
	keys = lua_newuserdatauv(L, (n + 1) * sizeof(*keys), 0);
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1), i++) {
		struct key *k = &keys[i];

		*k = (struct key){ .text = lua_type(L, -2) == LUA_TSTRING };
		if (k->text)
			k->s.p = lua_tolstring(L, -2, &k->s.n);
		else if (lua_type(L, -2) == LUA_TNUMBER)
			k->number = lua_tonumber(L, -2);
		else
			luaL_error(L, "pairs: a key is a %s", luaL_typename(L, -2));
	}
	if (n)
		qsort(keys, n, sizeof(*keys), by_key);
	lua_createtable(L, (int)MIN(n, (size_t)INT32_MAX), 0);
	for (i = 0; i < n; i++) {
		if (keys[i].text)
			lua_pushlstring(L, keys[i].s.p, keys[i].s.n);
		else if (keys[i].number >= -9e15 && keys[i].number <= 9e15 &&
		         keys[i].number == (double)(lua_Integer)keys[i].number)
			lua_pushinteger(L, (lua_Integer)keys[i].number);
		else
			lua_pushnumber(L, keys[i].number);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_remove(L, -2);
}

/* upvalues: the table, its keys, how many are done */
static int pairs_next(lua_State *L)
{
	lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));

	for (;;) {
		lua_pushinteger(L, ++i);
		lua_copy(L, -1, lua_upvalueindex(3));
		lua_pop(L, 1);
		if (lua_rawgeti(L, lua_upvalueindex(2), i) == LUA_TNIL)
			return 1;
		lua_pushvalue(L, -1);
		/* Gone since the loop began: go on with the next. */
		if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
			return 2;
		lua_pop(L, 2);
	}
}

static int lib_pairs(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	push_sorted_keys(L);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, pairs_next, 3);
	return 1;
}

static int lib_insert(lua_State *L)
{
	lua_Integer n, at;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1) + 1;
	if (lua_gettop(L) == 2) {
		lua_rawseti(L, 1, n);
		return 0;
	}
	luaL_argcheck(L, lua_gettop(L) == 3, 3, "one value");
	at = luaL_checkinteger(L, 2);
	luaL_argcheck(L, at >= 1 && at <= n, 2, "outside of the list");
	sandbox_charge(L, (uint64_t)(n - at));
	for (lua_Integer i = n; i > at; i--) {
		lua_rawgeti(L, 1, i - 1);
		lua_rawseti(L, 1, i);
	}
	lua_rawseti(L, 1, at);
	return 0;
}

static int lib_remove(lua_State *L)
{
	lua_Integer n, at;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1);
	at = luaL_optinteger(L, 2, n);
	if (n == 0)
		return 0;
	luaL_argcheck(L, at >= 1 && at <= n, 2, "outside of the list");
	sandbox_charge(L, (uint64_t)(n - at));
	lua_rawgeti(L, 1, at);
	for (lua_Integer i = at; i < n; i++) {
		lua_rawgeti(L, 1, i + 1);
		lua_rawseti(L, 1, i);
	}
	lua_pushnil(L);
	lua_rawseti(L, 1, n);
	return 1;
}

static int lib_unpack(lua_State *L)
{
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1);
	luaL_argcheck(L, n <= 250, 1, "more than 250 values");
	luaL_checkstack(L, (int)n, NULL);
	for (lua_Integer i = 1; i <= n; i++)
		lua_rawgeti(L, 1, i);
	return (int)n;
}

/* Is the value on top smaller than the one below? Pops both. */
static bool less(lua_State *L, int fn)
{
	bool yes;

	if (fn) {
		lua_pushvalue(L, fn);
		lua_insert(L, -3);
		lua_insert(L, -2);
		lua_call(L, 2, 1);
		yes = lua_toboolean(L, -1);
		lua_pop(L, 1);
		return yes;
	}
	yes = sandbox_less(L, -1, -2);
	lua_pop(L, 2);
	return yes;
}

/* Merges the runs [from, mid) and [mid, to) of table SRC into DST. */
static void merge(lua_State *L, int src, int dst, lua_Integer from, lua_Integer mid, lua_Integer to, int fn)
{
	lua_Integer a = from, b = mid;

	for (lua_Integer i = from; i < to; i++) {
		bool second = a >= mid;

		if (a < mid && b < to) {
			lua_rawgeti(L, src, a);
			lua_rawgeti(L, src, b);
			second = less(L, fn);
		}
		lua_rawgeti(L, src, second ? b++ : a++);
		lua_rawseti(L, dst, i);
	}
}

/* A stable merge sort: Lua's own chooses pivots by the clock. */
static int lib_sort(lua_State *L)
{
	lua_Integer n;
	int src = 1, dst = 3, fn = 0;

	luaL_checktype(L, 1, LUA_TTABLE);
	if (!lua_isnoneornil(L, 2)) {
		luaL_checktype(L, 2, LUA_TFUNCTION);
		fn = 2;
	}
	lua_settop(L, 2);
	n = (lua_Integer)lua_rawlen(L, 1);
	lua_createtable(L, (int)MIN(n, (lua_Integer)INT32_MAX), 0);
	for (lua_Integer width = 1; width < n; width *= 2) {
		int other = src;

		sandbox_charge(L, (uint64_t)n * 5);
		for (lua_Integer i = 1; i <= n; i += 2 * width)
			merge(L, src, dst, i, MIN(i + width, n + 1), MIN(i + 2 * width, n + 1), fn);
		src = dst;
		dst = other;
	}
	for (lua_Integer i = 1; src != 1 && i <= n; i++) {
		lua_rawgeti(L, src, i);
		lua_rawseti(L, 1, i);
	}
	return 0;
}

/* --- putting it together --- */

static const luaL_Reg plain[] = {
	{ "tostring", lib_tostring }, { "pairs", lib_pairs }, { "split", lib_split }, { "join", lib_join },
	{ "replace", lib_replace },   { "lower", lib_lower }, { "upper", lib_upper }, { "trim", lib_trim },
	{ "starts", lib_starts },     { "ends", lib_ends },   { "json", lib_json },   { "hash", lib_hash },
	{ "list", lib_list },         { "use", use_lib },     { NULL, NULL },
};

static const luaL_Reg strings[] = {
	{ "sub", lib_sub },     { "len", lib_len },     { "byte", lib_byte }, { "char", lib_char },
	{ "lower", lib_lower }, { "upper", lib_upper }, { NULL, NULL },
};

static const luaL_Reg tables[] = {
	{ "insert", lib_insert }, { "remove", lib_remove }, { "concat", lib_join },
	{ "sort", lib_sort },     { "unpack", lib_unpack }, { NULL, NULL },
};

/* Taken from Lua's own library as they are. */
static const char *const base_kept[] = { "type", "ipairs", "select", "error", "assert", NULL };
static const char *const math_kept[] = { "floor",     "ceil",       "min",        "max", "abs",
	                                 "tointeger", "maxinteger", "mininteger", NULL };

/* Copies the named fields of the table at the top into the table below it; pops the former. */
static void keep_fields(lua_State *L, const char *const *names)
{
	for (; *names; names++) {
		lua_getfield(L, -1, *names);
		lua_setfield(L, -3, *names);
	}
	lua_pop(L, 1);
}

static void push_string_lib(lua_State *L)
{
	lua_newtable(L);
	luaL_setfuncs(L, strings, 0);
	lua_pushcfunction(L, luaopen_string);
	lua_call(L, 0, 1);
	lua_getfield(L, -1, "format");
	lua_remove(L, -2);
	lua_pushcclosure(L, lib_format, 1);
	lua_setfield(L, -2, "format");
}

void sandbox_set_string_methods(struct sandbox *sb)
{
	lua_State *L = sb->L;

	lua_pushliteral(L, "");
	lua_newtable(L);
	push_string_lib(L);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, -2);
	lua_pop(L, 1);
}

/* The nearest of the names in the table at IDX, for a message. */
static struct str nearest(lua_State *L, int idx, struct str name)
{
	struct str best = STR_NONE;
	unsigned least = 3;

	for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
		struct str key;
		unsigned d;

		key.p = lua_tolstring(L, -2, &key.n);
		d = str_distance(name, key, 2);
		if (d < least || (d == least && d < 3 && str_cmp(key, best) < 0)) {
			least = d;
			best = key;
		}
	}
	return best;
}

static int unknown_global(lua_State *L)
{
	struct str name = STR_NONE, hint;

	if (lua_type(L, 2) == LUA_TSTRING)
		name.p = lua_tolstring(L, 2, &name.n);
	hint = nearest(L, 1, name);
	if (hint.n)
		return luaL_error(L, "there is no `%s`, did you mean `%s`?", name.p ? name.p : "?", hint.p);
	return luaL_error(L, "there is no `%s`", name.p ? name.p : "?");
}

static int new_global(lua_State *L)
{
	const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";

	return luaL_error(L, "`%s` would be a global; write `local %s`", name, name);
}

void sandbox_push_globals(struct sandbox *sb)
{
	lua_State *L = sb->L;

	/* Every file gets tables of its own: what one changes, no other sees. */
	luaL_checkstack(L, LUA_MINSTACK, NULL);
	lua_newtable(L);

	/* luaopen_base fills the state's globals; they are emptied again below. */
	lua_pushcfunction(L, luaopen_base);
	lua_call(L, 0, 1);
	lua_getfield(L, -1, "tonumber");
	lua_pushcclosure(L, lib_tonumber, 1);
	lua_setfield(L, -3, "tonumber");
	keep_fields(L, base_kept);
	lua_newtable(L);
	lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	luaL_setfuncs(L, plain, 0);
	sandbox_add_reports(L);

	push_string_lib(L);
	lua_setfield(L, -2, "string");
	/* luaopen_string has put Lua's own methods on strings. */
	sandbox_set_string_methods(sb);
	lua_newtable(L);
	luaL_setfuncs(L, tables, 0);
	lua_setfield(L, -2, "table");
	lua_newtable(L);
	lua_pushcfunction(L, luaopen_math);
	lua_call(L, 0, 1);
	keep_fields(L, math_kept);
	lua_setfield(L, -2, "math");

	lua_newtable(L);
	lua_pushcfunction(L, unknown_global);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, new_global);
	lua_setfield(L, -2, "__newindex");
	lua_setmetatable(L, -2);
}
