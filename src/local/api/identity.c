#include "local/api/identity.h"

#include "base/buf.h"
#include "local/api/keep.h"

#include <sys/random.h>

enum { TOKEN_BYTES = 32, TOKEN_TEXT = 2 * TOKEN_BYTES };

static bool load_tls(struct tls_name *ret, const char *folder, msec now, struct arena *a, struct err *e)
{
	struct str text;

	if (keep_read(&text, folder, "tls.pem", a, NULL) == FILE_READ && tls_read(&ret->tls, text, now, a, NULL))
		return true;
	return tls_make(&ret->tls, now, a, e) && keep_write(folder, "tls.pem", tls_text(&ret->tls, a), e);
}

static bool is_token(struct str s)
{
	if (s.n != TOKEN_TEXT)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789abcdef", s.p[i]))
			return false;
	return true;
}

static struct str new_token(struct arena *a)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[TOKEN_BYTES];
	char *text = arena_alloc(a, TOKEN_TEXT + 1);

	/* So few bytes come whole or not at all. */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		BUG("no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	return (struct str){ text, TOKEN_TEXT };
}

static bool load_token(struct tls_name *ret, const char *folder, struct arena *a, struct err *e)
{
	struct str text;

	if (keep_read(&text, folder, "token", a, NULL) == FILE_READ && is_token(str_trim(text))) {
		ret->token = str_trim(text);
		return true;
	}
	ret->token = new_token(a);
	return keep_write(folder, "token", arena_printf(a, "%.*s\n", STR_F(ret->token)), e);
}

static int load_port(const char *folder, struct arena *a)
{
	struct str text;
	int64_t port;

	if (keep_read(&text, folder, "port", a, NULL) != FILE_READ || !str_int(str_trim(text), &port) || port < 1 ||
	    port > 65535)
		return 0;
	return (int)port;
}

bool identity_load(struct tls_name *ret, const char *folder, msec now, struct arena *a, struct err *e)
{
	*ret = (struct tls_name){ 0 };
	if (!keep_folder(folder, e) || !load_tls(ret, folder, now, a, e) || !load_token(ret, folder, a, e))
		return false;
	ret->port = load_port(folder, a);
	return true;
}

static void put_kubeconfig(struct buf *b, const struct tls_name *id, int port)
{
	buf_put(b, STR("apiVersion: v1\nkind: Config\nclusters:\n- name: dljob-local\n  cluster:\n"));
	buf_printf(b, "    server: https://127.0.0.1:%d\n    certificate-authority-data: ", port);
	buf_base64_encode(b, id->tls.ca);
	buf_put(b, STR("\nusers:\n- name: dljob-local\n  user:\n    token: "));
	buf_put(b, id->token);
	buf_put(b, STR("\ncontexts:\n- name: dljob-local\n  context:\n    cluster: dljob-local\n    user: dljob-local\n"
	               "    namespace: default\ncurrent-context: dljob-local\n"));
}

bool identity_publish(const struct tls_name *id, const char *folder, int port, struct err *e)
{
	struct buf b = BUF_INIT(64 << 10);
	char text[16];
	bool ok;

	snprintf(text, sizeof(text), "%d\n", port);
	put_kubeconfig(&b, id, port);
	ok = keep_write(folder, "port", str_c(text), e) && keep_write(folder, "ca.pem", id->tls.ca, e) &&
	     keep_write(folder, "kubeconfig", buf_str(&b), e);
	buf_release(&b);
	return ok;
}

bool identity_admits(const struct tls_name *id, struct str authorization)
{
	struct str scheme = str_sub(authorization, 0, 7), token = str_trim(str_sub(authorization, 7, authorization.n));
	unsigned char differ = 0;

	if (!str_eq_nocase(scheme, STR("bearer ")) || token.n != id->token.n)
		return false;
	for (size_t i = 0; i < token.n; i++)
		differ |= (unsigned char)(token.p[i] ^ id->token.p[i]);
	return differ == 0;
}
