/* Real pods: what their containers do, and what is said of it. */
#include "local/net/net.h"
#include "local/net/rights.h"
#include "local/pod/testing.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_str(struct str s, const char *want)
{
	if (!str_eqc(s, want))
		fail_msg("got \"%.*s\", want \"%s\"", STR_F(s), want);
}

static void test_exit_code_and_log(void **state)
{
	struct testing_pod t;
	struct pod_container_state *c;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "echo out; echo err >&2; exit 3");
	testing_pod_run(&t);
	c = testing_pod_container(&t, "main");
	assert_int_equal(c->now.run, POD_RUN_TERMINATED);
	assert_int_equal(c->now.exit_code, 3);
	assert_str(c->now.reason, "Error");
	assert_true(c->now.started > 0 && c->now.finished >= c->now.started);
	assert_str(testing_pod_log(&t, "main", 0), "out\nerr\n");
	testing_pod_end(&t);
}

/* Where we are root by a user namespace, our rights go on from program to program, but not to a container's. */
static void test_rights_end_with_the_parent(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main",
	               "grep -q '^CapAmb:.0*$' /proc/self/status && grep -q '^CapInh:.0*$' /proc/self/status");
	assert_true(rights_keep(NULL));
	testing_pod_run(&t);
	net_rights_drop();
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	testing_pod_end(&t);
}

/* Neither ours nor the parent's: standard input, output and error, and the one that lists them. */
static void test_descriptors_end_with_the_parent(void **state)
{
	struct testing_pod t;
	int kept = dup(STDERR_FILENO);

	(void)state;
	assert_true(kept > 2);
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "ls /proc/self/fd");
	testing_pod_run(&t);
	assert_str(testing_pod_log(&t, "main", 0), "0\n1\n2\n3\n");
	testing_pod_end(&t);
	close(kept);
}

static void test_endings(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "fine", "printf unended");
	testing_pod_sh(&t, "signal", "kill -9 $$");
	*testing_pod_sh(&t, "missing", "")->command.v = STR("/no/such/program");
	testing_pod_sh(&t, "cwd", "true")->cwd = STR("/no/such/folder");
	testing_pod_run(&t);
	assert_str(testing_pod_container(&t, "fine")->now.reason, "Completed");
	assert_str(testing_pod_log(&t, "fine", 0), "unended\n");
	assert_int_equal(testing_pod_container(&t, "signal")->now.exit_code, 137);
	assert_int_equal(testing_pod_container(&t, "signal")->now.signal, 9);
	assert_int_equal(testing_pod_container(&t, "missing")->now.exit_code, 128);
	assert_str(testing_pod_container(&t, "missing")->now.reason, "StartError");
	assert_str(testing_pod_container(&t, "missing")->now.message,
	           "exec /no/such/program: executable file not found");
	assert_str(testing_pod_container(&t, "cwd")->now.reason, "CreateContainerError");
	assert_str(testing_pod_container(&t, "cwd")->now.message,
	           "working directory /no/such/folder: No such file or directory");
	testing_pod_end(&t);
}

static void test_restart_on_failure(void **state)
{
	struct testing_pod t;
	struct pod_container_state *c;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	t.spec.restart = POD_RESTART_ON_FAILURE;
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	testing_pod_mount(&t,
	                  testing_pod_sh(&t, "main",
	                                 "echo run >>/mnt/pod/runs; n=$(wc -l </mnt/pod/runs); echo $n;"
	                                 "[ $n = 4 ] || exit $n"),
	                  "v", "/mnt/pod");
	testing_pod_run(&t);
	c = testing_pod_container(&t, "main");
	assert_int_equal(c->restarts, 3);
	assert_str(c->now.reason, "Completed");
	assert_int_equal(c->last.run, POD_RUN_TERMINATED);
	assert_int_equal(c->last.exit_code, 3);
	assert_str(testing_pod_log(&t, "main", 3), "4\n");
	assert_str(testing_pod_log(&t, "main", 2), "3\n");
	/* The one before is kept, older ones are not. */
	assert_false(testing_pod_exists(&t, "logs/main/1.log"));
	/* Nothing was made on the machine. */
	assert_int_not_equal(access("/mnt/pod", F_OK), 0);
	testing_pod_end(&t);
}

static bool is_backing_off(const struct pod_state *s)
{
	return str_eqc(s->containers.v[0].now.reason, "CrashLoopBackOff");
}

static void test_back_off_and_stop(void **state)
{
	struct testing_pod t;
	struct err e = ERR_INIT;
	struct pod_container_state *c;

	(void)state;
	testing_pod_begin(&t);
	t.spec.restart = POD_RESTART_ALWAYS;
	t.spec.backoff = SECONDS(3600);
	testing_pod_sh(&t, "main", "exit 0");
	testing_pod_start(&t);
	testing_pod_until(&t, is_backing_off);
	c = testing_pod_container(&t, "main");
	/* The first restart came at once. */
	assert_int_equal(c->restarts, 1);
	assert_int_equal(c->last.run, POD_RUN_TERMINATED);
	assert_str(c->now.message, "back-off 3600s restarting failed container=main pod=pod-0_default(1234)");
	assert_true(pod_stop(t.folder, -1, &e));
	testing_pod_wait(&t);
	testing_pod_end(&t);
}

static void test_init_containers(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	for (int i = 0; i < 3; i++) {
		static const char *const scripts[] = { "echo one >>/no/where/log", "echo two >>/no/where/log",
			                               "cat /no/where/log" };
		static const char *const names[] = { "a", "b", "main" };
		struct pod_container *c = testing_pod_sh(&t, names[i], scripts[i]);

		c->init = i < 2;
		testing_pod_mount(&t, c, "v", "/no/where");
	}
	testing_pod_run(&t);
	assert_str(testing_pod_log(&t, "main", 0), "one\ntwo\n");
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	assert_true(testing_pod_container(&t, "a")->ready);
	testing_pod_end(&t);
}

static void test_init_failure_ends_the_pod(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "a", "exit 7")->init = true;
	testing_pod_sh(&t, "main", "echo never");
	testing_pod_run(&t);
	assert_int_equal(testing_pod_container(&t, "a")->now.exit_code, 7);
	assert_int_equal(testing_pod_container(&t, "main")->now.run, POD_RUN_WAITING);
	assert_str(testing_pod_container(&t, "main")->now.reason, "PodInitializing");
	assert_false(testing_pod_exists(&t, "logs/main/0.log"));
	testing_pod_end(&t);
}

/* It is started before the others, goes on beside them, and is stopped after them. */
static void test_sidecar(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	c = testing_pod_sh(&t, "side",
	                   "exec 2>/dev/null; trap 'cat /v/log; exit 5' TERM; echo side >/v/log; mkfifo /v/f;"
	                   "while :; do read x </v/f || true; done");
	c->init = c->sidecar = true;
	testing_pod_mount(&t, c, "v", "/v");
	c = testing_pod_sh(&t, "main", "until [ -p /v/f ]; do :; done; echo main >>/v/log");
	testing_pod_mount(&t, c, "v", "/v");
	testing_pod_run(&t);
	assert_int_equal(testing_pod_container(&t, "side")->now.exit_code, 5);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	assert_str(testing_pod_log(&t, "side", 0), "side\nmain\n");
	testing_pod_end(&t);
}

static bool says_ready(const struct pod_state *s)
{
	return s->containers.v[0].ready;
}

static struct pod_probe *exec_probe(struct testing_pod *t, struct pod_probe *p, const char *script)
{
	*p = (struct pod_probe){
		.kind = POD_PROBE_EXEC, .period = 5, .timeout = SECONDS(60), .success = 1, .failure = 1, .grace = -1
	};
	*vec_push(&t->arena, &p->command) = STR("/bin/sh");
	*vec_push(&t->arena, &p->command) = STR("-c");
	*vec_push(&t->arena, &p->command) = str_c(script);
	return p;
}

static void test_stop_in_time(void **state)
{
	struct testing_pod t;
	struct err e = ERR_INIT;
	struct pod_container *c;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	c = testing_pod_sh(
		&t, "main",
		"exec 2>/dev/null; trap 'echo stopped; exit 4' TERM; echo >/v/trapped; while :; do sleep 1; done");
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	testing_pod_mount(&t, c, "v", "/v");
	exec_probe(&t, &c->readiness, "test -e /v/trapped");
	testing_pod_start(&t);
	testing_pod_until(&t, says_ready);
	assert_true(pod_stop(t.folder, -1, &e));
	testing_pod_wait(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 4);
	assert_str(testing_pod_log(&t, "main", 0), "stopped\n");
	testing_pod_end(&t);
}

static void test_stop_by_force(void **state)
{
	struct testing_pod t;
	struct err e = ERR_INIT;
	struct pod_container *c;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	t.spec.grace = 10;
	c = testing_pod_sh(&t, "main", "trap '' TERM; echo >/v/trapped; while :; do sleep 1000; done");
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	testing_pod_mount(&t, c, "v", "/v");
	exec_probe(&t, &c->readiness, "test -e /v/trapped");
	testing_pod_start(&t);
	testing_pod_until(&t, says_ready);
	assert_true(pod_stop(t.folder, -1, &e));
	testing_pod_wait(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 137);
	testing_pod_end(&t);
}

static bool runs(const struct pod_state *s)
{
	return s->containers.v[0].now.run == POD_RUN_RUNNING;
}

static bool is_marked_dead(const struct pod_state *s)
{
	return s->life == POD_ENDED && s->containers.v[0].now.exit_code == 137 &&
	       str_eqc(s->containers.v[0].now.reason, "ContainerStatusUnknown");
}

static void test_killed_from_outside(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "while :; do sleep 100; done");
	testing_pod_start(&t);
	testing_pod_until(&t, runs);
	assert_true(pod_kill(t.folder, NULL));
	testing_pod_wait(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 137);
	assert_false(pod_kill(t.folder, NULL));
	testing_pod_end(&t);
}

/* The one who started it finds out, and nothing is left. */
static void test_killed_parent(void **state)
{
	struct testing_pod t;
	struct err e = ERR_INIT;
	enum pod_found found;
	pid_t pid;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "sleep 1000 & exec sleep 1000");
	testing_pod_start(&t);
	testing_pod_until(&t, runs);
	assert_true(pod_find(t.folder, &found, &pid, &e));
	assert_int_equal(found, POD_FOUND_ALIVE);
	assert_int_equal(pid, t.pid);
	kill(t.pid, SIGKILL);
	testing_pod_wait(&t);
	assert_true(pod_find(t.folder, &found, &pid, &e));
	assert_int_equal(found, POD_FOUND_DIED);
	assert_true(pod_reap(t.folder, &clock_wall, &e));
	testing_pod_until(&t, is_marked_dead);
	testing_pod_end(&t);
}

/* On another network it would be another pod: it does not run. */
static void test_network_is_missing(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	t.spec.network = STR("/no/such/network");
	testing_pod_sh(&t, "main", "echo never");
	testing_pod_run(&t);
	assert_true(t.state.failed);
	assert_str(t.state.reason, "FailedCreatePodSandBox");
	assert_str(t.state.message, "network namespace /no/such/network: No such file or directory");
	assert_false(testing_pod_exists(&t, "logs/main/0.log"));
	testing_pod_end(&t);
}

static void test_network(void **state)
{
	struct testing_pod t;
	int ready[2], word;
	pid_t pid;

	(void)state;
	testing_pod_needs_namespaces();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		word = unshare(CLONE_NEWNET);
		if (write(ready[1], &word, sizeof(word)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &word, sizeof(word)), sizeof(word));
	assert_int_equal(word, 0);
	testing_pod_begin(&t);
	t.spec.network = arena_printf(&t.arena, "/proc/%d/ns/net", (int)pid);
	testing_pod_sh(&t, "main", "grep -c : /proc/net/dev; grep -o 'lo:' /proc/net/dev");
	testing_pod_run(&t);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
	assert_str(testing_pod_log(&t, "main", 0), "1\nlo:\n");
	testing_pod_end(&t);
}

/* What is wanted and cannot be had ends it only if the spec says so. */
static void test_notes(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "true");
	t.spec.mount_namespace = t.spec.ipc_namespace = false;
	t.spec.hostname = STR_NONE;
	for (int strict = 0; strict < 2; strict++) {
		t.spec.strict = strict;
		assert_true(pod_prepare(t.folder, &t.spec, NULL));
		/* Started by hand, it has no PID namespace. */
		t.pid = fork();
		if (t.pid == 0)
			_exit(pod_main(t.folder, false));
		t.running = true;
		testing_pod_wait(&t);
		assert_int_equal(t.state.failed, strict);
		if (!strict)
			assert_str(t.state.notes.v[0], "the pod has no PID namespace of its own");
		else
			assert_str(t.state.message, "the pod has no PID namespace of its own");
	}
	testing_pod_end(&t);
}

static void test_deadline(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	t.spec.deadline = 1;
	testing_pod_sh(&t, "main", "exec sleep 1000");
	testing_pod_run(&t);
	assert_true(t.state.failed);
	assert_str(t.state.reason, "DeadlineExceeded");
	testing_pod_end(&t);
}

static bool lines_are_lost(const struct pod_state *s)
{
	return s->containers.n && s->containers.v[0].log_problem.n;
}

/* On a full disk: the first one is said at once, how many they were in the end. */
static void test_lost_lines(void **state)
{
	static const char *const folders[] = { "", "/logs", "/logs/main" };
	struct testing_pod t;
	struct str go, why;

	(void)state;
	testing_pod_begin(&t);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		assert_int_equal(mkdir(arena_printf(&t.arena, "%s%s", t.folder, folders[i]).p, 0755), 0);
	assert_int_equal(symlink("/dev/full", arena_printf(&t.arena, "%s/logs/main/0.log", t.folder).p), 0);
	go = arena_printf(&t.arena, "%s/go", t.top);
	testing_pod_sh(
		&t, "main",
		arena_printf(&t.arena, "echo a; while [ ! -e %s ]; do sleep 0.05; done; echo b; echo c", go.p).p);
	testing_pod_start(&t);
	testing_pod_until(&t, lines_are_lost);
	why = arena_printf(&t.arena, "%s/logs/main/0.log: No space left on device", t.folder);
	assert_str(testing_pod_container(&t, "main")->log_problem,
	           arena_printf(&t.arena, "lines of main are lost: %s", why.p).p);
	close(open(go.p, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	testing_pod_wait(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	assert_int_equal(testing_pod_container(&t, "main")->log_dropped, 3);
	assert_str(testing_pod_container(&t, "main")->log_problem,
	           arena_printf(&t.arena, "3 lines of main are lost: %s", why.p).p);
	testing_pod_end(&t);
}

/* What keeps the other states from being written, as a full disk does, keeps the last one from nothing. */
static void test_last_state_has_its_room(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main",
	               arena_printf(&t.arena,
	                            "cd %s; until rm -f state.json.new; mkdir state.json.new; do :; done; exit 4",
	                            t.folder)
	                       .p);
	testing_pod_run(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 4);
	assert_false(testing_pod_exists(&t, POD_LAST_STATE));
	testing_pod_end(&t);
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "true");
	testing_pod_run(&t);
	assert_false(testing_pod_exists(&t, POD_NEXT_STATE));
	assert_false(testing_pod_exists(&t, POD_LAST_STATE));
	testing_pod_end(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_code_and_log),
		cmocka_unit_test(test_rights_end_with_the_parent),
		cmocka_unit_test(test_descriptors_end_with_the_parent),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_restart_on_failure),
		cmocka_unit_test(test_back_off_and_stop),
		cmocka_unit_test(test_init_containers),
		cmocka_unit_test(test_init_failure_ends_the_pod),
		cmocka_unit_test(test_sidecar),
		cmocka_unit_test(test_stop_in_time),
		cmocka_unit_test(test_stop_by_force),
		cmocka_unit_test(test_killed_from_outside),
		cmocka_unit_test(test_killed_parent),
		cmocka_unit_test(test_network_is_missing),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_lost_lines),
		cmocka_unit_test(test_last_state_has_its_room),
	};
	int status;

	if (testing_is_parent(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
