#include "http/service.h"

#include "base/list.h"
#include "http/service_peers.h"
#include "http/listen.h"
#include "http/wire.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	CONNECTIONS_MAX = 256,
	IDLE_S = 60,                  /* a request that does not come, or an answer that nobody reads */
	CONNECTION_MEMORY = 48 << 10, /* headers, and what is read and written at once */
	STREAM_BLOCK = 32 << 10,
	KEEP_BUFFER = 64 << 10,
	DROP_BODIES = 16,
	WARNINGS_MAX = 32,
	WARNING_TEXT = 512,
};

struct http_service {
	struct http_service_config config;
	struct MHD_Daemon *daemon;
	struct http_pump pump;
	struct peers peers;
	int port;
	bool stopping;
	struct http_exchange *streams;
	int hangups; /* an epoll of the streams' sockets: a connection that sleeps does not see its end */
	struct loop_fd *hangups_fd;
};

struct http_exchange {
	struct http_service *service;
	struct MHD_Connection *connection;
	char *address;
	struct buf body;
	bool seen, answered, large;
	struct buf warnings; /* header values, each with its zero */
	int n_warnings;
	/* A stream. */
	bool streaming, sleeping, ended, broken;
	int fd;
	struct buf out;
	size_t sent;
	struct http_stream_config stream;
	struct http_wire_config wired;
	struct tls_wire *wire; /* NULL: it still speaks HTTP */
	struct http_exchange *prev, *next;
};

/* Streams */

static void stream_wake(struct http_exchange *x)
{
	if (!x->sleeping)
		return;
	x->sleeping = false;
	MHD_resume_connection(x->connection);
	if (!x->service->stopping)
		http_pump_kick(&x->service->pump);
}

static void stream_break(struct http_exchange *x)
{
	x->broken = true;
	if (x->wire)
		wire_break(x->wire);
	buf_release(&x->out);
	x->sent = 0;
	stream_wake(x);
}

static size_t take_output(struct http_exchange *x, char *into, size_t max)
{
	size_t n = MIN(x->out.n - x->sent, max);

	memcpy(into, x->out.p + x->sent, n);
	x->sent += n;
	if (x->sent < x->out.n)
		return n;
	x->sent = 0;
	if (x->out.cap > KEEP_BUFFER)
		buf_release(&x->out);
	buf_clear(&x->out);
	return n;
}

static ssize_t stream_read(void *cookie, uint64_t at, char *into, size_t max)
{
	struct http_exchange *x = cookie;

	(void)at;
	if (!x->broken && !x->ended && x->out.n == x->sent && x->stream.drained)
		x->stream.drained(x->stream.cookie);
	if (x->broken)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (x->out.n > x->sent)
		return (ssize_t)take_output(x, into, max);
	if (x->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	x->sleeping = true;
	MHD_suspend_connection(x->connection);
	return 0;
}

/* What was read already makes room. */
static void stream_compact(struct http_exchange *x)
{
	if (x->sent < x->out.n / 2)
		return;
	memmove(x->out.p, x->out.p + x->sent, x->out.n - x->sent);
	x->out.n -= x->sent;
	x->sent = 0;
}

bool http_stream_put(struct http_exchange *x, struct str bytes)
{
	size_t waits = http_stream_waiting(x);

	ASSERT(x->streaming && !x->ended);
	if (x->broken)
		return false;
	if (waits && waits + bytes.n > x->stream.max) {
		stream_break(x);
		return false;
	}
	if (x->sent)
		stream_compact(x);
	buf_put(&x->out, bytes);
	stream_wake(x);
	return true;
}

size_t http_stream_waiting(const struct http_exchange *x)
{
	return x->out.n - x->sent;
}

void http_stream_end(struct http_exchange *x)
{
	ASSERT(x->streaming);
	x->ended = true;
	stream_wake(x);
}

static void on_hangup(void *cookie, int events)
{
	struct http_service *s = cookie;
	struct epoll_event v[16];
	int n = epoll_wait(s->hangups, v, ARRAY_LEN(v), 0);

	(void)events;
	for (int i = 0; i < n; i++)
		stream_break(v[i].data.ptr);
}

void http_stream(struct http_exchange *x, const struct http_stream_config *config)
{
	struct http_service *s = x->service;
	struct epoll_event ev = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = x };
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct MHD_Response *r =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, x, NULL);

	ASSERT(!x->answered && r && info);
	x->answered = x->streaming = true;
	x->out = (struct buf)BUF_INIT(SIZE_MAX / 4);
	x->stream = *config;
	x->fd = info->connect_fd;
	list_push(&s->streams, x);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, config->content_type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache, private");
	MHD_queue_response(x->connection, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	epoll_ctl(s->hangups, EPOLL_CTL_ADD, x->fd, &ev);
}

static void stream_over(struct http_exchange *x)
{
	struct http_service *s = x->service;

	epoll_ctl(s->hangups, EPOLL_CTL_DEL, x->fd, NULL);
	list_drop(&s->streams, x);
	if (x->wire) {
		wire_free(x->wire);
		x->wired.gone(x->wired.cookie);
	} else {
		x->stream.gone(x->stream.cookie);
	}
}

/* Wires */

/* The daemon asks about the connection once more, and closes it. */
static void on_wire_over(void *exchange)
{
	stream_wake(exchange);
}

void http_wire(struct http_exchange *x, const struct http_wire_config *config)
{
	struct http_service *s = x->service;
	struct epoll_event ev = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = x };
	struct MHD_Connection *c = x->connection;
	const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD),
				       *tls = MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	ASSERT(!x->answered && fd && tls);
	x->answered = x->streaming = x->sleeping = true;
	x->fd = fd->connect_fd;
	x->wired = *config;
	list_push(&s->streams, x);
	/* As long as it sleeps the daemon leaves socket and session alone. */
	MHD_suspend_connection(c);
	x->wire = wire_new(s->config.loop, x->fd, tls->tls_session, config, on_wire_over, x);
	epoll_ctl(s->hangups, EPOLL_CTL_ADD, x->fd, &ev);
}

void http_wire_put(struct http_exchange *x, struct str bytes)
{
	wire_put(x->wire, bytes);
}

size_t http_wire_waiting(const struct http_exchange *x)
{
	return wire_waiting(x->wire);
}

void http_wire_pause(struct http_exchange *x, bool pause)
{
	wire_pause(x->wire, pause);
}

void http_wire_end(struct http_exchange *x)
{
	wire_end(x->wire);
}

/* Requests */

struct str http_header(struct http_exchange *x, const char *name)
{
	return str_c(MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name));
}

void http_warn(struct http_exchange *x, struct str text)
{
	if (x->n_warnings == WARNINGS_MAX)
		return;
	if (!x->n_warnings++)
		x->warnings = (struct buf)BUF_INIT(WARNINGS_MAX * 2 * (WARNING_TEXT + 16));
	buf_put(&x->warnings, STR("299 - \""));
	for (size_t i = 0; i < text.n && i < WARNING_TEXT; i++) {
		if (text.p[i] == '"' || text.p[i] == '\\')
			buf_putc(&x->warnings, '\\');
		buf_putc(&x->warnings, text.p[i] >= ' ' && text.p[i] <= '~' ? text.p[i] : '?');
	}
	buf_put(&x->warnings, (struct str){ "\"", 2 });
}

static void add_warnings(const struct http_exchange *x, struct MHD_Response *r)
{
	const char *at = x->warnings.p;

	for (int i = 0; i < x->n_warnings; i++) {
		MHD_add_response_header(r, MHD_HTTP_HEADER_WARNING, at);
		at += strlen(at) + 1;
	}
}

void http_answer(struct http_exchange *x, int status, const char *content_type, struct buf *body)
{
	struct MHD_Response *r;

	ASSERT(!x->answered && status >= 200 && status < 600);
	x->answered = true;
	if (body->overflow) {
		buf_release(body);
		status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
	r = body->p ? MHD_create_response_from_buffer(body->n, body->p, MHD_RESPMEM_MUST_FREE)
	            : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	ASSERT(r);
	*body = (struct buf){ 0 };
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache, private");
	add_warnings(x, r);
	MHD_queue_response(x->connection, (unsigned)status, r);
	MHD_destroy_response(r);
}

/* Called with the request line as it came. */
static void *on_address(void *cookie, const char *address, struct MHD_Connection *c)
{
	struct http_service *s = cookie;
	struct http_exchange *x = xcalloc(1, sizeof(*x));

	x->service = s;
	x->connection = c;
	x->address = xstrndup(address, strlen(address));
	x->body = (struct buf)BUF_INIT(s->config.body_max);
	return x;
}

static struct http_service_request request_of(const struct http_exchange *x, const char *method)
{
	struct str address = str_c(x->address);
	const char *mark = strchr(x->address, '?');
	size_t cut = mark ? (size_t)(mark - x->address) : address.n;

	return (struct http_service_request){ .method = str_c(method),
		                              .path = str_sub(address, 0, cut),
		                              .query = str_sub(address, cut + 1, address.n),
		                              .body = buf_str(&x->body) };
}

/* So much that it is not even to be read and dropped. */
static bool announces_too_much(struct http_exchange *x)
{
	struct str length = http_header(x, MHD_HTTP_HEADER_CONTENT_LENGTH);
	int64_t n;

	return length.n && (!str_int(length, &n) || n > DROP_BODIES * (int64_t)x->service->config.body_max);
}

static enum MHD_Result on_headers(struct http_exchange *x, const char *method)
{
	struct http_service *s = x->service;
	struct http_service_request q = request_of(x, method);

	x->seen = true;
	if (!s->config.admit(s->config.cookie, x, &q)) {
		ASSERT(x->answered);
		return MHD_YES;
	}
	peers_admitted(&s->peers, x->connection);
	if (announces_too_much(x))
		s->config.too_large(s->config.cookie, x);
	return MHD_YES;
}

static enum MHD_Result on_request(void *cookie, struct MHD_Connection *c, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *upload_n, void **state)
{
	struct http_exchange *x = *state;
	struct http_service *s = x->service;
	struct http_service_request q;

	(void)cookie;
	(void)c;
	(void)path;
	(void)version;
	if (!x->seen)
		return on_headers(x, method);
	if (*upload_n) {
		/* What is too much is read and dropped: who is cut off while sending does not see the answer. */
		if (x->large || x->body.n + *upload_n > x->body.max) {
			x->large = true;
			buf_release(&x->body);
		} else {
			buf_put(&x->body, (struct str){ upload, *upload_n });
		}
		*upload_n = 0;
		return MHD_YES;
	}
	if (x->wire)
		return MHD_NO;
	if (x->answered)
		return MHD_YES;
	q = request_of(x, method);
	if (x->large)
		s->config.too_large(s->config.cookie, x);
	else
		s->config.handle(s->config.cookie, x, &q);
	ASSERT(x->answered);
	buf_release(&x->body);
	return MHD_YES;
}

static void on_completed(void *cookie, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode how)
{
	struct http_exchange *x = *state;

	(void)cookie;
	(void)c;
	(void)how;
	if (!x)
		return;
	if (x->streaming)
		stream_over(x);
	buf_release(&x->out);
	buf_release(&x->body);
	buf_release(&x->warnings);
	free(x->address);
	free(x);
	*state = NULL;
}

static void on_connection(void *cookie, struct MHD_Connection *c, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
	struct http_service *s = cookie;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*state = peers_add(&s->peers, c);
	else
		peers_remove(&s->peers, *state);
}

/* The service */

static bool handshakes_wait(void *cookie)
{
	return peers_wait(&((struct http_service *)cookie)->peers);
}

static struct MHD_Daemon *start_daemon(struct http_service *s, int listener)
{
	const char *key = s->config.key.p, *cert = s->config.cert.p;

	return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_TLS | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, s,
	                        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
	                        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
	                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	                        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
	                        on_connection, s, MHD_OPTION_URI_LOG_CALLBACK, on_address, s, MHD_OPTION_HTTPS_MEM_KEY,
	                        key, MHD_OPTION_HTTPS_MEM_CERT, cert, MHD_OPTION_HTTPS_PRIORITIES,
	                        "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", MHD_OPTION_END);
}

struct http_service *http_service_new(const struct http_service_config *c, struct err *e)
{
	struct http_service *s;
	char address[32];
	int listener;

	snprintf(address, sizeof(address), "127.0.0.1:%d", c->port);
	listener = http_listen_at(str_c(address), e);
	if (listener < 0)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->config = *c;
	s->port = http_port_of(listener);
	peers_init(&s->peers, c->loop, CONNECTIONS_MAX);
	s->hangups = epoll_create1(EPOLL_CLOEXEC);
	s->daemon = s->hangups < 0 ? NULL : start_daemon(s, listener);
	if (!s->daemon) {
		err_set(e, ERR_IO, "cannot serve on %s: %s", address,
		        s->hangups < 0 ? strerror(errno) : "the key or the certificate cannot be used");
		close(listener);
		if (s->hangups >= 0)
			close(s->hangups);
		peers_release(&s->peers);
		free(s);
		return NULL;
	}
	s->hangups_fd = loop_fd_new(c->loop, s->hangups, on_hangup, s);
	ASSERT(s->hangups_fd);
	loop_fd_set(s->hangups_fd, LOOP_READ);
	s->pump.slow = handshakes_wait;
	s->pump.cookie = s;
	http_pump_start(&s->pump, c->loop, s->daemon);
	return s;
}

int http_service_port(const struct http_service *s)
{
	return s->port;
}

void http_service_free(struct http_service *s)
{
	if (!s)
		return;
	http_pump_stop(&s->pump);
	s->stopping = true;
	/* The daemon does not stop while one sleeps. */
	for (struct http_exchange *x = s->streams; x; x = x->next)
		stream_break(x);
	MHD_stop_daemon(s->daemon);
	loop_fd_free(s->hangups_fd);
	close(s->hangups);
	peers_release(&s->peers);
	free(s);
}
