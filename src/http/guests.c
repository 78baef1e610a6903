#include "http/guests.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* The daemon takes some ten connections at once, before it looks at those that were told to go. */
enum { ROOM = 16 };

/* An IPv4 address as IPv6 has it. */
static void read_address(unsigned char ret[static 16], const struct sockaddr *a)
{
	const struct sockaddr_in *in = (const void *)a;
	const struct sockaddr_in6 *in6 = (const void *)a;

	memset(ret, 0, 16);
	if (a && a->sa_family == AF_INET6) {
		memcpy(ret, &in6->sin6_addr, 16);
	} else if (a && a->sa_family == AF_INET) {
		memset(ret + 10, 0xff, 2);
		memcpy(ret + 12, &in->sin_addr, 4);
	}
}

/* The daemon sees the end of the stream, and closes it. */
static void tell_to_go(struct guest *one)
{
	one->told = true;
	shutdown(one->fd, SHUT_RDWR);
}

static bool is_of(const struct guest *one, const unsigned char *address)
{
	return one->connection && !one->told && (!address || memcmp(one->address, address, 16) == 0);
}

/* Of ADDRESS (NULL: of any): somebody whose request is under way only if everybody else's is too. */
static struct guest *longest_idle(struct guests *g, const unsigned char *address, size_t *ret_n)
{
	struct guest *ret = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < GUESTS_MAX; i++) {
		struct guest *one = &g->v[i];

		if (!is_of(one, address))
			continue;
		(*ret_n)++;
		if (!ret || (ret->busy && !one->busy) || (ret->busy == one->busy && one->turn < ret->turn))
			ret = one;
	}
	return ret;
}

struct guest *guests_add(struct guests *g, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct guest *one = g->v, *old;
	size_t n;
	int fd;

	ASSERT(info);
	fd = info->connect_fd;
	/* Since 1.0 both answers stand in the same place. */
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	while (one < g->v + GUESTS_MAX && one->connection)
		one++;
	if (one == g->v + GUESTS_MAX)
		return NULL;
	*one = (struct guest){ .connection = c, .fd = fd, .turn = ++g->turns };
	read_address(one->address, info ? info->client_addr : NULL);
	old = longest_idle(g, one->address, &n);
	if (n > GUESTS_OF_ADDRESS) {
		tell_to_go(old);
		return one;
	}
	old = longest_idle(g, NULL, &n);
	if (n > GUESTS_MAX - ROOM)
		tell_to_go(old);
	return one;
}

void guests_remove(struct guest *one)
{
	if (one)
		*one = (struct guest){ .connection = NULL };
}

void guests_busy(struct guests *g, struct guest *one, bool busy)
{
	if (!one)
		return;
	one->busy = busy;
	one->turn = ++g->turns;
}
