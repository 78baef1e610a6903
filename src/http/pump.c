#include "http/pump.h"

enum { SLOW_MS = 5 };

static void turn(struct http_pump *p)
{
	MHD_UNSIGNED_LONG_LONG wait;

	p->running = true;
	MHD_run(p->daemon);
	p->running = false;
	if (MHD_get_timeout(p->daemon, &wait) == MHD_YES && wait < SLOW_MS && p->slow && p->slow(p->cookie))
		loop_timer_set(p->timer, SLOW_MS);
	else if (MHD_get_timeout(p->daemon, &wait) == MHD_YES)
		loop_timer_set(p->timer, (msec)MIN(wait, (MHD_UNSIGNED_LONG_LONG)MINUTES(1)));
	else
		loop_timer_stop(p->timer);
}

static void on_fd(void *cookie, int events)
{
	(void)events;
	turn(cookie);
}

static void on_pump_timer(void *cookie)
{
	turn(cookie);
}

void http_pump_start(struct http_pump *p, struct loop *l, struct MHD_Daemon *d)
{
	const union MHD_DaemonInfo *epoll = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);

	ASSERT(epoll);
	p->daemon = d;
	p->running = false;
	p->fd = loop_fd_new(l, epoll->epoll_fd, on_fd, p);
	ASSERT(p->fd);
	p->timer = loop_timer_new(l, on_pump_timer, p);
	loop_fd_set(p->fd, LOOP_READ);
}

void http_pump_stop(struct http_pump *p)
{
	ASSERT(!p->running);
	loop_fd_free(p->fd);
	loop_timer_free(p->timer);
}

void http_pump_kick(struct http_pump *p)
{
	loop_timer_set(p->timer, 0);
}
