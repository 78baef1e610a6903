/* Further programs in containers of real pods: what they see, how they end, and who ends them. */
#include "local/pod/exec.h"
#include "base/rng.h"
#include "local/pod/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { PATIENCE_MS = 60000, TEXT = 4096 };

static bool all_run(const struct pod_state *s)
{
	for (size_t i = 0; i < s->containers.n; i++)
		if (s->containers.v[i].now.run != POD_RUN_RUNNING)
			return false;
	return s->containers.n > 0;
}

static bool second_runs(const struct pod_state *s)
{
	return s->containers.v[0].restarts == 1 && all_run(s);
}

static void begin(struct testing_pod *t, const char *script)
{
	testing_pod_begin(t);
	*vec_push(&t->arena, &t->spec.volumes) = (struct pod_volume){ .name = STR("v") };
	testing_pod_mount(t, testing_pod_sh(t, "main", script), "v", "/v");
	testing_pod_start(t);
	testing_pod_until(t, all_run);
}

struct running {
	int conn, output, input;
	struct pod_exec_answer answer;
	char text[TEXT];
};

/* SCRIPT by a shell; TTY: a terminal's other side, else -1. */
static void exec_in(struct testing_pod *t, struct running *r, const char *container, const char *script, int tty)
{
	struct pod_exec x = { .container = str_c(container), .tty = tty >= 0, .fds = { tty, tty, tty } };
	int in[2], out[2];
	struct err e = ERR_INIT;

	*r = (struct running){ .conn = -1 };
	assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	if (tty < 0)
		memcpy(x.fds, (int[]){ in[0], out[1], out[1] }, sizeof(x.fds));
	*vec_push(&t->arena, &x.command) = STR("sh");
	*vec_push(&t->arena, &x.command) = STR("-c");
	*vec_push(&t->arena, &x.command) = str_c(script);
	if (!pod_exec(t->folder, &x, &r->conn, &e))
		fail_msg("%s", err_msg(&e));
	close(in[0]);
	close(out[1]);
	r->input = in[1];
	r->output = out[0];
}

static enum pod_exec_news answer_of(struct running *r)
{
	struct pollfd p = { .fd = r->conn, .events = POLLIN };

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	return pod_exec_look(r->conn, &r->answer);
}

static void read_to_end(struct running *r, int fd)
{
	size_t n = 0;
	ssize_t k;

	while ((k = read(fd, r->text + n, TEXT - 1 - n)) > 0)
		n += (size_t)k;
	r->text[n] = 0;
}

static void over(struct running *r)
{
	close(r->conn);
	close(r->input);
	close(r->output);
}

static void end(struct testing_pod *t)
{
	struct err e = ERR_INIT;

	assert_true(pod_stop(t->folder, 0, &e));
	testing_pod_wait(t);
	testing_pod_end(t);
}

static void test_runs_inside(void **state)
{
	struct testing_pod t;
	struct running r;

	(void)state;
	testing_pod_needs_namespaces();
	begin(&t, "echo here >/v/file; echo $$ >/v/pid; exec sleep 1000");
	exec_in(&t, &r, "main", "cat; cat /v/file; [ -e /proc/$(cat /v/pid)/exe ] && hostname; exit 7", -1);
	assert_int_equal(write(r.input, "typed\n", 6), 6);
	close(r.input);
	r.input = -1;
	read_to_end(&r, r.output);
	assert_string_equal(r.text, "typed\nhere\npod-0\n");
	assert_int_equal(answer_of(&r), POD_EXEC_ENDED);
	assert_true(WIFEXITED(r.answer.status) && WEXITSTATUS(r.answer.status) == 7);
	over(&r);
	end(&t);
}

static void test_terminal(void **state)
{
	struct winsize size = { .ws_row = 33, .ws_col = 99 };
	struct testing_pod t;
	struct running r;
	int master, slave;

	(void)state;
	testing_pod_needs_namespaces();
	begin(&t, "exec sleep 1000");
	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0 && ioctl(master, TIOCSWINSZ, &size) == 0);
	exec_in(&t, &r, "main", "stty size </dev/tty; tty >/dev/null && echo $TERM", slave);
	close(slave);
	read_to_end(&r, master);
	assert_string_equal(r.text, "33 99\r\nxterm\r\n");
	assert_int_equal(answer_of(&r), POD_EXEC_ENDED);
	assert_int_equal(r.answer.status, 0);
	close(master);
	over(&r);
	end(&t);
}

/* The one that asked for it is gone: so is all that it began. */
static void test_caller_leaves(void **state)
{
	struct testing_pod t;
	struct running r;

	(void)state;
	testing_pod_needs_namespaces();
	begin(&t, "exec sleep 1000");
	exec_in(&t, &r, "main", "trap '' HUP; sleep 1000 & echo up; wait; echo woken", -1);
	assert_int_equal(read(r.output, r.text, TEXT), 3);
	close(r.conn);
	r.conn = -1;
	/* It ends when nobody holds the other side any more: the shell and its child. */
	read_to_end(&r, r.output);
	assert_string_equal(r.text, "");
	over(&r);
	end(&t);
}

static void test_pod_ends(void **state)
{
	struct testing_pod t;
	struct running r;
	struct err e = ERR_INIT;

	(void)state;
	testing_pod_needs_namespaces();
	begin(&t, "exec sleep 1000");
	exec_in(&t, &r, "main", "trap '' HUP TERM; echo up; sleep 1000; sleep 1000", -1);
	assert_int_equal(read(r.output, r.text, TEXT), 3);
	assert_true(pod_stop(t.folder, 0, &e));
	read_to_end(&r, r.output);
	testing_pod_wait(&t);
	assert_int_equal(answer_of(&r), POD_EXEC_ENDED);
	assert_true(WIFSIGNALED(r.answer.status) && WTERMSIG(r.answer.status) == SIGKILL);
	over(&r);
	assert_false(testing_pod_exists(&t, EXEC_SOCKET));
	testing_pod_end(&t);
}

static void test_container_ends(void **state)
{
	struct testing_pod t;
	struct running r;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	t.spec.restart = POD_RESTART_ALWAYS;
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	testing_pod_mount(&t, testing_pod_sh(&t, "main", "while [ ! -e /v/go ]; do sleep 0.01; done; rm /v/go"), "v",
	                  "/v");
	testing_pod_start(&t);
	testing_pod_until(&t, all_run);
	exec_in(&t, &r, "main", "trap '' HUP TERM; >/v/go; while :; do sleep 1000; done", -1);
	assert_int_equal(answer_of(&r), POD_EXEC_ENDED);
	assert_true(WIFSIGNALED(r.answer.status) && WTERMSIG(r.answer.status) == SIGKILL);
	over(&r);
	testing_pod_until(&t, second_runs);
	end(&t);
}

static void refused(struct testing_pod *t, const char *container, const char *word, const char *why)
{
	struct pod_exec x = { .container = str_c(container) };
	struct running r = { .conn = -1 };
	struct err e = ERR_INIT;

	if (word)
		*vec_push(&t->arena, &x.command) = str_c(word);
	assert_true(pod_exec(t->folder, &x, &r.conn, &e));
	assert_int_equal(answer_of(&r), POD_EXEC_FAULT);
	assert_string_equal(r.answer.text, why);
	assert_int_equal(answer_of(&r), POD_EXEC_ENDED);
	close(r.conn);
}

static void test_cannot_be_run(void **state)
{
	struct testing_pod t;
	struct pod_exec x = { .container = STR("main") };
	struct err e = ERR_INIT;
	int fd;

	(void)state;
	testing_pod_needs_namespaces();
	begin(&t, "exec sleep 1000");
	refused(&t, "main", "/no/such", "exec /no/such: executable file not found");
	refused(&t, "other", "true", "the container does not run");
	refused(&t, "main", NULL, "there is no command");
	for (int i = 0; i < 20000; i++)
		*vec_push(&t.arena, &x.command) = STR("word");
	assert_false(pod_exec(t.folder, &x, &fd, &e));
	err_release(&e);
	end(&t);
	testing_pod_begin(&t);
	x.command.n = 0;
	assert_false(pod_exec(t.top, &x, &fd, &e));
	err_release(&e);
	testing_pod_end(&t);
}

/* Whoever reaches the socket has our rights; what it sends must not end the pod. */
static void test_any_request(void **state)
{
	struct rng rng = rng_seed(18);
	struct testing_pod t;
	struct running r;

	(void)state;
	testing_pod_needs_namespaces();
	begin(&t, "exec sleep 1000");
	for (int i = 0; i < 300; i++) {
		struct sockaddr_un to = { .sun_family = AF_UNIX };
		char text[64];
		size_t n = rng_below(&rng, sizeof(text));
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		snprintf(to.sun_path, sizeof(to.sun_path), "%.*s/" EXEC_SOCKET, 80, t.folder);
		for (size_t k = 0; k < n; k++)
			text[k] = rng_one_in(&rng, 3) ? 0 : (char)rng_next(&rng);
		assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
		assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), n);
		/* Until it has been dealt with. */
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
	exec_in(&t, &r, "main", "echo still", -1);
	read_to_end(&r, r.output);
	assert_string_equal(r.text, "still\n");
	over(&r);
	end(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_inside),    cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_caller_leaves),  cmocka_unit_test(test_pod_ends),
		cmocka_unit_test(test_container_ends), cmocka_unit_test(test_cannot_be_run),
		cmocka_unit_test(test_any_request),
	};
	int status;

	if (testing_is_parent(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
