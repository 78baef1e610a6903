#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "loop/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct run {
	struct loop *loop;
	struct loop_process *p;
	struct loop_process_result r;
	char out[64], err[64];
	size_t out_n;
	int calls;
	bool free_inside;
};

static void copy(char to[static 64], struct str s)
{
	size_t n = MIN(s.n, (size_t)63);

	memcpy(to, s.p, n);
	to[n] = 0;
}

static void on_end(void *cookie, const struct loop_process_result *r)
{
	struct run *run = cookie;

	run->calls++;
	run->r = *r;
	run->out_n = r->out.n;
	copy(run->out, r->out);
	copy(run->err, r->err);
	if (run->free_inside) {
		loop_process_free(run->p);
		run->p = NULL;
	}
}

static struct run run_with(const char *const *argv, const char *const *env, msec timeout, size_t max)
{
	struct loop_process_spec spec = { .argv = argv, .env = env, .timeout = timeout, .output_max = max };
	struct run run = { .loop = loop_new() };

	run.p = loop_process_start(run.loop, &spec, on_end, &run);
	assert_int_equal(run.calls, 0);
	loop_run(run.loop);
	assert_int_equal(run.calls, 1);
	loop_process_free(run.p);
	loop_free(run.loop);
	return run;
}

static struct run shell(const char *script, msec timeout, size_t max)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	return run_with(argv, NULL, timeout, max);
}

static void test_exit_status(void **state)
{
	static const char *const yes[] = { "true", NULL }, *const no[] = { "false", NULL };

	(void)state;
	assert_int_equal(run_with(yes, NULL, MINUTES(1), 100).r.exit_status, 0);
	assert_int_equal(run_with(no, NULL, 0, 100).r.exit_status, 1);
	assert_int_equal(shell("exit 42", MINUTES(1), 100).r.exit_status, 42);
	assert_int_equal(shell("kill -9 $$", MINUTES(1), 100).r.exit_status, -1);
}

static void test_output(void **state)
{
	static const char *const argv[] = { "echo", "a b", "$HOME;*", NULL };
	struct run r = run_with(argv, NULL, MINUTES(1), 100);

	(void)state;
	assert_string_equal(r.out, "a b $HOME;*\n");
	assert_string_equal(r.err, "");
	assert_false(r.r.truncated || r.r.timed_out);
	assert_null(r.r.problem);
	r = shell("echo one; echo two >&2; cat; exit 3", MINUTES(1), 100);
	assert_string_equal(r.out, "one\n");
	assert_string_equal(r.err, "two\n");
	assert_int_equal(r.r.exit_status, 3);
}

static void test_environment(void **state)
{
	static const char *const argv[] = { "sh", "-c",
		                            "echo $LOOP_KEPT $LOOP_SET $LOOP_NEW; env | grep -c ^LOOP_SET=", NULL };
	static const char *const env[] = { "LOOP_SET=theirs", "LOOP_NEW=a=b", NULL };

	(void)state;
	setenv("LOOP_KEPT", "kept", 1);
	setenv("LOOP_SET", "ours", 1);
	assert_string_equal(run_with(argv, env, MINUTES(1), 100).out, "kept theirs a=b\n1\n");
}

static void test_too_much_output(void **state)
{
	struct run r = shell("head -c 1000000 /dev/zero", MINUTES(1), 1000);

	(void)state;
	assert_true(r.r.truncated);
	assert_int_equal(r.out_n, 1000);
	assert_int_equal(r.r.exit_status, 0);
	r = shell("head -c 1000 /dev/zero", MINUTES(1), 1000);
	assert_false(r.r.truncated);
	assert_int_equal(r.out_n, 1000);
	r = shell("head -c 1000001 /dev/zero", MINUTES(1), 1000000);
	assert_true(r.r.truncated);
	assert_int_equal(r.out_n, 1000000);
}

static void test_not_found(void **state)
{
	static const char *const argv[] = { "no-such-program-anywhere", NULL }, *const folder[] = { "/", NULL };
	struct run r = run_with(argv, NULL, MINUTES(1), 100);

	(void)state;
	assert_int_equal(r.r.exit_status, -1);
	assert_non_null(r.r.problem);
	assert_non_null(strstr(r.r.problem, "no such file"));
	assert_false(r.r.timed_out);
	assert_non_null(run_with(folder, NULL, MINUTES(1), 100).r.problem);
}

/* The time-out ends the children of the program as well: the pipe that they hold is closed. */
static void test_timeout_kills_the_group(void **state)
{
	struct loop *l = loop_new();
	struct run run = { .loop = l, .free_inside = true };
	char c;
	static const char *const argv[] = { "sh", "-c", "sleep 1000 & sleep 1000 & wait", NULL };
	struct loop_process_spec spec = { .argv = argv, .timeout = 50, .output_max = 100 };
	int held[2];

	(void)state;
	assert_int_equal(pipe(held), 0);
	run.p = loop_process_start(l, &spec, on_end, &run);
	close(held[1]);
	loop_run(l);
	assert_int_equal(run.calls, 1);
	assert_true(run.r.timed_out);
	assert_int_equal(run.r.exit_status, -1);
	/* All of them had the other end. */
	assert_int_equal(read(held[0], &c, 1), 0);
	close(held[0]);
	loop_free(l);
}

/* A descendant that goes on does not hold up the result. */
static void test_descendant_holds_the_pipe(void **state)
{
	struct run r = shell("sleep 1000 & echo $!", MINUTES(5), 100);
	int64_t pid;

	(void)state;
	assert_int_equal(r.r.exit_status, 0);
	assert_true(str_int(str_trim(str_c(r.out)), &pid));
	assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
}

static void test_free_while_it_runs(void **state)
{
	static const char *const argv[] = { "sleep", "1000", NULL };
	struct loop_process_spec spec = { .argv = argv, .timeout = MINUTES(30), .output_max = 100 };
	struct run run = { .loop = loop_new() };

	(void)state;
	run.p = loop_process_start(run.loop, &spec, on_end, &run);
	loop_process_free(run.p);
	loop_free(run.loop);
	assert_int_equal(run.calls, 0);
	/* It was waited for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Programs see SIGPIPE as usual, though we ignore it. */
static void test_signals_are_as_usual(void **state)
{
	(void)state;
	assert_string_equal(shell("sh -c 'kill -PIPE $$' 2>/dev/null; echo $?", MINUTES(1), 100).out, "141\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_status),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_too_much_output),
		cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_timeout_kills_the_group),
		cmocka_unit_test(test_descendant_holds_the_pipe),
		cmocka_unit_test(test_free_while_it_runs),
		cmocka_unit_test(test_signals_are_as_usual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
