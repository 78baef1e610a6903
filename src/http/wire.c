#include "http/wire.h"

enum {
	RECORD = 16 << 10, /* of TLS: what is taken at once leaves nothing behind in the session */
	TURNS = 16,
	KEEP_BUFFER = 64 << 10,
	LINGER_MS = 2000, /* for the other side to read the last of it: closing at once could take it back */
};

struct tls_wire {
	struct loop_fd *watch;
	struct loop_timer *linger;
	gnutls_session_t tls;
	struct http_wire_config config;
	void (*over)(void *owner);
	void *owner;
	struct buf out;
	size_t sent;
	bool stuck; /* a record is half sent: the session knows it */
	bool paused, ending, broken;
};

static void finish(struct tls_wire *w)
{
	if (w->broken)
		return;
	wire_break(w);
	w->over(w->owner);
}

static void on_linger(void *wire)
{
	finish(wire);
}

static void listen_on(struct tls_wire *w)
{
	if (!w->broken)
		loop_fd_set(w->watch, (w->paused ? 0 : LOOP_READ) | (w->out.n > w->sent ? LOOP_WRITE : 0));
}

/* False: not now, or never again. */
static bool send_some(struct tls_wire *w)
{
	ssize_t n = w->stuck ? gnutls_record_send(w->tls, NULL, 0)
	                     : gnutls_record_send(w->tls, w->out.p + w->sent, MIN(w->out.n - w->sent, (size_t)RECORD));

	w->stuck = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
	if (n < 0 && gnutls_error_is_fatal((int)n))
		finish(w);
	if (n <= 0)
		return false;
	w->sent += (size_t)n;
	return w->out.n > w->sent;
}

static void send_on(struct tls_wire *w)
{
	size_t before = wire_waiting(w);

	if (!before && !w->ending)
		return;
	while (!w->broken && w->out.n > w->sent && send_some(w))
		;
	if (w->broken)
		return;
	if (w->out.n == w->sent) {
		w->sent = 0;
		if (w->out.cap > KEEP_BUFFER)
			buf_release(&w->out);
		buf_clear(&w->out);
		if (w->ending)
			loop_timer_set(w->linger, LINGER_MS);
	}
	if (before > wire_waiting(w) && !w->ending)
		w->config.drained(w->config.cookie);
}

static void read_on(struct tls_wire *w)
{
	char text[RECORD];

	for (int i = 0; i < TURNS && !w->broken && !w->paused; i++) {
		ssize_t n = gnutls_record_recv(w->tls, text, sizeof(text));

		if (n == GNUTLS_E_AGAIN)
			return;
		if (n < 0 && !gnutls_error_is_fatal((int)n))
			continue;
		if (n <= 0)
			finish(w);
		else if (!w->ending)
			w->config.bytes(w->config.cookie, text, (size_t)n);
	}
}

static void on_wire(void *cookie, int events)
{
	struct tls_wire *w = cookie;

	if (events & LOOP_WRITE)
		send_on(w);
	if (events & LOOP_READ)
		read_on(w);
	listen_on(w);
}

struct tls_wire *wire_new(struct loop *l, int fd, gnutls_session_t tls, const struct http_wire_config *c,
                          void (*over)(void *owner), void *owner)
{
	struct tls_wire *w = xcalloc(1, sizeof(*w));

	w->tls = tls;
	w->config = *c;
	w->over = over;
	w->owner = owner;
	w->out = (struct buf)BUF_INIT(SIZE_MAX / 4);
	w->linger = loop_timer_new(l, on_linger, w);
	w->watch = loop_fd_new(l, fd, on_wire, w);
	ASSERT(w->watch);
	listen_on(w);
	return w;
}

void wire_free(struct tls_wire *w)
{
	wire_break(w);
	buf_release(&w->out);
	free(w);
}

/* Sent from the loop, so that nothing calls back from here. */
void wire_put(struct tls_wire *w, struct str bytes)
{
	ASSERT(!w->ending);
	if (w->broken)
		return;
	if (w->sent > w->out.n / 2) {
		memmove(w->out.p, w->out.p + w->sent, w->out.n - w->sent);
		w->out.n -= w->sent;
		w->sent = 0;
	}
	buf_put(&w->out, bytes);
	listen_on(w);
}

size_t wire_waiting(const struct tls_wire *w)
{
	return w->out.n - w->sent;
}

void wire_pause(struct tls_wire *w, bool pause)
{
	w->paused = pause;
	listen_on(w);
}

void wire_end(struct tls_wire *w)
{
	if (w->broken)
		return;
	w->ending = true;
	w->paused = false;
	loop_fd_set(w->watch, LOOP_READ | LOOP_WRITE);
}

void wire_break(struct tls_wire *w)
{
	w->broken = true;
	loop_fd_free(w->watch);
	loop_timer_free(w->linger);
	w->watch = NULL;
	w->linger = NULL;
}
