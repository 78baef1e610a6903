#include "kind/sandbox.h"

#include <lualib.h>

const struct kind_limits kind_limits_default = {
	.instructions = 50 * 1000 * 1000,
	.memory = (size_t)64 << 20,
	.churn = (size_t)1 << 30,
	.text = (size_t)1 << 20,
	.time = SECONDS(1),
	.clock = &clock_thread,
};

enum {
	STEP = 10000,
	/* One instruction may compare two long texts, or read one as a number: the clock is looked at more often. */
	STEP_LONG = 500,
	LONG_TEXT = 64 << 10,
	MESSAGE_MAX = 2000,
};

/* What Lua keeps with a text. */
enum { TEXT_FRAME = 64 };
static const char text_too_long[] = "creates a string of more than 1 MiB";

static void look_at_limits(lua_State *L, lua_Debug *ar);

struct sandbox *sandbox_of(lua_State *L)
{
	return *(struct sandbox **)lua_getextraspace(L);
}

/* The count hook does not fire inside C functions such as concatenation. What they allocate is seen
   here; the hook is then asked to look after the very instruction, where there is a line to name. */
static void look_soon(struct sandbox *sb)
{
	if (sb->L && sb->step != 1) {
		sb->left -= sb->step;
		sb->step = 1;
		lua_sethook(sb->L, look_at_limits, LUA_MASKCOUNT, 1);
	}
}

static bool too_much_memory(const struct sandbox *sb)
{
	return sb->live > sb->base && sb->live - sb->base > sb->limits.memory;
}

static bool too_much_churn(const struct sandbox *sb)
{
	return sb->churn > sb->limits.churn;
}

/* For a new block Lua says in OLD what it is for. Between once and twice the limit the hook says where. */
static bool is_text_allowed(struct sandbox *sb, bool new, size_t old, size_t size)
{
	if (!new || old != LUA_TSTRING || size <= sb->limits.text + TEXT_FRAME)
		return true;
	sb->long_text = size;
	look_soon(sb);
	return size <= 2 * sb->limits.text + TEXT_FRAME;
}

static void count_long(struct sandbox *sb, size_t before, size_t size)
{
	if (before >= LONG_TEXT)
		sb->long_blocks--;
	if (size < LONG_TEXT)
		return;
	sb->long_blocks++;
	if (sb->running && sb->step > STEP_LONG)
		look_soon(sb);
}

static void *allocate(void *cookie, void *p, size_t old, size_t size)
{
	struct sandbox *sb = cookie;
	size_t before = p ? old : 0;

	if (size == 0) {
		free(p);
		sb->live -= before;
		count_long(sb, before, 0);
		return NULL;
	}
	if (sb->running && !is_text_allowed(sb, !p, old, size))
		return NULL;
	if (size > before && sb->running) {
		/* A margin above the limit, so that the hook can say where; past it Lua collects garbage and
		   then gives up. */
		size_t most = sb->base + sb->limits.memory + sb->limits.memory / 4;

		if (size - before > most || sb->live > most - (size - before))
			return NULL;
		sb->churn += size - before;
	}
	sb->live = sb->live - before + size;
	if (sb->running && (too_much_memory(sb) || too_much_churn(sb)))
		look_soon(sb);
	count_long(sb, before, size);
	return xrealloc(p, size);
}

static void give_up(lua_State *L, lua_Debug *ar, const char *reason)
{
	lua_getinfo(L, "Sl", ar);
	lua_pushfstring(L, "%s:%d: %s", ar->short_src, ar->currentline, reason);
	lua_error(L);
}

static void look_at_limits(lua_State *L, lua_Debug *ar)
{
	struct sandbox *sb = sandbox_of(L);
	int step;

	sb->left -= sb->step;
	if (sb->long_text)
		give_up(L, ar, text_too_long);
	if (too_much_memory(sb))
		lua_gc(L, LUA_GCCOLLECT);
	if (too_much_memory(sb))
		give_up(L, ar, "exceeds the memory limit of a call");
	if (too_much_churn(sb))
		give_up(L, ar, "exceeds the allocation limit of a call");
	if (sb->left < 0 || clock_now(sb->limits.clock) > sb->end)
		give_up(L, ar, "exceeds the time limit of a call");
	step = sb->long_blocks ? STEP_LONG : STEP;
	if (sb->step != step) {
		sb->step = step;
		lua_sethook(L, look_at_limits, LUA_MASKCOUNT, step);
	}
}

void sandbox_charge(lua_State *L, uint64_t work)
{
	struct sandbox *sb = sandbox_of(L);

	if (!sb->running)
		return;
	if (work > INT64_MAX / 2 || (sb->left -= (int64_t)work) < 0)
		luaL_error(L, "exceeds the time limit of a call");
}

bool sandbox_less(lua_State *L, int a, int b)
{
	if (lua_type(L, a) == LUA_TSTRING && lua_type(L, b) == LUA_TSTRING)
		sandbox_charge(L, MIN(lua_rawlen(L, a), lua_rawlen(L, b)) / 16);
	return lua_compare(L, a, b, LUA_OPLT);
}

static int panic(lua_State *L)
{
	const char *msg = lua_tostring(L, -1);

	BUG("Lua error outside of a call: %s", msg ? msg : "?");
}

void sandbox_open(struct sandbox *sb, const struct kind_limits *limits)
{
	*sb = (struct sandbox){ .limits = *limits, .scratch = BUF_INIT(limits->memory) };
	sb->L = lua_newstate(allocate, sb);
	ASSERT(sb->L);
	*(struct sandbox **)lua_getextraspace(sb->L) = sb;
	lua_atpanic(sb->L, panic);

	/* Objects that carry a path: weak keys, so that they go with their job. */
	lua_newtable(sb->L);
	lua_pushliteral(sb->L, "k");
	lua_setfield(sb->L, -2, "__mode");
	lua_newtable(sb->L);
	lua_pushvalue(sb->L, -2);
	lua_setmetatable(sb->L, -2);
	sb->paths = luaL_ref(sb->L, LUA_REGISTRYINDEX);
	lua_newtable(sb->L);
	lua_pushvalue(sb->L, -2);
	lua_setmetatable(sb->L, -2);
	sb->spellings = luaL_ref(sb->L, LUA_REGISTRYINDEX);
	lua_pop(sb->L, 1);

	lua_newtable(sb->L);
	sb->lists = luaL_ref(sb->L, LUA_REGISTRYINDEX);
	sandbox_set_string_methods(sb);
	ASSERT(lua_gettop(sb->L) == 0);
}

void sandbox_close(struct sandbox *sb)
{
	lua_close(sb->L);
	ASSERT(sb->live == 0);
	buf_release(&sb->scratch);
}

static bool report(struct sandbox *sb, int status, struct str file, const char *what, struct err *e)
{
	size_t n = 0;
	const char *msg = NULL;
	bool placed;

	if (status == LUA_ERRMEM && sb->long_text)
		msg = text_too_long;
	else if (status == LUA_ERRMEM)
		msg = "exceeds the memory limit of a call";
	else if (lua_type(sb->L, -1) == LUA_TSTRING)
		msg = lua_tolstring(sb->L, -1, &n);
	else
		msg = "failed with an error that is not a string";
	n = n ? n : strlen(msg);
	/* Errors raised in Lua begin with file:line; others get at least the file. */
	placed = str_has_prefix((struct str){ msg, n }, file);
	err_set(e, ERR_LUA, "%.*s%s%.*s (in `%s`)", placed ? 0 : (int)file.n, file.p, placed ? "" : ": ",
	        (int)MIN(n, (size_t)MESSAGE_MAX), msg, what);
	lua_pop(sb->L, 1);
	return false;
}

bool sandbox_call(struct sandbox *sb, int nargs, int nresults, struct str file, const char *what, struct err *e)
{
	int status;

	ASSERT(!sb->running);
	sb->base = sb->live;
	sb->churn = 0;
	sb->left = sb->limits.instructions;
	sb->step = (int)MIN(sb->limits.instructions, (int64_t)(sb->long_blocks ? STEP_LONG : STEP));
	sb->end = clock_now(sb->limits.clock) + sb->limits.time;
	sb->long_text = 0;
	sb->running = true;
	lua_sethook(sb->L, look_at_limits, LUA_MASKCOUNT, sb->step);
	status = lua_pcall(sb->L, nargs, nresults, 0);
	lua_sethook(sb->L, NULL, 0, 0);
	sb->running = false;
	/* What a call that took too much leaves behind must not make room for the next one to take more. */
	if (status != LUA_OK && sb->live - MIN(sb->live, sb->base) > sb->limits.memory / 2)
		lua_gc(sb->L, LUA_GCCOLLECT);
	/* Whatever is converted next must find room on the stack; nothing else reserves it. */
	luaL_checkstack(sb->L, LUA_MINSTACK, NULL);
	return status == LUA_OK || report(sb, status, file, what, e);
}

bool sandbox_load(struct sandbox *sb, struct str file, struct str text, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct str chunk = arena_printf(&a, "@%.*s", STR_F(file));
	int status;

	luaL_checkstack(sb->L, LUA_MINSTACK, NULL);
	/* The compiler runs within the limits, too. */
	sb->base = sb->live;
	sb->churn = 0;
	sb->long_text = 0;
	sb->step = 1; /* no hook: nothing is executed */
	sb->running = true;
	status = luaL_loadbufferx(sb->L, text.p, text.n, chunk.p, "t");
	sb->running = false;
	arena_release(&a);
	if (status != LUA_OK)
		return report(sb, status, file, "load", e);
	sandbox_push_globals(sb);
	lua_setupvalue(sb->L, -2, 1);
	return true;
}
