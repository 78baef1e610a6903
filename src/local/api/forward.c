/* port-forward: a connection to a port of the pod over a WebSocket (v4.channel.k8s.io, as kubelets have it): channel 0
   is its bytes, channel 1 what went wrong; the first message of each is the port. */
#include "base/json.h"
#include "local/api/upgrade.h"
#include "local/pod/pod.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FORWARD_DATA, FORWARD_ERROR };
enum { PIECE = 32 << 10, WAITS = 256 << 10, FOLDER_MAX = 4096 };

struct forward {
	struct api *api;
	struct http_exchange *x;
	struct ws_reader ws;
	int channel; /* of the message that is read; -1: not known yet */
	int conn;    /* to the pod's parent, until it has made the connection */
	int fd;      /* the connection */
	struct loop_fd *conn_watch, *watch;
	bool connected, over;
	struct buf input;
	size_t taken;
};

static void put_message(struct forward *f, char channel, struct str bytes)
{
	struct buf frame = BUF_INIT(PIECE * 2);

	ws_put(&frame, WS_BINARY, NULL, (struct str){ &channel, 1 }, bytes);
	http_wire_put(f->x, buf_str(&frame));
	buf_release(&frame);
}

static void put_pong(struct forward *f, struct str bytes)
{
	struct buf frame = BUF_INIT(PIECE);

	/* Who only asks and reads nothing gets no more answers than that. */
	if (http_wire_waiting(f->x) < WAITS) {
		ws_put(&frame, WS_PONG, NULL, STR_NONE, bytes);
		http_wire_put(f->x, buf_str(&frame));
	}
	buf_release(&frame);
}

static void let_go(struct forward *f)
{
	f->over = true;
	loop_fd_free(f->watch);
	loop_fd_free(f->conn_watch);
	if (f->fd >= 0)
		close(f->fd);
	if (f->conn >= 0)
		close(f->conn);
	f->watch = f->conn_watch = NULL;
	f->fd = f->conn = -1;
}

/* PROBLEM NULL: in good order. */
static void end_forward(struct forward *f, const char *problem)
{
	struct buf frame = BUF_INIT(64);

	if (f->over)
		return;
	let_go(f);
	if (problem)
		put_message(f, FORWARD_ERROR, str_c(problem));
	ws_put_close(&frame, WS_NORMAL, NULL);
	http_wire_put(f->x, buf_str(&frame));
	buf_release(&frame);
	http_wire_end(f->x);
}

static void watch_on(struct forward *f)
{
	bool out = !f->connected || f->input.n > f->taken;

	if (f->watch)
		loop_fd_set(f->watch, (f->connected && http_wire_waiting(f->x) <= WAITS ? LOOP_READ : 0) |
		                              (out ? LOOP_WRITE : 0));
	if (!f->over)
		http_wire_pause(f->x, f->input.n - f->taken > WAITS);
}

static void write_input(struct forward *f)
{
	while (f->connected && f->input.n > f->taken) {
		ssize_t n = send(f->fd, f->input.p + f->taken, f->input.n - f->taken, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			end_forward(f, strerror(errno));
		if (n < 0 && errno != EINTR)
			return;
		f->taken += n > 0 ? (size_t)n : 0;
	}
	if (f->connected) {
		buf_clear(&f->input);
		f->taken = 0;
	}
}

static void read_output(struct forward *f)
{
	char text[PIECE];
	ssize_t n = recv(f->fd, text, sizeof(text), 0);

	if (n > 0)
		put_message(f, FORWARD_DATA, (struct str){ text, (size_t)n });
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		end_forward(f, n < 0 ? strerror(errno) : NULL);
}

static void on_connection(void *cookie, int events)
{
	struct forward *f = cookie;
	int problem = 0;
	socklen_t n = sizeof(problem);

	if (!f->connected) {
		getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &problem, &n);
		if (problem)
			end_forward(f, strerror(problem));
		f->connected = !problem;
	} else if (events & LOOP_READ) {
		read_output(f);
	}
	if (!f->over)
		write_input(f);
	watch_on(f);
}

static void on_parent(void *cookie, int events)
{
	struct forward *f = cookie;
	int fd;

	(void)events;
	if (!pod_connect_look(f->conn, &fd))
		return;
	if (fd < 0) {
		end_forward(f, "the pod made no connection");
		return;
	}
	loop_fd_free(f->conn_watch);
	close(f->conn);
	f->conn_watch = NULL;
	f->conn = -1;
	f->fd = fd;
	f->watch = loop_fd_new(f->api->config.loop, fd, on_connection, f);
	watch_on(f);
}

static void take_piece(struct forward *f, struct ws_piece p)
{
	if (p.first)
		f->channel = -1;
	if (f->channel < 0 && p.bytes.n) {
		f->channel = (unsigned char)p.bytes.p[0];
		p.bytes = str_sub(p.bytes, 1, p.bytes.n);
	}
	if (f->channel == FORWARD_DATA)
		buf_put(&f->input, p.bytes);
}

static void on_bytes(void *cookie, char *text, size_t n)
{
	struct forward *f = cookie;
	struct ws_piece p;
	enum ws_got got = WS_NOTHING;

	while (!f->over && (got = ws_read(&f->ws, &text, &n, &p)) == WS_PIECE) {
		if (p.op == WS_BINARY)
			take_piece(f, p);
		else if (p.op == WS_PING)
			put_pong(f, p.bytes);
		else if (p.op == WS_CLOSE || p.op == WS_TEXT)
			end_forward(f, NULL);
	}
	if (got == WS_WRONG)
		end_forward(f, NULL);
	if (!f->over)
		write_input(f);
	watch_on(f);
}

static void on_drained(void *cookie)
{
	watch_on(cookie);
}

static void forward_free(void *cookie)
{
	struct forward *f = cookie;

	let_go(f);
	f->api->streams--;
	buf_release(&f->input);
	free(f);
}

static void start_forward(struct api_answering *q, const char *folder)
{
	static const char *const protocols[] = { "v4.channel.k8s.io", NULL };
	const char *protocol = upgrade_choose(q, "port-forward", protocols);
	char port[2] = { (char)q->route->port, (char)(q->route->port >> 8) };
	struct err e = ERR_INIT;
	struct forward *f;
	int conn;

	if (!protocol)
		return;
	if (!q->route->port || !pod_connect(folder, (int)q->route->port, &conn, &e)) {
		answer_status(q, HTTP_BAD_REQUEST, "%s", q->route->port ? err_msg(&e) : "ports: one port, 1 to 65535");
		err_release(&e);
		return;
	}
	f = xcalloc(1, sizeof(*f));
	f->api = q->api;
	f->x = q->x;
	f->ws.masked = true;
	f->channel = f->fd = -1;
	f->conn = conn;
	f->input = (struct buf)BUF_INIT(SIZE_MAX / 4);
	q->api->streams++;
	upgrade_begin(q, protocol, &(struct http_wire_config){ on_bytes, on_drained, forward_free, f });
	f->conn_watch = loop_fd_new(q->api->config.loop, conn, on_parent, f);
	loop_fd_set(f->conn_watch, LOOP_READ);
	put_message(f, FORWARD_DATA, (struct str){ port, 2 });
	put_message(f, FORWARD_ERROR, (struct str){ port, 2 });
}

void answer_forward(struct api_answering *q)
{
	struct buf folder = BUF_INIT(FOLDER_MAX);
	yyjson_doc *doc CLEANUP(json_docp) = answer_read_pod(q);

	if (doc && answer_pod_folder(q, yyjson_doc_get_root(doc), &folder) && may_stream(q))
		start_forward(q, folder.p);
	buf_release(&folder);
}
