#include "kind/use.h"

#include "kind/builtin.h"
#include "kind/sandbox.h"

static const struct builtin *find_lib(struct str name)
{
	for (size_t i = 0; i < n_builtin_libs; i++)
		if (str_eq(name, str_c(builtin_libs[i].name)))
			return &builtin_libs[i];
	return NULL;
}

static int no_such(lua_State *L, const char *name)
{
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (size_t i = 0; i < n_builtin_libs; i++) {
		luaL_addstring(&b, i ? ", " : "");
		luaL_addstring(&b, builtin_libs[i].name);
	}
	luaL_pushresult(&b);
	return luaL_error(L, "there is no \"%s\" to use; available: %s", name, lua_tostring(L, -1));
}

int use_lib(lua_State *L)
{
	size_t n;
	const char *name = luaL_checklstring(L, 1, &n);
	const struct builtin *lib = find_lib((struct str){ name, n });

	if (!lib)
		return no_such(L, name);
	lua_pushfstring(L, "@%s", lib->file);
	if (luaL_loadbufferx(L, (const char *)lib->text, lib->size, lua_tostring(L, -1), "t") != LUA_OK)
		return lua_error(L);
	sandbox_push_globals(sandbox_of(L));
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, 1);
	return 1;
}
