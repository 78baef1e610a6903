/* The client against servers that break, stall, lie or talk too much. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/testing.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Takes one connection and one request of it. Who gives up before it asks is none. */
static int take_request(int listener)
{
	struct buf body = BUF_INIT(1 << 20);
	char head[TESTING_HEAD];
	int fd = testing_accept(listener);

	while (!testing_read(fd, head, &body)) {
		close(fd);
		fd = testing_accept(listener);
	}
	buf_release(&body);
	return fd;
}

static const char *script;

/* Says SCRIPT, byte by byte, and closes. */
static void serve_script(int listener)
{
	for (;;) {
		int fd = take_request(listener);

		for (const char *p = script; *p; p++)
			testing_say(fd, (char[]){ *p, 0 });
		close(fd);
	}
}

/* Says SCRIPT and no more. */
static void serve_script_and_hang(int listener)
{
	testing_say(take_request(listener), script);
	testing_hang();
}

static struct fetch ask(struct http_request r)
{
	struct fetch f = { 0 };

	testing_send(&f, r);
	testing_wait(1);
	assert_int_equal(f.calls, 1);
	return f;
}

static void test_answers_by_bytes(void **state)
{
	static const struct {
		const char *answer;
		int status;
		const char *body;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello" },
		{ CHUNKED "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", 200, "hello" },
		{ "HTTP/1.1 200 OK\r\n\r\nto the end", 200, "to the end" },
		{ "HTTP/1.0 500 Oh\r\n\r\n", 500, "" },
		{ "HTTP/1.1 204 No\r\n\r\n", 204, "" },
		{ "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 2\r\n\r\n{}", 201, "{}" },
		{ "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 1\r\n\r\nx", 302, "x" },
		{ "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", 404, "gone" },
		/* No whole answer came: */
		{ "", 0, "" },
		{ "HTTP/1.1 200", 0, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello", 0, "" },
		{ CHUNKED "5\r\nhe", 0, "" },
		{ CHUNKED "5\r\nhello\r\n", 0, "" },
		{ CHUNKED "zz\r\nhello\r\n", 0, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello", 0, "" },
		{ "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", 0, "" },
		{ "SSH-2.0-OpenSSH_9.2\r\n\r\n", 0, "" },
		{ "\x16\x03\x01\x02", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fetch f;

		script = cases[i].answer;
		testing_connect(testing_serve(serve_script), 1);
		f = ask((struct http_request){ .path = STR("/") });
		assert_int_equal(f.status, cases[i].status);
		assert_string_equal(f.body.n ? f.body.p : "", cases[i].body);
		assert_int_equal(f.problem[0] != 0, cases[i].status == 0);
		assert_false(f.never_sent);
		fetch_release(&f);
		http_client_free(testing_client);
		testing_client = NULL;
		testing_end_servers();
	}
}

static void test_streams(void **state)
{
	static const struct {
		const char *answer;
		int status;
		const char *pieces, *body;
		bool problem;
	} cases[] = {
		{ CHUNKED "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 200, "hello", "", false },
		{ CHUNKED "0\r\n\r\n", 200, "", "", false },
		/* It broke off: what came is told, and that it broke. */
		{ CHUNKED "2\r\nhe\r\n3\r\nl", 200, "hel", "", true },
		{ CHUNKED "2\r\nhe\r\n", 200, "he", "", true },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhe", 200, "he", "", true },
		/* An error is no stream. */
		{ "HTTP/1.1 410 Gone\r\nContent-Length: 7\r\n\r\nexpired", 410, "", "expired", false },
		{ "HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\nexpired", 0, "", "", true },
		{ "", 0, "", "", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fetch f;

		script = cases[i].answer;
		testing_connect(testing_serve(serve_script), 1);
		f = ask((struct http_request){ .path = STR("/"), .data = testing_keep_piece });
		assert_int_equal(f.status, cases[i].status);
		assert_string_equal(f.pieces.n ? f.pieces.p : "", cases[i].pieces);
		assert_string_equal(f.body.n ? f.body.p : "", cases[i].body);
		assert_int_equal(f.problem[0] != 0, cases[i].problem);
		fetch_release(&f);
		http_client_free(testing_client);
		testing_client = NULL;
		testing_end_servers();
	}
}

static void test_retry_after(void **state)
{
	static const struct {
		const char *value;
		msec least, most;
	} cases[] = {
		{ "7", 7000, 7000 },
		{ "0", 0, 0 },
		{ "-5", 0, 0 },
		{ "soon", 0, 0 },
		{ "99999999999999999999", 0, SECONDS(86400) },
		{ "1000000000", SECONDS(86400), SECONDS(86400) },
		{ "Fri, 31 Dec 1999 23:59:59 GMT", 0, 0 },
		{ "Fri, 31 Dec 9998 23:59:59 GMT", SECONDS(86400), SECONDS(86400) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char answer[256];
		struct fetch f;

		snprintf(answer, sizeof(answer),
		         "HTTP/1.1 429 Slow\r\nRetry-After: %s\r\nContent-Length: 4\r\n\r\nslow", cases[i].value);
		script = answer;
		testing_connect(testing_serve(serve_script), 1);
		f = ask((struct http_request){ .path = STR("/") });
		assert_int_equal(f.status, 429);
		assert_string_equal(f.body.p, "slow");
		assert_in_range(f.retry_after, cases[i].least, cases[i].most);
		fetch_release(&f);
		http_client_free(testing_client);
		testing_client = NULL;
		testing_end_servers();
	}
}

static void test_retry_after_date(void **state)
{
	time_t at = time(NULL) + 1000;
	char date[64], answer[256];
	struct fetch f;
	struct tm tm;

	(void)state;
	gmtime_r(&at, &tm);
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	snprintf(answer, sizeof(answer), "HTTP/1.1 503 No\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", date);
	script = answer;
	testing_connect(testing_serve(serve_script), 1);
	f = ask((struct http_request){ .path = STR("/") });
	assert_in_range(f.retry_after, SECONDS(900), SECONDS(1000));
	fetch_release(&f);
}

static void test_refused(void **state)
{
	int port = testing_serve(serve_script);
	struct fetch f;

	(void)state;
	testing_end_servers();
	testing_connect(port, 1);
	f = ask((struct http_request){ .method = HTTP_POST, .path = STR("/"), .body = STR("{}") });
	assert_int_equal(f.status, 0);
	assert_true(f.never_sent);
	assert_non_null(strstr(f.problem, "connect"));
	fetch_release(&f);
}

static void test_name_that_is_none(void **state)
{
	struct fetch f;

	(void)state;
	testing_connect_to(&(struct http_server){ .url = STR("http://nobody.invalid"), .proxy = STR("-") }, 1);
	f = ask((struct http_request){ .path = STR("/") });
	assert_int_equal(f.status, 0);
	assert_true(f.never_sent);
	assert_non_null(strstr(f.problem, "nobody.invalid"));
	fetch_release(&f);
}

/* A listener whose queue is full does not answer at all, like a machine that is gone. */
static void test_cannot_connect_in_time(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fillers[4];
	socklen_t n = sizeof(a);
	struct fetch f;

	(void)state;
	assert_int_equal(bind(s, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(s, 0), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)&a, &n), 0);
	for (size_t i = 0; i < ARRAY_LEN(fillers); i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)&a, n);
	}
	testing_connect(ntohs(a.sin_port), 1);
	f = ask((struct http_request){ .path = STR("/"), .connect_timeout = 200 });
	assert_int_equal(f.status, 0);
	assert_true(f.never_sent);
	assert_non_null(strstr(f.problem, "Timeout"));
	fetch_release(&f);
	f = ask((struct http_request){ .path = STR("/"), .timeout = 200 });
	assert_string_equal(f.problem, "timed out");
	assert_true(f.never_sent);
	fetch_release(&f);
	for (size_t i = 0; i < ARRAY_LEN(fillers); i++)
		close(fillers[i]);
	close(s);
}

static void test_never_answers(void **state)
{
	struct fetch f;

	(void)state;
	script = "";
	testing_connect(testing_serve(serve_script_and_hang), 1);
	f = ask((struct http_request){ .path = STR("/"), .timeout = 500 });
	assert_int_equal(f.status, 0);
	assert_string_equal(f.problem, "timed out");
	assert_false(f.never_sent);
	assert_true(f.took >= 500);
	assert_int_equal(f.began, f.took);
	fetch_release(&f);
}

static void test_times_out_while_it_waits(void **state)
{
	struct fetch hangs = { 0 }, f;
	struct http_call *call;

	(void)state;
	script = "";
	testing_connect(testing_serve(serve_script_and_hang), 1);
	call = testing_send(&hangs, (struct http_request){ .path = STR("/"), .timeout = MINUTES(10) });
	f = ask((struct http_request){ .path = STR("/"), .timeout = 50 });
	assert_int_equal(f.status, 0);
	assert_string_equal(f.problem, "timed out waiting for a free connection");
	assert_true(f.never_sent);
	http_cancel(call);
	assert_int_equal(hangs.calls, 0);
	fetch_release(&f);
}

/* As if the process had been stopped for a while. */
static void dawdle(void *cookie, int events)
{
	msec until = loop_now(testing_loop) + 50;

	(void)events;
	loop_fd_set(*(struct loop_fd **)cookie, 0);
	while (loop_now(testing_loop) <= until)
		;
}

/* Its connection is ready, but it is too late: what a leader of long ago wanted must not be sent. */
static void test_late_is_not_sent(void **state)
{
	struct fetch f = { 0 };
	struct loop_fd *fd;
	int ends[2];

	(void)state;
	script = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	testing_connect(testing_serve(serve_script), 1);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	fd = loop_fd_new(testing_loop, ends[0], dawdle, &fd);
	loop_fd_set(fd, LOOP_READ);
	testing_send(&f, (struct http_request){ .path = STR("/"), .timeout = 50 });
	testing_wait(1);
	assert_int_equal(f.status, 0);
	assert_true(f.never_sent);
	fetch_release(&f);
	loop_fd_free(fd);
	close(ends[0]);
	close(ends[1]);
}

static void test_stream_stalls(void **state)
{
	struct fetch f;

	(void)state;
	script = CHUNKED "5\r\nhello\r\n";
	testing_connect(testing_serve(serve_script_and_hang), 1);
	f = ask((struct http_request){ .path = STR("/"), .idle_timeout = 1000, .data = testing_keep_piece });
	assert_int_equal(f.status, 200);
	assert_string_equal(f.problem, "timed out: the server is silent");
	assert_string_equal(f.pieces.p, "hello");
	assert_true(f.took >= f.began + 1000);
	fetch_release(&f);
}

/* Speaks again and again, for longer in all than silence may last. */
static void serve_drops(int listener)
{
	int fd = take_request(listener);

	testing_say(fd, CHUNKED);
	for (int i = 0; i < 32; i++) {
		usleep(100 * 1000);
		testing_say(fd, "1\r\nx\r\n");
	}
	testing_say(fd, "0\r\n\r\n");
}

static void test_stream_that_speaks_is_not_silent(void **state)
{
	struct fetch f;

	(void)state;
	testing_connect(testing_serve(serve_drops), 1);
	f = ask((struct http_request){ .path = STR("/"), .idle_timeout = 3000, .data = testing_keep_piece });
	assert_string_equal(f.problem, "");
	assert_int_equal(f.pieces.n, 32);
	assert_true(f.took >= 3000);
	fetch_release(&f);
}

static void serve_for_ever(int listener)
{
	int fd = take_request(listener);

	testing_say(fd, script);
	for (;;)
		testing_say(fd, "X-Endless: 012345678901234567890123456789012345678901234567890123456789\r\n");
}

static void test_too_much(void **state)
{
	struct fetch f;

	(void)state;
	script = "HTTP/1.1 200 OK\r\n\r\n";
	testing_connect(testing_serve(serve_for_ever), 1);
	f = ask((struct http_request){ .path = STR("/"), .body_max = 100000 });
	assert_int_equal(f.status, 0);
	assert_string_equal(f.problem, "the answer is longer than 100000 bytes");
	fetch_release(&f);
	http_client_free(testing_client);
	script = "HTTP/1.1 200 OK\r\n";
	testing_connect(testing_serve(serve_for_ever), 1);
	f = ask((struct http_request){ .path = STR("/") });
	assert_int_equal(f.status, 0);
	assert_string_equal(f.problem, "the answer's headers are too long");
	fetch_release(&f);
}

/* Exactly as much as is allowed is ok. */
static void test_just_enough(void **state)
{
	struct fetch f;

	(void)state;
	script = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
	testing_connect(testing_serve(serve_script), 1);
	f = ask((struct http_request){ .path = STR("/"), .body_max = 5 });
	assert_int_equal(f.status, 200);
	fetch_release(&f);
}

/* Each connection answers once, then takes a second request and closes without a word. The first line of
   every request is told in the next answer. */
static void serve_every_other(int listener)
{
	struct buf body = BUF_INIT(1 << 20), seen = BUF_INIT(1 << 20);
	char head[TESTING_HEAD];

	for (;;) {
		int fd = testing_accept(listener);

		for (int i = 0; i < 2 && testing_read(fd, head, &body); i++) {
			buf_printf(&seen, "%.*s ", (int)strcspn(head, " "), head);
			if (i == 0)
				testing_answer(fd, 200, "", buf_str(&seen));
		}
		shutdown(fd, SHUT_RDWR);
		close(fd);
	}
}

static void test_get_is_repeated(void **state)
{
	(void)state;
	testing_connect(testing_serve(serve_every_other), 1);
	for (int i = 0; i < 20; i++) {
		struct fetch f = ask((struct http_request){ .path = STR("/") });

		assert_int_equal(f.status, 200);
		fetch_release(&f);
	}
}

static void test_write_is_not_repeated(void **state)
{
	static const enum http_method methods[] = { HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE };
	struct fetch f;

	(void)state;
	testing_connect(testing_serve(serve_every_other), 1);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		f = ask((struct http_request){ .path = STR("/") });
		assert_int_equal(f.status, 200);
		fetch_release(&f);
		f = ask((struct http_request){ .method = methods[i], .path = STR("/") });
		assert_int_equal(f.status, 0);
		assert_string_equal(f.problem, "the connection was closed before an answer came");
		assert_false(f.never_sent);
		fetch_release(&f);
	}
	f = ask((struct http_request){ .path = STR("/") });
	assert_string_equal(f.body.p, "GET POST GET PUT GET PATCH GET DELETE GET ");
	fetch_release(&f);
}

static void test_values_that_break_lines(void **state)
{
	static const struct http_request cases[] = {
		{ .path = STR_INIT("/"), .authorization = STR_INIT("Bearer x\r\nX-Evil: 1") },
		{ .path = STR_INIT("/"), .accept = STR_INIT("a\nb") },
		{ .method = HTTP_POST, .path = STR_INIT("/"), .body = STR_INIT("x"), .content_type = STR_INIT("a\0b") },
		{ .path = STR_INIT("/ HTTP/1.1\r\nX-Evil: 1") },
		{ .path = STR_INIT("/a b") },
		{ .path = STR_INIT("no/slash") },
		{ .path = STR_INIT("") },
	};

	(void)state;
	testing_connect(testing_serve(serve_every_other), 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fetch f = ask(cases[i]);

		assert_int_equal(f.status, 0);
		assert_true(f.never_sent);
		assert_string_not_equal(f.problem, "");
		fetch_release(&f);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, testing_setup, testing_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_answers_by_bytes),
		TEST(test_streams),
		TEST(test_retry_after),
		TEST(test_retry_after_date),
		TEST(test_refused),
		TEST(test_name_that_is_none),
		TEST(test_cannot_connect_in_time),
		TEST(test_never_answers),
		TEST(test_times_out_while_it_waits),
		TEST(test_late_is_not_sent),
		TEST(test_stream_stalls),
		TEST(test_stream_that_speaks_is_not_silent),
		TEST(test_too_much),
		TEST(test_just_enough),
		TEST(test_get_is_repeated),
		TEST(test_write_is_not_repeated),
		TEST(test_values_that_break_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
