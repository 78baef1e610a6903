/* How read() tells what is wrong: invalid(object, field, message) names the field as the user spelt
   it, and nothing is raised, so that all problems are found at once. */
#include "kind/path.h"
#include "kind/schema.h"

/* How the user spelt field ARG of object OBJ. */
static struct str spelling_of(lua_State *L, int obj, int arg)
{
	struct str s = STR_NONE;

	lua_rawgeti(L, LUA_REGISTRYINDEX, sandbox_of(L)->spellings);
	lua_pushvalue(L, obj);
	if (lua_rawget(L, -2) == LUA_TTABLE) {
		lua_pushvalue(L, arg);
		lua_rawget(L, -2);
		s.p = lua_tolstring(L, -1, &s.n);
		lua_pop(L, 1);
	}
	lua_pop(L, 2);
	if (!s.p)
		s.p = lua_tolstring(L, arg, &s.n);
	return s;
}

/* The path of object ARG, and of its field ARG + 1 unless that is nil. The slice lives in A. */
static struct str path_of_field(lua_State *L, int arg, struct arena *a)
{
	struct str path = STR_NONE;

	lua_rawgeti(L, LUA_REGISTRYINDEX, sandbox_of(L)->paths);
	lua_pushvalue(L, arg);
	lua_rawget(L, -2);
	path.p = lua_tolstring(L, -1, &path.n);
	path = arena_str(a, path);
	lua_pop(L, 2);
	if (lua_isnoneornil(L, arg + 1))
		return path;
	if (lua_isinteger(L, arg + 1))
		return path_index(a, path, (size_t)MAX(lua_tointeger(L, arg + 1) - 1, 0));
	return path_key(a, path, spelling_of(L, arg, arg + 1));
}

static void check_object(lua_State *L, int arg)
{
	struct sandbox *sb = sandbox_of(L);
	bool known;

	luaL_checktype(L, arg, LUA_TTABLE);
	lua_rawgeti(L, LUA_REGISTRYINDEX, sb->paths);
	lua_pushvalue(L, arg);
	known = lua_rawget(L, -2) == LUA_TSTRING;
	lua_pop(L, 2);
	luaL_argcheck(L, known, arg, "not an object of the manifest");
	if (!lua_isnoneornil(L, arg + 1) && !lua_isinteger(L, arg + 1))
		luaL_checktype(L, arg + 1, LUA_TSTRING);
}

static int add_problem(lua_State *L, enum severity severity)
{
	struct sandbox *sb = sandbox_of(L);
	const char *msg;
	struct str path;

	if (!sb->problems)
		return luaL_error(L, "problems can only be reported by `read`");
	check_object(L, 1);
	msg = luaL_checkstring(L, 3);
	/* Past the limit nothing is kept: do not build paths for it either. */
	sandbox_charge(L, 1000);
	sb->running = false;
	path = path_of_field(L, 1, sb->problems->arena);
	sb->running = true;
	/* What is known to be wrong was replaced by something that fits: do not complain of that. */
	if (!schema_has_error(sb->problems, path))
		problems_add(sb->problems, severity, path, "%.500s", msg);
	return 0;
}

static int lib_invalid(lua_State *L)
{
	return add_problem(L, PROBLEM_ERROR);
}

static int lib_warn(lua_State *L)
{
	return add_problem(L, PROBLEM_WARNING);
}

static int lib_at(lua_State *L)
{
	struct sandbox *sb = sandbox_of(L);
	struct arena a = ARENA_INIT;
	struct str path;

	check_object(L, 1);
	sb->running = false;
	path = path_of_field(L, 1, &a);
	lua_pushlstring(L, path.p, path.n);
	sb->running = true;
	arena_release(&a);
	return 1;
}

static int lib_spelt(lua_State *L)
{
	struct str s;

	check_object(L, 1);
	luaL_checktype(L, 2, LUA_TSTRING);
	s = spelling_of(L, 1, 2);
	lua_pushlstring(L, s.p, s.n);
	return 1;
}

/* spec.restartPolicy of a template, Kubernetes' default if it says none. */
static int lib_restart_policy(lua_State *L)
{
	struct sandbox *sb = sandbox_of(L);
	const struct opaque *o = value_opaque(sb, 1);
	struct str s = STR_NONE;

	if (o) {
		s = json_str(json_at(o->val, "spec", "restartPolicy", NULL));
	} else if (lua_istable(L, 1)) {
		lua_pushliteral(L, "spec");
		lua_rawget(L, 1);
		if (lua_istable(L, -1))
			s = value_field_str(L, -1, "restartPolicy");
	}
	if (s.n)
		lua_pushlstring(L, s.p, s.n);
	else
		lua_pushliteral(L, "Always");
	return 1;
}

void sandbox_add_reports(lua_State *L)
{
	static const luaL_Reg fns[] = {
		{ "invalid", lib_invalid },
		{ "warn", lib_warn },
		{ "at", lib_at },
		{ "spelt", lib_spelt },
		{ "restart_policy", lib_restart_policy },
		{ NULL, NULL },
	};

	luaL_setfuncs(L, fns, 0);
}
