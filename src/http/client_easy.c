/* One transfer of libcurl: its options, and what it calls while it runs. */
#include "http/client_pool.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
	CONNECT_MS = 10000,
	HEADERS_MAX = 256 << 10,
	/* Each handle that is in use has buffers of its own: most answers are small, streams are not. */
	UPLOAD_BUFFER = 16 << 10, /* the least that libcurl takes */
	ANSWER_BUFFER = 4 << 10,
	STREAM_BUFFER = 16 << 10,
	IDLE_S = 90, /* an unused connection; less than servers and balancers allow */
	/* A peer that is gone without a word is noticed within 20 s, also where nothing is being sent. */
	KEEPALIVE_IDLE_S = 10,
	KEEPALIVE_INTERVAL_S = 5,
	KEEPALIVE_COUNT = 2,
	USER_TIMEOUT_MS = 20000,
};

#define SET(curl, option, value) ASSERT(curl_easy_setopt((curl), (option), (value)) == CURLE_OK)
#define SETOPT(easy, option, value) SET((easy)->curl, option, value)

static size_t on_header(char *text, size_t size, size_t n, void *cookie)
{
	struct http_easy *easy = cookie;
	struct http_call *call = easy->call;
	long status;

	if (call->cancelled || http_client_is_dead(call->client))
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
		call->answered = call->last_byte;
	}
	return size * n;
}

static size_t on_read(char *to, size_t size, size_t n, void *cookie)
{
	struct http_easy *easy = cookie;
	struct http_call *call = easy->call;
	struct str piece = str_sub(call->r.body, easy->read, size * n);

	if (call->cancelled || http_client_is_dead(call->client))
		return CURL_READFUNC_ABORT;
	memcpy(to, piece.p, piece.n);
	easy->read += piece.n;
	return piece.n;
}

static size_t on_body(char *text, size_t size, size_t n, void *cookie)
{
	struct http_easy *easy = cookie;
	struct http_call *call = easy->call;
	struct str piece = { text, size * n };

	if (call->cancelled || http_client_is_dead(call->client))
		return 0;
	call->last_byte = loop_now(easy->pool->loop);
	if (call->r.data && call->status / 100 == 2) {
		if (call->paused) {
			call->held = true;
			return CURL_WRITEFUNC_PAUSE;
		}
		if (!call->r.data(call->r.cookie, piece))
			call->problem = "aborted by its reader";
		return call->problem || call->cancelled || http_client_is_dead(call->client) ? 0 : piece.n;
	}
	buf_put(&call->body, piece);
	if (!call->body.overflow)
		return piece.n;
	snprintf(easy->too_long, sizeof(easy->too_long), "the answer is longer than %zu bytes", call->body.max);
	call->problem = easy->too_long;
	return 0;
}

/* A connection is ready and the request goes out next. libcurl repeats what it sent over a kept connection
   that turned out to be closed; but the server may have carried it out. */
static int on_ready(void *cookie, char *peer, char *local, int peer_port, int local_port)
{
	struct http_easy *easy = cookie;
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

static void set_tls(CURL *curl, const struct http_server *s)
{
	struct curl_blob b;

	SET(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(curl, CURLOPT_SSL_VERIFYPEER, s->insecure ? 0L : 1L);
	SET(curl, CURLOPT_SSL_VERIFYHOST, s->insecure ? 0L : 2L);
	if (s->ca.n) {
		b = blob(s->ca);
		SET(curl, CURLOPT_CAINFO_BLOB, &b);
	}
	if (s->cert.n) {
		b = blob(s->cert);
		SET(curl, CURLOPT_SSLCERT_BLOB, &b);
		b = blob(s->key);
		SET(curl, CURLOPT_SSLKEY_BLOB, &b);
	}
}

static void set_proxy(CURL *curl, const struct http_server *s)
{
	if (str_eq(s->proxy, STR("-"))) {
		SET(curl, CURLOPT_PROXY, "");
	} else if (s->proxy.n) {
		SET(curl, CURLOPT_PROXY, s->proxy.p);
		SET(curl, CURLOPT_NOPROXY, "");
	}
}

void http_curl_reach(CURL *curl, const struct http_config *c)
{
	SET(curl, CURLOPT_NOSIGNAL, 1L);
	SET(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(curl, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
	if (c->server.user_agent.n)
		SET(curl, CURLOPT_USERAGENT, c->server.user_agent.p);
	if (c->connect_to)
		SET(curl, CURLOPT_CONNECT_TO, c->connect_to);
	set_tls(curl, &c->server);
	set_proxy(curl, &c->server);
}

/* What all requests have in common. */
static void set_common(struct http_easy *easy)
{
	SETOPT(easy, CURLOPT_PRIVATE, easy);
	SETOPT(easy, CURLOPT_FOLLOWLOCATION, 0L);
	SETOPT(easy, CURLOPT_PATH_AS_IS, 1L);
	SETOPT(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SETOPT(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
	SETOPT(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_S);
	SETOPT(easy, CURLOPT_ERRORBUFFER, easy->error);
	SETOPT(easy, CURLOPT_HEADERFUNCTION, on_header);
	SETOPT(easy, CURLOPT_HEADERDATA, easy);
	SETOPT(easy, CURLOPT_WRITEFUNCTION, on_body);
	SETOPT(easy, CURLOPT_WRITEDATA, easy);
	SETOPT(easy, CURLOPT_READFUNCTION, on_read);
	SETOPT(easy, CURLOPT_READDATA, easy);
	SETOPT(easy, CURLOPT_PREREQFUNCTION, on_ready);
	SETOPT(easy, CURLOPT_PREREQDATA, easy);
	http_curl_reach(easy->curl, &easy->pool->config);
}

struct http_easy *http_easy_new(struct http_pool *p)
{
	struct http_easy *easy = xcalloc(1, sizeof(*easy));

	easy->pool = p;
	easy->text = (struct buf)BUF_INIT(SIZE_MAX / 4);
	easy->curl = curl_easy_init();
	ASSERT(easy->curl);
	set_common(easy);
	return easy;
}

void http_easy_reset(struct http_easy *easy)
{
	curl_easy_reset(easy->curl);
	set_common(easy);
}

void http_easy_free(struct http_easy *easy)
{
	curl_easy_cleanup(easy->curl);
	buf_release(&easy->text);
	free(easy);
}

/* A small body goes out with the headers. Of a large one libcurl would keep a copy of its own: it is read piece by
   piece instead. */
static void set_body(struct http_easy *easy, struct str body)
{
	easy->read = 0;
	SETOPT(easy, CURLOPT_POST, 1L);
	SETOPT(easy, CURLOPT_POSTFIELDS, body.n > UPLOAD_BUFFER ? NULL : str_text(body));
	SETOPT(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
}

static void set_method(struct http_easy *easy, const struct http_request *r)
{
	static const char *const names[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };
	bool plain = r->method == HTTP_GET || (r->method == HTTP_DELETE && r->body.n == 0);

	if (plain) {
		SETOPT(easy, CURLOPT_POSTFIELDS, NULL);
		SETOPT(easy, CURLOPT_HTTPGET, 1L);
	} else {
		set_body(easy, r->body);
	}
	SETOPT(easy, CURLOPT_CUSTOMREQUEST, names[r->method]);
}

/* Appends a text with its zero and returns where it begins. */
static size_t put_string(struct buf *b, const char *before, struct str s)
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

static void set_texts(struct http_easy *easy, const struct http_request *r)
{
	const struct http_config *c = &easy->pool->config;
	size_t at[HEADER_LINES], n = 0;

	buf_clear(&easy->text);
	put_string(&easy->text, c->base, r->path);
	at[n++] = put_string(&easy->text, "Accept: ", or_json(r->accept));
	at[n++] = put_string(&easy->text, "Expect:", STR_NONE);
	if (r->body.n)
		at[n++] = put_string(&easy->text, "Content-Type: ", or_json(r->content_type));
	if (r->authorization.n)
		at[n++] = put_string(&easy->text, "Authorization: ", r->authorization);
	if (c->host)
		at[n++] = put_string(&easy->text, c->host, STR_NONE);
	for (size_t i = 0; i < n; i++)
		easy->lines[i] = (struct curl_slist){ easy->text.p + at[i], i + 1 < n ? &easy->lines[i + 1] : NULL };
	SETOPT(easy, CURLOPT_URL, easy->text.p);
	SETOPT(easy, CURLOPT_HTTPHEADER, easy->lines);
}

void http_easy_set(struct http_easy *easy, struct http_call *call)
{
	easy->call = call;
	easy->error[0] = 0;
	set_method(easy, &call->r);
	set_texts(easy, &call->r);
	SETOPT(easy, CURLOPT_BUFFERSIZE, call->r.data ? (long)STREAM_BUFFER : (long)ANSWER_BUFFER);
	SETOPT(easy, CURLOPT_CONNECTTIMEOUT_MS,
	       call->r.connect_timeout > 0 ? (long)MIN(call->r.connect_timeout, INT32_MAX) : (long)CONNECT_MS);
}
