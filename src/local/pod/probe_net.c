#include "local/pod/probe_net.h"

#include "local/pod/parent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REPLY_MAX = 4096, REQUEST_MAX = 65536 };

static bool address(struct str host, int64_t port, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
	char text[INET6_ADDRSTRLEN];

	memset(ret, 0, sizeof(*ret));
	if (str_empty(host) || str_eqc(host, "localhost"))
		host = STR("127.0.0.1");
	if (host.n >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", STR_F(host));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		*ret_len = sizeof(*v4);
		return true;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)port);
	*ret_len = sizeof(*v6);
	return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1;
}

static struct str host_of(const struct probe *pr)
{
	return pr->spec->host.n ? pr->spec->host : pr->c->pod->spec.pod_ip;
}

static void on_event(void *cookie, int events)
{
	struct probe *pr = cookie;

	(void)events;
	/* Level-triggered: asked again only after it was looked at. */
	loop_fd_set(pr->watch, 0);
	pod_wake(pr->c->pod);
}

bool probe_net_begin(struct probe *pr, char why[static 256])
{
	struct sockaddr_storage to;
	socklen_t len;

	if (!address(host_of(pr), pr->spec->port, &to, &len)) {
		snprintf(why, 256, "%.*s is not an address", STR_F(host_of(pr)));
		return false;
	}
	pr->sent = false;
	pr->reply = (struct buf)BUF_INIT(REPLY_MAX);
	pr->fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (pr->fd < 0 || (connect(pr->fd, (struct sockaddr *)&to, len) != 0 && errno != EINPROGRESS)) {
		snprintf(why, 256, "connection to port %lld: %s", (long long)pr->spec->port, strerror(errno));
		return false;
	}
	pr->watch = loop_fd_new(pr->c->pod->loop, pr->fd, on_event, pr);
	loop_fd_set(pr->watch, LOOP_WRITE);
	return true;
}

void probe_net_end(struct probe *pr)
{
	loop_fd_free(pr->watch);
	pr->watch = NULL;
	if (pr->fd >= 0)
		close(pr->fd);
	pr->fd = -1;
	buf_release(&pr->reply);
}

void probe_http_request(const struct pod_probe *p, struct str host, struct buf *out)
{
	bool named = false, agent = false;

	buf_printf(out, "GET %s%.*s HTTP/1.1\r\n", p->path.n && *p->path.p == '/' ? "" : "/", STR_F(p->path));
	for (size_t i = 0; i < p->headers.n; i++) {
		named |= str_eq_nocase(p->headers.v[i].name, STR("Host"));
		agent |= str_eq_nocase(p->headers.v[i].name, STR("User-Agent"));
		buf_printf(out, "%.*s: %.*s\r\n", STR_F(p->headers.v[i].name), STR_F(p->headers.v[i].value));
	}
	if (!named)
		buf_printf(out, "Host: %.*s:%lld\r\n", STR_F(host), (long long)p->port);
	if (!agent)
		buf_put(out, STR("User-Agent: kube-probe/1.32\r\n"));
	buf_put(out, STR("Accept: */*\r\nConnection: close\r\n\r\n"));
}

int probe_http_status(struct str reply)
{
	static const struct str front = STR_INIT("HTTP/1.");
	int64_t status;

	if (memcmp(str_text(reply), front.p, MIN(reply.n, front.n)) != 0)
		return -1;
	if (reply.n < front.n + 5)
		return 0;
	return reply.p[front.n + 1] == ' ' && str_int(str_sub(reply, front.n + 2, 3), &status) && status >= 100
	               ? (int)status
	               : -1;
}

static enum probe_net connected(struct probe *pr, char why[static 256])
{
	struct buf request = BUF_INIT(REQUEST_MAX);
	int problem = 0;
	socklen_t len = sizeof(problem);
	ssize_t n;

	getsockopt(pr->fd, SOL_SOCKET, SO_ERROR, &problem, &len);
	if (problem) {
		snprintf(why, 256, "connection to port %lld: %s", (long long)pr->spec->port, strerror(problem));
		return PROBE_NET_BAD;
	}
	if (pr->spec->kind == POD_PROBE_TCP)
		return PROBE_NET_GOOD;
	probe_http_request(pr->spec, host_of(pr).n ? host_of(pr) : STR("127.0.0.1"), &request);
	n = send(pr->fd, request.p, request.n, MSG_NOSIGNAL);
	/* A fresh connection takes a request at once, or something is wrong with it. */
	pr->sent = n == (ssize_t)request.n;
	buf_release(&request);
	if (!pr->sent) {
		snprintf(why, 256, "the request was not taken");
		return PROBE_NET_BAD;
	}
	loop_fd_set(pr->watch, LOOP_READ);
	return PROBE_NET_BUSY;
}

enum probe_net probe_net_look(struct probe *pr, char why[static 256])
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	char text[REPLY_MAX];
	int status;
	ssize_t n;

	if (!pr->sent) {
		int problem = 0;
		socklen_t size = sizeof(problem);

		if (getpeername(pr->fd, (struct sockaddr *)&peer, &len) == 0)
			return connected(pr, why);
		getsockopt(pr->fd, SOL_SOCKET, SO_ERROR, &problem, &size);
		if (problem) {
			snprintf(why, 256, "connection to port %lld: %s", (long long)pr->spec->port, strerror(problem));
			return PROBE_NET_BAD;
		}
		loop_fd_set(pr->watch, LOOP_WRITE);
		return PROBE_NET_BUSY;
	}
	n = recv(pr->fd, text, sizeof(text), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		loop_fd_set(pr->watch, LOOP_READ);
		return PROBE_NET_BUSY;
	}
	if (n > 0)
		buf_put(&pr->reply, (struct str){ text, (size_t)n });
	status = probe_http_status(buf_str(&pr->reply));
	if (status == 0 && n > 0) {
		loop_fd_set(pr->watch, LOOP_READ);
		return PROBE_NET_BUSY;
	}
	if (status >= 200 && status < 400)
		return PROBE_NET_GOOD;
	if (status > 0)
		snprintf(why, 256, "HTTP probe failed with statuscode: %d", status);
	else
		snprintf(why, 256, "the answer is not HTTP");
	return PROBE_NET_BAD;
}
