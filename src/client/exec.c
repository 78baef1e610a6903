#include "client/exec.h"

#include "client/exec_terminal.h"
#include "kube/channels.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { CHANNEL_IN, CHANNEL_OUT, CHANNEL_ERR, CHANNEL_STATUS, CHANNEL_RESIZE };
enum { PIECE = 32 << 10, WAITS = 256 << 10, STATUS_MAX = 64 << 10, ADDRESS_MAX = 256 << 10 };

/* One of this process' descriptors. They may be a terminal that others use, too: how it was is put back. */
struct end {
	struct running *running;
	int fd; /* -1: none, or closed by the other side */
	int flags;
	struct loop_fd *watch; /* NULL: a plain file, which never waits */
	struct buf out;
	size_t sent;
};

struct running {
	struct remote *remote;
	const struct exec_call *call;
	struct kube_channels *channels;
	struct end in, outputs[2];
	struct loop_signal *resized;
	struct exec_terminal terminal;
	struct buf status; /* what the server says of the end */
	bool closed, in_ended, broken;
	int code;
	char problem[512];
};

static void end_open(struct end *e, struct running *r, int fd, loop_fd_fn fn)
{
	*e = (struct end){ .running = r, .fd = fd, .out = BUF_INIT(SIZE_MAX / 4) };
	if (fd < 0)
		return;
	e->flags = fcntl(fd, F_GETFL);
	e->watch = loop_fd_new(r->remote->loop, fd, fn, e);
}

static void end_close(struct end *e)
{
	loop_fd_free(e->watch);
	e->watch = NULL;
	if (e->fd >= 0)
		fcntl(e->fd, F_SETFL, e->flags);
	buf_release(&e->out);
}

/* What goes to the program */

static void read_input(struct running *r)
{
	char text[PIECE];
	struct end *e = &r->in;

	while (e->fd >= 0 && !r->in_ended && kube_channels_waiting(r->channels) < WAITS) {
		ssize_t n = read(e->fd, text, sizeof(text));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n > 0) {
			kube_channels_put(r->channels, CHANNEL_IN, (struct str){ text, (size_t)n });
			continue;
		}
		r->in_ended = true;
		kube_channels_end(r->channels, CHANNEL_IN);
	}
	if (e->watch)
		loop_fd_set(e->watch, !r->in_ended && kube_channels_waiting(r->channels) < WAITS ? LOOP_READ : 0);
}

static void on_input(void *cookie, int events)
{
	(void)events;
	read_input(((struct end *)cookie)->running);
}

static void send_size(struct running *r)
{
	struct buf b = BUF_INIT(64);

	if (exec_terminal_size(&b))
		kube_channels_put(r->channels, CHANNEL_RESIZE, buf_str(&b));
	buf_release(&b);
}

static void on_resized(void *cookie, int signum)
{
	(void)signum;
	send_size(cookie);
}

static void on_ready(void *cookie)
{
	struct running *r = cookie;

	if (r->call->tty && !r->resized) {
		r->resized = loop_signal_new(r->remote->loop, SIGWINCH, on_resized, r);
		send_size(r);
	}
	read_input(r);
}

/* What comes from it */

static void write_output(struct end *e)
{
	struct running *r = e->running;
	ssize_t n = 0;

	while (e->fd >= 0 && e->out.n > e->sent) {
		n = write(e->fd, e->out.p + e->sent, e->out.n - e->sent);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		e->sent += (size_t)n;
	}
	if (n < 0 && errno != EAGAIN) {
		/* Nobody reads it: it ends quietly, as if it were here. */
		r->broken = true;
		if (errno != EPIPE)
			snprintf(r->problem, sizeof(r->problem), "writing: %s", strerror(errno));
		remote_wake(r->remote);
	}
	if (e->out.n == e->sent) {
		buf_clear(&e->out);
		e->sent = 0;
	}
	if (e->watch)
		loop_fd_set(e->watch, e->out.n ? LOOP_WRITE : 0);
	kube_channels_pause(r->channels, r->outputs[0].out.n || r->outputs[1].out.n);
	if (r->closed)
		remote_wake(r->remote);
}

static void on_output(void *cookie, int events)
{
	(void)events;
	write_output(cookie);
}

static void on_channel(void *cookie, unsigned channel, struct str bytes, bool end)
{
	struct running *r = cookie;

	(void)end;
	if (channel == CHANNEL_STATUS) {
		buf_put(&r->status, bytes);
	} else if ((channel == CHANNEL_OUT || channel == CHANNEL_ERR) && bytes.n) {
		struct end *e = &r->outputs[channel - CHANNEL_OUT];

		if (e->fd < 0)
			return;
		buf_put(&e->out, bytes);
		write_output(e);
	}
}

static void on_closed(void *cookie, int code, struct str message)
{
	struct running *r = cookie;

	r->closed = true;
	r->code = code;
	snprintf(r->problem, sizeof(r->problem), "%.*s", STR_F(message));
	remote_wake(r->remote);
}

static bool has_all(void *cookie)
{
	const struct running *r = cookie;

	return r->broken || (r->closed && !r->outputs[0].out.n && !r->outputs[1].out.n);
}

/* Its end */

static bool read_status(struct running *r, int *ret)
{
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(buf_str(&r->status), NULL);
	yyjson_val *root = yyjson_doc_get_root(doc), *cause;
	struct str message = json_str(json_get(root, "message"));
	size_t i, max;
	int64_t code;

	*ret = 0;
	if (str_eqc(json_str(json_get(root, "status")), "Success"))
		return true;
	yyjson_arr_foreach(json_at(root, "details", "causes", NULL), i, max, cause)
	{
		if (str_eqc(json_str(json_get(cause, "reason")), "ExitCode") &&
		    str_int(json_str(json_get(cause, "message")), &code) && code > 0 && code < 256) {
			*ret = (int)code;
			return true;
		}
	}
	r->remote->cli->status = cli_fail(r->remote->cli, CLI_FAILED, "%.*s: %.*s", STR_F(r->call->pod),
	                                  STR_F(message.n ? message : STR("the server does not say how it ended")));
	return false;
}

static bool judge(struct running *r, int *ret)
{
	struct cli *cli = r->remote->cli;

	if (r->broken) {
		cli->status = r->problem[0] ? cli_fail(cli, CLI_FAILED, "%s", r->problem) : CLI_FAILED;
		return false;
	}
	if (r->status.n)
		return read_status(r, ret);
	if (r->code)
		cli->status = remote_refused(r->remote, "run it", r->code, str_c(r->problem));
	else
		cli->status = cli_fail(cli, CLI_FAILED, "%.*s: the connection ended before the command: %s",
		                       STR_F(r->call->pod), r->problem[0] ? r->problem : "the server closed it");
	return false;
}

static struct str exec_address(struct remote *r, const struct exec_call *c)
{
	struct buf b = BUF_INIT(ADDRESS_MAX);
	struct str path = remote_path(r, &remote_pods, c->ns, c->pod), ret;

	buf_printf(&b, "%.*s/exec?stdout=true", STR_F(path));
	if (c->in >= 0)
		buf_put(&b, STR("&stdin=true"));
	buf_put(&b, c->tty ? STR("&tty=true") : STR("&stderr=true"));
	if (c->container.n) {
		buf_put(&b, STR("&container="));
		kube_put_escaped(&b, c->container);
	}
	for (size_t i = 0; i < c->n_command; i++) {
		buf_put(&b, STR("&command="));
		kube_put_escaped(&b, str_c(c->command[i]));
	}
	ret = b.overflow ? STR_NONE : arena_str(&r->arena, buf_str(&b));
	buf_release(&b);
	return ret;
}

bool exec_run(struct remote *remote, const struct exec_call *c, int *ret_status)
{
	struct running r = { .remote = remote, .call = c, .status = BUF_INIT(STATUS_MAX) };
	struct kube_channels_config config = { .path = exec_address(remote, c),
		                               .bytes = on_channel,
		                               .ready = on_ready,
		                               .closed = on_closed,
		                               .cookie = &r };
	bool ok;

	if (!config.path.n) {
		remote->cli->status = cli_fail(remote->cli, CLI_FAILED, "the command is too long");
		return false;
	}
	end_open(&r.in, &r, c->in, on_input);
	end_open(&r.outputs[0], &r, c->out, on_output);
	end_open(&r.outputs[1], &r, c->err, on_output);
	if (c->tty)
		exec_terminal_begin(&r.terminal);
	r.channels = kube_channels_new(remote->loop, &remote->config, &config);
	ok = remote_wait(remote, has_all, &r);
	kube_channels_free(r.channels);
	loop_signal_free(r.resized);
	exec_terminal_end(&r.terminal);
	end_close(&r.in);
	end_close(&r.outputs[0]);
	end_close(&r.outputs[1]);
	ok = ok && judge(&r, ret_status);
	buf_release(&r.status);
	return ok;
}
