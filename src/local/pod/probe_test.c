/* Probes of real pods. The test itself is the server that is probed. */
#include "local/pod/testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { PATIENCE = 120000 };

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

static void net_probe(struct pod_probe *p, enum pod_probe_kind kind, int port)
{
	*p = (struct pod_probe){
		.kind = kind, .port = port, .period = 5, .timeout = SECONDS(60), .success = 1, .failure = 1, .grace = -1
	};
}

static int listen_here(int *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static void serve(int fd, const char *reply)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char request[4096];
	int c;

	assert_int_equal(poll(&p, 1, PATIENCE), 1);
	c = accept(fd, NULL, NULL);
	assert_true(c >= 0);
	assert_true(read(c, request, sizeof(request)) > 0);
	assert_int_equal(write(c, reply, strlen(reply)), strlen(reply));
	close(c);
}

static bool is_ready(const struct pod_state *s)
{
	return s->containers.v[0].ready;
}

static bool is_unready(const struct pod_state *s)
{
	return !s->containers.v[0].ready;
}

static bool has_problem(const struct pod_state *s)
{
	return s->containers.v[0].problems > 0;
}

static bool was_restarted(const struct pod_state *s)
{
	return s->containers.v[0].restarts > 0;
}

static void stop(struct testing_pod *t)
{
	struct err e = ERR_INIT;

	assert_true(pod_stop(t->folder, 0, &e));
	testing_pod_wait(t);
	testing_pod_end(t);
}

static void assert_problem(struct testing_pod *t, const char *want)
{
	assert_string_equal(t->state.containers.v[0].problem.p, want);
}

static void test_http(void **state)
{
	struct testing_pod t;
	int port, fd = listen_here(&port);

	(void)state;
	testing_pod_begin(&t);
	net_probe(&testing_pod_sh(&t, "main", "exec sleep 1000")->readiness, POD_PROBE_HTTP, port);
	testing_pod_start(&t);
	serve(fd, "HTTP/1.1 503 No\r\n\r\n");
	testing_pod_until(&t, has_problem);
	assert_false(t.state.containers.v[0].ready);
	assert_problem(&t, "Readiness probe failed: HTTP probe failed with statuscode: 503");
	serve(fd, "HTTP/1.1 204 Yes\r\n\r\n");
	testing_pod_until(&t, is_ready);
	serve(fd, "what?");
	testing_pod_until(&t, is_unready);
	assert_problem(&t, "Readiness probe failed: the answer is not HTTP");
	/* Not ready is no reason to end it. */
	assert_int_equal(t.state.containers.v[0].now.run, POD_RUN_RUNNING);
	close(fd);
	stop(&t);
}

static void test_tcp_liveness(void **state)
{
	struct testing_pod t;
	int port, fd = listen_here(&port);

	(void)state;
	testing_pod_begin(&t);
	t.spec.restart = POD_RESTART_ON_FAILURE;
	net_probe(&testing_pod_sh(&t, "main", "exec sleep 1000")->liveness, POD_PROBE_TCP, port);
	testing_pod_start(&t);
	testing_pod_until(&t, is_ready);
	assert_int_equal(t.state.containers.v[0].restarts, 0);
	close(fd);
	testing_pod_until(&t, was_restarted);
	assert_int_equal(t.state.containers.v[0].last.exit_code, 143);
	assert_true(str_has_prefix(t.state.containers.v[0].problem, STR("Liveness probe failed: connection to port ")));
	stop(&t);
}

/* The others wait for it. */
static void test_startup(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	c = testing_pod_sh(&t, "main", "until [ -e /v/tried ]; do sleep 0.01; done; touch /v/go; exec sleep 1000");
	testing_pod_mount(&t, c, "v", "/v");
	exec_probe(&t, &c->startup, "test -e /v/go && exit 0; touch /v/tried; exit 1")->failure = 1000000;
	exec_probe(&t, &c->liveness, "test -e /v/go");
	testing_pod_start(&t);
	testing_pod_until(&t, is_ready);
	assert_true(t.state.containers.v[0].started);
	assert_true(t.state.containers.v[0].problems > 0);
	assert_problem(&t, "Startup probe failed: the command ended with 1");
	assert_int_equal(t.state.containers.v[0].restarts, 0);
	stop(&t);
}

static void test_startup_fails(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	testing_pod_begin(&t);
	c = testing_pod_sh(&t, "main", "exec sleep 1000");
	exec_probe(&t, &c->startup, "exit 3")->failure = 2;
	testing_pod_run(&t);
	assert_int_equal(t.state.containers.v[0].now.exit_code, 143);
	assert_int_equal(t.state.containers.v[0].problems, 2);
	testing_pod_end(&t);
}

static void test_exec_takes_too_long(void **state)
{
	struct testing_pod t;

	(void)state;
	testing_pod_begin(&t);
	exec_probe(&t, &testing_pod_sh(&t, "main", "exec sleep 1000")->readiness, "sleep 1000")->timeout = 20;
	testing_pod_start(&t);
	testing_pod_until(&t, has_problem);
	assert_problem(&t, "Readiness probe failed: timed out after 0 s");
	stop(&t);
}

/* Somebody who takes the connection and says nothing. */
static void test_no_answer(void **state)
{
	struct testing_pod t;
	int port, fd = listen_here(&port);

	(void)state;
	testing_pod_begin(&t);
	net_probe(&testing_pod_sh(&t, "main", "exec sleep 1000")->readiness, POD_PROBE_HTTP, port);
	t.spec.containers.v[0].readiness.timeout = 20;
	testing_pod_start(&t);
	testing_pod_until(&t, has_problem);
	assert_problem(&t, "Readiness probe failed: no answer in time");
	stop(&t);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_tcp_liveness),
		cmocka_unit_test(test_startup),
		cmocka_unit_test(test_startup_fails),
		cmocka_unit_test(test_exec_takes_too_long),
		cmocka_unit_test(test_no_answer),
	};
	int status;

	if (testing_is_parent(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
