/* exec: a program in a container, its standard streams over a WebSocket (v5.channel.k8s.io). The first byte of each
   message is its channel. */
#include "base/json.h"
#include "local/api/upgrade.h"
#include "local/pod/pod.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAM_STATUS, STREAM_RESIZE, STREAM_CLOSE = 255 };
enum {
	PIECE = 32 << 10,
	OUTPUT_WAITS = 256 << 10, /* what may wait for the client: then the program waits */
	INPUT_WAITS = 64 << 10,   /* what may wait for the program: then the client waits */
	LAST_WORDS = 1 << 20, /* what is still read when it has ended: others may hold its pipe, and write for ever */
	RESIZE_MAX = 256,
	FOLDER_MAX = 4096,
};

struct output {
	struct exec_session *session;
	int fd; /* -1: ended */
	struct loop_fd *watch;
	char channel;
};

struct exec_session {
	struct api *api;
	struct http_exchange *x;
	struct ws_reader ws;
	int channel;     /* of the message that is read; -1: not known yet */
	struct buf word; /* a message of STREAM_RESIZE or STREAM_CLOSE */
	struct output outputs[2];
	int in; /* -1: closed */
	struct loop_fd *in_watch;
	struct buf input;
	size_t taken;
	bool in_ends; /* when all of it was taken */
	bool tty, over;
	int conn; /* to the pod's parent */
	struct loop_fd *conn_watch;
	struct pod_exec_answer answer;
};

/* To the client */

static void put(struct exec_session *s, enum ws_op op, struct str a, struct str b)
{
	struct buf frame = BUF_INIT(PIECE * 2);

	ws_put(&frame, op, NULL, a, b);
	http_wire_put(s->x, buf_str(&frame));
	buf_release(&frame);
}

static void put_channel(struct exec_session *s, char channel, struct str bytes)
{
	put(s, WS_BINARY, (struct str){ &channel, 1 }, bytes);
}

static void close_fd(int *fd, struct loop_fd **watch)
{
	loop_fd_free(*watch);
	*watch = NULL;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Everything that is not the connection goes: what still runs ends. */
static void let_go(struct exec_session *s)
{
	s->over = true;
	for (size_t i = 0; i < ARRAY_LEN(s->outputs); i++)
		close_fd(&s->outputs[i].fd, &s->outputs[i].watch);
	close_fd(&s->in, &s->in_watch);
	close_fd(&s->conn, &s->conn_watch);
}

static void end(struct exec_session *s, enum ws_code code)
{
	struct buf frame = BUF_INIT(64);

	if (s->over)
		return;
	let_go(s);
	ws_put_close(&frame, code, NULL);
	http_wire_put(s->x, buf_str(&frame));
	buf_release(&frame);
	http_wire_end(s->x);
}

/* What the program writes */

/* -1: ended; 0: nothing now. */
static ssize_t read_output(struct output *o)
{
	char text[PIECE];
	ssize_t n = read(o->fd, text, sizeof(text));

	if (n > 0)
		put_channel(o->session, o->channel, (struct str){ text, (size_t)n });
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	/* A terminal whose other side nobody has open says EIO. */
	return n > 0 ? n : -1;
}

static void on_output(void *cookie, int events)
{
	struct output *o = cookie;

	(void)events;
	if (read_output(o) < 0)
		close_fd(&o->fd, &o->watch);
	else if (http_wire_waiting(o->session->x) > OUTPUT_WAITS)
		loop_fd_set(o->watch, 0);
}

static void read_last_words(struct output *o)
{
	ssize_t n = 1;

	for (size_t sum = 0; o->fd >= 0 && n > 0 && sum < LAST_WORDS; sum += (size_t)n)
		n = MAX(read_output(o), (ssize_t)0);
}

/* Its end */

static void put_failure(struct exec_session *s, struct buf *b)
{
	int code = WIFEXITED(s->answer.status) ? WEXITSTATUS(s->answer.status) : 128 + WTERMSIG(s->answer.status);

	if (s->answer.text[0]) {
		api_statusf(b, HTTP_SERVER_ERROR, "Internal error occurred: %s", s->answer.text);
		return;
	}
	buf_printf(b,
	           "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero exit code\","
	           "\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\",\"message\":"
	           "\"%d\"}]}}",
	           code);
}

static void tell_end(struct exec_session *s, bool gone)
{
	struct buf b = BUF_INIT(4096);

	for (size_t i = 0; i < ARRAY_LEN(s->outputs); i++)
		read_last_words(&s->outputs[i]);
	if (gone)
		api_statusf(&b, HTTP_SERVER_ERROR, "Internal error occurred: the pod has ended");
	else if (s->answer.status == 0 && !s->answer.text[0])
		buf_put(&b, STR("{\"metadata\":{},\"status\":\"Success\"}"));
	else
		put_failure(s, &b);
	put_channel(s, STREAM_STATUS, buf_str(&b));
	buf_release(&b);
	end(s, WS_NORMAL);
}

static void on_parent(void *cookie, int events)
{
	struct exec_session *s = cookie;
	enum pod_exec_news news;

	(void)events;
	while ((news = pod_exec_look(s->conn, &s->answer)) == POD_EXEC_FAULT)
		;
	if (news != POD_EXEC_NOTHING)
		tell_end(s, news == POD_EXEC_GONE);
}

/* What the client sends */

static void write_input(struct exec_session *s)
{
	ssize_t n = 1;

	while (s->in >= 0 && s->input.n > s->taken && n > 0) {
		n = write(s->in, s->input.p + s->taken, s->input.n - s->taken);
		if (n > 0)
			s->taken += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0 && errno != EAGAIN)
			close_fd(&s->in, &s->in_watch);
	}
	if (s->in < 0 || s->input.n == s->taken) {
		buf_clear(&s->input);
		s->taken = 0;
		if (s->in_ends)
			close_fd(&s->in, &s->in_watch);
	}
	if (s->in >= 0)
		loop_fd_set(s->in_watch, s->input.n > s->taken ? LOOP_WRITE : 0);
	http_wire_pause(s->x, s->input.n - s->taken > INPUT_WAITS);
}

static void on_input(void *cookie, int events)
{
	(void)events;
	write_input(cookie);
}

static void resize(struct exec_session *s)
{
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(buf_str(&s->word), NULL);
	int64_t width, height;
	struct winsize size;

	if (!s->tty || s->in < 0 || !json_int(json_at(yyjson_doc_get_root(doc), "Width", NULL), &width) ||
	    !json_int(json_at(yyjson_doc_get_root(doc), "Height", NULL), &height))
		return;
	if (width < 1 || height < 1 || width > UINT16_MAX || height > UINT16_MAX)
		return;
	size = (struct winsize){ .ws_col = (unsigned short)width, .ws_row = (unsigned short)height };
	ioctl(s->in, TIOCSWINSZ, &size);
}

static void end_input(struct exec_session *s)
{
	if (s->word.n != 1 || s->word.p[0] != STREAM_IN || s->tty)
		return;
	s->in_ends = true;
	write_input(s);
}

static void take_message(struct exec_session *s, struct ws_piece p)
{
	if (p.first) {
		s->channel = -1;
		buf_clear(&s->word);
	}
	if (s->channel < 0 && p.bytes.n) {
		s->channel = (unsigned char)p.bytes.p[0];
		p.bytes = str_sub(p.bytes, 1, p.bytes.n);
	}
	if (s->channel == STREAM_IN && s->in >= 0 && !s->in_ends)
		buf_put(&s->input, p.bytes);
	if (s->channel == STREAM_RESIZE || s->channel == STREAM_CLOSE)
		buf_put(&s->word, p.bytes);
	if (s->channel == STREAM_RESIZE && p.last)
		resize(s);
	if (s->channel == STREAM_CLOSE && p.last)
		end_input(s);
}

static void on_bytes(void *cookie, char *text, size_t n)
{
	struct exec_session *s = cookie;
	struct ws_piece p;
	enum ws_got got = WS_NOTHING;

	while (!s->over && (got = ws_read(&s->ws, &text, &n, &p)) == WS_PIECE) {
		if (p.op == WS_BINARY)
			take_message(s, p);
		else if (p.op == WS_PING && http_wire_waiting(s->x) < OUTPUT_WAITS)
			put(s, WS_PONG, STR_NONE, p.bytes);
		else if (p.op == WS_CLOSE)
			end(s, WS_NORMAL);
		else if (p.op == WS_TEXT)
			end(s, WS_UNSUPPORTED);
	}
	if (got == WS_WRONG)
		end(s, WS_PROTOCOL_ERROR);
	if (!s->over)
		write_input(s);
}

static void on_drained(void *cookie)
{
	struct exec_session *s = cookie;

	for (size_t i = 0; i < ARRAY_LEN(s->outputs) && http_wire_waiting(s->x) <= OUTPUT_WAITS; i++)
		if (s->outputs[i].fd >= 0)
			loop_fd_set(s->outputs[i].watch, LOOP_READ);
}

static void session_free(void *cookie)
{
	struct exec_session *s = cookie;

	let_go(s);
	s->api->streams--;
	buf_release(&s->input);
	buf_release(&s->word);
	free(s);
}

/* Its beginning */

struct streams {
	int ours[3], theirs[3]; /* -1: none */
};

static void streams_close(int fds[static 3])
{
	for (int i = 0; i < 3; i++) {
		int fd = fds[i];

		for (int k = i; k < 3; k++)
			if (fds[k] == fd)
				fds[k] = -1;
		if (fd >= 0)
			close(fd);
	}
}

static bool open_terminal(struct streams *r)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -1;
	char name[64];

	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof(name)) == 0)
		slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	/* Two of ours are the same terminal: each is waited for by itself. */
	*r = (struct streams){ { master, fcntl(master, F_DUPFD_CLOEXEC, 0), -1 }, { slave, slave, slave } };
	return slave >= 0 && r->ours[1] >= 0;
}

static bool open_pipes(struct streams *r, const struct api_exec_options *o)
{
	const bool wanted[] = { o->in, o->out, o->err };

	for (int i = 0; i < 3; i++) {
		int ends[2] = { -1, -1 };

		if (wanted[i] && pipe2(ends, O_CLOEXEC) != 0)
			return false;
		r->ours[i] = ends[i == 0];
		r->theirs[i] = ends[i != 0];
		if (!wanted[i])
			r->theirs[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (r->theirs[i] < 0)
			return false;
	}
	return true;
}

static bool open_streams(struct streams *r, const struct api_exec_options *o)
{
	*r = (struct streams){ { -1, -1, -1 }, { -1, -1, -1 } };
	if (o->tty ? open_terminal(r) : open_pipes(r, o))
		return true;
	streams_close(r->ours);
	streams_close(r->theirs);
	return false;
}

static void watch_streams(struct exec_session *s, const struct streams *r)
{
	struct loop *l = s->api->config.loop;

	s->in = r->ours[0];
	s->in_watch = s->in >= 0 ? loop_fd_new(l, s->in, on_input, s) : NULL;
	for (int i = 0; i < 2; i++) {
		struct output *o = &s->outputs[i];

		*o = (struct output){ s, r->ours[1 + i], NULL, (char)(STREAM_OUT + i) };
		if (o->fd < 0)
			continue;
		o->watch = loop_fd_new(l, o->fd, on_output, o);
		loop_fd_set(o->watch, LOOP_READ);
	}
	s->conn_watch = loop_fd_new(l, s->conn, on_parent, s);
	loop_fd_set(s->conn_watch, LOOP_READ);
}

/* CONN is the program's, which runs already. */
static void begin_session(struct api_answering *q, const char *protocol, const struct streams *r, int conn)
{
	struct exec_session *s = xcalloc(1, sizeof(*s));

	s->api = q->api;
	s->x = q->x;
	s->ws.masked = true;
	s->channel = -1;
	s->tty = q->route->exec.tty;
	s->conn = conn;
	s->word = (struct buf)BUF_INIT(RESIZE_MAX);
	s->input = (struct buf)BUF_INIT(SIZE_MAX / 4);
	q->api->streams++;
	upgrade_begin(q, protocol, &(struct http_wire_config){ on_bytes, on_drained, session_free, s });
	watch_streams(s, r);
}

static void start(struct api_answering *q, const char *folder, struct str container)
{
	const struct api_exec_options *o = &q->route->exec;
	struct pod_exec x = { .container = container, .command = o->command, .tty = o->tty };
	struct err e = ERR_INIT;
	/* The older one cannot end the input. */
	static const char *const protocols[] = { "v5.channel.k8s.io", "v4.channel.k8s.io", NULL };
	const char *protocol = upgrade_choose(q, "exec", protocols);
	struct streams r;
	int conn;

	if (!protocol)
		return;
	if (!open_streams(&r, o)) {
		answer_status(q, HTTP_SERVER_ERROR, "no pipe or terminal: %s", strerror(errno));
		return;
	}
	memcpy(x.fds, r.theirs, sizeof(x.fds));
	if (pod_exec(folder, &x, &conn, &e)) {
		streams_close(r.theirs);
		begin_session(q, protocol, &r, conn);
		return;
	}
	streams_close(r.theirs);
	streams_close(r.ours);
	answer_status(q, HTTP_BAD_REQUEST, "%s", err_msg(&e));
	err_release(&e);
}

yyjson_doc *answer_read_pod(struct api_answering *q)
{
	const struct store_request *r = &q->route->request;
	struct store_answer a = { 0 };
	yyjson_doc *doc = NULL;

	store_call(q->api->config.store,
	           &(struct store_request){ .verb = STORE_GET, .type = r->type, .ns = r->ns, .name = r->name }, &a);
	if (a.code == HTTP_OK)
		doc = yyjson_read(a.body.p, a.body.n, 0);
	else
		answer_json(q, a.code, &a.body);
	store_answer_release(&a);
	return doc;
}

bool answer_pod_folder(struct api_answering *q, yyjson_val *pod, struct buf *folder)
{
	const struct store_request *r = &q->route->request;
	const struct api_config *c = &q->api->config;

	if (c->pod_folder &&
	    c->pod_folder(c->cookie, r->ns, r->name, json_str(json_at(pod, "metadata", "uid", NULL)), folder))
		return true;
	answer_status(q, HTTP_BAD_REQUEST, "pod \"%.*s\" does not run on this machine", STR_F(r->name));
	return false;
}

void answer_exec(struct api_answering *q)
{
	struct buf folder = BUF_INIT(FOLDER_MAX);
	yyjson_doc *doc CLEANUP(json_docp) = answer_read_pod(q);
	yyjson_val *pod = yyjson_doc_get_root(doc);
	struct str container;

	if (!doc || !answer_choose_container(q, pod, q->route->exec.container, &container))
		return;
	if (answer_pod_folder(q, pod, &folder) && may_stream(q))
		start(q, folder.p, container);
	buf_release(&folder);
}
