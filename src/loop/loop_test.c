#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "loop/loop.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static struct loop *loop;

static int setup(void **state)
{
	(void)state;
	loop = loop_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	loop_free(loop);
	return 0;
}

/* Each entry writes its letter into the diary when its timer fires. */
struct entry {
	struct loop_timer *t;
	char letter;
	struct entry *frees;
};
static char diary[32];
static size_t written;

static void note(void *cookie)
{
	struct entry *e = cookie;

	diary[written++] = e->letter;
	diary[written] = 0;
	if (e->frees)
		loop_timer_free(e->frees->t);
}

static void test_timers_fire_in_order(void **state)
{
	static const struct {
		char letter;
		msec delay;
	} set[] = { { 'd', 30 }, { 'b', 10 }, { 'c', 10 }, { 'a', 0 }, { 'e', 50 } };
	struct entry e[ARRAY_LEN(set)];
	msec began = loop_now(loop);

	(void)state;
	written = 0;
	for (size_t i = 0; i < ARRAY_LEN(set); i++) {
		e[i] = (struct entry){ .letter = set[i].letter };
		e[i].t = loop_timer_new(loop, note, &e[i]);
		loop_timer_set(e[i].t, set[i].delay);
	}
	loop_run(loop);
	assert_string_equal(diary, "abcde");
	assert_true(loop_now(loop) - began >= 50);
	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		loop_timer_free(e[i].t);
}

static void test_timers_move_stop_and_go(void **state)
{
	struct entry moved = { .letter = 'm' }, stopped = { .letter = 's' }, victim = { .letter = 'v' };
	struct entry killer = { .letter = 'k', .frees = &victim }, itself = { .letter = 'i', .frees = &itself };

	(void)state;
	written = 0;
	moved.t = loop_timer_new(loop, note, &moved);
	stopped.t = loop_timer_new(loop, note, &stopped);
	victim.t = loop_timer_new(loop, note, &victim);
	killer.t = loop_timer_new(loop, note, &killer);
	itself.t = loop_timer_new(loop, note, &itself);
	loop_timer_set(moved.t, 0);
	loop_timer_set(stopped.t, 0);
	loop_timer_set(killer.t, 5);
	loop_timer_set(victim.t, 5);
	loop_timer_set(itself.t, 10);
	loop_timer_set(moved.t, 20);
	loop_timer_stop(stopped.t);
	loop_run(loop);
	assert_string_equal(diary, "kim");
	loop_timer_free(moved.t);
	loop_timer_free(stopped.t);
	loop_timer_free(killer.t);
	loop_timer_free(NULL);
}

static void stop(void *cookie)
{
	loop_stop(cookie);
}

static void test_stop(void **state)
{
	struct entry late = { .letter = 'l' };
	struct loop_timer *t = loop_timer_new(loop, stop, loop);

	(void)state;
	written = 0;
	diary[0] = 0;
	late.t = loop_timer_new(loop, note, &late);
	loop_timer_set(late.t, MINUTES(10));
	loop_timer_set(t, 0);
	loop_run(loop);
	loop_stop(loop);
	loop_run(loop);
	assert_string_equal(diary, "");
	loop_timer_free(late.t);
	loop_timer_free(t);
}

static void again(void *cookie, int events)
{
	(void)cookie;
	(void)events;
}

/* Whoever compares deadlines with loop_now() must not wake just before them. A descriptor that is always
   ready keeps the loop turning, so that it looks at its timers all the time. */
static void test_timers_are_never_early(void **state)
{
	struct loop_timer *t = loop_timer_new(loop, stop, loop);
	struct loop_fd *busy;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	busy = loop_fd_new(loop, pair[0], again, NULL);
	loop_fd_set(busy, LOOP_WRITE);
	for (int i = 0; i < 50; i++) {
		struct timespec before, after;

		clock_gettime(CLOCK_BOOTTIME, &before);
		loop_timer_set(t, 2);
		loop_run(loop);
		clock_gettime(CLOCK_BOOTTIME, &after);
		assert_true((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= 2000000);
	}
	loop_fd_free(busy);
	loop_timer_free(t);
	close(pair[0]);
	close(pair[1]);
}

struct end {
	struct loop_fd *fd;
	int socket, seen, want_next;
	bool freed;
};

static void on_fd(void *cookie, int events)
{
	struct end *e = cookie;

	e->seen |= events;
	if (e->want_next < 0) {
		loop_fd_free(e->fd);
		e->freed = true;
	} else {
		loop_fd_set(e->fd, e->want_next);
		e->want_next = -1;
	}
}

static void test_descriptors(void **state)
{
	struct end e = { .want_next = LOOP_WRITE };
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	e.fd = loop_fd_new(loop, pair[0], on_fd, &e);
	loop_run(loop); /* waits for nothing */
	assert_int_equal(e.seen, 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	loop_fd_set(e.fd, LOOP_READ);
	loop_run(loop);
	assert_true(e.freed);
	assert_int_equal(e.seen, LOOP_READ | LOOP_WRITE);
	close(pair[0]);
	close(pair[1]);
}

/* The same number again, in the same round, is another descriptor. */
static void test_descriptor_is_used_again(void **state)
{
	struct end first = { .want_next = -1 }, second = { .want_next = -1 };
	int pair[2], again[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	first.fd = loop_fd_new(loop, pair[0], on_fd, &first);
	loop_fd_set(first.fd, LOOP_WRITE);
	loop_fd_free(first.fd);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, again), 0);
	assert_int_equal(again[0], pair[0]);
	second.fd = loop_fd_new(loop, again[0], on_fd, &second);
	loop_fd_set(second.fd, LOOP_WRITE);
	loop_run(loop);
	assert_int_equal(first.seen, 0);
	assert_int_equal(second.seen, LOOP_WRITE);
	close(again[0]);
	close(again[1]);
}

static void count_error(void *cookie, int events)
{
	struct end *e = cookie;

	assert_int_equal(events, LOOP_READ | LOOP_WRITE);
	if (++e->seen == 3)
		loop_fd_free(e->fd);
}

/* Nobody reads the pipe: an error, told as long as one waits. */
static void test_error_is_told_again(void **state)
{
	struct end e = { 0 };
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	e.fd = loop_fd_new(loop, p[1], count_error, &e);
	loop_fd_set(e.fd, LOOP_WRITE);
	loop_run(loop);
	assert_int_equal(e.seen, 3);
	close(p[1]);
}

static void test_plain_file_cannot_be_waited_for(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	assert_null(loop_fd_new(loop, fileno(f), on_fd, NULL));
	fclose(f);
}

struct signals {
	struct loop_signal *s;
	int seen;
};

static void on_signal(void *cookie, int signum)
{
	struct signals *s = cookie;

	s->seen = signum;
	loop_signal_free(s->s);
}

static void test_signals(void **state)
{
	struct signals s = { 0 }, other = { 0 };

	(void)state;
	s.s = loop_signal_new(loop, SIGTERM, on_signal, &s);
	other.s = loop_signal_new(loop, SIGHUP, on_signal, &other);
	raise(SIGTERM);
	raise(SIGHUP);
	loop_run(loop);
	assert_int_equal(s.seen, SIGTERM);
	assert_int_equal(other.seen, SIGHUP);
	raise(SIGPIPE);
}

/* A timer that is never done, and one that it sets: signals and descriptors have their turn all the same. */
struct tireless {
	struct loop_timer *t, *other;
	struct loop_signal *s;
	int rounds;
	bool heard;
};

static void go_on(void *cookie)
{
	struct tireless *t = cookie;

	if (t->rounds++ == 0)
		raise(SIGTERM);
	/* So that a test that fails ends. */
	if (t->rounds > 1000)
		return;
	loop_timer_set(t->other, 0);
	loop_timer_set(t->t, 0);
}

static void go_along(void *cookie)
{
	(void)cookie;
}

static void on_heard(void *cookie, int signum)
{
	struct tireless *t = cookie;

	(void)signum;
	t->heard = true;
	loop_timer_stop(t->other);
	loop_timer_stop(t->t);
	loop_signal_free(t->s);
}

static void test_timer_without_end_starves_nobody(void **state)
{
	struct tireless t = { 0 };

	(void)state;
	t.t = loop_timer_new(loop, go_on, &t);
	t.other = loop_timer_new(loop, go_along, &t);
	t.s = loop_signal_new(loop, SIGTERM, on_heard, &t);
	loop_timer_set(t.t, 0);
	loop_run(loop);
	assert_true(t.heard);
	assert_in_range(t.rounds, 1, 100);
	loop_timer_free(t.t);
	loop_timer_free(t.other);
}

/* Each of the two runs longer than the other's delay, so that one of them is always due. */
static void go_on_slowly(void *cookie)
{
	struct tireless *t = cookie;
	msec end = loop_now(loop) + 4;

	if (t->rounds++ == 0)
		raise(SIGTERM);
	while (loop_now(loop) < end)
		continue;
	if (t->rounds > 100)
		return;
	loop_timer_set(t->t, 1);
}

static void go_along_slowly(void *cookie)
{
	struct tireless *t = cookie;
	msec end = loop_now(loop) + 4;

	while (loop_now(loop) < end)
		continue;
	loop_timer_set(t->other, 1);
}

static void test_slow_timers_starve_nobody(void **state)
{
	struct tireless t = { 0 };

	(void)state;
	t.t = loop_timer_new(loop, go_on_slowly, &t);
	t.other = loop_timer_new(loop, go_along_slowly, &t);
	t.s = loop_signal_new(loop, SIGTERM, on_heard, &t);
	loop_timer_set(t.t, 0);
	loop_timer_set(t.other, 1);
	loop_run(loop);
	assert_true(t.heard);
	assert_in_range(t.rounds, 1, 10);
	loop_timer_free(t.t);
	loop_timer_free(t.other);
}

/* What waits for the next round can be stopped, moved and freed like any other. */
static void set_and_change(void *cookie)
{
	struct entry *e = cookie;

	for (size_t i = 0; i < 4; i++)
		loop_timer_set(e[i].t, 0);
	loop_timer_stop(e[0].t);
	loop_timer_set(e[1].t, 5);
	loop_timer_free(e[2].t);
}

static void test_next_round_can_be_changed(void **state)
{
	struct entry e[4] = { { .letter = 's' }, { .letter = 'm' }, { .letter = 'f' }, { .letter = 'n' } };
	struct loop_timer *first = loop_timer_new(loop, set_and_change, e);

	(void)state;
	written = 0;
	for (size_t i = 0; i < ARRAY_LEN(e); i++)
		e[i].t = loop_timer_new(loop, note, &e[i]);
	loop_timer_set(first, 0);
	loop_run(loop);
	assert_string_equal(diary, "nm");
	loop_timer_free(first);
	loop_timer_free(e[0].t);
	loop_timer_free(e[1].t);
	loop_timer_free(e[3].t);
}

static void note_end(void *cookie, const struct loop_process_result *r)
{
	(void)r;
	note(cookie);
}

/* A stop that no run has seen does not keep what was freed from being closed, and what was freed is not called. */
static void test_stop_before_the_end(void **state)
{
	static const char *const done[] = { "true", NULL };
	struct loop *l = loop_new();
	struct entry e = { .letter = 'e' }, p = { .letter = 'p' };

	(void)state;
	written = 0;
	e.t = loop_timer_new(l, note, &e);
	loop_timer_set(e.t, 0);
	loop_process_free(loop_process_start(l, &(struct loop_process_spec){ .argv = done }, note_end, &p));
	loop_timer_free(e.t);
	loop_stop(l);
	loop_free(l);
	assert_int_equal(written, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_timers_fire_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timers_are_never_early, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timers_move_stop_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timer_without_end_starves_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slow_timers_starve_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_next_round_can_be_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
		cmocka_unit_test(test_stop_before_the_end),
		cmocka_unit_test_setup_teardown(test_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_descriptor_is_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_error_is_told_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_plain_file_cannot_be_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
