/* How real pods end: hooks, leftovers, early and late words, and what a killed parent leaves. */
#include "local/pod/process.h"
#include "local/pod/testing.h"

#include <fcntl.h>
#include <signal.h>
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

static bool is_ready(const struct pod_state *s)
{
	for (size_t i = 0; i < s->containers.n; i++)
		if (!s->containers.v[i].ready)
			return false;
	return true;
}

/* It is ready when it has made /v/ready. */
static struct pod_container *add(struct testing_pod *t, const char *name, const char *script)
{
	struct pod_container *c = testing_pod_sh(t, name, script);

	if (t->spec.volumes.n == 0)
		*vec_push(&t->arena, &t->spec.volumes) = (struct pod_volume){ .name = STR("v") };
	testing_pod_mount(t, c, "v", "/v");
	c->readiness = (struct pod_probe){
		.kind = POD_PROBE_EXEC, .period = 5, .timeout = SECONDS(60), .success = 1, .failure = 1, .grace = -1
	};
	*vec_push(&t->arena, &c->readiness.command) = STR("test");
	*vec_push(&t->arena, &c->readiness.command) = STR("-e");
	*vec_push(&t->arena, &c->readiness.command) = STR("/v/ready");
	return c;
}

static void stop_when_ready(struct testing_pod *t, int64_t grace)
{
	struct err e = ERR_INIT;

	testing_pod_start(t);
	testing_pod_until(t, is_ready);
	assert_true(pod_stop(t->folder, grace, &e));
	testing_pod_wait(t);
	assert_int_equal(t->state.life, POD_ENDED);
}

static bool has_ended(const struct pod_state *s)
{
	return s->life == POD_ENDED;
}

static void test_hook_first(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	c = add(&t, "main",
	        "exec 2>/dev/null; trap 'echo term >>/v/log; exit 0' TERM; touch /v/ready; while :; do sleep 1; done");
	*vec_push(&t.arena, &c->pre_stop) = STR("/bin/sh");
	*vec_push(&t.arena, &c->pre_stop) = STR("-c");
	*vec_push(&t.arena, &c->pre_stop) = STR("echo hook >>/v/log; sleep 0.1");
	stop_when_ready(&t, -1);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	assert_str(testing_pod_file(&t, "volumes/v/log"), "hook\nterm\n");
	testing_pod_end(&t);
}

/* A hook that does not end takes the time of all; then everything is killed. */
static void test_endless_hook(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	t.spec.grace = 50;
	c = add(&t, "main", "touch /v/ready; exec sleep 1000");
	*vec_push(&t.arena, &c->pre_stop) = STR("sleep");
	*vec_push(&t.arena, &c->pre_stop) = STR("1000");
	stop_when_ready(&t, -1);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 137);
	testing_pod_end(&t);
}

/* The shell dies of the signal at once; what it has started may still tidy up. */
static void test_children_have_the_time(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	add(&t, "main",
	    "exec 2>/dev/null; sh -c 'trap \"sleep 0.2; echo saved >/v/saved; exit 0\" TERM; touch /v/ready;"
	    "while :; do sleep 1; done' & wait");
	stop_when_ready(&t, -1);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 143);
	assert_str(testing_pod_file(&t, "volumes/v/saved"), "saved\n");
	testing_pod_end(&t);
}

/* What a container leaves behind is killed, and does not keep it from ending, though it holds the pipe. */
static void test_leftovers(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "sleep 1000 & echo $!");
	testing_pod_run(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	testing_pod_end(&t);
}

/* Told before it can hear. */
static void test_told_early(void **state)
{
	struct testing_pod t;
	struct err e = ERR_INIT;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "exec sleep 1000");
	assert_true(pod_prepare(t.folder, &t.spec, &e));
	assert_true(pod_stop(t.folder, -1, &e));
	testing_pod_run(&t);
	testing_pod_end(&t);
}

/* The second word shortens the time of the first. */
static void test_told_twice(void **state)
{
	struct testing_pod t;
	struct err e = ERR_INIT;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	t.spec.grace = SECONDS(100000);
	add(&t, "main", "trap '' TERM; touch /v/ready; while :; do sleep 1; done");
	testing_pod_start(&t);
	testing_pod_until(&t, is_ready);
	assert_true(pod_stop(t.folder, -1, &e));
	assert_true(pod_stop(t.folder, 0, &e));
	testing_pod_wait(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 137);
	testing_pod_end(&t);
}

/* The node goes: whatever the pod makes of it, it was not at its end. */
static void test_shut_down(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	add(&t, "main", "trap 'exit 0' TERM; touch /v/ready; while :; do sleep 0.01; done");
	testing_pod_start(&t);
	testing_pod_until(&t, is_ready);
	assert_true(pod_shut_down(t.folder, -1, NULL));
	testing_pod_wait(&t);
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	assert_true(t.state.failed);
	assert_str(t.state.reason, "NodeShutdown");
	testing_pod_end(&t);
}

static bool main_ended(const struct pod_state *s)
{
	return s->containers.v[1].now.run == POD_RUN_TERMINATED;
}

/* Its containers had done their work: only the sidecar is late. */
static void test_shut_down_too_late(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_begin(&t);
	c = testing_pod_sh(&t, "side", "trap '' TERM; while :; do sleep 0.01; done");
	c->init = c->sidecar = true;
	testing_pod_sh(&t, "main", "true");
	t.spec.grace = SECONDS(100000);
	testing_pod_start(&t);
	testing_pod_until(&t, main_ended);
	assert_true(pod_shut_down(t.folder, 0, NULL));
	testing_pod_wait(&t);
	assert_false(t.state.failed);
	assert_int_equal(t.state.reason.n, 0);
	testing_pod_end(&t);
}

/* The machine was started anew meanwhile: its processes are nobody's fault. */
static void test_another_boot(void **state)
{
	struct buf text = BUF_INIT(1 << 20);
	struct testing_pod t;
	int fd;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "exec sleep 1000");
	testing_pod_start(&t);
	kill(t.pid, SIGKILL);
	testing_pod_wait(&t);
	t.state = (struct pod_state){ .life = POD_ALIVE, .pid = 1, .boot = STR("another"), .cgroup = t.spec.cgroup };
	*vec_push(&t.arena, &t.state.containers) =
		(struct pod_container_state){ .name = STR("main"), .now = { .run = POD_RUN_RUNNING } };
	pod_state_write(&t.state, &text);
	fd = open(arena_printf(&t.arena, "%s/state.json", t.folder).p, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, text.p, text.n), text.n);
	close(fd);
	assert_true(pod_reap(t.folder, &clock_wall, NULL));
	buf_release(&text);
	testing_pod_until(&t, has_ended);
	assert_str(t.state.reason, "NodeShutdown");
	testing_pod_end(&t);
}

static bool is_restarting(const struct pod_state *s)
{
	return s->containers.v[0].restarts > 2;
}

/* A sidecar that always fails does not keep the pod from ending. */
static void test_sidecar_fails(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_begin(&t);
	c = testing_pod_sh(&t, "side", "exit 1");
	c->init = c->sidecar = true;
	testing_pod_sh(&t, "main", "echo ran");
	testing_pod_start(&t);
	testing_pod_wait(&t);
	assert_str(testing_pod_log(&t, "main", 0), "ran\n");
	testing_pod_end(&t);
	testing_pod_begin(&t);
	c = testing_pod_sh(&t, "side", "exit 1");
	c->init = c->sidecar = true;
	testing_pod_sh(&t, "main", "exec sleep 1000");
	testing_pod_start(&t);
	testing_pod_until(&t, is_restarting);
	assert_true(pod_stop(t.folder, -1, NULL));
	testing_pod_wait(&t);
	testing_pod_end(&t);
}

static bool has_written(const struct pod_state *s)
{
	return s->containers.v[0].now.run == POD_RUN_RUNNING;
}

/* Without any namespace: containers die with the parent, what they have started by pod_reap(). */
static void without_namespaces(struct testing_pod *t)
{
	testing_pod_begin(t);
	t->spec.pid_namespace = t->spec.mount_namespace = t->spec.ipc_namespace = false;
	t->spec.hostname = STR_NONE;
}

static int64_t pid_in_log(struct testing_pod *t)
{
	struct timespec moment = { .tv_nsec = 10000000 };
	int64_t pid = 0;

	for (int i = 0; i < 12000 && pid == 0; i++) {
		if (testing_pod_exists(t, "logs/main/0.log"))
			str_int(str_trim(testing_pod_log(t, "main", 0)), &pid);
		nanosleep(&moment, NULL);
	}
	assert_true(pid > 1);
	return pid;
}

static void until_gone(int64_t pid, int64_t start)
{
	struct timespec moment = { .tv_nsec = 10000000 };

	for (int i = 0; i < 12000; i++) {
		if (!process_lives(pid, start))
			return;
		nanosleep(&moment, NULL);
	}
	fail_msg("process %lld lives", (long long)pid);
}

static int64_t start_of(int64_t pid)
{
	struct process_stat st;
	char which[32];

	snprintf(which, sizeof(which), "%lld", (long long)pid);
	assert_true(process_stat(&st, which));
	return st.start;
}

static void test_no_namespaces(void **state)
{
	struct testing_pod t;
	int64_t pid, start, main, main_start;

	(void)state;
	without_namespaces(&t);
	t.spec.cgroup = STR_NONE;
	testing_pod_sh(&t, "main", "sleep 1000 & echo $!; exec sleep 1000");
	testing_pod_start(&t);
	testing_pod_until(&t, has_written);
	assert_false(t.state.own_pids);
	pid = pid_in_log(&t);
	start = start_of(pid);
	main = t.state.containers.v[0].pid;
	main_start = t.state.containers.v[0].pid_start;
	assert_true(process_lives(main, main_start));
	kill(t.pid, SIGKILL);
	testing_pod_wait(&t);
	until_gone(main, main_start);
	assert_true(pod_reap(t.folder, &clock_wall, NULL));
	until_gone(pid, start);
	testing_pod_end(&t);
}

/* A signal that comes before anybody can hear it: without a PID namespace it would end the parent without a word. */
static void test_signal_comes_early(void **state)
{
	struct testing_pod t;

	(void)state;
	without_namespaces(&t);
	testing_pod_sh(&t, "main", "exec sleep 1000");
	testing_pod_start(&t);
	kill(t.pid, SIGTERM);
	testing_pod_wait(&t);
	assert_int_equal(t.state.life, POD_ENDED);
	assert_true(pod_reap(t.folder, &clock_wall, NULL));
	testing_pod_end(&t);
}

/* A process group of its own does not save it, while others of the pod go on. */
static void test_group_of_its_own(void **state)
{
	struct testing_pod t;
	int64_t pid;
	char which[32];
	struct process_stat st;

	(void)state;
	without_namespaces(&t);
	t.spec.cgroup = STR_NONE;
	testing_pod_sh(&t, "other", "exec sleep 1000");
	testing_pod_sh(&t, "main", "timeout 1000 sleep 1000 & echo $!");
	testing_pod_start(&t);
	pid = pid_in_log(&t);
	snprintf(which, sizeof(which), "%lld", (long long)pid);
	if (process_stat(&st, which))
		until_gone(pid, st.start);
	testing_pod_until(&t, has_written);
	assert_true(pod_stop(t.folder, -1, NULL));
	testing_pod_wait(&t);
	testing_pod_end(&t);
}

/* One that made a session of its own is an orphan of the pod's: it goes at the end. */
static void test_no_namespaces_leftover(void **state)
{
	struct testing_pod t;
	int64_t pid, start;

	(void)state;
	without_namespaces(&t);
	t.spec.cgroup = STR_NONE;
	testing_pod_sh(&t, "main", "setsid sleep 1000 & echo $!; exec sleep 1000");
	testing_pod_start(&t);
	testing_pod_until(&t, has_written);
	pid = pid_in_log(&t);
	start = start_of(pid);
	assert_true(pod_stop(t.folder, -1, NULL));
	testing_pod_wait(&t);
	until_gone(pid, start);
	testing_pod_end(&t);
}

/* One that is tied goes with the one who started it. */
static void test_tied(void **state)
{
	static const struct pod_start_options tied = { .tied = true };
	struct testing_pod t;
	int said[2], hold[2];
	pid_t starter, pid = 0;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "exec sleep 1000");
	assert_true(pod_prepare(t.folder, &t.spec, NULL));
	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	starter = fork();
	if (starter == 0) {
		char byte;

		close(hold[1]);
		if (!pod_start(t.folder, &tied, &pid, NULL) || write(said[1], &pid, sizeof(pid)) < 0)
			_exit(1);
		_exit(read(hold[0], &byte, 1) != 0);
	}
	close(said[1]);
	close(hold[0]);
	assert_int_equal(read(said[0], &pid, sizeof(pid)), sizeof(pid));
	testing_pod_until(&t, has_written);
	assert_true(process_lives(pid, t.state.pid_start));
	close(hold[1]);
	assert_int_equal(waitpid(starter, NULL, 0), starter);
	until_gone(pid, t.state.pid_start);
	close(said[0]);
	testing_pod_end(&t);
}

static void test_out_of_memory(void **state)
{
	struct testing_pod t;
	struct pod_container_state *c;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}")->memory = 20 << 20;
	testing_pod_run(&t);
	for (size_t i = 0; i < t.state.notes.n; i++)
		if (str_has_prefix(t.state.notes.v[i], STR("memory limits"))) {
			print_message("skipped: %.*s\n", STR_F(t.state.notes.v[i]));
			testing_pod_end(&t);
			skip();
		}
	c = testing_pod_container(&t, "main");
	assert_str(c->now.reason, "OOMKilled");
	assert_int_equal(c->now.exit_code, 137);
	testing_pod_end(&t);
}

static void test_another_user(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_begin(&t);
	c = testing_pod_sh(&t, "main", "id -u; id -g; id -G");
	c->uid = 1234;
	c->gid = 4321;
	testing_pod_run(&t);
	if (t.state.notes.n && str_has_prefix(t.state.notes.v[0], STR("runAsUser"))) {
		print_message("skipped: %.*s\n", STR_F(t.state.notes.v[0]));
		testing_pod_end(&t);
		skip();
	}
	assert_str(testing_pod_log(&t, "main", 0), "1234\n4321\n4321\n");
	testing_pod_end(&t);
}

static void test_find_nothing(void **state)
{
	struct testing_pod t;
	enum pod_found found;
	pid_t pid;

	(void)state;
	testing_pod_begin(&t);
	testing_pod_sh(&t, "main", "true");
	assert_true(pod_prepare(t.folder, &t.spec, NULL));
	assert_true(pod_find(t.folder, &found, &pid, NULL));
	assert_int_equal(found, POD_FOUND_NOTHING);
	assert_true(pod_reap(t.folder, &clock_wall, NULL));
	testing_pod_run(&t);
	assert_true(pod_find(t.folder, &found, &pid, NULL));
	assert_int_equal(found, POD_FOUND_ENDED);
	testing_pod_end(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook_first),
		cmocka_unit_test(test_endless_hook),
		cmocka_unit_test(test_children_have_the_time),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_told_early),
		cmocka_unit_test(test_told_twice),
		cmocka_unit_test(test_shut_down),
		cmocka_unit_test(test_shut_down_too_late),
		cmocka_unit_test(test_another_boot),
		cmocka_unit_test(test_sidecar_fails),
		cmocka_unit_test(test_no_namespaces),
		cmocka_unit_test(test_signal_comes_early),
		cmocka_unit_test(test_group_of_its_own),
		cmocka_unit_test(test_no_namespaces_leftover),
		cmocka_unit_test(test_tied),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_another_user),
		cmocka_unit_test(test_find_nothing),
	};
	int status;

	if (testing_is_parent(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
