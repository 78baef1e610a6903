/* A manifest from what people say on a command line: the kind knows how its spec is written. */
#include "kind/internal.h"

bool kind_writes(const struct kind *kind)
{
	return kind_file_of(kind)->fns[FN_WRITE] != LUA_NOREF;
}

static void push_roles(struct sandbox *sb, const struct kind_role *roles, size_t n)
{
	lua_createtable(sb->L, (int)n, 0);
	value_mark_list(sb);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(sb->L, 0, 2);
		value_push_str(sb, roles[i].name);
		lua_setfield(sb->L, -2, "name");
		lua_pushinteger(sb->L, roles[i].count);
		lua_setfield(sb->L, -2, "count");
		lua_rawseti(sb->L, -2, (lua_Integer)i + 1);
	}
}

yyjson_mut_val *kind_write(struct kinds *k, const struct kind *kind, const struct kind_role *roles, size_t n,
                           yyjson_val *template, yyjson_mut_doc *doc, struct err *e)
{
	const struct kind_file *f = kind_file_of(kind);
	lua_State *L = k->sb.L;
	yyjson_mut_val *spec = NULL;

	ASSERT(lua_gettop(L) == 0);
	if (!kind_writes(kind)) {
		err_set(e, ERR_INVALID, "%.*s has no `write` function: write the manifest yourself", STR_F(kind->id));
		return NULL;
	}
	luaL_checkstack(L, LUA_MINSTACK, NULL);
	lua_rawgeti(L, LUA_REGISTRYINDEX, f->fns[FN_WRITE]);
	push_roles(&k->sb, roles, n);
	value_push(&k->sb, template);
	if (!sandbox_call(&k->sb, 2, 1, kind->file, kind_fn_names[FN_WRITE], e))
		return NULL;
	if (lua_type(L, -1) != LUA_TTABLE)
		err_set(e, ERR_LUA, "`write` must return the spec, it returned a %s", luaL_typename(L, -1));
	else
		spec = value_json(&k->sb, -1, doc, "write", e);
	if (!spec)
		kind_blame_word(k, f, FN_WRITE, STR_NONE, e);
	lua_pop(L, 1);
	return spec;
}

/* The last name in PATH, which write() has put there. */
static struct str last_name(struct str path)
{
	bool quoted = str_has_suffix(path, STR("\"]"));
	size_t end = quoted ? path.n - 2 : path.n, start = end;

	while (start && !strchr(quoted ? "\"" : ".[", path.p[start - 1]))
		start--;
	return str_sub(path, start, end - start);
}

void kind_blame_write(struct kinds *k, const struct kind *kind, const struct problem *p, struct err *e)
{
	bool missing = str_has_prefix(p->message, STR("is missing"));

	err_set(e, ERR_LUA, "write: %.*s: %.*s", STR_F(p->path), STR_F(p->message));
	kind_blame_word(k, kind_file_of(kind), FN_WRITE, missing ? STR_NONE : last_name(p->path), e);
}
