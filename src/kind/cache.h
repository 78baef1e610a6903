/* Long texts that are the same in all pods of a job (the cluster in TF_CONFIG), as JSON wants them.
   Escaping the members of a large job again for each pod would be most of the work. */
#ifndef KIND_CACHE_H
#define KIND_CACHE_H

#include "base/str.h"

#include <lua.h>

enum { CACHE_FROM = 256, CACHE_SLOTS = 160 };

struct text_cache;

struct text_cache *text_cache_new(lua_State *L);
void text_cache_free(struct text_cache *c);
/* The Lua string on top of the stack is used. It stays. */
void text_cache_seen(struct text_cache *c);
/* The JSON of S, one of Lua's strings, without its quotes; empty if it is not known. */
struct str text_cache_get(const struct text_cache *c, struct str s);

#endif
