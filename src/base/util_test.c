#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/util.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sanitizer would end the process before we can. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void fail_an_assertion(void)
{
	int apples = 1;

	ASSERT(apples == 2);
}

static void say_bug(void)
{
	BUG("%d worlds", 2);
}

static void ask_malloc(void)
{
	free(xmalloc(SIZE_MAX / 4));
}

static void ask_calloc(void)
{
	free(xcalloc(SIZE_MAX / 4, 2));
}

static void ask_realloc(void)
{
	free(xrealloc(NULL, SIZE_MAX / 4));
}

/* Runs FN in a child; returns how it ended, with what it wrote to standard error in *SAID. */
static int end_of(void (*fn)(void), char said[static 4096])
{
	int fds[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit no_core = { 0, 0 };

		/* cmocka would take the signal for its own. */
		signal(SIGABRT, SIG_DFL);
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(fds[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while (n < 4095 && (got = read(fds[0], said + n, 4095 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_bugs_abort(void **state)
{
	char said[4096];
	int status = end_of(say_bug, said);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(said, "BUG at "));
	assert_non_null(strstr(said, "util_test.c:"));
	assert_non_null(strstr(said, ": 2 worlds\n"));
	status = end_of(fail_an_assertion, said);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(said, ": assertion failed: apples == 2\n"));
}

static void test_out_of_memory(void **state)
{
	static void (*const ask[])(void) = { ask_malloc, ask_calloc, ask_realloc };
	char said[4096];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ask); i++) {
		int status = end_of(ask[i], said);

		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 70);
		assert_non_null(strstr(said, "out of memory: "));
	}
}

static void test_memory(void **state)
{
	CLEANUP(freep) char *s = xstrndup("abc", 2);
	char *none = xstrndup(NULL, 0), *nothing = xmalloc(0);

	(void)state;
	assert_string_equal(s, "ab");
	assert_string_equal(none, "");
	assert_non_null(nothing);
	nothing = xrealloc(nothing, 0);
	assert_non_null(nothing);
	freep(&none);
	assert_null(none);
	freep(&none);
	free(nothing);
	nothing = xcalloc(0, 0);
	assert_non_null(nothing);
	free(nothing);
}

static int asked;

static int next(void)
{
	return ++asked;
}

static void each_side_once(void **state)
{
	(void)state;
	asked = 0;
	assert_int_equal(MIN(next(), 10), 1);
	assert_int_equal(MIN(10, next()), 2);
	assert_int_equal(MAX(next(), 1), 3);
	assert_int_equal(MAX(1, next()), 4);
	assert_int_equal(MAX(MIN(next(), 9), MIN(next(), MAX(2, 3))), 5);
	assert_int_equal(asked, 6);
	/* The type is that of both together. */
	assert_true(MAX(INT64_MAX, 1) == INT64_MAX && MIN(1, INT64_MIN) == INT64_MIN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bugs_abort),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(each_side_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
