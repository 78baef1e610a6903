#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_alloc(void **state)
{
	struct arena a = ARENA_INIT;
	char *last = NULL;

	(void)state;
	/* Sizes around the chunks' sizes: zeroed, aligned, apart from each other. */
	for (size_t n = 0; n < 20000; n += n < 100 ? 1 : 997) {
		char *p = arena_alloc(&a, n);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_true(p != last);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xaa, n);
		last = p;
	}
	assert_true(a.used >= 20000);
	arena_release(&a);
	assert_int_equal(a.used, 0);
	assert_null(a.head);
	/* Usable again. */
	assert_non_null(arena_raw(&a, 0));
	arena_release(&a);
	arena_release(&a);
}

static void test_text(void **state)
{
	struct arena a = ARENA_INIT;
	char text[] = "hello";
	struct str s = arena_str(&a, str_c(text)), t;

	(void)state;
	text[0] = 'x';
	assert_true(str_eqc(s, "hello"));
	assert_int_equal(s.p[s.n], 0);
	assert_string_equal(arena_str(&a, STR_NONE).p, "");
	assert_true(str_eq(arena_str(&a, STR("a\0b")), STR("a\0b")));
	assert_true(str_eqc(arena_printf(&a, "%d-%s", 7, "x"), "7-x"));
	/* Around the size up to which no second try is needed. */
	for (int n = 250; n < 260; n++) {
		t = arena_printf(&a, "%*s", n, "x");
		assert_int_equal(t.n, n);
		assert_int_equal(strlen(t.p), n);
		assert_int_equal(t.p[n - 1], 'x');
	}
	arena_release(&a);
}

static void test_reset(void **state)
{
	struct arena a = ARENA_INIT;
	char *big;

	(void)state;
	arena_reset(&a);
	arena_alloc(&a, 10);
	big = arena_raw(&a, 100000);
	memset(big, 1, 100000);
	arena_reset(&a);
	assert_int_equal(a.used, 0);
	/* The largest chunk stayed: the same memory comes again, and zeroed. */
	assert_ptr_equal(arena_alloc(&a, 100000), big);
	assert_int_equal(big[99999], 0);
	arena_release(&a);
}

static void test_vec(void **state)
{
	struct arena a = ARENA_INIT;
	VEC(int) v = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		*vec_push(&a, &v) = i;
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.v[i], i);
	arena_release(&a);
}

static void on_abort(int sig)
{
	(void)sig;
	_Exit(42);
}

/* A size that does not fit is a defect of ours and must not wrap around to a small one. */
static void test_overflow_is_caught(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		struct arena a = ARENA_INIT;

		signal(SIGABRT, on_abort);
		if (!freopen("/dev/null", "w", stderr))
			_Exit(1);
		arena_array(&a, uint64_t, SIZE_MAX / 8 + 2);
		_Exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_vec),
		cmocka_unit_test(test_overflow_is_caught),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
