/* What a user may do at any moment, inside callbacks too: cancel, send, refresh, free the client. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/testing.h"

#include <unistd.h>

/* /end: an answer. Anything else: a stream of one piece that goes on for ever. Each connection is a process
   of its own. */
static void serve(int listener)
{
	struct buf body = BUF_INIT(1 << 20);
	char head[TESTING_HEAD];

	for (;;) {
		int fd = testing_accept(listener);

		if (fork() == 0) {
			while (testing_read(fd, head, &body)) {
				if (strstr(head, " /end ")) {
					testing_answer(fd, 200, "", STR("end"));
				} else {
					testing_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
					testing_say(fd, "5\r\nhello\r\n");
				}
			}
			_exit(0);
		}
		close(fd);
	}
}

enum act { NOTHING, CANCEL, CANCEL_OTHER, BREAK_OFF, FREE_CLIENT, SEND, REFRESH };

/* What to do at the first piece, and at the end. */
struct user {
	enum act at_piece, at_end;
	struct http_call *call, **other;
	int pieces, ends, status;
	char problem[128];
	struct fetch sent;
};

static int port;

static void refresh(void)
{
	struct http_server s = { .proxy = STR("-") };
	struct err e = ERR_INIT;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	s.url = str_c(url);
	assert_true(http_client_refresh(testing_client, &s, &e));
}

static bool do_it(struct user *u, enum act act)
{
	switch (act) {
	case NOTHING:
		break;
	case CANCEL:
		http_cancel(u->call);
		testing_enough();
		break;
	case CANCEL_OTHER:
		http_cancel(*u->other);
		testing_enough();
		break;
	case BREAK_OFF:
		return false;
	case FREE_CLIENT:
		http_client_free(testing_client);
		testing_client = NULL;
		testing_enough();
		break;
	case SEND:
		testing_send(&u->sent, (struct http_request){ .path = STR("/end"), .timeout = MINUTES(1) });
		break;
	case REFRESH:
		refresh();
		testing_send(&u->sent, (struct http_request){ .path = STR("/end"), .timeout = MINUTES(1) });
		break;
	}
	return true;
}

static bool on_data(void *cookie, struct str piece)
{
	struct user *u = cookie;

	assert_true(str_eq(piece, STR("hello")));
	u->pieces++;
	return do_it(u, u->at_piece);
}

static void on_done(void *cookie, const struct http_answer *a)
{
	struct user *u = cookie;

	u->ends++;
	u->status = a->status;
	snprintf(u->problem, sizeof(u->problem), "%s", a->problem ? a->problem : "");
	if (u->at_end == NOTHING)
		testing_enough();
	do_it(u, u->at_end);
}

static void send_it(struct user *u, const char *path)
{
	u->call = testing_send(
		NULL,
		(struct http_request){
			.path = str_c(path), .timeout = MINUTES(2), .data = on_data, .done = on_done, .cookie = u });
	assert_int_equal(u->ends, 0);
}

static void collect_it(struct user *u, const char *path)
{
	u->call = testing_send(
		NULL,
		(struct http_request){ .path = str_c(path), .timeout = MINUTES(2), .done = on_done, .cookie = u });
	assert_int_equal(u->ends, 0);
}

static void start(size_t connections)
{
	port = testing_serve(serve);
	testing_connect(port, connections);
}

static void test_cancel_inside_data(void **state)
{
	struct user u = { .at_piece = CANCEL };
	struct fetch f;

	(void)state;
	start(1);
	send_it(&u, "/");
	testing_wait(0);
	assert_int_equal(u.pieces, 1);
	/* The connection's place is free again. */
	testing_get(&f, "/end");
	assert_int_equal(f.status, 200);
	assert_int_equal(u.ends, 0);
	fetch_release(&f);
}

static void test_cancel_the_other_inside_data(void **state)
{
	struct user other = { 0 }, u = { .at_piece = CANCEL_OTHER, .other = &other.call };
	struct fetch f;

	(void)state;
	start(2);
	send_it(&other, "/");
	send_it(&u, "/");
	testing_wait(0);
	testing_get(&f, "/end");
	assert_int_equal(f.status, 200);
	assert_int_equal(other.ends + u.ends, 0);
	fetch_release(&f);
}

/* The other one waits, or has ended in the same moment. */
static void test_cancel_the_other_at_the_end(void **state)
{
	struct user other = { 0 }, u = { .at_end = CANCEL_OTHER, .other = &other.call };

	(void)state;
	start(1);
	collect_it(&u, "/end");
	collect_it(&other, "/end");
	testing_wait(0);
	assert_int_equal(u.ends, 1);
	assert_int_equal(other.ends, 0);
}

/* Too late, but no harm. */
static void test_cancel_itself_at_the_end(void **state)
{
	struct user u = { .at_end = CANCEL };

	(void)state;
	start(1);
	collect_it(&u, "/end");
	testing_wait(0);
	assert_int_equal(u.ends, 1);
}

static void test_cancel_outside(void **state)
{
	struct user u = { 0 }, waits = { 0 };
	struct fetch f;

	(void)state;
	start(1);
	send_it(&u, "/");
	send_it(&waits, "/");
	http_cancel(waits.call);
	http_cancel(u.call);
	testing_get(&f, "/end");
	assert_int_equal(f.status, 200);
	assert_int_equal(u.ends + waits.ends, 0);
	fetch_release(&f);
}

static void test_break_off(void **state)
{
	struct user u = { .at_piece = BREAK_OFF };
	struct fetch f;

	(void)state;
	start(1);
	send_it(&u, "/");
	testing_wait(0);
	assert_int_equal(u.ends, 1);
	assert_int_equal(u.status, 200);
	assert_string_equal(u.problem, "aborted by its reader");
	testing_get(&f, "/end");
	assert_int_equal(f.status, 200);
	fetch_release(&f);
}

static void test_free_inside_data(void **state)
{
	struct user u = { .at_piece = FREE_CLIENT }, other = { 0 }, waits = { 0 };

	(void)state;
	start(2);
	send_it(&u, "/");
	collect_it(&other, "/");
	send_it(&waits, "/end");
	testing_wait(0);
	assert_null(testing_client);
	assert_int_equal(u.ends + other.ends + waits.ends, 0);
}

static void test_free_at_the_end(void **state)
{
	struct user u = { .at_end = FREE_CLIENT }, waits = { 0 };

	(void)state;
	start(1);
	collect_it(&u, "/end");
	collect_it(&waits, "/end");
	testing_wait(0);
	assert_null(testing_client);
	assert_int_equal(u.ends, 1);
	assert_int_equal(waits.ends, 0);
}

static void test_free_at_a_time_out(void **state)
{
	struct user u = { .at_end = FREE_CLIENT }, also = { 0 };

	(void)state;
	start(2);
	testing_send(NULL, (struct http_request){ .path = STR("/"), .timeout = 20, .done = on_done, .cookie = &u });
	testing_send(NULL, (struct http_request){ .path = STR("/"), .timeout = 20, .done = on_done, .cookie = &also });
	testing_wait(0);
	assert_null(testing_client);
	assert_int_equal(u.ends, 1);
	assert_int_equal(also.ends, 0);
}

static void test_free_with_work_under_way(void **state)
{
	struct user u = { 0 }, waits = { 0 };

	(void)state;
	start(1);
	send_it(&u, "/");
	send_it(&waits, "/");
	http_client_free(testing_client);
	testing_client = NULL;
	assert_int_equal(u.ends + waits.ends, 0);
}

static void test_send_inside(void **state)
{
	struct user u = { .at_piece = SEND }, v = { .at_end = SEND };

	(void)state;
	start(2);
	send_it(&u, "/");
	testing_wait(1);
	assert_int_equal(u.sent.status, 200);
	collect_it(&v, "/end");
	testing_wait(1);
	assert_int_equal(v.sent.status, 200);
	http_cancel(u.call);
	fetch_release(&u.sent);
	fetch_release(&v.sent);
}

/* A stream that is under way stays; what comes after goes over new connections. */
static void test_refresh_inside_data(void **state)
{
	struct user u = { .at_piece = REFRESH };

	(void)state;
	start(1);
	send_it(&u, "/");
	testing_wait(1);
	assert_int_equal(u.sent.status, 200);
	assert_int_equal(u.pieces, 1);
	assert_int_equal(u.ends, 0);
	http_cancel(u.call);
	fetch_release(&u.sent);
}

/* Each refresh keeps one older configuration while a stream lasts, up to a limit. */
static void test_refresh_has_a_limit(void **state)
{
	struct user u[20] = { 0 };
	struct err e = ERR_INIT;
	size_t n = 0;
	char url[64];
	struct http_server s = { .proxy = STR("-") };

	(void)state;
	start(1);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	s.url = str_c(url);
	do
		send_it(&u[n++], "/");
	while (n < ARRAY_LEN(u) && http_client_refresh(testing_client, &s, &e));
	assert_in_range(n, 2, ARRAY_LEN(u) - 1);
	assert_int_equal(e.code, ERR_LIMIT);
	err_release(&e);
	/* One of them ends: there is room again. */
	http_cancel(u[0].call);
	assert_true(http_client_refresh(testing_client, &s, &e));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, testing_setup, testing_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cancel_inside_data),
		TEST(test_cancel_the_other_inside_data),
		TEST(test_cancel_the_other_at_the_end),
		TEST(test_cancel_itself_at_the_end),
		TEST(test_cancel_outside),
		TEST(test_break_off),
		TEST(test_free_inside_data),
		TEST(test_free_at_the_end),
		TEST(test_free_at_a_time_out),
		TEST(test_free_with_work_under_way),
		TEST(test_send_inside),
		TEST(test_refresh_inside_data),
		TEST(test_refresh_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
