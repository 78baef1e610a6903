#include "kind/cache.h"

#include "base/buf.h"

#include <lauxlib.h>

/* A string that is referred to here is not collected, so its address means it and no other. */
struct slot {
	const char *p; /* NULL: free */
	size_t n;
	int ref;
	struct buf escaped; /* empty until it is seen again */
};

struct text_cache {
	lua_State *L;
	size_t next; /* the slot that is given away next */
	struct slot slots[CACHE_SLOTS];
};

struct text_cache *text_cache_new(lua_State *L)
{
	struct text_cache *c = xcalloc(1, sizeof(*c));

	c->L = L;
	return c;
}

static void clear(struct text_cache *c, struct slot *s)
{
	if (!s->p)
		return;
	luaL_unref(c->L, LUA_REGISTRYINDEX, s->ref);
	buf_release(&s->escaped);
	s->p = NULL;
}

void text_cache_free(struct text_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CACHE_SLOTS; i++)
		clear(c, &c->slots[i]);
	free(c);
}

static struct slot *find_cached(const struct text_cache *c, struct str s)
{
	for (size_t i = 0; i < CACHE_SLOTS; i++)
		if (c->slots[i].p == s.p)
			return (struct slot *)&c->slots[i];
	return NULL;
}

void text_cache_seen(struct text_cache *c)
{
	struct str s = { lua_tostring(c->L, -1), lua_rawlen(c->L, -1) };
	struct slot *slot = find_cached(c, s);

	if (slot && !slot->escaped.n) {
		buf_json_str(&slot->escaped, s);
	} else if (!slot) {
		slot = &c->slots[c->next];
		c->next = (c->next + 1) % CACHE_SLOTS;
		clear(c, slot);
		lua_pushvalue(c->L, -1);
		*slot = (struct slot){ s.p, s.n, luaL_ref(c->L, LUA_REGISTRYINDEX), BUF_INIT(SIZE_MAX / 2) };
	}
}

struct str text_cache_get(const struct text_cache *c, struct str s)
{
	const struct slot *slot = find_cached(c, s);

	if (!slot || !slot->escaped.n)
		return STR_NONE;
	return str_sub(buf_str(&slot->escaped), 1, slot->escaped.n - 2);
}
