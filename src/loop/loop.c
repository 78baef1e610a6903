#include "base/list.h"
#include "loop/internal.h"

#include <signal.h>

/* A handle is the first member of what it belongs to; the memory goes when libuv has let go of it. */

struct loop_timer {
	uv_timer_t uv;
	struct loop *loop;
	loop_timer_fn fn;
	void *cookie;
	bool waits; /* in the loop's list `later` */
	struct loop_timer *next, *prev;
};

struct loop_fd {
	uv_poll_t uv;
	struct loop *loop;
	loop_fd_fn fn;
	void *cookie;
	int events;
};

struct loop_signal {
	uv_signal_t uv;
	struct loop *loop;
	loop_signal_fn fn;
	void *cookie;
};

static void on_fired(uv_prepare_t *uv);

struct loop *loop_new(void)
{
	struct loop *l = xcalloc(1, sizeof(*l));
	int rc = uv_loop_init(&l->uv);

	if (rc)
		BUG("no event loop: %s", uv_strerror(rc));
	ASSERT(uv_idle_init(&l->uv, &l->busy) == 0);
	ASSERT(uv_check_init(&l->uv, &l->polled) == 0);
	l->polled.data = l;
	l->fired.data = l;
	ASSERT(uv_prepare_init(&l->uv, &l->fired) == 0 && uv_prepare_start(&l->fired, on_fired) == 0);
	uv_unref((uv_handle_t *)&l->fired);
	signal(SIGPIPE, SIG_IGN);
	return l;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	if (l->open)
		BUG("%zu things are still open on the loop", l->open);
	uv_close((uv_handle_t *)&l->busy, NULL);
	uv_close((uv_handle_t *)&l->polled, NULL);
	uv_close((uv_handle_t *)&l->fired, NULL);
	/* What was freed is closed in the loop's next round; a killed process is waited for. A loop_stop() that no run
	   has seen ends the first round before it begins. */
	while (uv_run(&l->uv, UV_RUN_DEFAULT))
		continue;
	ASSERT(uv_loop_close(&l->uv) == 0);
	free(l);
}

void loop_run(struct loop *l)
{
	ASSERT(!l->running);
	l->running = true;
	uv_run(&l->uv, UV_RUN_DEFAULT);
	l->running = false;
}

void loop_stop(struct loop *l)
{
	uv_stop(&l->uv);
}

msec loop_now(const struct loop *l)
{
	struct timespec t;

	(void)l;
	ASSERT(clock_gettime(CLOCK_BOOTTIME, &t) == 0);
	return SECONDS(t.tv_sec) + t.tv_nsec / 1000000;
}

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

/* HANDLE is the first member of what was opened on L. */
static void close_handle(struct loop *l, void *handle)
{
	uv_handle_t *uv = handle;

	ASSERT(!uv_is_closing(uv));
	ASSERT(l->open > 0);
	l->open--;
	uv_close(uv, free_handle);
}

static void on_uv_timer(uv_timer_t *uv)
{
	struct loop_timer *t = (struct loop_timer *)uv;

	t->loop->firing = true;
	t->fn(t->cookie);
}

/* --- timers for the next round ---
   libuv fires timers until none is due by the time of the round. What a timer's callback sets must not be due in the
   same round, or timers that set themselves again and again would be due for ever, and no descriptor and no signal
   would have its turn. So what is set to 0 there waits until the loop has looked for events, and the time of the round
   stands still until all have fired: with it moving, two that run longer than each other's delay would not end. */

static void on_busy(uv_idle_t *uv)
{
	(void)uv;
}

static void take_out(struct loop_timer *t)
{
	struct loop *l = t->loop;

	if (!t->waits)
		return;
	list_drop(&l->later, t);
	t->next = t->prev = NULL;
	t->waits = false;
	if (!l->later) {
		uv_idle_stop(&l->busy);
		uv_check_stop(&l->polled);
	}
}

static void on_polled(uv_check_t *uv)
{
	struct loop *l = uv->data;

	while (l->later) {
		struct loop_timer *t = l->later;

		take_out(t);
		ASSERT(uv_timer_start(&t->uv, on_uv_timer, 0, 0) == 0);
	}
}

/* Timers have fired, events are next: how long to wait for them is counted from now. */
static void on_fired(uv_prepare_t *uv)
{
	struct loop *l = uv->data;

	l->firing = false;
	uv_update_time(&l->uv);
}

uint64_t loop_from_now(struct loop *l, msec delay)
{
	uint64_t now, then;

	if (!l->firing)
		uv_update_time(&l->uv);
	now = uv_hrtime() / 1000000;
	then = uv_now(&l->uv);
	return (l->firing && now > then ? now - then : 0) + (uint64_t)delay + 1;
}

/* At the end: equal times fire in the order in which they were set. */
static void set_later(struct loop_timer *t)
{
	struct loop *l = t->loop;
	struct loop_timer **at = &l->later;

	ASSERT(uv_idle_start(&l->busy, on_busy) == 0);
	ASSERT(uv_check_start(&l->polled, on_polled) == 0);
	uv_timer_stop(&t->uv);
	t->prev = NULL;
	for (; *at; at = &(*at)->next)
		t->prev = *at;
	*at = t;
	t->waits = true;
}

struct loop_timer *loop_timer_new(struct loop *l, loop_timer_fn fn, void *cookie)
{
	struct loop_timer *t = xcalloc(1, sizeof(*t));

	ASSERT(uv_timer_init(&l->uv, &t->uv) == 0);
	t->loop = l;
	t->fn = fn;
	t->cookie = cookie;
	l->open++;
	return t;
}

void loop_timer_set(struct loop_timer *t, msec delay)
{
	uint64_t from_now = loop_from_now(t->loop, MAX(delay, (msec)0));

	take_out(t);
	if (delay <= 0 && t->loop->firing)
		set_later(t);
	else
		ASSERT(uv_timer_start(&t->uv, on_uv_timer, delay > 0 ? from_now : 0, 0) == 0);
}

void loop_timer_stop(struct loop_timer *t)
{
	take_out(t);
	uv_timer_stop(&t->uv);
}

void loop_timer_free(struct loop_timer *t)
{
	if (!t)
		return;
	take_out(t);
	close_handle(t->loop, t);
}

static int poll_events(int events)
{
	return (events & LOOP_READ ? UV_READABLE : 0) | (events & LOOP_WRITE ? UV_WRITABLE : 0);
}

static void on_poll(uv_poll_t *uv, int status, int events)
{
	struct loop_fd *f = (struct loop_fd *)uv;
	int had = f->events;

	if (status < 0)
		f->fn(f->cookie, LOOP_READ | LOOP_WRITE);
	else
		f->fn(f->cookie, (events & UV_READABLE ? LOOP_READ : 0) | (events & UV_WRITABLE ? LOOP_WRITE : 0));
	/* libuv stops at an error; whoever still waits is told again. */
	if (status < 0 && !uv_is_closing((uv_handle_t *)uv) && f->events == had && had)
		ASSERT(uv_poll_start(uv, poll_events(had), on_poll) == 0);
}

struct loop_fd *loop_fd_new(struct loop *l, int fd, loop_fd_fn fn, void *cookie)
{
	struct loop_fd *f = xcalloc(1, sizeof(*f));

	if (uv_poll_init(&l->uv, &f->uv, fd) != 0) {
		free(f);
		return NULL;
	}
	f->loop = l;
	f->fn = fn;
	f->cookie = cookie;
	l->open++;
	return f;
}

void loop_fd_set(struct loop_fd *f, int events)
{
	if (f->events == events)
		return;
	f->events = events;
	if (events)
		ASSERT(uv_poll_start(&f->uv, poll_events(events), on_poll) == 0);
	else
		ASSERT(uv_poll_stop(&f->uv) == 0);
}

void loop_fd_free(struct loop_fd *f)
{
	if (f)
		close_handle(f->loop, f);
}

static void on_uv_signal(uv_signal_t *uv, int signum)
{
	struct loop_signal *s = (struct loop_signal *)uv;

	s->fn(s->cookie, signum);
}

struct loop_signal *loop_signal_new(struct loop *l, int signum, loop_signal_fn fn, void *cookie)
{
	struct loop_signal *s = xcalloc(1, sizeof(*s));

	ASSERT(uv_signal_init(&l->uv, &s->uv) == 0);
	ASSERT(uv_signal_start(&s->uv, on_uv_signal, signum) == 0);
	s->loop = l;
	s->fn = fn;
	s->cookie = cookie;
	l->open++;
	return s;
}

void loop_signal_free(struct loop_signal *s)
{
	if (s)
		close_handle(s->loop, s);
}
