/* The client over TLS, against openssl's own server; and through a proxy. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/testing_tls.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

struct tls_case {
	const char *why;
	const char *ca, *client, *name;
	bool insecure;
	const char *problem; /* NULL: none */
	bool sent;           /* though it failed */
};

static struct fetch ask(const struct http_server *s)
{
	struct fetch f;

	testing_connect_to(s, 1);
	testing_get(&f, "/");
	assert_int_equal(f.calls, 1);
	http_client_free(testing_client);
	testing_client = NULL;
	return f;
}

static struct http_server at(int port, const struct tls_case *c)
{
	static char url[64];
	struct http_server s = { .proxy = STR("-"), .tls_server_name = str_c(c->name), .insecure = c->insecure };

	snprintf(url, sizeof(url), "https://127.0.0.1:%d", port);
	s.url = str_c(url);
	if (c->ca)
		s.ca = testing_pem(c->ca, "pem");
	if (c->client) {
		s.cert = testing_pem(c->client, "pem");
		s.key = testing_pem(c->client, "key");
	}
	return s;
}

static void try_all(int port, const struct tls_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct http_server s = at(port, &cases[i]);
		struct fetch f = ask(&s);

		if (cases[i].problem) {
			assert_int_equal(f.status, 0);
			assert_string_not_equal(f.problem, "");
			assert_non_null(strstr(f.problem, cases[i].problem));
			if (!cases[i].sent)
				assert_true(f.never_sent);
		} else {
			assert_int_equal(f.status, 200);
			assert_true(f.body.n > 0);
		}
		fetch_release(&f);
	}
}

static void test_authorities(void **state)
{
	static const char *const argv[] = { "-cert", "address.pem", "-key", "address.key", NULL };
	static const struct tls_case cases[] = {
		{ .why = "its authority, its address", .ca = "ca" },
		{ .why = "another authority", .ca = "other", .problem = "certificate" },
		{ .why = "the system's authorities", .problem = "certificate" },
		{ .why = "another authority, not checked", .ca = "other", .insecure = true },
		{ .why = "a name that is not its",
		  .ca = "ca",
		  .name = "api.cluster.test",
		  .problem = "certificate subject name" },
		{ .why = "a certificate that nobody asks for", .ca = "ca", .client = "client" },
	};

	(void)state;
	try_all(testing_serve_tls(argv), cases, ARRAY_LEN(cases));
}

/* The certificate of the name is shown only to who asks for that name. */
static void test_server_name(void **state)
{
	static const char *const argv[] = { "-cert",       "stranger.pem",     "-key",   "stranger.key",
		                            "-servername", "api.cluster.test", "-cert2", "name.pem",
		                            "-key2",       "name.key",         NULL };
	static const struct tls_case cases[] = {
		{ .why = "without the name", .ca = "ca", .problem = "certificate" },
		{ .why = "with the name", .ca = "ca", .name = "api.cluster.test" },
		{ .why = "with another name", .ca = "ca", .name = "else.cluster.test", .problem = "certificate" },
	};

	(void)state;
	try_all(testing_serve_tls(argv), cases, ARRAY_LEN(cases));
}

static void test_client_certificate(void **state)
{
	static const char *const argv[] = { "-cert",  "address.pem", "-key", "address.key",          "-CAfile",
		                            "ca.pem", "-Verify",     "1",    "-verify_return_error", NULL };
	/* With TLS 1.3 the server refuses after the client has begun to speak; what is heard of that differs. */
	static const struct tls_case cases[] = {
		{ .why = "without a certificate", .ca = "ca", .problem = "", .sent = true },
		{ .why = "with one", .ca = "ca", .client = "client" },
		{ .why = "with a stranger's", .ca = "ca", .client = "stranger", .problem = "", .sent = true },
	};

	(void)state;
	try_all(testing_serve_tls(argv), cases, ARRAY_LEN(cases));
}

static void test_refresh_with_another_authority(void **state)
{
	static const char *const argv[] = { "-cert", "address.pem", "-key", "address.key", NULL };
	static const struct tls_case wrong = { .ca = "other" }, right = { .ca = "ca" };
	int port = testing_serve_tls(argv);
	struct http_server s = at(port, &wrong);
	struct err e = ERR_INIT;
	struct fetch f;

	(void)state;
	testing_connect_to(&s, 1);
	testing_get(&f, "/");
	assert_int_equal(f.status, 0);
	fetch_release(&f);
	s = at(port, &right);
	assert_true(http_client_refresh(testing_client, &s, &e));
	testing_get(&f, "/");
	assert_int_equal(f.status, 200);
	fetch_release(&f);
}

static void test_broken_pem(void **state)
{
	static const char *const argv[] = { "-cert", "address.pem", "-key", "address.key", NULL };
	static const struct tls_case ok = { .ca = "ca", .client = "client" };
	static const struct str broken = STR_INIT("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
	int port = testing_serve_tls(argv);
	struct http_server s[3];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(s); i++) {
		struct fetch f;

		s[i] = at(port, &ok);
		*(i == 0 ? &s[i].ca : i == 1 ? &s[i].cert : &s[i].key) = broken;
		f = ask(&s[i]);
		assert_int_equal(f.status, 0);
		assert_true(f.never_sent);
		assert_string_not_equal(f.problem, "");
		fetch_release(&f);
	}
}

static void serve_plain(int listener)
{
	struct buf body = BUF_INIT(1 << 20), answer = BUF_INIT(1 << 20);
	char head[TESTING_HEAD];

	for (;;) {
		int fd = testing_accept(listener);

		while (testing_read(fd, head, &body)) {
			buf_clear(&answer);
			buf_printf(&answer, "%s", head);
			testing_answer(fd, 200, "", buf_str(&answer));
		}
		close(fd);
	}
}

static void test_wrong_scheme(void **state)
{
	static const char *const argv[] = { "-cert", "address.pem", "-key", "address.key", NULL };
	static const struct tls_case right = { .ca = "ca" };
	struct http_server s = at(testing_serve(serve_plain), &right);
	struct fetch f;
	char url[64];

	(void)state;
	/* A TLS hello is no request, so this one hangs up when the client does. */
	testing_connect_to(&s, 1);
	f = (struct fetch){ 0 };
	testing_send(&f, (struct http_request){ .path = STR("/"), .timeout = 500 });
	testing_wait(1);
	assert_int_equal(f.status, 0);
	assert_true(f.never_sent);
	fetch_release(&f);
	http_client_free(testing_client);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", testing_serve_tls(argv));
	f = ask(&(struct http_server){ .url = str_c(url), .proxy = STR("-") });
	assert_int_equal(f.status, 0);
	assert_false(f.never_sent);
	fetch_release(&f);
}

/* The server sees the host of the URL, whatever name its certificate has. */
static void test_host_header(void **state)
{
	int port = testing_serve(serve_plain);
	struct http_server s = { .proxy = STR("-"), .tls_server_name = STR("api.cluster.test") };
	char url[64], want[64];
	struct fetch f;

	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/prefix", port);
	snprintf(want, sizeof(want), "\r\nHost: 127.0.0.1:%d\r\n", port);
	s.url = str_c(url);
	f = ask(&s);
	assert_int_equal(f.status, 200);
	assert_non_null(strstr(f.body.p, want));
	assert_non_null(strstr(f.body.p, "GET /prefix/ HTTP/1.1\r\n"));
	fetch_release(&f);
}

/* Both ways until one side ends. */
static void splice_both(int a, int b)
{
	struct pollfd p[2] = { { .fd = a, .events = POLLIN }, { .fd = b, .events = POLLIN } };
	char text[4096];

	while (poll(p, 2, -1) > 0) {
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (!p[i].revents)
				continue;
			n = read(p[i].fd, text, sizeof(text));
			if (n <= 0 || write(p[!i].fd, text, (size_t)n) != n)
				return;
		}
	}
}

static int proxy_target;

/* Connects to the one target that it allows. */
static void serve_proxy(int listener)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct buf body = BUF_INIT(1 << 20);
	char head[TESTING_HEAD], want[128];

	a.sin_port = htons((uint16_t)proxy_target);
	snprintf(want, sizeof(want), "CONNECT 127.0.0.1:%d HTTP/1.1\r\n", proxy_target);
	for (;;) {
		int fd = testing_accept(listener), to = socket(AF_INET, SOCK_STREAM, 0);

		if (!testing_read(fd, head, &body) || strncmp(head, want, strlen(want)) != 0) {
			testing_answer(fd, 407, "", STR("who are you?"));
		} else if (connect(to, (struct sockaddr *)&a, sizeof(a)) == 0) {
			testing_say(fd, "HTTP/1.1 200 Connected\r\n\r\n");
			splice_both(fd, to);
		}
		close(to);
		close(fd);
	}
}

static void test_through_a_proxy(void **state)
{
	static const char *const argv[] = { "-cert", "address.pem", "-key", "address.key", NULL };
	static const struct tls_case right = { .ca = "ca" };
	struct http_server s = at(testing_serve_tls(argv), &right);
	char proxy[64];
	struct fetch f;

	(void)state;
	proxy_target = (int)strtol(strrchr(s.url.p, ':') + 1, NULL, 10);
	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", testing_serve(serve_proxy));
	s.proxy = str_c(proxy);
	f = ask(&s);
	assert_int_equal(f.status, 200);
	fetch_release(&f);
	/* The name does not change where the proxy is asked to go. */
	s.tls_server_name = STR("api.cluster.test");
	f = ask(&s);
	assert_int_equal(f.status, 0);
	assert_non_null(strstr(f.problem, "certificate subject name"));
	fetch_release(&f);
	/* Refused: never sent, and the proxy's status is not the server's. */
	s = (struct http_server){ .url = STR("https://127.0.0.1:1"), .proxy = str_c(proxy) };
	f = ask(&s);
	assert_int_equal(f.status, 0);
	assert_true(f.never_sent);
	assert_non_null(strstr(f.problem, "407"));
	fetch_release(&f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, testing_setup, testing_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_authorities),        TEST(test_server_name),
		TEST(test_client_certificate), TEST(test_refresh_with_another_authority),
		TEST(test_broken_pem),         TEST(test_wrong_scheme),
		TEST(test_host_header),        TEST(test_through_a_proxy),
	};

	return cmocka_run_group_tests(tests, testing_certificates, testing_remove_certificates);
}
