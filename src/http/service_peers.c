#include "http/service_peers.h"

#include "base/list.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { FIRST_REQUEST_MS = 20000, SOON_MS = 100, ROOM = 16 };

struct peer {
	int fd;
	bool admitted, told;
	msec until;
	struct peer *prev, *next;
};

/* The daemon sees the end of the stream, and closes it. */
static void tell_to_go(struct peer *peer)
{
	peer->told = true;
	shutdown(peer->fd, SHUT_RDWR);
}

static struct peer *oldest(const struct peers *p)
{
	struct peer *peer = p->first;

	while (peer && peer->told)
		peer = peer->next;
	return peer;
}

static void set_timer(struct peers *p)
{
	const struct peer *peer = oldest(p);

	if (peer)
		loop_timer_set(p->timer, MAX(peer->until - loop_now(p->loop), (msec)1));
	else
		loop_timer_stop(p->timer);
}

static void on_peer_timer(void *cookie)
{
	struct peers *p = cookie;
	struct peer *peer;

	while ((peer = oldest(p)) && peer->until <= loop_now(p->loop))
		tell_to_go(peer);
	set_timer(p);
}

void peers_init(struct peers *p, struct loop *l, size_t max)
{
	*p = (struct peers){ .loop = l, .max = max };
	p->timer = loop_timer_new(l, on_peer_timer, p);
}

void peers_release(struct peers *p)
{
	ASSERT(p->n == 0);
	loop_timer_free(p->timer);
}

struct peer *peers_add(struct peers *p, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *peer = xcalloc(1, sizeof(*peer)), *old;

	ASSERT(info);
	/* An answer behind a small piece would wait 40 ms for the other side's word. */
	setsockopt(info->connect_fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	*peer = (struct peer){ .fd = info->connect_fd, .until = loop_now(p->loop) + FIRST_REQUEST_MS };
	deque_append(&p->first, &p->last, peer);
	p->n++;
	if (p->n + ROOM > p->max && (old = oldest(p)) && old != peer)
		tell_to_go(old);
	set_timer(p);
	return peer;
}

void peers_remove(struct peers *p, struct peer *peer)
{
	if (!peer->admitted)
		deque_drop(&p->first, &p->last, peer);
	free(peer);
	p->n--;
	set_timer(p);
}

void peers_admitted(struct peers *p, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct peer *peer = info ? info->socket_context : NULL;

	if (!peer || peer->admitted)
		return;
	deque_drop(&p->first, &p->last, peer);
	peer->admitted = true;
	set_timer(p);
}

bool peers_wait(const struct peers *p)
{
	return p->first && loop_now(p->loop) > p->first->until - FIRST_REQUEST_MS + SOON_MS;
}
