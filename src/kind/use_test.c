#include "kind/testing.h"

#define KIND(name, first, read)                                                                                        \
	first "\nlocal function nothing() return {} end\n"                                                             \
	      "return { group = 'example.org', version = 'v1', kind = '" name "', plural = 'p" name "',\n"             \
	      "singular = 'x" name "', spec = { 'object', fields = { size = { 'int' } } },\n"                          \
	      "read = " read ", names = nothing, pod = nothing, status = nothing }"

static void refused(const char *lua, const char *message)
{
	struct kinds *k = kinds_new(&small_limits);
	struct err e = ERR_INIT;

	assert_false(kinds_load_text(k, STR("ring.lua"), str_c(lua), &e));
	if (!strstr(err_msg(&e), message))
		fail_msg("%s", err_msg(&e));
	err_release(&e);
	kinds_free(k);
}

static void test_mistakes(void **state)
{
	(void)state;
	refused("local c = use('comon')",
	        "ring.lua:1: there is no \"comon\" to use; available: common, mpba (in `load`)");
	refused("local c = use()", "bad argument #1 to 'use'");
	refused("local c = use('/etc/passwd')", "there is no \"/etc/passwd\" to use");
	/* What it does wrong is told with its own file and line. */
	refused("use('common').mxnet_scheduler({}, nil, { 1 }, 1)", "ring.lua: kinds/lib/common.lua:");
}

/* What one kind changes, no other sees. */
static void test_each_its_own(void **state)
{
	struct kinds *k = kinds_new(&small_limits);
	struct err e = ERR_INIT;

	(void)state;
	if (!kinds_load_text(k, STR("a.lua"), STR(KIND("a", "local c = use('common') c.CHIEF = 'mine'", "nothing")),
	                     &e) ||
	    !kinds_load_text(k, STR("b.lua"), STR(KIND("b", "assert(use('common').CHIEF ~= 'mine')", "nothing")), &e))
		fail_msg("%s", err_msg(&e));
	kinds_free(k);
}

/* The limits of the call are those of what it uses. */
static void test_limits(void **state)
{
	(void)state;
	refused("while true do use('common') end", "limit of a call");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_each_its_own),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
