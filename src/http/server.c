#include "http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CONNECTIONS_MAX = 64,
	IDLE_S = 30, /* a request that does not come, or an answer that nobody reads */
	REQUEST_MAX = 16 << 10,
	REPLY_MAX = 64 << 20,
	BACKLOG = 64,
};

struct http_listener {
	struct loop *loop;
	http_handler_fn fn;
	void *cookie;
	struct MHD_Daemon *daemon;
	struct loop_fd *fd;
	struct loop_timer *timer;
	int port;
	bool running;
};

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static bool is_loopback(const struct sockaddr *a)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	const union address *u = (const union address *)a;

	if (a && a->sa_family == AF_INET)
		return ntohl(u->in.sin_addr.s_addr) >> 24 == 127;
	if (a && a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&u->in6.sin6_addr) ||
		       (memcmp(u->in6.sin6_addr.s6_addr, mapped, 12) == 0 && u->in6.sin6_addr.s6_addr[12] == 127);
	return false;
}

/* Takes the body over. */
static enum MHD_Result answer(struct MHD_Connection *c, struct http_reply *reply)
{
	struct MHD_Response *r;
	enum MHD_Result rc;

	if (reply->body.overflow) {
		buf_release(&reply->body);
		reply->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
	r = reply->body.p ? MHD_create_response_from_buffer(reply->body.n, reply->body.p, MHD_RESPMEM_MUST_FREE)
	                  : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	if (!r) {
		buf_release(&reply->body);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
	                        reply->content_type ? reply->content_type : "text/plain; charset=utf-8");
	if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	rc = MHD_queue_response(c, (unsigned)reply->status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result on_request(void *cookie, struct MHD_Connection *c, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *upload_n, void **state)
{
	static int seen;
	struct http_listener *h = cookie;
	const union MHD_ConnectionInfo *peer = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct http_query q = { str_c(method), str_c(path), peer && is_loopback(peer->client_addr) };
	struct http_reply reply = { .status = MHD_HTTP_NOT_FOUND, .body = BUF_INIT(REPLY_MAX) };

	(void)version;
	(void)upload;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		reply.status = MHD_HTTP_METHOD_NOT_ALLOWED;
		return answer(c, &reply);
	}
	/* First called after the headers, where an answer would end the connection. */
	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	if (*upload_n)
		return MHD_NO;
	h->fn(h->cookie, &q, &reply);
	ASSERT(reply.status >= 200 && reply.status < 600);
	return answer(c, &reply);
}

static void turn(struct http_listener *h)
{
	MHD_UNSIGNED_LONG_LONG wait;

	h->running = true;
	MHD_run(h->daemon);
	h->running = false;
	if (MHD_get_timeout(h->daemon, &wait) == MHD_YES)
		loop_timer_set(h->timer, (msec)MIN(wait, (MHD_UNSIGNED_LONG_LONG)MINUTES(1)));
	else
		loop_timer_stop(h->timer);
}

static void on_fd(void *cookie, int events)
{
	(void)events;
	turn(cookie);
}

static void on_timer(void *cookie)
{
	turn(cookie);
}

/* "[::1]:80" into "::1" and 80. */
static bool parse(struct str address, char host[static 64], int *port, struct err *e)
{
	size_t colon = address.n;
	struct str name;
	int64_t number;

	while (colon > 0 && address.p[colon - 1] != ':')
		colon--;
	if (colon == 0)
		return err_set(e, ERR_INVALID, "address \"%.*s\": no port", STR_F(address));
	name = str_sub(address, 0, colon - 1);
	if (!str_int(str_sub(address, colon, address.n), &number) || number < 0 || number > 65535)
		return err_set(e, ERR_INVALID, "address \"%.*s\": the port is none", STR_F(address));
	if (name.n >= 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
		name = str_sub(name, 1, name.n - 2);
	else if (name.n && memchr(name.p, ':', name.n))
		return err_set(e, ERR_INVALID, "address \"%.*s\": an IPv6 address needs brackets", STR_F(address));
	if (str_eq(name, STR("localhost")))
		name = STR("127.0.0.1");
	if (name.n > 63)
		return err_set(e, ERR_INVALID, "address \"%.*s\": the host is too long", STR_F(address));
	memcpy(host, str_text(name), name.n);
	host[name.n] = 0;
	*port = (int)number;
	return true;
}

/* A socket that listens; -1 and errno. */
static int open_socket(const union address *a, socklen_t n)
{
	int on = 1, off = 0, saved;
	int s = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (s < 0)
		return -1;
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->any.sa_family == AF_INET6)
		setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(s, &a->any, n) == 0 && listen(s, BACKLOG) == 0)
		return s;
	saved = errno;
	close(s);
	errno = saved;
	return -1;
}

static int listen_at(struct str address, struct err *e)
{
	union address in = { .in = { .sin_family = AF_INET } }, in6 = { .in6 = { .sin6_family = AF_INET6 } };
	char host[64] = "";
	int port = 0, s;

	if (!parse(address, host, &port, e))
		return -1;
	in.in.sin_port = in6.in6.sin6_port = htons((uint16_t)port);
	if (!host[0]) {
		s = open_socket(&in6, sizeof(in6.in6));
		/* A machine may have no IPv6. */
		if (s < 0 && errno != EADDRINUSE && errno != EACCES)
			s = open_socket(&in, sizeof(in.in));
	} else if (inet_pton(AF_INET, host, &in.in.sin_addr) == 1) {
		s = open_socket(&in, sizeof(in.in));
	} else if (inet_pton(AF_INET6, host, &in6.in6.sin6_addr) == 1) {
		s = open_socket(&in6, sizeof(in6.in6));
	} else {
		err_set(e, ERR_INVALID, "address \"%.*s\": the host must be a number or localhost", STR_F(address));
		return -1;
	}
	if (s < 0)
		err_set(e, ERR_IO, "cannot listen on %.*s: %s", STR_F(address), strerror(errno));
	return s;
}

static int port_of(int s)
{
	union address a = { 0 };
	socklen_t n = sizeof(a);

	ASSERT(getsockname(s, &a.any, &n) == 0);
	return ntohs(a.any.sa_family == AF_INET6 ? a.in6.sin6_port : a.in.sin_port);
}

struct http_listener *http_listen(struct loop *l, struct str address, http_handler_fn fn, void *cookie, struct err *e)
{
	struct http_listener *h;
	const union MHD_DaemonInfo *epoll;
	int s = listen_at(address, e);

	if (s < 0)
		return NULL;
	h = xcalloc(1, sizeof(*h));
	h->loop = l;
	h->fn = fn;
	h->cookie = cookie;
	h->port = port_of(s);
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, s,
	                             MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
	                             MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
	                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX, MHD_OPTION_END);
	if (!h->daemon) {
		err_set(e, ERR_IO, "cannot serve on %.*s: %s", STR_F(address), strerror(errno));
		close(s);
		free(h);
		return NULL;
	}
	epoll = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	ASSERT(epoll);
	h->fd = loop_fd_new(l, epoll->epoll_fd, on_fd, h);
	ASSERT(h->fd);
	h->timer = loop_timer_new(l, on_timer, h);
	loop_fd_set(h->fd, LOOP_READ);
	return h;
}

int http_listener_port(const struct http_listener *h)
{
	return h->port;
}

void http_listener_free(struct http_listener *h)
{
	if (!h)
		return;
	ASSERT(!h->running);
	loop_fd_free(h->fd);
	loop_timer_free(h->timer);
	MHD_stop_daemon(h->daemon);
	free(h);
}
