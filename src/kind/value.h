/* Values between JSON and Lua, with limits on both ways. */
#ifndef KIND_VALUE_H
#define KIND_VALUE_H

#include "base/json.h"
#include "kind/sandbox.h"

enum {
	VALUE_MAX_DEPTH = 100,
	VALUE_MAX_NODES = 500000,
	VALUE_MAX_BYTES = 32 << 20,
};

/* A part of the manifest that Lua may only pass on (a pod template). */
struct opaque {
	uint64_t serial; /* of the job it belongs to */
	yyjson_val *val;
};

void value_push_opaque(struct sandbox *sb, yyjson_val *val);
/* The opaque value at IDX, or NULL if it is none. One of another job is none either. */
const struct opaque *value_opaque(struct sandbox *sb, int idx);

/* Pushes a JSON value as plain Lua: null fields are left out, lists are marked as lists. */
void value_push(struct sandbox *sb, yyjson_val *val);
void value_push_str(struct sandbox *sb, struct str s);
/* Marks the table at the top of the stack as a list, so that it is one though empty. */
void value_mark_list(struct sandbox *sb);

/* The Lua value at IDX as JSON in DOC. NULL with *E: functions, cycles, NaN, mixed keys, holes, or too
   much of it; the message names the place as WHAT.roles[1].count. */
yyjson_mut_val *value_json(struct sandbox *sb, int idx, yyjson_mut_doc *doc, const char *what, struct err *e);

/* table[key] as a slice that lives as long as the table does; empty if it is no string. */
struct str value_field_str(lua_State *L, int idx, const char *key);

#endif
