/* Tables of a kind's file, checked against what they may hold. The table is at the top of the stack
   and stays there. */
#ifndef KIND_TABLE_H
#define KIND_TABLE_H

#include "base/arena.h"
#include "base/err.h"

#include <lua.h>

enum { TABLE_ANY = -1 };

struct table_key {
	const char *name;
	int type; /* LUA_T…, or TABLE_ANY */
	bool required;
};

/* Every key is one of KEYS and of its type, and the required ones are there; the list part may have
   up to LIST elements. WHERE is for messages. */
bool table_check(lua_State *L, const struct table_key *keys, size_t n, size_t list, struct str where, struct err *e);

/* Pushes table[name]; returns its type. */
int table_get(lua_State *L, const char *name);
bool table_bool(lua_State *L, const char *name);
/* table[name] as a list of texts, copied; an absent one is an empty list. */
bool table_strs(lua_State *L, const char *name, struct arena *a, const struct str **ret, size_t *n, struct str where,
                struct err *e);

/* The one of CANDIDATES that S probably means: at most two edits away, or equal but for case, `_` and
   `-`. Empty if there is none. */
struct str table_nearest(struct str s, const struct str *candidates, size_t n);

#endif
