/* A reader that is slower than the server: a stream that is paused stands still, and loses nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/testing.h"

#include <unistd.h>

enum { PIECE = 64 << 10, PIECES = 512, TOTAL = PIECE * PIECES };

/* /big: TOTAL bytes that count on. Anything else: a short answer. */
static void serve(int listener)
{
	struct buf body = BUF_INIT(1 << 20);
	char head[TESTING_HEAD], piece[PIECE];

	for (size_t i = 0; i < PIECE; i++)
		piece[i] = (char)('a' + i % 23);
	for (;;) {
		int fd = testing_accept(listener);

		if (fork() == 0) {
			while (testing_read(fd, head, &body)) {
				if (!strstr(head, " /big ")) {
					testing_answer(fd, 200, "", STR("end"));
					continue;
				}
				testing_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n");
				for (int i = 0; i < PIECES; i++)
					for (size_t at = 0; at < PIECE;) {
						ssize_t n = write(fd, piece + at, PIECE - at);

						if (n <= 0)
							_exit(1);
						at += (size_t)n;
					}
			}
			_exit(0);
		}
		close(fd);
	}
}

struct reader {
	struct http_call *call;
	size_t n, each; /* pauses whenever EACH more have come; 0: only at first */
	size_t next;
	int pauses, ends;
	bool wrong, resume_inside;
	char problem[64];
};

static bool on_data(void *cookie, struct str piece)
{
	struct reader *r = cookie;

	for (size_t i = 0; i < piece.n; i++)
		r->wrong |= piece.p[i] != (char)('a' + (r->n + i) % PIECE % 23);
	r->n += piece.n;
	if (r->n < r->next)
		return true;
	r->next = r->each ? r->n + r->each : SIZE_MAX;
	r->pauses++;
	http_pause(r->call);
	if (r->resume_inside)
		http_go_on(r->call);
	else
		testing_enough();
	return true;
}

static void on_done(void *cookie, const struct http_answer *a)
{
	struct reader *r = cookie;

	r->ends++;
	snprintf(r->problem, sizeof(r->problem), "%s", a->problem ? a->problem : "");
	testing_enough();
}

static void read_big(struct reader *r, msec idle)
{
	testing_connect(testing_serve(serve), 4);
	r->call = http_send(
		testing_client,
		&(struct http_request){
			.path = STR("/big"), .idle_timeout = idle, .data = on_data, .done = on_done, .cookie = r });
}

static void test_a_paused_stream_stands_still(void **state)
{
	struct reader r = { 0 };
	struct fetch other = { 0 };
	size_t before;

	(void)state;
	read_big(&r, SECONDS(30));
	testing_wait(1);
	before = r.n;
	assert_true(before > 0 && before < TOTAL);
	/* Others go on. */
	for (int i = 0; i < 20; i++) {
		testing_get(&other, "/end");
		assert_int_equal(other.status, 200);
		fetch_release(&other);
	}
	assert_int_equal(r.n, before);
	http_go_on(r.call);
	testing_wait(1);
	assert_int_equal(r.ends, 1);
	assert_string_equal(r.problem, "");
	assert_int_equal(r.n, TOTAL);
	assert_false(r.wrong);
}

static void test_paused_again_and_again(void **state)
{
	struct reader r = { .each = 1 << 20 };

	(void)state;
	read_big(&r, 0);
	while (!r.ends) {
		testing_wait(1);
		if (!r.ends)
			http_go_on(r.call);
	}
	assert_int_equal(r.n, TOTAL);
	assert_true(r.pauses > 20);
	assert_false(r.wrong);
}

static void test_paused_and_freed_inside_data(void **state)
{
	struct reader r = { .each = 1 << 20, .resume_inside = true };

	(void)state;
	read_big(&r, 0);
	testing_wait(1);
	assert_int_equal(r.n, TOTAL);
	assert_false(r.wrong);
}

static void test_a_paused_stream_can_be_cancelled(void **state)
{
	struct reader r = { 0 };
	struct fetch other = { 0 };

	(void)state;
	read_big(&r, 0);
	testing_wait(1);
	http_cancel(r.call);
	testing_get(&other, "/end");
	assert_int_equal(other.status, 200);
	assert_int_equal(r.ends, 0);
	fetch_release(&other);
}

static void enough(void *cookie)
{
	(void)cookie;
	testing_enough();
}

/* Its own reader is slow, not the server: the time that it stands still does not count. */
static void test_a_pause_is_no_silence(void **state)
{
	struct reader r;
	struct loop_timer *t;

	(void)state;
	/* On a busy machine the server may really be silent for so long before the first piece. */
	do {
		r = (struct reader){ 0 };
		read_big(&r, 100);
		testing_wait(1);
	} while (!r.pauses);
	t = loop_timer_new(testing_loop, enough, NULL);
	loop_timer_set(t, 300);
	testing_wait(1);
	loop_timer_free(t);
	assert_int_equal(r.ends, 0);
	http_cancel(r.call);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, testing_setup, testing_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_paused_stream_stands_still), TEST(test_paused_again_and_again),
		TEST(test_paused_and_freed_inside_data), TEST(test_a_paused_stream_can_be_cancelled),
		TEST(test_a_pause_is_no_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
