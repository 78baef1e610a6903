/* libcurl on the loop: its sockets and its one timer are ours, it never blocks. A pool has one fixed
   configuration; its easy handles are kept and used again. */
#include "http/client_call.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
	CONNECT_MS = 10000,
	HEADERS_MAX = 256 << 10,
	IDLE_S = 90, /* an unused connection; less than servers and balancers allow */
	/* A peer that is gone without a word is noticed within 20 s, also where nothing is being sent. */
	KEEPALIVE_IDLE_S = 10,
	KEEPALIVE_INTERVAL_S = 5,
	KEEPALIVE_COUNT = 2,
	USER_TIMEOUT_MS = 20000,
	DAY_S = 24 * 3600,
	HEADER_LINES = 6,
};

struct easy {
	CURL *curl;
	struct pool *pool;
	struct http_call *call;
	struct easy *next; /* in the free list */
	struct buf text;   /* the URL, then the header lines, each with its zero */
	struct curl_slist lines[HEADER_LINES];
	char error[CURL_ERROR_SIZE];
};

struct sock {
	struct pool *pool;
	struct loop_fd *fd;
	curl_socket_t s;
};

struct pool {
	struct http_client *client;
	struct loop *loop;
	CURLM *multi;
	struct loop_timer *timer;
	struct easy *unused;
	size_t active;
	/* Configuration; empty strings where nothing is said. */
	struct http_server server; /* its texts are in TEXT */
	char *text;
	char *base;                    /* of all URLs */
	char *host;                    /* the Host header's line, if it is not the URL's */
	struct curl_slist *connect_to; /* where to go instead of the URL's host */
};

#define SETOPT(easy, option, value) ASSERT(curl_easy_setopt((easy)->curl, (option), (value)) == CURLE_OK)

/* Sockets and timer */

static void reap(struct pool *p)
{
	CURLMsg *m;
	int left;

	while (!client_is_dead(p->client) && (m = curl_multi_info_read(p->multi, &left))) {
		CURLcode rc = m->data.result;
		struct http_call *call;
		struct easy *easy;
		curl_off_t after = 0;
		const char *problem = NULL;

		ASSERT(curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &easy) == CURLE_OK);
		call = easy->call;
		if (rc != CURLE_OK)
			problem = call->problem ? call->problem : easy->error[0] ? easy->error : curl_easy_strerror(rc);
		curl_easy_getinfo(easy->curl, CURLINFO_RETRY_AFTER, &after);
		client_finish(call, problem, after > 0 ? SECONDS(MIN(after, DAY_S)) : 0);
	}
}

static void act(struct pool *p, curl_socket_t s, int events)
{
	struct http_client *c = p->client;
	int running;

	client_enter(c);
	client_curl_begins(c);
	curl_multi_socket_action(p->multi, s, events, &running);
	client_curl_ended(c);
	reap(p);
	client_leave(c);
}

static void on_fd(void *cookie, int events)
{
	struct sock *s = cookie;

	act(s->pool, s->s, (events & LOOP_READ ? CURL_CSELECT_IN : 0) | (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_timer(void *cookie)
{
	act(cookie, CURL_SOCKET_TIMEOUT, 0);
}

static int on_curl_socket(CURL *curl, curl_socket_t s, int what, void *cookie, void *socket_cookie)
{
	struct pool *p = cookie;
	struct sock *sock = socket_cookie;

	(void)curl;
	if (what == CURL_POLL_REMOVE) {
		if (sock) {
			loop_fd_free(sock->fd);
			free(sock);
			curl_multi_assign(p->multi, s, NULL);
		}
		return 0;
	}
	if (!sock) {
		sock = xcalloc(1, sizeof(*sock));
		sock->pool = p;
		sock->s = s;
		sock->fd = loop_fd_new(p->loop, s, on_fd, sock);
		ASSERT(sock->fd);
		curl_multi_assign(p->multi, s, sock);
	}
	loop_fd_set(sock->fd, (what & CURL_POLL_IN ? LOOP_READ : 0) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0));
	return 0;
}

static int on_curl_timer(CURLM *multi, long delay, void *cookie)
{
	struct pool *p = cookie;

	(void)multi;
	if (delay < 0)
		loop_timer_stop(p->timer);
	else
		loop_timer_set(p->timer, delay);
	return 0;
}

/* One transfer */

static size_t on_header(char *text, size_t size, size_t n, void *cookie)
{
	struct easy *easy = cookie;
	struct http_call *call = easy->call;
	long status;

	if (call->cancelled || client_is_dead(call->client))
		return 0;
	call->last_byte = loop_now(easy->pool->loop);
	call->header_bytes += size * n;
	if (call->header_bytes > HEADERS_MAX) {
		call->problem = "the answer's headers are too long";
		return 0;
	}
	if (str_has_prefix((struct str){ text, size * n }, STR("HTTP/"))) {
		curl_easy_getinfo(easy->curl, CURLINFO_RESPONSE_CODE, &status);
		call->status = (int)status;
	}
	return size * n;
}

static size_t on_body(char *text, size_t size, size_t n, void *cookie)
{
	struct easy *easy = cookie;
	struct http_call *call = easy->call;
	struct str piece = { text, size * n };

	if (call->cancelled || client_is_dead(call->client))
		return 0;
	call->last_byte = loop_now(easy->pool->loop);
	if (call->r.data && call->status / 100 == 2) {
		if (!call->r.data(call->r.cookie, piece))
			call->problem = "broken off by its reader";
		return call->problem || call->cancelled || client_is_dead(call->client) ? 0 : piece.n;
	}
	buf_put(&call->body, piece);
	if (!call->body.overflow)
		return piece.n;
	snprintf(easy->error, sizeof(easy->error), "the answer is longer than %zu bytes", call->body.max);
	call->problem = easy->error;
	return 0;
}

/* A connection is ready and the request goes out next. libcurl repeats what it sent over a kept connection
   that turned out to be closed; but the server may have carried it out. */
static int on_ready(void *cookie, char *peer, char *local, int peer_port, int local_port)
{
	struct easy *easy = cookie;
	struct http_call *call = easy->call;

	(void)peer;
	(void)local;
	(void)peer_port;
	(void)local_port;
	if (call->attempts++ == 0 || call->r.method == HTTP_GET)
		return CURL_PREREQFUNC_OK;
	call->problem = "the connection was closed before an answer came";
	return CURL_PREREQFUNC_ABORT;
}

static int on_new_socket(void *cookie, curl_socket_t s, curlsocktype purpose)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S },
		{ IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S },
		{ IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS },
	};

	(void)cookie;
	(void)purpose;
	/* Programs that we start have no business with it. */
	fcntl(s, F_SETFD, FD_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		setsockopt(s, options[i].level, options[i].name, &options[i].value, sizeof(options[i].value));
	return CURL_SOCKOPT_OK;
}

static struct curl_blob blob(struct str s)
{
	return (struct curl_blob){ (void *)(uintptr_t)s.p, s.n, CURL_BLOB_NOCOPY };
}

static void set_tls(struct easy *easy, const struct http_server *s)
{
	struct curl_blob b;

	SETOPT(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SETOPT(easy, CURLOPT_SSL_VERIFYPEER, s->insecure ? 0L : 1L);
	SETOPT(easy, CURLOPT_SSL_VERIFYHOST, s->insecure ? 0L : 2L);
	if (s->ca.n) {
		b = blob(s->ca);
		SETOPT(easy, CURLOPT_CAINFO_BLOB, &b);
	}
	if (s->cert.n) {
		b = blob(s->cert);
		SETOPT(easy, CURLOPT_SSLCERT_BLOB, &b);
		b = blob(s->key);
		SETOPT(easy, CURLOPT_SSLKEY_BLOB, &b);
	}
}

static void set_proxy(struct easy *easy, const struct http_server *s)
{
	if (str_eq(s->proxy, STR("-"))) {
		SETOPT(easy, CURLOPT_PROXY, "");
	} else if (s->proxy.n) {
		SETOPT(easy, CURLOPT_PROXY, s->proxy.p);
		SETOPT(easy, CURLOPT_NOPROXY, "");
	}
}

/* What all requests have in common. */
static void set_common(struct easy *easy)
{
	struct pool *p = easy->pool;

	SETOPT(easy, CURLOPT_PRIVATE, easy);
	SETOPT(easy, CURLOPT_NOSIGNAL, 1L);
	SETOPT(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SETOPT(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	SETOPT(easy, CURLOPT_FOLLOWLOCATION, 0L);
	SETOPT(easy, CURLOPT_PATH_AS_IS, 1L);
	SETOPT(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SETOPT(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_S);
	SETOPT(easy, CURLOPT_ERRORBUFFER, easy->error);
	SETOPT(easy, CURLOPT_HEADERFUNCTION, on_header);
	SETOPT(easy, CURLOPT_HEADERDATA, easy);
	SETOPT(easy, CURLOPT_WRITEFUNCTION, on_body);
	SETOPT(easy, CURLOPT_WRITEDATA, easy);
	SETOPT(easy, CURLOPT_PREREQFUNCTION, on_ready);
	SETOPT(easy, CURLOPT_PREREQDATA, easy);
	SETOPT(easy, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
	if (p->server.user_agent.n)
		SETOPT(easy, CURLOPT_USERAGENT, p->server.user_agent.p);
	if (p->connect_to)
		SETOPT(easy, CURLOPT_CONNECT_TO, p->connect_to);
	set_tls(easy, &p->server);
	set_proxy(easy, &p->server);
}

static struct easy *easy_new(struct pool *p)
{
	struct easy *easy = xcalloc(1, sizeof(*easy));

	easy->pool = p;
	easy->text = (struct buf)BUF_INIT(SIZE_MAX / 4);
	easy->curl = curl_easy_init();
	ASSERT(easy->curl);
	set_common(easy);
	return easy;
}

static void set_method(struct easy *easy, const struct http_request *r)
{
	static const char *const names[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };
	bool plain = r->method == HTTP_GET || (r->method == HTTP_DELETE && r->body.n == 0);

	if (plain) {
		SETOPT(easy, CURLOPT_POSTFIELDS, NULL);
		SETOPT(easy, CURLOPT_HTTPGET, 1L);
	} else {
		SETOPT(easy, CURLOPT_POST, 1L);
		SETOPT(easy, CURLOPT_POSTFIELDS, str_text(r->body));
		SETOPT(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
	}
	SETOPT(easy, CURLOPT_CUSTOMREQUEST, names[r->method]);
}

/* Appends a text with its zero and returns where it begins. */
static size_t put_text(struct buf *b, const char *before, struct str s)
{
	size_t at = b->n;

	buf_put(b, str_c(before));
	buf_put(b, s);
	buf_putc(b, 0);
	return at;
}

static struct str or_json(struct str s)
{
	return s.n ? s : STR("application/json");
}

static void set_texts(struct easy *easy, const struct http_request *r)
{
	struct pool *p = easy->pool;
	size_t at[HEADER_LINES], n = 0;

	buf_clear(&easy->text);
	put_text(&easy->text, p->base, r->path);
	at[n++] = put_text(&easy->text, "Accept: ", or_json(r->accept));
	at[n++] = put_text(&easy->text, "Expect:", STR_NONE);
	if (r->body.n)
		at[n++] = put_text(&easy->text, "Content-Type: ", or_json(r->content_type));
	if (r->authorization.n)
		at[n++] = put_text(&easy->text, "Authorization: ", r->authorization);
	if (p->host)
		at[n++] = put_text(&easy->text, p->host, STR_NONE);
	for (size_t i = 0; i < n; i++)
		easy->lines[i] = (struct curl_slist){ easy->text.p + at[i], i + 1 < n ? &easy->lines[i + 1] : NULL };
	SETOPT(easy, CURLOPT_URL, easy->text.p);
	SETOPT(easy, CURLOPT_HTTPHEADER, easy->lines);
}

void pool_start(struct pool *p, struct http_call *call)
{
	struct easy *easy = p->unused;

	if (easy)
		p->unused = easy->next;
	else
		easy = easy_new(p);
	easy->next = NULL;
	easy->call = call;
	easy->error[0] = 0;
	call->pool = p;
	call->easy = easy;
	set_method(easy, &call->r);
	set_texts(easy, &call->r);
	SETOPT(easy, CURLOPT_CONNECTTIMEOUT_MS,
	       call->r.connect_timeout > 0 ? (long)MIN(call->r.connect_timeout, INT32_MAX) : (long)CONNECT_MS);
	ASSERT(curl_multi_add_handle(p->multi, easy->curl) == CURLM_OK);
	p->active++;
}

void pool_stop(struct http_call *call)
{
	struct pool *p = call->pool;
	struct easy *easy = call->easy;

	ASSERT(curl_multi_remove_handle(p->multi, easy->curl) == CURLM_OK);
	/* libcurl counts how often it had to try again over the whole life of a handle, and gives up at five. */
	if (call->attempts > 1) {
		curl_easy_reset(easy->curl);
		set_common(easy);
	}
	easy->call = NULL;
	call->easy = NULL;
	p->active--;
	easy->next = p->unused;
	p->unused = easy;
}

size_t pool_active(const struct pool *p)
{
	return p->active;
}

/* Configuration */

/* Copies with zeros behind, for libcurl. */
static void copy_server(struct pool *p, const struct http_server *s)
{
	struct str *texts[] = { &p->server.url, &p->server.ca, &p->server.cert, &p->server.key,
		                &p->server.tls_server_name, &p->server.proxy, &p->server.user_agent };
	size_t n = 0;
	char *at;

	p->server = *s;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		n += texts[i]->n + 1;
	at = p->text = xcalloc(1, n);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (texts[i]->n)
			memcpy(at, texts[i]->p, texts[i]->n);
		texts[i]->p = at;
		at += texts[i]->n + 1;
	}
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 127)
			return true;
	return false;
}

static bool check_server(const struct http_server *s, struct err *e)
{
	static const struct str mark = STR_INIT("-----BEGIN ");
	const struct {
		const char *name;
		struct str text;
	} pem[] = { { "CA", s->ca }, { "client certificate", s->cert }, { "client key", s->key } };

	if (has_control(s->url) || has_control(s->tls_server_name) || has_control(s->proxy))
		return err_set(e, ERR_INVALID, "server: a blank or control character in URL, name or proxy");
	for (size_t i = 0; i < ARRAY_LEN(pem); i++)
		if (pem[i].text.n && !memmem(pem[i].text.p, pem[i].text.n, mark.p, mark.n))
			return err_set(e, ERR_INVALID, "the %s is not PEM", pem[i].name);
	if (!s->cert.n != !s->key.n)
		return err_set(e, ERR_INVALID, "a client %s without its %s", s->cert.n ? "certificate" : "key",
		               s->cert.n ? "key" : "certificate");
	return true;
}

struct parts {
	CURLU *u;
	char *scheme, *host, *port, *path, *query, *fragment;
};

static void parts_release(struct parts *u)
{
	char *all[] = { u->scheme, u->host, u->port, u->path, u->query, u->fragment };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		curl_free(all[i]);
	curl_url_cleanup(u->u);
}

static bool parse_url(const struct http_server *s, struct parts *u, struct err *e)
{
	CURLUcode rc = curl_url_set(u->u, CURLUPART_URL, s->url.p, 0);
	size_t n;

	if (rc)
		return err_set(e, ERR_INVALID, "server URL \"%.*s\": %s", STR_F(s->url), curl_url_strerror(rc));
	curl_url_get(u->u, CURLUPART_SCHEME, &u->scheme, 0);
	curl_url_get(u->u, CURLUPART_HOST, &u->host, 0);
	curl_url_get(u->u, CURLUPART_PORT, &u->port, CURLU_DEFAULT_PORT);
	curl_url_get(u->u, CURLUPART_PATH, &u->path, 0);
	curl_url_get(u->u, CURLUPART_QUERY, &u->query, 0);
	curl_url_get(u->u, CURLUPART_FRAGMENT, &u->fragment, 0);
	if (!u->scheme || !u->host || !u->port || !u->path ||
	    (strcmp(u->scheme, "http") != 0 && strcmp(u->scheme, "https") != 0))
		return err_set(e, ERR_INVALID, "server URL \"%.*s\": neither http nor https", STR_F(s->url));
	if (u->query || u->fragment)
		return err_set(e, ERR_INVALID, "server URL \"%.*s\": a query or fragment", STR_F(s->url));
	for (n = strlen(u->path); n > 0 && u->path[n - 1] == '/'; n--)
		u->path[n - 1] = 0;
	return true;
}

/* The name in the URL is the one that libcurl asks for and checks (RFC 6066 knows no address), so another
   name goes there, and the way to the real host beside it. */
static bool set_addresses(struct pool *p, struct err *e)
{
	struct buf b = BUF_INIT(SIZE_MAX / 4);
	struct parts u = { .u = curl_url() };
	struct str name = p->server.tls_server_name;
	bool ok = parse_url(&p->server, &u, e);

	if (ok) {
		buf_printf(&b, "%s://%s:%s%s", u.scheme, name.n ? name.p : u.host, u.port, u.path);
		p->base = xstrndup(b.p, b.n);
	}
	if (ok && name.n) {
		buf_clear(&b);
		buf_printf(&b, "%s:%s:%s:%s", name.p, u.port, u.host, u.port);
		p->connect_to = curl_slist_append(NULL, b.p);
		buf_clear(&b);
		buf_printf(&b, "Host: %s:%s", u.host, u.port);
		p->host = xstrndup(b.p, b.n);
	}
	buf_release(&b);
	parts_release(&u);
	return ok;
}

struct pool *pool_new(struct http_client *c, struct loop *l, const struct http_server *s, size_t connections,
                      struct err *e)
{
	static bool ready;
	struct pool *p = xcalloc(1, sizeof(*p));
	long most = (long)connections;

	if (!ready)
		ASSERT(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	ready = true;
	p->client = c;
	p->loop = l;
	copy_server(p, s);
	if (!check_server(&p->server, e) || !set_addresses(p, e)) {
		pool_free(p);
		return NULL;
	}
	p->timer = loop_timer_new(l, on_timer, p);
	p->multi = curl_multi_init();
	ASSERT(p->multi);
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
	curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, most);
	curl_multi_setopt(p->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, most);
	curl_multi_setopt(p->multi, CURLMOPT_MAX_HOST_CONNECTIONS, most);
	return p;
}

void pool_free(struct pool *p)
{
	struct easy *easy;

	if (!p)
		return;
	ASSERT(p->active == 0);
	while ((easy = p->unused)) {
		p->unused = easy->next;
		curl_easy_cleanup(easy->curl);
		buf_release(&easy->text);
		free(easy);
	}
	if (p->multi)
		curl_multi_cleanup(p->multi);
	loop_timer_free(p->timer);
	curl_slist_free_all(p->connect_to);
	free(p->base);
	free(p->host);
	free(p->text);
	free(p);
}
