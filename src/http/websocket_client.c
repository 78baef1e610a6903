#include "http/websocket_client.h"

#include "http/client_pool.h"

#include <sys/random.h>

enum {
	CONNECT_MS = 10000,
	HANDSHAKE_MS = 20000,
	PIECE = 16 << 10,
	TURNS = 16,
	HEAD_MAX = 64 << 10,
	KEY_BYTES = 16,
};

struct websocket {
	struct websocket_config config;
	struct http_config server;
	CURL *curl;
	char error[CURL_ERROR_SIZE], key[WS_KEY + 1];
	struct loop_fd *watch;
	struct loop_timer *timer; /* the handshake's end; then: there may be more to read */
	struct ws_reader reader;
	struct buf head; /* the answer to the handshake */
	bool open, paused, over;
	struct buf out;
	size_t sent;
	char piece[PIECE]; /* what is being sent: it may have to be offered once more as it is */
	size_t piece_n, piece_sent;
};

/* Returns false, for those who go no further. */
static bool finish(struct websocket *w, int status, struct str text)
{
	if (w->over)
		return false;
	w->over = true;
	loop_fd_free(w->watch);
	loop_timer_free(w->timer);
	w->watch = NULL;
	w->timer = NULL;
	w->config.closed(w->config.cookie, status, text);
	return false;
}

static void listen_on(struct websocket *w)
{
	bool more = w->piece_n > w->piece_sent || w->out.n > w->sent;

	if (!w->over)
		loop_fd_set(w->watch, (w->paused ? 0 : LOOP_READ) | (more ? LOOP_WRITE : 0));
}

/* Sending */

static void next_piece(struct websocket *w)
{
	w->piece_n = MIN(w->out.n - w->sent, sizeof(w->piece));
	w->piece_sent = 0;
	if (w->piece_n)
		memcpy(w->piece, w->out.p + w->sent, w->piece_n);
	w->sent += w->piece_n;
	if (w->sent == w->out.n) {
		buf_clear(&w->out);
		w->sent = 0;
	} else if (w->sent > w->out.n / 2) {
		memmove(w->out.p, w->out.p + w->sent, w->out.n - w->sent);
		w->out.n -= w->sent;
		w->sent = 0;
	}
}

static bool send_on(struct websocket *w)
{
	size_t before = websocket_waiting(w), n;
	CURLcode rc = CURLE_OK;

	while (websocket_waiting(w)) {
		if (w->piece_sent == w->piece_n)
			next_piece(w);
		rc = curl_easy_send(w->curl, w->piece + w->piece_sent, w->piece_n - w->piece_sent, &n);
		if (rc)
			break;
		w->piece_sent += n;
	}
	if (rc && rc != CURLE_AGAIN)
		return finish(w, 0, str_c(curl_easy_strerror(rc)));
	if (before > websocket_waiting(w) && w->open)
		w->config.drained(w->config.cookie);
	return true;
}

static void put(struct websocket *w, enum ws_op op, struct str a, struct str b)
{
	unsigned char mask[4];

	ASSERT(getrandom(mask, sizeof(mask), 0) == sizeof(mask));
	ws_put(&w->out, op, mask, a, b);
	listen_on(w);
}

/* The handshake */

/* The value of a header line of the answer. */
static struct str header_of(struct str head, struct str name)
{
	struct str line, field;

	while (str_next(&head, '\n', &line))
		if (str_next(&line, ':', &field) && str_eq_nocase(field, name))
			return str_trim(line);
	return STR_NONE;
}

static int status_of(struct str head)
{
	struct str version, code;
	int64_t n;

	if (!str_next(&head, ' ', &version) || !str_next(&head, ' ', &code) || !str_int(code, &n))
		return 0;
	return n >= 100 && n < 600 ? (int)n : 0;
}

/* A refusal, whose body is read to its end. */
static bool refused(struct websocket *w, struct str head, struct str body, bool ended)
{
	int64_t length;

	if (!str_int(header_of(head, STR("Content-Length")), &length))
		length = INT64_MAX;
	return ended || (int64_t)body.n >= length ? finish(w, status_of(head), body) : true;
}

static bool agreed(struct websocket *w, struct str head)
{
	char accept[WS_ACCEPT + 1];

	ws_accept(accept, str_c(w->key));
	if (!str_eqc(header_of(head, STR("Sec-WebSocket-Accept")), accept))
		return finish(w, 0, STR("the server's answer is not that of a WebSocket"));
	w->open = true;
	loop_timer_stop(w->timer);
	w->config.opened(w->config.cookie, header_of(head, STR("Sec-WebSocket-Protocol")));
	return true;
}

static bool read_frames(struct websocket *w, char *text, size_t n);

/* ENDED: nothing follows. */
static bool read_head(struct websocket *w, struct str bytes, bool ended)
{
	struct str all, head;
	const char *end;
	size_t at;

	buf_put(&w->head, bytes);
	all = buf_str(&w->head);
	end = memmem(all.p, all.n, "\r\n\r\n", 4);
	if (!end && (ended || w->head.overflow))
		return finish(w, 0, STR("the server's answer breaks off"));
	if (!end)
		return true;
	at = (size_t)(end - all.p) + 4;
	head = str_sub(all, 0, at);
	if (status_of(head) != 101)
		return refused(w, head, str_sub(all, at, all.n), ended || w->head.overflow);
	return agreed(w, head) && read_frames(w, w->head.p + at, all.n - at);
}

/* Receiving */

static bool read_frames(struct websocket *w, char *text, size_t n)
{
	struct ws_piece p;
	enum ws_got got = WS_NOTHING;

	while (!w->over && (got = ws_read(&w->reader, &text, &n, &p)) == WS_PIECE) {
		if (p.op == WS_PING)
			put(w, WS_PONG, STR_NONE, p.bytes);
		else if (p.op == WS_CLOSE)
			finish(w, 0, STR_NONE);
		else if (p.op != WS_PONG)
			w->config.piece(w->config.cookie, &p);
	}
	if (w->over)
		return false;
	return got != WS_WRONG || finish(w, 0, STR("the server does not keep to the protocol"));
}

static bool read_on(struct websocket *w)
{
	char text[PIECE];
	size_t n;

	for (int i = 0; i < TURNS && !w->paused; i++) {
		CURLcode rc = curl_easy_recv(w->curl, text, sizeof(text), &n);

		if (rc == CURLE_AGAIN)
			return true;
		if (rc || n == 0)
			return w->open ? finish(w, 0,
			                        rc ? str_c(curl_easy_strerror(rc)) : STR("the connection has ended"))
			               : read_head(w, STR_NONE, true);
		if (!(w->open ? read_frames(w, text, n) : read_head(w, (struct str){ text, n }, false)))
			return false;
	}
	/* What the TLS session holds makes no descriptor readable. */
	if (w->open && !w->paused)
		loop_timer_set(w->timer, 0);
	return true;
}

static void on_socket(void *cookie, int events)
{
	struct websocket *w = cookie;

	if ((events & LOOP_WRITE) && !send_on(w))
		return;
	if (!(events & LOOP_READ) || read_on(w))
		listen_on(w);
}

static void on_timer(void *cookie)
{
	struct websocket *w = cookie;

	if (!w->open)
		finish(w, 0, STR("the server does not answer"));
	else if (read_on(w))
		listen_on(w);
}

/* The beginning */

static bool connect_to(struct websocket *w, struct err *e)
{
	CURLcode rc;

	curl_easy_setopt(w->curl, CURLOPT_URL, w->server.base);
	curl_easy_setopt(w->curl, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(w->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	/* Through a proxy, plain HTTP too is a tunnel. */
	curl_easy_setopt(w->curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
	rc = curl_easy_perform(w->curl);
	return rc == CURLE_OK || err_set(e, ERR_IO, "%s", w->error[0] ? w->error : curl_easy_strerror(rc));
}

static void put_request(struct websocket *w)
{
	struct str url = str_c(w->server.base), host, path;
	const char *slash;
	struct buf *b = &w->out, key = BUF_INIT(64);
	unsigned char random[KEY_BYTES];

	url = str_sub(url, (size_t)(strstr(url.p, "://") + 3 - url.p), url.n);
	slash = memchr(url.p, '/', url.n);
	host = slash ? str_sub(url, 0, (size_t)(slash - url.p)) : url;
	path = str_sub(url, host.n, url.n);
	ASSERT(getrandom(random, sizeof(random), 0) == sizeof(random));
	buf_base64_encode(&key, (struct str){ (const char *)random, sizeof(random) });
	snprintf(w->key, sizeof(w->key), "%.*s", STR_F(buf_str(&key)));
	buf_release(&key);
	buf_printf(b, "GET %.*s%.*s HTTP/1.1\r\n", STR_F(path), STR_F(w->config.path));
	if (w->server.host)
		buf_printf(b, "%s\r\n", w->server.host);
	else
		buf_printf(b, "Host: %.*s\r\n", STR_F(host));
	if (w->server.server.user_agent.n)
		buf_printf(b, "User-Agent: %.*s\r\n", STR_F(w->server.server.user_agent));
	if (w->config.authorization.n)
		buf_printf(b, "Authorization: %.*s\r\n", STR_F(w->config.authorization));
	buf_printf(b,
	           "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
	           "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: %.*s\r\n\r\n",
	           w->key, STR_F(w->config.protocols));
}

struct websocket *websocket_open(struct loop *l, const struct http_server *s, const struct websocket_config *c,
                                 struct err *e)
{
	struct websocket *w = xcalloc(1, sizeof(*w));
	curl_socket_t fd = CURL_SOCKET_BAD;
	bool ok;

	w->config = *c;
	w->out = (struct buf)BUF_INIT(SIZE_MAX / 4);
	w->head = (struct buf)BUF_INIT(HEAD_MAX);
	w->curl = curl_easy_init();
	ASSERT(w->curl);
	ok = http_config_init(&w->server, s, e);
	if (ok) {
		curl_easy_setopt(w->curl, CURLOPT_ERRORBUFFER, w->error);
		http_curl_reach(w->curl, &w->server);
		ok = connect_to(w, e);
	}
	if (ok)
		curl_easy_getinfo(w->curl, CURLINFO_ACTIVESOCKET, &fd);
	ok = ok && (fd != CURL_SOCKET_BAD || err_set(e, ERR_IO, "no connection"));
	if (!ok) {
		w->over = true;
		websocket_free(w);
		return NULL;
	}
	put_request(w);
	w->watch = loop_fd_new(l, fd, on_socket, w);
	w->timer = loop_timer_new(l, on_timer, w);
	loop_timer_set(w->timer, HANDSHAKE_MS);
	listen_on(w);
	return w;
}

void websocket_free(struct websocket *w)
{
	if (!w)
		return;
	loop_fd_free(w->watch);
	loop_timer_free(w->timer);
	curl_easy_cleanup(w->curl);
	http_config_release(&w->server);
	buf_release(&w->out);
	buf_release(&w->head);
	free(w);
}

void websocket_put(struct websocket *w, enum ws_op op, struct str a, struct str b)
{
	if (!w->over)
		put(w, op, a, b);
}

size_t websocket_waiting(const struct websocket *w)
{
	return w->out.n - w->sent + w->piece_n - w->piece_sent;
}

void websocket_pause(struct websocket *w, bool pause)
{
	if (w->paused == pause || w->over)
		return;
	w->paused = pause;
	if (!pause)
		loop_timer_set(w->timer, 0);
	listen_on(w);
}
