/* A Lua state that does nothing but compute: no files, no time, no chance, and limits on instructions, the processor's
   time and memory for each call. Only src/kind uses it. */
#ifndef KIND_SANDBOX_H
#define KIND_SANDBOX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "kind/kind.h"

#include <lauxlib.h>
#include <lua.h>

struct sandbox {
	lua_State *L;
	struct kind_limits limits;
	size_t live;        /* bytes that the state holds */
	size_t long_blocks; /* how many blocks are as large as a long text: an instruction may take long */

	/* Of the running call. */
	bool running;
	size_t base;      /* live at its start */
	size_t churn;     /* bytes allocated since */
	int64_t left;     /* instructions */
	int step;         /* instructions until the hook looks again */
	msec end;         /* by the limits' clock */
	size_t long_text; /* bytes of a text beyond the limit */

	/* What read() may use: where problems go, and which templates are this job's. */
	struct problems *problems;
	uint64_t serial;

	int paths;          /* registry: object -> its path in the manifest */
	int spellings;      /* registry: object -> {field = as the user spelt it} */
	int lists;          /* registry: the metatable that marks a table as a list */
	struct buf scratch; /* for functions that build a text and may be left by an error */
};

void sandbox_open(struct sandbox *sb, const struct kind_limits *limits);
void sandbox_close(struct sandbox *sb);
struct sandbox *sandbox_of(lua_State *L);

/* Calls the function below its NARGS arguments, as lua_call does, within the limits. On an error
   nothing is left of function and arguments; *E says file, line, reason and WHAT was called. */
bool sandbox_call(struct sandbox *sb, int nargs, int nresults, struct str file, const char *what, struct err *e);

/* Compiles TEXT (no binary chunks) with globals of its own and leaves the function on the stack. */
bool sandbox_load(struct sandbox *sb, struct str file, struct str text, struct err *e);

/* Compares the values at the two indices as lua_compare() with LUA_OPLT does, and charges for it. */
bool sandbox_less(lua_State *L, int a, int b);

/* Work that a C function does for Lua, in units of about one instruction. Raises past the limit. */
void sandbox_charge(lua_State *L, uint64_t work);

/* Pushes a table with everything that a kind's file may use. */
void sandbox_push_globals(struct sandbox *sb);
/* The metatable of strings: methods without the forbidden ones. */
void sandbox_set_string_methods(struct sandbox *sb);
/* invalid(), warn(), at(), spelt(), restart_policy(): put into the table at the top of the stack. */
void sandbox_add_reports(lua_State *L);

#endif
