/* What a kind's functions say of pods and services, taken out of their tables. */
#include "kind/companion.h"
#include "kind/table.h"

#include <stdarg.h>

enum { ENV_DEPTH = 4, ENV_MAX = 10000, PARTS_MAX = 1000 };

bool kind_refuse(const struct kind_job *kj, struct err *e, const char *what, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(e, ERR_LUA, "`%s` %s", what, text);
	return kind_blame(kj, e, what);
}

size_t pair_size(const struct pair *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_parts; i++)
		n += p->parts[i].n;
	return n;
}

/* The text or whole number on top of the stack; it stays. Texts are Lua's own. */
static bool scalar(struct kind_job *kj, struct str *ret)
{
	lua_State *L = kj->kinds->sb.L;

	if (lua_type(L, -1) == LUA_TSTRING) {
		ret->p = lua_tolstring(L, -1, &ret->n);
		if (ret->n >= CACHE_FROM && kj->building) {
			if (!kj->cache)
				kj->cache = text_cache_new(L);
			text_cache_seen(kj->cache);
		}
		return true;
	}
	if (lua_isinteger(L, -1)) {
		*ret = arena_printf(&kj->scratch, "%lld", (long long)lua_tointeger(L, -1));
		return true;
	}
	return false;
}

/* The value on top of the stack: a text, a number, or a list of them. */
static bool read_value(struct kind_job *kj, struct pair *ret, const char *what, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	size_t n = lua_type(L, -1) == LUA_TTABLE ? (size_t)lua_rawlen(L, -1) : 1;
	struct str *parts;

	if (n > PARTS_MAX)
		return kind_refuse(kj, e, what, "gives `%.*s` in more than %d parts", STR_F(ret->name), PARTS_MAX);
	parts = arena_array(&kj->scratch, struct str, MAX(n, (size_t)1));
	ret->parts = parts;
	ret->n_parts = n;
	if (lua_type(L, -1) != LUA_TTABLE)
		return scalar(kj, &parts[0]) ||
		       kind_refuse(kj, e, what, "gives `%.*s` a %s, not a string or a whole number", STR_F(ret->name),
		                   luaL_typename(L, -1));
	for (size_t i = 0; i < n; i++) {
		bool ok;

		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		ok = scalar(kj, &parts[i]) || kind_refuse(kj, e, what, "gives `%.*s` a part that is a %s",
		                                          STR_F(ret->name), luaL_typename(L, -1));
		lua_pop(L, 1);
		if (!ok)
			return false;
	}
	return true;
}

/* { RANK = 1 } looks like a variable, and would silently be none. A job that has started went on without it: that is
   told once, and its next pod is as the others are. */
static bool is_empty(struct kind_job *kj, const char *what, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	struct str key = STR("…"), text;

	lua_pushnil(L);
	if (!lua_next(L, -2))
		return true;
	lua_pop(L, 1);
	if (lua_type(L, -1) == LUA_TSTRING)
		key = arena_str(&kj->scratch, (struct str){ lua_tostring(L, -1), lua_rawlen(L, -1) });
	lua_pop(L, 1);
	key = str_sub(key, 0, MIN(key.n, (size_t)100));
	text = arena_printf(&kj->scratch, "gives a variable as { %.*s = value }: write { \"%.*s\", value }", STR_F(key),
	                    STR_F(key));
	if (!kj->started)
		return kind_refuse(kj, e, what, "%.*s", STR_F(text));
	if (!kj->told_empty)
		problems_add(&kj->job->problems, PROBLEM_SPARED, STR("spec"), "`%s` in %.*s %.*s", what,
		             STR_F(kj->file->kind.file), STR_F(text));
	kj->told_empty = true;
	return true;
}

static bool read_env(struct kind_job *kj, struct pairs *ret, const char *what, int depth, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	size_t n = (size_t)lua_rawlen(L, -1);
	bool ok = true;

	if (!lua_checkstack(L, 8) || depth > ENV_DEPTH)
		return kind_refuse(kj, e, what, "returned variables that are nested too deep");
	if (n && lua_rawgeti(L, -1, 1) == LUA_TSTRING) {
		struct pair p = { .name = { lua_tostring(L, -1), lua_rawlen(L, -1) } };

		lua_pop(L, 1);
		if (p.name.n == 0 || ret->list.n >= ENV_MAX)
			return kind_refuse(kj, e, what, "returned a variable without a name, or more than %d", ENV_MAX);
		lua_rawgeti(L, -1, 2);
		ok = read_value(kj, &p, what, e);
		lua_pop(L, 1);
		*vec_push(&kj->scratch, &ret->list) = p;
		return ok;
	}
	if (n)
		lua_pop(L, 1);
	if (!n && !is_empty(kj, what, e))
		return false;
	for (size_t i = 1; ok && i <= n; i++) {
		if (lua_rawgeti(L, -1, (lua_Integer)i) == LUA_TTABLE)
			ok = read_env(kj, ret, what, depth + 1, e);
		else
			ok = kind_refuse(kj, e, what, "must give variables as a list of {name, value}");
		lua_pop(L, 1);
	}
	return ok;
}

bool kind_read_env(struct kind_job *kj, struct pairs *ret, const char *what, struct err *e)
{
	return read_env(kj, ret, what, 0, e);
}

static int by_pair_name(const void *a, const void *b)
{
	return str_cmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

bool kind_read_labels(struct kind_job *kj, struct pairs *ret, const char *what, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	bool ok = true;

	lua_pushnil(L);
	while (ok && lua_next(L, -2)) {
		struct pair p = { 0 };

		if (lua_type(L, -2) != LUA_TSTRING) {
			ok = kind_refuse(kj, e, what, "must give labels as name = value");
		} else {
			p.name.p = lua_tolstring(L, -2, &p.name.n);
			ok = read_value(kj, &p, what, e);
		}
		if (ok && p.n_parts != 1)
			ok = kind_refuse(kj, e, what, "gives the label `%.*s` in parts", STR_F(p.name));
		*vec_push(&kj->scratch, &ret->list) = p;
		lua_pop(L, 1);
	}
	if (!ok)
		lua_pop(L, 1);
	else if (ret->list.n)
		qsort(ret->list.v, ret->list.n, sizeof(*ret->list.v), by_pair_name);
	return ok;
}

static const struct table_key pod_keys[] = {
	{ "env", LUA_TTABLE, false },
	{ "labels", LUA_TTABLE, false },
	{ "hostname", LUA_TSTRING, false },
	{ "schedulerName", LUA_TSTRING, false },
};

static bool read_pod(struct pod_say *s, struct kind_job *kj, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	bool ok = true;

	if (lua_type(L, -1) == LUA_TNIL)
		return true;
	if (lua_type(L, -1) != LUA_TTABLE)
		return kind_refuse(kj, e, "pod", "must return a table, it returned a %s", luaL_typename(L, -1));
	if (!table_check(L, pod_keys, ARRAY_LEN(pod_keys), 0, STR("pod"), e))
		return kind_blame(kj, e, "pod");
	if (table_get(L, "env") != LUA_TNIL)
		ok = kind_read_env(kj, &s->env, "pod", e);
	lua_pop(L, 1);
	if (ok && table_get(L, "labels") != LUA_TNIL)
		ok = kind_read_labels(kj, &s->labels, "pod", e);
	if (ok)
		lua_pop(L, 1);
	else
		lua_settop(L, 1);
	s->hostname = value_field_str(L, -1, "hostname");
	s->scheduler = value_field_str(L, -1, "schedulerName");
	return ok;
}

bool pod_say_begin(struct pod_say *s, struct kind_job *kj, size_t role, int32_t index, int32_t restarts, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	int nargs;

	ASSERT(lua_gettop(L) == 0);
	*s = (struct pod_say){ 0 };
	arena_reset(&kj->scratch);
	if (kj->job->roles[role].companion) {
		kind_companion_labels(kj, kj->job->roles[role].companion, &s->labels);
		return true;
	}
	if (!kind_once(kj, e))
		return false;
	nargs = kind_push_call(kj, FN_POD, role, index);
	lua_pushinteger(L, restarts);
	if (!kind_call(kj, FN_POD, nargs + 1, 1, e))
		return false;
	if (read_pod(s, kj, e))
		return true;
	pod_say_end(kj);
	return false;
}

/* The strings are kept alive by the table on the stack until now. */
void pod_say_end(struct kind_job *kj)
{
	lua_settop(kj->kinds->sb.L, 0);
}

static void push_container(struct kind_job *kj, const struct template_container *c)
{
	struct sandbox *sb = &kj->kinds->sb;

	lua_newtable(sb->L);
	value_push_str(sb, c->name);
	lua_setfield(sb->L, -2, "name");
	lua_pushboolean(sb->L, c->init);
	lua_setfield(sb->L, -2, "init");
	lua_pushboolean(sb->L, c->counts);
	lua_setfield(sb->L, -2, "counts");
	lua_createtable(sb->L, (int)c->n_ports, 0);
	for (size_t i = 0; i < c->n_ports; i++) {
		lua_pushinteger(sb->L, c->ports[i].number);
		lua_rawseti(sb->L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(sb->L, -2, "ports");
}

/* Copied: Lua's strings go. */
static void copy_pairs(struct kind_job *kj, struct pairs *ps)
{
	struct pairs copy = { 0 };

	for (size_t i = 0; i < ps->list.n; i++) {
		const struct pair *p = &ps->list.v[i];
		struct str *parts = arena_array(&kj->arena, struct str, MAX(p->n_parts, (size_t)1));

		for (size_t k = 0; k < p->n_parts; k++)
			parts[k] = arena_str(&kj->arena, p->parts[k]);
		*vec_push(&kj->arena, &copy.list) = (struct pair){ arena_str(&kj->arena, p->name), parts, p->n_parts };
	}
	*ps = copy;
}

bool kind_container_env(struct kind_job *kj, size_t role, const struct template_container *c, struct pairs *ret,
                        struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	int nargs;
	bool ok = true;

	*ret = (struct pairs){ 0 };
	if (kj->file->fns[FN_CONTAINER] == LUA_NOREF || kj->job->roles[role].companion)
		return true;
	arena_reset(&kj->scratch);
	nargs = kind_push_call(kj, FN_CONTAINER, role, 0);
	lua_pop(L, 1);
	push_container(kj, c);
	if (!kind_call(kj, FN_CONTAINER, nargs, 1, e))
		return false;
	if (lua_type(L, -1) == LUA_TTABLE)
		ok = kind_read_env(kj, ret, "container", e);
	else if (lua_type(L, -1) != LUA_TNIL)
		ok = kind_refuse(kj, e, "container", "must return a list of variables or nothing");
	if (ok)
		copy_pairs(kj, ret);
	lua_pop(L, 1);
	return ok;
}
