/* Runs a libmicrohttpd daemon, which has no threads of its own, on the loop. */
#ifndef HTTP_PUMP_H
#define HTTP_PUMP_H

#include "loop/loop.h"

#include <microhttpd.h>

struct http_pump {
	struct MHD_Daemon *daemon;
	struct loop_fd *fd;
	struct loop_timer *timer;
	bool running;
	/* While it says so nothing is done again at once: libmicrohttpd 0.9.75 sees a TLS handshake that waits for the
	   other side as work that could be done. May be NULL. */
	bool (*slow)(void *cookie);
	void *cookie;
};

/* The daemon was started with MHD_USE_EPOLL. SLOW and its cookie are the caller's to set. */
void http_pump_start(struct http_pump *p, struct loop *l, struct MHD_Daemon *d);
/* Not from inside one of the daemon's callbacks. The daemon is still to be stopped. */
void http_pump_stop(struct http_pump *p);

/* There is something to do for the daemon that it does not see by itself: a connection was resumed. */
void http_pump_kick(struct http_pump *p);

#endif
