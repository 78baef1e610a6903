#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 64 };

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

bool http_is_loopback(const void *address)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	const union address *u = address;
	const struct sockaddr *a = address;

	if (a && a->sa_family == AF_INET)
		return ntohl(u->in.sin_addr.s_addr) >> 24 == 127;
	if (a && a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&u->in6.sin6_addr) ||
		       (memcmp(u->in6.sin6_addr.s6_addr, mapped, 12) == 0 && u->in6.sin6_addr.s6_addr[12] == 127);
	return false;
}

bool http_names_loopback(struct str host)
{
	union address a = { .in = { .sin_family = AF_INET } };
	struct str name;
	char text[64];

	if (host.n && *host.p == '[') {
		host = str_sub(host, 1, host.n);
		return str_next(&host, ']', &name) && str_eqc(name, "::1");
	}
	if (!str_next(&host, ':', &name) || str_eqc(name, "localhost"))
		return true;
	if (name.n >= sizeof(text))
		return false;
	memcpy(text, str_text(name), name.n);
	text[name.n] = 0;
	return inet_pton(AF_INET, text, &a.in.sin_addr) == 1 && http_is_loopback(&a);
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
		return err_set(e, ERR_INVALID, "address \"%.*s\": the port is not a number from 0 to 65535",
		               STR_F(address));
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

int http_listen_at(struct str address, struct err *e)
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

int http_port_of(int s)
{
	union address a = { 0 };
	socklen_t n = sizeof(a);

	ASSERT(getsockname(s, &a.any, &n) == 0);
	return ntohs(a.any.sa_family == AF_INET6 ? a.in6.sin6_port : a.in.sin_port);
}
