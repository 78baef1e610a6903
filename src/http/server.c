#include "http/server.h"

#include "http/guests.h"
#include "http/listen.h"
#include "http/pump.h"

#include <errno.h>
#include <unistd.h>

enum {
	IDLE_S = 30, /* a request that does not come, or an answer that nobody reads */
	REQUEST_MAX = 16 << 10,
	REPLY_MAX = 64 << 20,
};

struct http_listener {
	http_handler_fn fn;
	void *cookie;
	struct MHD_Daemon *daemon;
	struct http_pump pump;
	struct guests guests;
	int port;
};

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

static struct guest *guest_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void on_connection(void *cookie, struct MHD_Connection *c, void **state,
                          enum MHD_ConnectionNotificationCode what)
{
	struct http_listener *h = cookie;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*state = guests_add(&h->guests, c);
	else
		guests_remove(*state);
}

static void on_completed(void *cookie, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode how)
{
	struct http_listener *h = cookie;

	(void)state;
	(void)how;
	guests_busy(&h->guests, guest_of(c), false);
}

static enum MHD_Result on_request(void *cookie, struct MHD_Connection *c, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *upload_n, void **state)
{
	static int seen;
	struct http_listener *h = cookie;
	const union MHD_ConnectionInfo *peer = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct http_query q = { .method = str_c(method),
		                .path = str_c(path),
		                .loopback = peer && http_is_loopback(peer->client_addr) };
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
		guests_busy(&h->guests, guest_of(c), true);
		return MHD_YES;
	}
	if (*upload_n)
		return MHD_NO;
	q.named_loopback =
		http_names_loopback(str_c(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)));
	h->fn(h->cookie, &q, &reply);
	ASSERT(reply.status >= 200 && reply.status < 600);
	return answer(c, &reply);
}

struct http_listener *http_listen(struct loop *l, struct str address, http_handler_fn fn, void *cookie, struct err *e)
{
	struct http_listener *h;
	int s = http_listen_at(address, e);

	if (s < 0)
		return NULL;
	h = xcalloc(1, sizeof(*h));
	h->fn = fn;
	h->cookie = cookie;
	h->port = http_port_of(s);
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, s,
	                             MHD_OPTION_CONNECTION_LIMIT, (unsigned)GUESTS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
	                             (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX,
	                             MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
	                             on_completed, h, MHD_OPTION_END);
	if (!h->daemon) {
		err_set(e, ERR_IO, "cannot serve on %.*s: %s", STR_F(address), strerror(errno));
		close(s);
		free(h);
		return NULL;
	}
	http_pump_start(&h->pump, l, h->daemon);
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
	http_pump_stop(&h->pump);
	MHD_stop_daemon(h->daemon);
	free(h);
}
