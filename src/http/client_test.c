/* The client against servers that behave: what goes over the wire, and over how many connections. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* Answers every request of one connection with its number, the request's lines and its body. */
static void echo_on(int fd, int connection)
{
	struct buf body = BUF_INIT(1 << 24), answer = BUF_INIT(1 << 24);
	char head[TESTING_HEAD];

	while (testing_read(fd, head, &body)) {
		buf_clear(&answer);
		buf_printf(&answer, "%d\n%s%.*s", connection, head, STR_F(buf_str(&body)));
		testing_answer(fd, 200, "", buf_str(&answer));
	}
}

/* Each connection is a process of its own. */
static void serve_echo(int listener)
{
	for (int connection = 1;; connection++) {
		int fd = testing_accept(listener);

		if (fork() == 0) {
			echo_on(fd, connection);
			_exit(0);
		}
		close(fd);
	}
}

static bool has(const struct buf *b, const char *text)
{
	return b->p && strstr(b->p, text);
}

static void test_headers(void **state)
{
	struct fetch f = { 0 };

	(void)state;
	testing_connect(testing_serve(serve_echo), 1);
	testing_send(&f, (struct http_request){ .path = STR("/api/v1/pods?limit=500&x=%20"),
	                                        .authorization = STR("Bearer secret"),
	                                        .accept = STR("application/json;as=Table") });
	testing_wait(1);
	assert_int_equal(f.calls, 1);
	assert_int_equal(f.status, 200);
	assert_string_equal(f.problem, "");
	assert_false(f.never_sent);
	assert_true(has(&f.body, "1\nGET /api/v1/pods?limit=500&x=%20 HTTP/1.1\r\n"));
	assert_true(has(&f.body, "\r\nAuthorization: Bearer secret\r\n"));
	assert_true(has(&f.body, "\r\nAccept: application/json;as=Table\r\n"));
	assert_true(has(&f.body, "\r\nUser-Agent: tests/1\r\n"));
	assert_false(has(&f.body, "Content-Type"));
	assert_false(has(&f.body, "Expect"));
	assert_false(has(&f.body, "Accept-Encoding"));
	fetch_release(&f);
	/* Nothing of it sticks. */
	testing_get(&f, "/a/../b");
	assert_true(has(&f.body, "GET /a/../b HTTP/1.1\r\n"));
	assert_true(has(&f.body, "\r\nAccept: application/json\r\n"));
	assert_false(has(&f.body, "Authorization"));
	fetch_release(&f);
}

static void test_methods(void **state)
{
	static const struct {
		enum http_method method;
		const char *body, *type, *line, *type_line;
	} cases[] = {
		{ HTTP_POST, "{}", "", "POST /x HTTP/1.1\r\n", "Content-Type: application/json\r\n" },
		{ HTTP_GET, "", "", "GET /x HTTP/1.1\r\n", NULL },
		{ HTTP_PUT, "{\"a\":1}", "application/json", "PUT /x HTTP/1.1\r\n",
		  "Content-Type: application/json\r\n" },
		{ HTTP_DELETE, "", "", "DELETE /x HTTP/1.1\r\n", NULL },
		{ HTTP_PATCH, "[]", "application/merge-patch+json", "PATCH /x HTTP/1.1\r\n",
		  "Content-Type: application/merge-patch+json\r\n" },
		{ HTTP_DELETE, "{\"p\":1}", "application/json", "DELETE /x HTTP/1.1\r\n",
		  "Content-Type: application/json\r\n" },
		{ HTTP_GET, "", "", "GET /x HTTP/1.1\r\n", NULL },
	};

	(void)state;
	testing_connect(testing_serve(serve_echo), 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fetch f = { 0 };

		testing_send(&f, (struct http_request){ .method = cases[i].method,
		                                        .path = STR("/x"),
		                                        .body = str_c(cases[i].body),
		                                        .content_type = str_c(cases[i].type) });
		testing_wait(1);
		assert_int_equal(f.status, 200);
		assert_true(has(&f.body, cases[i].line));
		assert_true(str_has_suffix(buf_str(&f.body), str_c(cases[i].body)));
		if (cases[i].type_line)
			assert_true(has(&f.body, cases[i].type_line));
		else
			assert_false(has(&f.body, "Content-"));
		fetch_release(&f);
	}
}

static void test_large_body(void **state)
{
	struct buf body = BUF_INIT(1 << 23);
	struct fetch f = { 0 };

	(void)state;
	testing_connect(testing_serve(serve_echo), 1);
	while (body.n < 3 << 20)
		buf_printf(&body, "line %zu of a large body\n", body.n);
	testing_send(&f, (struct http_request){ .method = HTTP_POST, .path = STR("/"), .body = buf_str(&body) });
	testing_wait(1);
	assert_int_equal(f.status, 200);
	assert_true(str_has_suffix(buf_str(&f.body), buf_str(&body)));
	buf_release(&body);
	fetch_release(&f);
}

static void test_connection_is_kept(void **state)
{
	struct fetch f;

	(void)state;
	testing_connect(testing_serve(serve_echo), 4);
	for (int i = 0; i < 20; i++) {
		testing_get(&f, "/");
		assert_true(str_has_prefix(buf_str(&f.body), STR("1\n")));
		fetch_release(&f);
	}
}

/* Closes each connection after its answer, without a word before. */
static void serve_once_each(int listener)
{
	struct buf body = BUF_INIT(1 << 20);
	char head[TESTING_HEAD];

	for (;;) {
		int fd = testing_accept(listener);

		if (testing_read(fd, head, &body))
			testing_answer(fd, 200, "", STR("once"));
		close(fd);
	}
}

static void test_kept_connection_was_closed(void **state)
{
	(void)state;
	testing_connect(testing_serve(serve_once_each), 1);
	for (int i = 0; i < 20; i++) {
		struct fetch f = { 0 };

		testing_send(&f, (struct http_request){ .path = STR("/") });
		testing_wait(1);
		assert_string_equal(f.problem, "");
		assert_int_equal(f.status, 200);
		fetch_release(&f);
	}
}

struct turn {
	int number;
	int *next;
};

static void in_turn(void *cookie, const struct http_answer *a)
{
	struct turn *t = cookie;

	assert_int_equal(a->status, 200);
	assert_int_equal(t->number, (*t->next)++);
	if (*t->next == 50)
		testing_enough();
}

static void test_waiting_keeps_its_order(void **state)
{
	struct turn turns[50];
	int next = 0;

	(void)state;
	testing_connect(testing_serve(serve_echo), 1);
	for (int i = 0; i < 50; i++) {
		turns[i] = (struct turn){ i, &next };
		testing_send(NULL, (struct http_request){ .path = STR("/"), .done = in_turn, .cookie = &turns[i] });
	}
	testing_wait(0);
	assert_int_equal(next, 50);
}

static void test_a_thousand_over_eight(void **state)
{
	enum { N = 1000 };
	struct fetch *f = xcalloc(N, sizeof(*f));
	char path[32];

	(void)state;
	testing_connect(testing_serve(serve_echo), 8);
	for (int i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		testing_send(&f[i], (struct http_request){ .path = str_c(path), .timeout = MINUTES(1) });
	}
	testing_wait(N);
	for (int i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "GET /%d HTTP", i);
		assert_int_equal(f[i].calls, 1);
		assert_int_equal(f[i].status, 200);
		assert_true(has(&f[i].body, path));
		assert_in_range(strtol(f[i].body.p, NULL, 10), 1, 8);
		fetch_release(&f[i]);
	}
	free(f);
}

static void test_path_prefix(void **state)
{
	struct http_server s = { .proxy = STR("-") };
	struct fetch f;
	char url[64];

	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/clusters/one/", testing_serve(serve_echo));
	s.url = str_c(url);
	testing_connect_to(&s, 1);
	testing_get(&f, "/api?x");
	assert_true(has(&f.body, "GET /clusters/one/api?x HTTP/1.1\r\n"));
	fetch_release(&f);
}

/* The echo is the proxy here: it sees whole URLs. */
static void test_proxy(void **state)
{
	struct http_server s = { .url = STR("http://cluster.invalid:8080") };
	char proxy[64];
	struct fetch f;

	(void)state;
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", testing_serve(serve_echo));
	s.proxy = str_c(proxy);
	testing_connect_to(&s, 1);
	testing_get(&f, "/api");
	assert_true(has(&f.body, "GET http://cluster.invalid:8080/api HTTP/1.1\r\n"));
	fetch_release(&f);
}

static void test_proxy_of_the_environment(void **state)
{
	struct http_server s = { .url = STR("http://cluster.invalid:8080") };
	int port = testing_serve(serve_echo);
	char proxy[64];
	struct fetch f;

	(void)state;
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", port);
	setenv("http_proxy", proxy, 1);
	unsetenv("no_proxy");
	unsetenv("NO_PROXY");
	testing_connect_to(&s, 1);
	testing_get(&f, "/api");
	assert_true(has(&f.body, "GET http://cluster.invalid:8080/api HTTP/1.1\r\n"));
	fetch_release(&f);
	http_client_free(testing_client);
	/* "-" of testing_connect() wants none. */
	testing_connect(port, 1);
	testing_get(&f, "/api");
	assert_true(has(&f.body, "GET /api HTTP/1.1\r\n"));
	fetch_release(&f);
	unsetenv("http_proxy");
}

static void test_refresh(void **state)
{
	int port = testing_serve(serve_echo);
	struct http_server s = { .user_agent = STR("tests/2"), .proxy = STR("-") };
	struct err e = ERR_INIT;
	struct fetch f;
	char url[64];

	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	testing_connect(port, 1);
	testing_get(&f, "/");
	assert_true(str_has_prefix(buf_str(&f.body), STR("1\n")));
	fetch_release(&f);
	s.url = STR("gopher://x");
	assert_false(http_client_refresh(testing_client, &s, &e));
	err_release(&e);
	testing_get(&f, "/");
	assert_true(str_has_prefix(buf_str(&f.body), STR("1\n")));
	fetch_release(&f);
	s.url = str_c(url);
	assert_true(http_client_refresh(testing_client, &s, &e));
	testing_get(&f, "/");
	assert_true(str_has_prefix(buf_str(&f.body), STR("2\n")));
	assert_true(has(&f.body, "User-Agent: tests/2\r\n"));
	fetch_release(&f);
}

static int option(int fd, int level, int name)
{
	int value;
	socklen_t n = sizeof(value);

	return getsockopt(fd, level, name, &value, &n) == 0 ? value : -1;
}

/* Programs that are started must not get our connections, and a peer that is gone must be noticed. */
static void test_socket_options(void **state)
{
	struct dirent *d;
	struct fetch f;
	int found = 0;
	DIR *dir;

	(void)state;
	testing_connect(testing_serve(serve_echo), 1);
	testing_get(&f, "/");
	fetch_release(&f);
	dir = opendir("/proc/self/fd");
	while ((d = readdir(dir))) {
		int64_t fd;

		if (!str_int(str_c(d->d_name), &fd) || fd < 3 || option((int)fd, SOL_SOCKET, SO_DOMAIN) != AF_INET)
			continue;
		found++;
		assert_true(fcntl((int)fd, F_GETFD) & FD_CLOEXEC);
		assert_true(option((int)fd, SOL_SOCKET, SO_KEEPALIVE));
		assert_int_equal(option((int)fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 20000);
		assert_int_equal(option((int)fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
		assert_int_equal(option((int)fd, IPPROTO_TCP, TCP_KEEPINTVL), 5);
	}
	closedir(dir);
	assert_true(found > 0);
}

static void test_servers_that_make_no_sense(void **state)
{
	static const struct {
		struct http_server s;
		const char *why;
	} cases[] = {
		{ { .url = STR_INIT("") }, "server URL \"\"" },
		{ { .url = STR_INIT("ftp://x") }, "neither http nor https" },
		{ { .url = STR_INIT("http://") }, "server URL" },
		{ { .url = STR_INIT("http://a b/") }, "blank" },
		{ { .url = STR_INIT("http://a\r\nX: y") }, "control character" },
		{ { .url = STR_INIT("https://a:70000") }, "server URL" },
		{ { .url = STR_INIT("https://a/?x=1") }, "query" },
		{ { .url = STR_INIT("https://a/#x") }, "fragment" },
		{ { .url = STR_INIT("https://a"), .ca = STR_INIT("hello") }, "the CA is not PEM" },
		{ { .url = STR_INIT("https://a"), .cert = STR_INIT("-----BEGIN X") }, "certificate without its key" },
		{ { .url = STR_INIT("https://a"), .key = STR_INIT("-----BEGIN X") }, "key without its certificate" },
		{ { .url = STR_INIT("https://a"), .tls_server_name = STR_INIT("a\nb") }, "control character" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = ERR_INIT;

		assert_null(http_client_new(testing_loop, &cases[i].s, 1, &e));
		assert_int_equal(e.code, ERR_INVALID);
		assert_non_null(strstr(err_msg(&e), cases[i].why));
		err_release(&e);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, testing_setup, testing_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_headers),
		TEST(test_methods),
		TEST(test_large_body),
		TEST(test_connection_is_kept),
		TEST(test_kept_connection_was_closed),
		TEST(test_waiting_keeps_its_order),
		TEST(test_a_thousand_over_eight),
		TEST(test_path_prefix),
		TEST(test_proxy),
		TEST(test_proxy_of_the_environment),
		TEST(test_refresh),
		TEST(test_socket_options),
		TEST(test_servers_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
