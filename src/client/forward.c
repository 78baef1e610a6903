#include "client/forward.h"

#include "base/list.h"
#include "kube/channels.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FORWARD_DATA, FORWARD_ERROR };
enum { PIECE = 32 << 10, WAITS = 256 << 10, LINKS_MAX = 64, PROBLEM_MAX = 256, PORT_BYTES = 2 };

struct forwarding;

struct listener {
	struct forwarding *all;
	int fd, there;
	struct str path; /* of the pod's port */
	struct loop_fd *watch;
};

/* One connection of somebody here. */
struct forwarded {
	struct forwarding *all;
	const struct listener *from;
	int fd;
	struct loop_fd *watch;
	struct kube_channels *channels;
	size_t heads[2]; /* bytes of each channel that say its port: they are skipped */
	struct buf out, problem;
	size_t sent;
	bool ready, closed, dead; /* CLOSED: by the other side; what came is written before it is DEAD */
	struct forwarded *prev, *next;
};

struct forwarding {
	struct remote *remote;
	struct str path;
	struct listener listeners[FORWARD_PORTS_MAX];
	size_t n;
	struct forwarded *links;
	size_t n_links;
	struct loop_timer *sweep; /* what is dead is not freed inside its own callbacks */
};

static void link_die(struct forwarded *l)
{
	l->dead = true;
	loop_timer_set(l->all->sweep, 0);
}

static void watch_link(struct forwarded *l)
{
	bool in = l->ready && !l->closed && kube_channels_waiting(l->channels) < WAITS;

	if (!l->dead)
		loop_fd_set(l->watch, (in ? LOOP_READ : 0) | (l->out.n ? LOOP_WRITE : 0));
	kube_channels_pause(l->channels, l->out.n > 0);
}

static void write_link(struct forwarded *l)
{
	while (!l->dead && l->out.n > l->sent) {
		ssize_t n = send(l->fd, l->out.p + l->sent, l->out.n - l->sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			link_die(l);
		if (n < 0 && errno != EINTR)
			break;
		l->sent += n > 0 ? (size_t)n : 0;
	}
	if (l->out.n == l->sent) {
		buf_clear(&l->out);
		l->sent = 0;
		if (l->closed)
			link_die(l);
	}
}

static void read_link(struct forwarded *l)
{
	char text[PIECE];
	ssize_t n = recv(l->fd, text, sizeof(text), 0);

	if (n > 0)
		kube_channels_put(l->channels, FORWARD_DATA, (struct str){ text, (size_t)n });
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		link_die(l);
}

static void on_link(void *cookie, int events)
{
	struct forwarded *l = cookie;

	if (events & LOOP_WRITE)
		write_link(l);
	if ((events & LOOP_READ) && !l->dead && l->ready && !l->closed)
		read_link(l);
	watch_link(l);
}

static void on_channel(void *cookie, unsigned channel, struct str bytes, bool end)
{
	struct forwarded *l = cookie;
	size_t skip;

	(void)end;
	if (channel > FORWARD_ERROR)
		return;
	skip = MIN(bytes.n, PORT_BYTES - l->heads[channel]);
	l->heads[channel] += skip;
	bytes = str_sub(bytes, skip, bytes.n);
	buf_put(channel == FORWARD_DATA ? &l->out : &l->problem, bytes);
	write_link(l);
	watch_link(l);
}

static void on_ready(void *cookie)
{
	struct forwarded *l = cookie;

	l->ready = true;
	watch_link(l);
}

static void on_link_closed(void *cookie, int code, struct str message)
{
	struct forwarded *l = cookie;
	struct str why = l->problem.n ? buf_str(&l->problem) : message;

	l->closed = true;
	if (why.n || code)
		cli_fail(l->all->remote->cli, CLI_FAILED, "port %d: %.*s", l->from->there, STR_F(why));
	write_link(l);
	watch_link(l);
}

static void link_free(struct forwarded *l)
{
	list_drop(&l->all->links, l);
	l->all->n_links--;
	kube_channels_free(l->channels);
	loop_fd_free(l->watch);
	close(l->fd);
	buf_release(&l->out);
	buf_release(&l->problem);
	free(l);
}

static void on_sweep(void *cookie)
{
	struct forwarding *f = cookie;
	struct forwarded *next;

	for (struct forwarded *l = f->links; l; l = next) {
		next = l->next;
		if (l->dead)
			link_free(l);
	}
}

static void on_listener(void *cookie, int events)
{
	struct listener *from = cookie;
	struct forwarding *f = from->all;
	int fd = accept4(from->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct forwarded *l;

	(void)events;
	if (fd < 0)
		return;
	if (f->n_links == LINKS_MAX) {
		close(fd);
		return;
	}
	l = xcalloc(1, sizeof(*l));
	*l = (struct forwarded){
		.all = f, .from = from, .fd = fd, .out = BUF_INIT(SIZE_MAX / 4), .problem = BUF_INIT(PROBLEM_MAX)
	};
	list_push(&f->links, l);
	f->n_links++;
	l->watch = loop_fd_new(f->remote->loop, fd, on_link, l);
	l->channels = kube_channels_new(f->remote->loop, &f->remote->config,
	                                &(struct kube_channels_config){ .path = from->path,
	                                                                .bytes = on_channel,
	                                                                .ready = on_ready,
	                                                                .closed = on_link_closed,
	                                                                .cookie = l });
}

static bool open_listener(struct forwarding *f, const struct forward_port *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		                  .sin_port = htons((uint16_t)port->here) };
	struct listener *l = &f->listeners[f->n];
	socklen_t n = sizeof(at);

	*l = (struct listener){ .all = f, .there = port->there };
	l->path = arena_printf(&f->remote->arena, "%.*s?ports=%d", STR_F(f->path), port->there);
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd >= 0)
		setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(l->fd, LINKS_MAX) != 0 ||
	    getsockname(l->fd, (struct sockaddr *)&at, &n) != 0) {
		f->remote->cli->status =
			cli_fail(f->remote->cli, CLI_FAILED, "127.0.0.1:%d: %s", port->here, strerror(errno));
		if (l->fd >= 0)
			close(l->fd);
		return false;
	}
	l->watch = loop_fd_new(f->remote->loop, l->fd, on_listener, l);
	loop_fd_set(l->watch, LOOP_READ);
	f->n++;
	printf("127.0.0.1:%d -> %d\n", ntohs(at.sin_port), port->there);
	return true;
}

static bool never(void *cookie)
{
	(void)cookie;
	return false;
}

enum exit_code forward_run(struct remote *r, struct str ns, struct str pod, const struct forward_port *ports, size_t n)
{
	struct forwarding f = { .remote = r };
	bool ok = true;

	f.path = arena_printf(&r->arena, "%.*s/portforward", STR_F(remote_path(r, &remote_pods, ns, pod)));
	f.sweep = loop_timer_new(r->loop, on_sweep, &f);
	for (size_t i = 0; ok && i < n; i++)
		ok = open_listener(&f, &ports[i]);
	fflush(stdout);
	if (ok)
		remote_wait(r, never, NULL);
	for (struct forwarded *l = f.links, *next; l; l = next) {
		next = l->next;
		link_free(l);
	}
	for (size_t i = 0; i < f.n; i++) {
		loop_fd_free(f.listeners[i].watch);
		close(f.listeners[i].fd);
	}
	loop_timer_free(f.sweep);
	return r->cli->status;
}
