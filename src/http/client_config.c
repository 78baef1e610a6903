/* Where a pool goes and how: checked once, and kept in the form that libcurl wants. */
#include "http/client_pool.h"

/* Copies with zeros behind, for libcurl. */
static void copy_server(struct http_config *c, const struct http_server *s)
{
	struct str *texts[] = {
		&c->server.url,   &c->server.ca,        &c->server.cert, &c->server.key, &c->server.tls_server_name,
		&c->server.proxy, &c->server.user_agent
	};
	size_t n = 0;
	char *at;

	c->server = *s;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		n += texts[i]->n + 1;
	at = c->text = xcalloc(1, n);
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
static bool set_addresses(struct http_config *c, struct err *e)
{
	struct buf b = BUF_INIT(SIZE_MAX / 4);
	struct parts u = { .u = curl_url() };
	struct str name = c->server.tls_server_name;
	bool ok = parse_url(&c->server, &u, e);

	if (ok) {
		buf_printf(&b, "%s://%s:%s%s", u.scheme, name.n ? name.p : u.host, u.port, u.path);
		c->base = xstrndup(b.p, b.n);
	}
	if (ok && name.n) {
		buf_clear(&b);
		buf_printf(&b, "%s:%s:%s:%s", name.p, u.port, u.host, u.port);
		c->connect_to = curl_slist_append(NULL, b.p);
		buf_clear(&b);
		buf_printf(&b, "Host: %s:%s", u.host, u.port);
		c->host = xstrndup(b.p, b.n);
	}
	buf_release(&b);
	parts_release(&u);
	return ok;
}

bool http_config_init(struct http_config *c, const struct http_server *s, struct err *e)
{
	copy_server(c, s);
	return check_server(&c->server, e) && set_addresses(c, e);
}

void http_config_release(struct http_config *c)
{
	curl_slist_free_all(c->connect_to);
	free(c->base);
	free(c->host);
	free(c->text);
}
