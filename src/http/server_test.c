#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/server.h"
#include "http/testing.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

static struct http_listener *listener;
static int asked;

/* Says what it was asked; /big: a megabyte; /none: leaves all as it was; /over: more than there is room for. */
static void handle(void *cookie, const struct http_query *q, struct http_reply *reply)
{
	assert_ptr_equal(cookie, &asked);
	asked++;
	if (str_eq(q->path, STR("/none")))
		return;
	reply->status = 200;
	if (str_eq(q->path, STR("/big"))) {
		reply->content_type = "application/json";
		while (reply->body.n < 1 << 20)
			buf_put(&reply->body, STR("0123456789abcdef"));
	} else if (str_eq(q->path, STR("/over"))) {
		reply->body.overflow = true;
	} else {
		buf_printf(&reply->body, "%.*s %.*s %s", STR_F(q->method), STR_F(q->path),
		           q->loopback ? "loopback" : "elsewhere");
	}
}

static void open_at(const char *address)
{
	struct err e = ERR_INIT;

	asked = 0;
	listener = http_listen(testing_loop, str_c(address), handle, &asked, &e);
	if (!listener)
		BUG("%s", err_msg(&e));
}

static int setup(void **state)
{
	testing_setup(state);
	open_at("127.0.0.1:0");
	return 0;
}

static int teardown(void **state)
{
	http_client_free(testing_client);
	testing_client = NULL;
	http_listener_free(listener);
	return testing_teardown(state);
}

static void test_get(void **state)
{
	struct fetch f;

	(void)state;
	testing_connect(http_listener_port(listener), 2);
	testing_get(&f, "/some/path%20x?query=1");
	assert_int_equal(f.status, 200);
	assert_string_equal(f.body.p, "GET /some/path x loopback");
	fetch_release(&f);
	testing_get(&f, "/none");
	assert_int_equal(f.status, 404);
	assert_int_equal(f.body.n, 0);
	fetch_release(&f);
	testing_get(&f, "/over");
	assert_int_equal(f.status, 500);
	fetch_release(&f);
	testing_get(&f, "/big");
	assert_int_equal(f.status, 200);
	assert_int_equal(f.body.n, 1 << 20);
	fetch_release(&f);
}

static void test_other_methods(void **state)
{
	static const enum http_method methods[] = { HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE };

	(void)state;
	testing_connect(http_listener_port(listener), 1);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		struct fetch f = { 0 };

		testing_send(&f, (struct http_request){ .method = methods[i], .path = STR("/"), .body = STR("body") });
		testing_wait(1);
		assert_int_equal(f.status, 405);
		fetch_release(&f);
	}
	assert_int_equal(asked, 0);
}

static void test_many(void **state)
{
	enum { N = 1000 };
	struct fetch *f = xcalloc(N, sizeof(*f));

	(void)state;
	testing_connect(http_listener_port(listener), 8);
	for (int i = 0; i < N; i++)
		testing_send(&f[i], (struct http_request){ .path = STR("/"), .timeout = MINUTES(1) });
	testing_wait(N);
	for (int i = 0; i < N; i++) {
		assert_int_equal(f[i].calls, 1);
		assert_int_equal(f[i].status, 200);
		fetch_release(&f[i]);
	}
	assert_int_equal(asked, N);
	free(f);
}

/* A client by hand: what is said to the server, and all that it says until it closes. */
struct raw {
	struct loop_fd *fd;
	int s;
	struct buf heard;
};

static void on_raw(void *cookie, int events)
{
	struct raw *r = cookie;
	char b[4096];
	ssize_t n = recv(r->s, b, sizeof(b), 0);

	(void)events;
	if (n > 0) {
		buf_put(&r->heard, (struct str){ b, (size_t)n });
		return;
	}
	loop_fd_set(r->fd, 0);
	testing_enough();
}

static struct raw talk(const struct sockaddr *a, socklen_t n, struct str words)
{
	struct raw r = { .heard = BUF_INIT(1 << 24) };

	r.s = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(r.s, a, n), 0);
	assert_int_equal(send(r.s, words.p, words.n, MSG_NOSIGNAL), words.n);
	r.fd = loop_fd_new(testing_loop, r.s, on_raw, &r);
	loop_fd_set(r.fd, LOOP_READ);
	testing_wait(0);
	loop_fd_free(r.fd);
	close(r.s);
	return r;
}

static struct sockaddr_in at(uint32_t address)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
		                     .sin_port = htons((uint16_t)http_listener_port(listener)),
		                     .sin_addr.s_addr = htonl(address) };
}

static void test_by_hand(void **state)
{
	static const struct {
		const char *words, *status, *body;
	} cases[] = {
		{ "GET / HTTP/1.0\r\n\r\n", " 200 OK\r\n", "\r\n\r\nGET / loopback" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", " 200 OK\r\n", "\r\n\r\nGET / loopback" },
		{ "HEAD /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", " 200 OK\r\n", "\r\n\r\n" },
		{ "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", " 405 ", "" },
		{ "GET /\x01 HTTP/7\r\n\r\n", "", "" },
		{ "rubbish\r\n\r\n", "", "" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sockaddr_in a = at(INADDR_LOOPBACK);
		int before = asked;
		struct raw r = talk((struct sockaddr *)&a, sizeof(a), str_c(cases[i].words));

		if (cases[i].status[0])
			assert_non_null(strstr(r.heard.p, cases[i].status));
		else
			assert_int_equal(asked, before);
		assert_true(str_has_suffix(buf_str(&r.heard), str_c(cases[i].body)));
		buf_release(&r.heard);
	}
}

static void test_head_tells_the_length(void **state)
{
	struct sockaddr_in a = at(INADDR_LOOPBACK);
	struct raw r = talk((struct sockaddr *)&a, sizeof(a),
	                    STR("HEAD /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));

	(void)state;
	assert_non_null(strstr(r.heard.p, "Content-Length: 1048576\r\n"));
	assert_non_null(strstr(r.heard.p, "Content-Type: application/json\r\n"));
	assert_true(r.heard.n < 1000);
	buf_release(&r.heard);
}

static void test_request_is_too_long(void **state)
{
	struct buf words = BUF_INIT(1 << 20);
	struct sockaddr_in a = at(INADDR_LOOPBACK);
	struct raw r;

	(void)state;
	buf_put(&words, STR("GET / HTTP/1.1\r\nHost: x\r\n"));
	while (words.n < 32 << 10)
		buf_put(&words, STR("X-Long: 01234567890123456789012345678901234567890123456789\r\n"));
	buf_put(&words, STR("\r\n"));
	r = talk((struct sockaddr *)&a, sizeof(a), buf_str(&words));
	assert_int_equal(asked, 0);
	buf_release(&words);
	buf_release(&r.heard);
}

static void test_loopback_is_told(void **state)
{
	struct ifaddrs *all = NULL, *i;
	struct sockaddr_in a;
	struct raw r;

	(void)state;
	http_listener_free(listener);
	open_at(":0");
	/* Over IPv4, where the socket sees a mapped address. */
	a = at(INADDR_LOOPBACK);
	r = talk((struct sockaddr *)&a, sizeof(a), STR("GET / HTTP/1.0\r\n\r\n"));
	assert_non_null(strstr(r.heard.p, "GET / loopback"));
	buf_release(&r.heard);
	a = at(0x7f090909); /* 127.9.9.9 */
	r = talk((struct sockaddr *)&a, sizeof(a), STR("GET / HTTP/1.0\r\n\r\n"));
	assert_non_null(strstr(r.heard.p, "GET / loopback"));
	buf_release(&r.heard);
	/* An address of this machine that others reach too. */
	assert_int_equal(getifaddrs(&all), 0);
	for (i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !(i->ifa_flags & IFF_LOOPBACK))
			break;
	if (i) {
		a = at(ntohl(((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr.s_addr));
		r = talk((struct sockaddr *)&a, sizeof(a), STR("GET / HTTP/1.0\r\n\r\n"));
		assert_non_null(strstr(r.heard.p, "GET / elsewhere"));
		buf_release(&r.heard);
	}
	freeifaddrs(all);
}

static void name_asked(void *cookie, const struct http_query *q, struct http_reply *reply)
{
	(void)cookie;
	reply->status = 200;
	buf_printf(&reply->body, "%s", q->named_loopback ? "here" : "elsewhere");
}

static void test_name_that_was_asked_for(void **state)
{
	static const struct {
		const char *host;
		bool here;
	} cases[] = {
		{ "", true },
		{ "Host:\r\n", true },
		{ "Host: localhost\r\n", true },
		{ "Host: localhost:8080\r\n", true },
		{ "Host: 127.0.0.1:8080\r\n", true },
		{ "Host: 127.9.9.9\r\n", true },
		{ "Host: [::1]:8080\r\n", true },
		{ "Host: evil.example\r\n", false },
		{ "Host: evil.example:8080\r\n", false },
		{ "Host: localhost.evil.example\r\n", false },
		{ "Host: 127.0.0.1.evil.example\r\n", false },
		{ "Host: 10.0.0.1:8080\r\n", false },
		{ "Host: [::2]:8080\r\n", false },
		{ "Host: 0123456789012345678901234567890123456789012345678901234567890123456789\r\n", false },
	};
	struct err e = ERR_INIT;

	(void)state;
	http_listener_free(listener);
	listener = http_listen(testing_loop, STR("127.0.0.1:0"), name_asked, NULL, &e);
	assert_non_null(listener);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sockaddr_in a = at(INADDR_LOOPBACK);
		struct buf words = BUF_INIT(1 << 10);
		struct raw r;

		buf_printf(&words, "GET / HTTP/1.0\r\n%s\r\n", cases[i].host);
		r = talk((struct sockaddr *)&a, sizeof(a), buf_str(&words));
		assert_true(str_has_suffix(buf_str(&r.heard), cases[i].here ? STR("\nhere") : STR("\nelsewhere")));
		buf_release(&words);
		buf_release(&r.heard);
	}
}

static void test_ipv6(void **state)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct err e = ERR_INIT;
	struct raw r;

	(void)state;
	http_listener_free(listener);
	listener = http_listen(testing_loop, STR("[::1]:0"), handle, &asked, &e);
	if (!listener) {
		err_release(&e);
		skip(); /* the machine has no IPv6 */
	}
	a.sin6_port = htons((uint16_t)http_listener_port(listener));
	r = talk((struct sockaddr *)&a, sizeof(a), STR("GET / HTTP/1.0\r\n\r\n"));
	assert_non_null(strstr(r.heard.p, "GET / loopback"));
	buf_release(&r.heard);
}

/* The listener goes while somebody is connected and silent. */
static void test_free_with_connections(void **state)
{
	struct sockaddr_in a = at(INADDR_LOOPBACK);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct fetch f;

	(void)state;
	assert_int_equal(connect(s, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(send(s, "GET /", 5, MSG_NOSIGNAL), 5);
	testing_connect(http_listener_port(listener), 1);
	testing_get(&f, "/");
	assert_int_equal(f.status, 200);
	fetch_release(&f);
	http_listener_free(listener);
	listener = NULL;
	close(s);
}

/* --- Those who connect and say nothing --- */

enum { IDLE_OF_ONE = 16 };

/* The address that it comes from is 127.0.0.HOST. */
static int connect_idle(int host)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000U | (unsigned)host) };
	struct sockaddr_in to = at(INADDR_LOOPBACK);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(s, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(s, (struct sockaddr *)&to, sizeof(to)), 0);
	return s;
}

static bool was_closed(int s)
{
	char c;

	return recv(s, &c, 1, MSG_DONTWAIT) == 0;
}

static void must_answer(void)
{
	struct fetch f;

	testing_get(&f, "/healthz");
	assert_int_equal(f.status, 200);
	fetch_release(&f);
}

static void test_idle_ones_give_way(void **state)
{
	enum { ADDRESSES = 8 };
	int s[ADDRESSES][IDLE_OF_ONE];

	(void)state;
	testing_connect(http_listener_port(listener), 1);
	for (int i = 0; i < ADDRESSES; i++) {
		for (int k = 0; k < IDLE_OF_ONE; k++)
			s[i][k] = connect_idle(2 + i);
		/* Answered at once: not when the first ones have been there for too long. */
		must_answer();
	}
	assert_true(was_closed(s[0][0]));
	for (int k = 0; k < IDLE_OF_ONE; k++)
		assert_false(was_closed(s[ADDRESSES - 1][k]));
	for (int i = 0; i < ADDRESSES; i++)
		for (int k = 0; k < IDLE_OF_ONE; k++)
			close(s[i][k]);
}

static void test_one_address_has_a_limit(void **state)
{
	static const char ask[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	int before = connect_idle(2), s[IDLE_OF_ONE + 2];

	(void)state;
	testing_connect(http_listener_port(listener), 1);
	for (int i = 0; i < IDLE_OF_ONE; i++)
		s[i] = connect_idle(3);
	must_answer();
	assert_false(was_closed(s[0]));
	/* The first one is of use: the next ones are idle for longer. */
	assert_int_equal(send(s[0], ask, sizeof(ask) - 1, MSG_NOSIGNAL), sizeof(ask) - 1);
	must_answer();
	s[IDLE_OF_ONE] = connect_idle(3);
	s[IDLE_OF_ONE + 1] = connect_idle(3);
	must_answer();
	for (int i = 0; i < IDLE_OF_ONE + 2; i++)
		assert_int_equal(was_closed(s[i]), i == 1 || i == 2);
	assert_false(was_closed(before));
	for (int i = 0; i < IDLE_OF_ONE + 2; i++)
		close(s[i]);
	close(before);
}

static void test_addresses_that_are_none(void **state)
{
	static const struct {
		const char *address, *why;
	} cases[] = {
		{ "", "no port" },
		{ "8080", "no port" },
		{ ":", "the port is not a number" },
		{ ":http", "the port is not a number" },
		{ ":65536", "the port is not a number" },
		{ ":-1", "the port is not a number" },
		{ "::1:80", "needs brackets" },
		{ "[::1]", "the port is not a number" },
		{ "[::1:80", "needs brackets" },
		{ "example.com:80", "must be a number" },
		{ "[127.0.0.1.5]:80", "must be a number" },
		{ "0123456789012345678901234567890123456789012345678901234567890123456789:1", "too long" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = ERR_INIT;

		assert_null(http_listen(testing_loop, str_c(cases[i].address), handle, NULL, &e));
		assert_int_equal(e.code, ERR_INVALID);
		assert_non_null(strstr(err_msg(&e), cases[i].why));
		err_release(&e);
	}
}

static void test_port_is_taken(void **state)
{
	struct err e = ERR_INIT;
	char address[64];

	(void)state;
	snprintf(address, sizeof(address), "localhost:%d", http_listener_port(listener));
	assert_null(http_listen(testing_loop, str_c(address), handle, NULL, &e));
	assert_int_equal(e.code, ERR_IO);
	assert_non_null(strstr(err_msg(&e), "cannot listen on localhost:"));
	err_release(&e);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_get),
		TEST(test_other_methods),
		TEST(test_many),
		TEST(test_by_hand),
		TEST(test_head_tells_the_length),
		TEST(test_request_is_too_long),
		TEST(test_loopback_is_told),
		TEST(test_name_that_was_asked_for),
		TEST(test_ipv6),
		TEST(test_free_with_connections),
		TEST(test_idle_ones_give_way),
		TEST(test_one_address_has_a_limit),
		TEST(test_addresses_that_are_none),
		TEST(test_port_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
