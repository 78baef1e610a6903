/* The runner goes, and comes again: what lives is found, what ended is told, what nobody knows is removed. */
#include "local/runner/testing.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static bool a_runs(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Running");
}

static bool a_ended(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Succeeded") || lab_said(l, "a", "status.phase", "Failed");
}

static pid_t parent_of_a(struct lab *l)
{
	enum pod_found found;
	pid_t pid;

	CHECK(pod_find(lab_pod_folder(l, "a"), &found, &pid, NULL));
	return found == POD_FOUND_ALIVE ? pid : 0;
}

static void start_a(struct lab *l)
{
	lab_pod(l, "a", lab_fmt(l, "echo one; %s", lab_wait_for(l, "go")), "", "");
	lab_until(l, a_runs);
}

static void lives(struct lab *l)
{
	pid_t pid;

	start_a(l);
	pid = parent_of_a(l);
	lab_leave(l);
	/* As it would be if the holder had stayed. */
	l->world.adopted = true;
	lab_start(l);
	CHECK(runner_living(l->runner) == 1);
	lab_until(l, a_runs);
	CHECK(parent_of_a(l) == pid);
	lab_touch(l, "go");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(runner_living(l->runner) == 0);
}

/* Killed between the start of a pod and its first word. */
static void has_not_said_a_word(struct lab *l)
{
	pid_t pid;

	start_a(l);
	pid = parent_of_a(l);
	CHECK(unlink(lab_fmt(l, "%s/state.json", lab_pod_folder(l, "a"))) == 0);
	lab_leave(l);
	lab_start(l);
	CHECK(runner_living(l->runner) == 1);
	CHECK(kill(pid, 0) == 0);
	lab_touch(l, "go");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(str_eqc(lab_log(l, "a"), "one\n"));
}

/* … and it went with the one who started it: nothing of it has run. */
static void never_says_a_word(struct lab *l)
{
	pid_t pid;

	start_a(l);
	pid = parent_of_a(l);
	CHECK(unlink(lab_fmt(l, "%s/state.json", lab_pod_folder(l, "a"))) == 0);
	lab_leave(l);
	lab_start(l);
	CHECK(runner_living(l->runner) == 1);
	CHECK(kill(pid, SIGKILL) == 0);
	lab_touch(l, "go");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
}

/* Prepared, but never started. */
static void was_only_prepared(struct lab *l)
{
	lab_leave(l);
	lab_pod(l, "a", "echo one", "", ",\"nodeName\":\"this\"");
	CHECK(mkdir(lab_pod_folder(l, "a"), 0700) == 0);
	lab_start(l);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
}

static bool has_ended(struct lab *l)
{
	return parent_of_a(l) == 0;
}

static void ended_meanwhile(struct lab *l)
{
	start_a(l);
	lab_leave(l);
	lab_touch(l, "go");
	lab_until(l, has_ended);
	CHECK(lab_said(l, "a", "status.phase", "Running"));
	lab_start(l);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
}

static void killed_meanwhile(struct lab *l)
{
	start_a(l);
	lab_leave(l);
	kill(parent_of_a(l), SIGKILL);
	lab_until(l, has_ended);
	lab_start(l);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.exitCode", "137"));
}

static const char *old_folder;

static bool folder_is_gone(struct lab *l)
{
	return access(old_folder, F_OK) != 0 && runner_living(l->runner) == 0;
}

static void nobody_knows(struct lab *l)
{
	pid_t pid;

	start_a(l);
	pid = parent_of_a(l);
	old_folder = lab_pod_folder(l, "a");
	lab_leave(l);
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":0}") == 200);
	CHECK(mkdir(lab_path(l, "pods/1234"), 0700) == 0);
	lab_start(l);
	lab_until(l, folder_is_gone);
	CHECK(kill(pid, 0) != 0);
	CHECK(!lab_exists(l, "pods/1234"));
}

static pid_t first;

static bool runs_anew(struct lab *l)
{
	pid_t pid = parent_of_a(l);

	return pid && pid != first && a_runs(l);
}

/* The network of before is gone: it could talk to nobody. */
static void network_is_lost(struct lab *l)
{
	start_a(l);
	first = parent_of_a(l);
	lab_leave(l);
	l->world.adopted = false;
	lab_start(l);
	lab_until(l, runs_anew);
	CHECK(lab_event(l, "a", "NetworkLost"));
	lab_touch(l, "go");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
}

static void tied(struct lab *l)
{
	pid_t pid;

	lab_leave(l);
	l->config.tied = true;
	lab_start(l);
	start_a(l);
	pid = parent_of_a(l);
	lab_leave(l);
	CHECK(kill(pid, 0) != 0);
	/* Nor does it take over what somebody else has left. */
	l->config.tied = false;
	lab_start(l);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
	CHECK(lab_delete(l, "pods", "a", NULL) == 200);
	start_a(l);
	lab_leave(l);
	l->config.tied = true;
	lab_start(l);
	CHECK(runner_living(l->runner) == 0);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
}

/* Deleted while nobody was there. */
static bool a_is_gone(struct lab *l)
{
	return lab_get(l, "pods", "a", "metadata.name").n == 0 && runner_living(l->runner) == 0;
}

static void deleted_meanwhile(struct lab *l)
{
	start_a(l);
	old_folder = lab_pod_folder(l, "a");
	lab_leave(l);
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":5}") == 200);
	lab_start(l);
	lab_until(l, a_is_gone);
	CHECK(access(old_folder, F_OK) != 0);
}

#define SCENARIO(name, kind)                                                                                           \
	static void test_##name##_##kind(void **state)                                                                 \
	{                                                                                                              \
		(void)state;                                                                                           \
		lab_run(name, kind);                                                                                   \
	}
SCENARIO(lives, NET_ROOT)
SCENARIO(lives, NET_USER)
SCENARIO(lives, NET_HOST)
SCENARIO(has_not_said_a_word, NET_HOST)
SCENARIO(never_says_a_word, NET_HOST)
SCENARIO(was_only_prepared, NET_HOST)
SCENARIO(ended_meanwhile, NET_HOST)
SCENARIO(killed_meanwhile, NET_HOST)
SCENARIO(nobody_knows, NET_HOST)
SCENARIO(network_is_lost, NET_ROOT)
SCENARIO(tied, NET_HOST)
SCENARIO(deleted_meanwhile, NET_HOST)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives_NET_ROOT),
		cmocka_unit_test(test_lives_NET_USER),
		cmocka_unit_test(test_lives_NET_HOST),
		cmocka_unit_test(test_has_not_said_a_word_NET_HOST),
		cmocka_unit_test(test_never_says_a_word_NET_HOST),
		cmocka_unit_test(test_was_only_prepared_NET_HOST),
		cmocka_unit_test(test_ended_meanwhile_NET_HOST),
		cmocka_unit_test(test_killed_meanwhile_NET_HOST),
		cmocka_unit_test(test_nobody_knows_NET_HOST),
		cmocka_unit_test(test_network_is_lost_NET_ROOT),
		cmocka_unit_test(test_tied_NET_HOST),
		cmocka_unit_test(test_deleted_meanwhile_NET_HOST),
	};
	int status;

	if (lab_is_program(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
