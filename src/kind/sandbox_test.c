#include "kind/testing.h"

/* What a file may not do, and what it says when it tries. Each is the whole file. */
static const struct {
	const char *lua, *message;
} refused[] = {
	/* Not there at all. */
	{ "io.open('/etc/passwd')", "bad.lua:1: there is no `io`" },
	{ "os.exit(1)", "bad.lua:1: there is no `os`" },
	{ "require('os')", "there is no `require`" },
	{ "load('return 1')()", "there is no `load`" },
	{ "loadstring('return 1')()", "there is no `loadstring`" },
	{ "dofile('/etc/passwd')", "there is no `dofile`" },
	{ "debug.getinfo(1)", "there is no `debug`" },
	{ "collectgarbage()", "there is no `collectgarbage`" },
	{ "pcall(error)", "there is no `pcall`" },
	{ "xpcall(error, error)", "there is no `xpcall`" },
	{ "setmetatable({}, {})", "there is no `setmetatable`" },
	{ "getmetatable('')", "there is no `getmetatable`" },
	{ "rawset({}, 1, 2)", "there is no `rawset`" },
	{ "rawget({}, 1)", "there is no `rawget`" },
	{ "coroutine.create(print)", "there is no `coroutine`" },
	{ "next({})", "there is no `next`" },
	{ "print(1)", "there is no `print`" },
	{ "local x = _G.string", "there is no `_G`" },
	{ "string.rep('x', 10)", "attempt to call a nil value (field 'rep')" },
	{ "string.dump(error)", "attempt to call a nil value (field 'dump')" },
	{ "string.find('x', 'x')", "attempt to call a nil value (field 'find')" },
	{ "math.random()", "attempt to call a nil value (field 'random')" },
	{ "local s = ('x'):rep(10)", "attempt to call a nil value (method 'rep')" },
	{ "local s = ('x'):find('x')", "attempt to call a nil value (method 'find')" },
	{ "local s = ('x'):gsub('x', 'y')", "attempt to call a nil value (method 'gsub')" },
	{ "local s = ('x').format.y.z", "attempt to index a function value" },
	{ "('').rep = 1", "attempt to index a string value" },
	{ "local n = '10' + 1", "attempt to perform arithmetic on a string value" },
	/* Names that are nearly right. */
	{ "\nlocal x = lowr('A')", "bad.lua:2: there is no `lowr`, did you mean `lower`?" },
	{ "x = 1", "bad.lua:1: `x` would be a global; write `local x`" },
	{ "function helper() end", "`helper` would be a global; write `local helper`" },
	/* Addresses must not be seen: they differ from run to run. */
	{ "string.format('%p', {})", "%p is not offered" },
	{ "string.format('%-10s', {})", "must be a string, number, boolean or nil" },
	{ "string.format('%%%s', {})", "must be a string, number, boolean or nil" },
	{ "string.format('%999999d', 1)", "invalid conversion" },
	/* Errors of every kind. */
	{ "error('no')", "bad.lua:1: no (in `load`)" },
	{ "error('no', 0)", "bad.lua: no (in `load`)" },
	{ "error({})", "bad.lua: failed with an error that is not a string (in `load`)" },
	{ "error()", "failed with an error that is not a string" },
	{ "local x = nil; x.y = 1", "bad.lua:1: attempt to index a nil value (local 'x')" },
	{ "return {", "bad.lua:1:" },
	{ "\x1bLua", "attempt to load a binary chunk" },
	/* Without end. */
	{ "while true do end", "bad.lua:1: exceeds the time limit of a call" },
	{ "local t = {}\nwhile true do\nt[#t + 1] = {}\nend", "bad.lua:3: exceeds the memory limit of a call" },
	{ "local s = 'x'\nwhile true do s = s .. s end", "bad.lua:2: creates a string of more than 1 MiB" },
	{ "local s = join({'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}, '')\n"
	  "for i = 1, 12 do s = s .. s end\nlocal n = 0\nwhile true do local t = s .. n\nn = n + 1 end",
	  "exceeds the allocation limit of a call" },
	{ "local function f() return 1 + f() end f()", "exceeds the memory limit of a call" },
	{ "local function f() local t = {1, 2}\ntable.sort(t, f) end f()", "overflow" },
	{ "local t = {} for i = 1, 100000 do t[i] = i end\nwhile true do table.insert(t, 1, 0) table.remove(t, 1) end",
	  "exceeds the time limit of a call" },
	{ "local t = {} for i = 1, 100000 do t[i] = -i end\nwhile true do table.sort(t) end",
	  "exceeds the time limit of a call" },
	{ "local t = {} for i = 1, 50000 do t[i] = i end\nwhile true do for k in pairs(t) do break end end",
	  "exceeds the time limit of a call" },
	{ "local s = 'x' for i = 1, 20 do s = s .. s end\nwhile true do hash(s, 4) end",
	  "exceeds the time limit of a call" },
	{ "local s = 'x' for i = 1, 20 do s = s .. s end\nlocal t = split(s, 'x')\nwhile true do t = split(s, 'x') end",
	  "limit of a call" },
	{ "local s = 'x' for i = 1, 18 do s = s .. s end\ns = replace(s, 'x', s)",
	  "exceeds the memory limit of a call" },
	/* Long texts: each one, and what one call of the library does with them. */
	{ "local s = 'x' for i = 1, 20 do s = s .. s end\nlocal t = s\nlocal u = s .. s local v = 1",
	  "bad.lua:3: creates a string of more than 1 MiB" },
	{ "local s = 'x' for i = 1, 20 do s = s .. s end\nlocal u = join({s, s, s})",
	  "bad.lua: creates a string of more than 1 MiB" },
	{ "local s = '1' for i = 1, 20 do s = s .. s end\nfor i = 1, 10 do tonumber(s) end",
	  "bad.lua:2: exceeds the time limit of a call" },
	{ "local s, t = 'x', {} for i = 1, 20 do s = s .. s end\nfor i = 1, 100 do t[i] = s end\ntable.sort(t)",
	  "bad.lua:3: exceeds the time limit of a call" },
	/* Tables that are no values. */
	{ "json(error)", "`json`: a function is not a value" },
	{ "local t = {}\nt.t = t\njson(t)", "nested too deep, or a table that holds itself" },
	{ "json(0/0)", "a number that is not finite" },
	{ "json({1, nil, 3, x = 1})", "holes or with keys of other kinds" },
	{ "json({[2] = 1})", "keys that are neither 1, 2, 3 … nor all strings" },
	{ "json({[{}] = 1})", "keys that are neither" },
	{ "json({'\\xff'})", "`json` returned [1]: a string that is not UTF-8" },
	{ "json({['\\xff'] = 1})", "a key that is not UTF-8" },
	{ "for k in pairs({[{}] = 1}) do end", "pairs: a key is a table" },
	{ "pairs(nil)", "table expected" },
	{ "hash('x', 33)", "from 1 to 32 characters" },
	{ "split('x', '')", "must not be empty" },
	{ "join({{}}, '')", "element 1 of the list is a table, not a string" },
	{ "table.sort({1, 'x'})", "attempt to compare" },
	{ "table.insert({}, 5, 1)", "outside of the list" },
	{ "table.remove({1}, 3)", "outside of the list" },
	{ "invalid({}, 'x', 'y')", "problems can only be reported by `read`" },
	{ "at({}, 'x')", "not an object of the manifest" },
	{ "at('spec')", "table expected" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct kinds *k = kinds_new(&small_limits);
		struct err e = ERR_INIT;

		assert_false(kinds_load_text(k, STR("bad.lua"), str_c(refused[i].lua), &e));
		if (!strstr(err_msg(&e), refused[i].message))
			fail_msg("%s\ngave: %s\nwant: %s", refused[i].lua, err_msg(&e), refused[i].message);
		assert_int_equal(e.code, ERR_LUA);
		assert_int_equal(kinds_count(k), 0);
		err_release(&e);
		kinds_free(k);
	}
}

/* Expressions that must be true. */
static const char *const truths[] = {
	"type(1) == 'number' and tonumber('12') == 12 and select('#', 1, 2) == 2",
	"tostring({}) == 'table' and tostring(error) == 'function' and tostring(nil) == 'nil'",
	"tostring(1.5) == '1.5' and tostring(true) == 'true'",
	"lower('AbZ1') == 'abz1' and upper('abz1') == 'ABZ1' and ('Ab'):lower() == 'ab'",
	"trim('  a b\\n') == 'a b' and starts('abc', 'ab') and not starts('a', 'ab') and ends('abc', 'bc')",
	"join({1, 'a'}, '-') == '1-a' and join({}) == '' and table.concat({'a', 'b'}) == 'ab'",
	"#split('a,,b', ',') == 3 and split('a,,b', ',')[2] == '' and #split('', ',') == 1",
	"split('a--b', '--')[2] == 'b'",
	"replace('a.b.c', '.', '-') == 'a-b-c' and replace('aaa', 'aa', 'b') == 'ba' and replace('x', '%w', '') == 'x'",
	"string.sub('hello', 2, 3) == 'el' and string.sub('hello', -3) == 'llo' and string.sub('a', 5) == ''",
	"string.sub('abc', 0, math.maxinteger) == 'abc' and string.sub('abc', math.mininteger, 1) == 'a'",
	"string.byte('A') == 65 and string.byte('', 1) == nil",
	"string.char(65, 66) == 'AB' and string.len('abc') == 3",
	"string.format('%s-%d-%5.1f-%x-%%', 'a', 3, 2.25, 255) == 'a-3-  2.2-ff-%'",
	"string.format('%s %s', nil, true) == 'nil true'",
	"math.floor(2.5) == 2 and math.ceil(2.1) == 3 and math.max(1, 2) == 2",
	"math.min(1, 2) == 1 and math.abs(-1) == 1 and math.tointeger(3.0) == 3",
	"json({b = 1, a = {true, 1.5, 'x\\n\"'}}) == '{\"a\":[true,1.5,\"x\\\\n\\\\\"\"],\"b\":1}'",
	"json(list()) == '[]' and json({}) == '{}' and json(4 / 2) == '2' and json(nil) == 'null'",
	/* These two are in the names of running pods: they must never change. */
	"hash('', 4) == '08dx' and #hash('x', 32) == 32",
	"hash('0b5f5a30-uid', 4) ~= hash('0b5f5a30-uie', 4)",
	"table.unpack({1, 2}) == 1 and #{table.unpack({1, 2, 3})} == 3",
	"table.remove({}) == nil and table.remove({1, 2, 3}, 1) == 1",
	"restart_policy({}) == 'Always' and restart_policy({spec = {restartPolicy = 'Never'}}) == 'Never'",
	"restart_policy(nil) == 'Always'",
};

static void test_offered(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(truths); i++) {
		struct kinds *k = kinds_new(&small_limits);
		struct err e = ERR_INIT;
		struct str lua = arena_printf(&a, "assert(%s, 'wrong')", truths[i]);

		/* It returns no table, which is all that is wrong with it. */
		assert_false(kinds_load_text(k, STR("good.lua"), lua, &e));
		if (!strstr(err_msg(&e), "must return a table"))
			fail_msg("%s: %s", truths[i], err_msg(&e));
		err_release(&e);
		kinds_free(k);
	}
	arena_release(&a);
}

static void expect_true(const char *lua)
{
	struct kinds *k = kinds_new(&small_limits);
	struct err e = ERR_INIT;

	assert_false(kinds_load_text(k, STR("good.lua"), str_c(lua), &e));
	if (!strstr(err_msg(&e), "must return a table"))
		fail_msg("%s: %s", lua, err_msg(&e));
	err_release(&e);
	kinds_free(k);
}

static void test_pairs_are_sorted(void **state)
{
	(void)state;
	expect_true("local t, keys = {b = 1, a = 1, [10] = 1, [2] = 1, [1.5] = 1}, {}\n"
	            "for k in pairs(t) do keys[#keys + 1] = tostring(k) end\n"
	            "assert(join(keys, ' ') == '1.5 2 10 a b', join(keys, ' '))");
	/* A key that goes while the loop runs is not visited. */
	expect_true("local t, n = {a = 1, b = 2, c = 3}, 0\n"
	            "for k in pairs(t) do n = n + 1 t.b = nil end\nassert(n == 2, n)");
}

static void test_sort_is_stable(void **state)
{
	(void)state;
	expect_true("local t = {}\nfor i = 1, 500 do t[i] = {i % 7, i} end\n"
	            "table.sort(t, function(a, b) return a[1] < b[1] end)\n"
	            "for i = 2, 500 do local a, b = t[i - 1], t[i]\n"
	            "assert(a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]), 'order') end");
	expect_true("local t = {3, 1, 2}\ntable.sort(t)\nassert(join(t, ' ') == '1 2 3', join(t, ' '))");
	expect_true("local t = {'b', 'a'}\ntable.sort(t)\nassert(join(t, ' ') == 'a b', join(t, ' '))");
	expect_true("local t = {}\ntable.sort(t)\nassert(#t == 0)");
}

/* One file's globals are not another's, nor are the tables in them. */
static void test_files_are_apart(void **state)
{
	struct kinds *k = kinds_new(&small_limits);
	struct err e = ERR_INIT;

	(void)state;
	kinds_load_text(k, STR("a.lua"), STR("string.mine = 1 table.mine = 1 lower = nil"), &e);
	assert_non_null(strstr(err_msg(&e), "must return a table"));
	kinds_load_text(k, STR("b.lua"), STR("assert(not string.mine and not table.mine and lower('A') == 'a')"), &e);
	assert_non_null(strstr(err_msg(&e), "must return a table"));
	err_release(&e);
	kinds_free(k);
}

/* Garbage of one call does not count in the next, and a limit that was hit leaves the state usable. */
static void test_state_survives(void **state)
{
	struct kinds *k = kinds_new(&small_limits);
	struct err e = ERR_INIT;

	(void)state;
	for (int i = 0; i < 30; i++) {
		kinds_load_text(k, STR("a.lua"), STR("local t = {} for i = 1, 100000 do t[i] = {} end"), &e);
		assert_non_null(strstr(err_msg(&e), "must return a table"));
		kinds_load_text(k, STR("a.lua"), STR("local t = {} while true do t[#t + 1] = {} end"), &e);
		assert_non_null(strstr(err_msg(&e), "exceeds the memory limit"));
	}
	err_release(&e);
	kinds_free(k);
}

struct ticks {
	msec now;
	int looks;
};

static msec tick(void *cookie)
{
	struct ticks *t = cookie;

	t->looks++;
	return t->now++;
}

/* Runs a loop of 40,000 instructions or more, with a text of 2^POWER bytes, on a clock that moves by one with each
   look, up to LIMIT. Returns how often it was looked at. */
static int looks(int power, msec limit, const char *message)
{
	struct ticks ticks = { 0 };
	const struct clock clock = { tick, &ticks };
	struct kind_limits limits = small_limits;
	struct arena a = ARENA_INIT;
	struct kinds *k;
	struct err e = ERR_INIT;

	limits.clock = &clock;
	limits.time = limit;
	k = kinds_new(&limits);
	kinds_load_text(k, STR("a.lua"),
	                arena_printf(&a,
	                             "local s = 'x' for i = 1, %d do s = s .. s end\nlocal n = 0\n"
	                             "for i = 1, 10000 do if s < s then n = n + 1 end end",
	                             power),
	                &e);
	if (!strstr(err_msg(&e), message))
		fail_msg("%s, not %s", err_msg(&e), message);
	err_release(&e);
	kinds_free(k);
	arena_release(&a);
	return ticks.looks;
}

/* The count of instructions knows nothing of how long a comparison takes: the clock does, and with long texts it is
   looked at more often. */
static void test_clock(void **state)
{
	(void)state;
	assert_in_range(looks(1, 100, "must return a table"), 2, 9);
	assert_in_range(looks(20, 100, "must return a table"), 40, 99);
	looks(20, 20, "a.lua:3: exceeds the time limit of a call");
	assert_ptr_equal(kind_limits_default.clock, &clock_thread);
	assert_int_equal(kind_limits_default.time, SECONDS(1));
}

/* What an operator does with texts as long as they may be is charged nowhere: the clock alone ends comparisons, within
   its second of the processor (by instructions alone they could go on for half an hour), and none reads a text as a
   number. */
static void test_operators_on_long_texts(void **state)
{
	static const char texts[] = "local a = '0' for i = 1, 20 do a = a .. a end\n"
				    "local b = '' for i = 1, 4 do b = b .. a:sub(1, 1 << 18) end\n";
	static const struct {
		const char *what, *message;
	} t[] = {
		{ "a < b", "a.lua:3: exceeds the time limit of a call" },
		{ "a <= b", "a.lua:3: exceeds the time limit of a call" },
		{ "a == b", "a.lua:3: exceeds the time limit of a call" },
		{ "a + 0", "a.lua:3: attempt to perform arithmetic on a string value" },
		{ "-a", "a.lua:3: attempt to perform arithmetic on a string value" },
		{ "a | 0", "a.lua:3: attempt to perform bitwise operation on a string value" },
	};
	struct arena arena = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		msec began = clock_now(&clock_thread);
		struct kinds *k = kinds_new(NULL);
		struct err e = ERR_INIT;

		kinds_load_text(k, STR("a.lua"),
		                arena_printf(&arena, "%swhile true do local x = %s end", texts, t[i].what), &e);
		assert_non_null(strstr(err_msg(&e), t[i].message));
		/* Not how fast the machine is, but that somebody looks. */
		assert_in_range(clock_now(&clock_thread) - began, 0, MINUTES(1));
		err_release(&e);
		kinds_free(k);
	}
	arena_release(&arena);
}

/* A text of many megabytes in one step, past every margin: Lua's own error, with the file's name. */
static void test_one_huge_allocation(void **state)
{
	struct kinds *k = kinds_new(&small_limits);
	struct err e = ERR_INIT;

	(void)state;
	kinds_load_text(k, STR("a.lua"),
	                STR("local s = 'x' for i = 1, 20 do s = s .. s end\n"
	                    "s = s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s"),
	                &e);
	assert_string_equal(err_msg(&e), "a.lua: creates a string of more than 1 MiB (in `load`)");
	err_release(&e);
	kinds_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_offered),
		cmocka_unit_test(test_pairs_are_sorted),
		cmocka_unit_test(test_sort_is_stable),
		cmocka_unit_test(test_files_are_apart),
		cmocka_unit_test(test_state_survives),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_operators_on_long_texts),
		cmocka_unit_test(test_one_huge_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
