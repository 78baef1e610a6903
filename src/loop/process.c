/* Child processes: argv in, collected output out, never longer than their time-out. */
#include "loop/internal.h"

#include "base/buf.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

extern char **environ;

enum { STREAMS = 2, CHUNK = 16384 };

/* Standard output or standard error on its way to us. */
struct process_stream {
	uv_pipe_t uv;
	struct loop_process *process;
	struct buf text;
};

struct loop_process {
	uv_process_t uv;
	uv_timer_t timer; /* the time-out, or the news that it could not be started */
	struct process_stream streams[STREAMS];
	struct loop *loop;
	loop_process_fn fn;
	void *cookie;
	const char *problem;
	unsigned handles; /* that libuv still knows */
	bool freed;       /* nobody wants to know any more */
	bool told;        /* the callback was called */
	bool running;
	bool closing;
	char chunk[CHUNK];
};

static void on_closed(uv_handle_t *handle)
{
	struct loop_process *p = handle->data;

	if (--p->handles)
		return;
	for (size_t i = 0; i < STREAMS; i++)
		buf_release(&p->streams[i].text);
	free(p);
}

/* The memory goes once the program was waited for and nobody holds P. */
static void close_all(struct loop_process *p)
{
	if (p->closing || p->running || !p->freed)
		return;
	p->closing = true;
	uv_close((uv_handle_t *)&p->uv, on_closed);
	uv_close((uv_handle_t *)&p->timer, on_closed);
	for (size_t i = 0; i < STREAMS; i++)
		uv_close((uv_handle_t *)&p->streams[i].uv, on_closed);
}

static void report_result(struct loop_process *p, struct loop_process_result r)
{
	if (p->freed || p->told)
		return;
	p->told = true;
	uv_timer_stop(&p->timer);
	r.out = buf_str(&p->streams[0].text);
	r.err = buf_str(&p->streams[1].text);
	r.truncated = p->streams[0].text.overflow || p->streams[1].text.overflow;
	p->fn(p->cookie, &r);
}

static void kill_group(const struct loop_process *p)
{
	if (p->running)
		kill(-p->uv.pid, SIGKILL);
}

/* As much as there is room for; the rest is dropped, so that the program does not wait for us. */
static void keep_piece(struct process_stream *s, struct str piece)
{
	size_t room = s->text.max - s->text.n;

	if (s->text.overflow)
		return;
	buf_put(&s->text, str_sub(piece, 0, room));
	s->text.overflow = piece.n > room;
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
	struct loop_process *p = handle->data;

	(void)suggested;
	*ret = uv_buf_init(p->chunk, CHUNK);
}

static void on_text(uv_stream_t *uv, ssize_t n, const uv_buf_t *b)
{
	struct process_stream *s = (struct process_stream *)uv;

	if (n > 0)
		keep_piece(s, (struct str){ b->base, (size_t)n });
	else if (n < 0)
		uv_read_stop(uv);
}

/* What the program has written is in the pipe when it has ended, whoever else still holds the other side. */
static void drain(struct process_stream *s)
{
	uv_os_fd_t fd;
	ssize_t n;

	if (uv_fileno((uv_handle_t *)&s->uv, &fd) != 0)
		return;
	do {
		n = read(fd, s->process->chunk, CHUNK);
		if (n > 0)
			keep_piece(s, (struct str){ s->process->chunk, (size_t)n });
	} while (n > 0 || (n < 0 && errno == EINTR));
	uv_read_stop((uv_stream_t *)&s->uv);
}

static void on_exit_status(uv_process_t *uv, int64_t status, int signum)
{
	struct loop_process *p = (struct loop_process *)uv;

	p->running = false;
	for (size_t i = 0; i < STREAMS; i++)
		drain(&p->streams[i]);
	report_result(p, (struct loop_process_result){ .exit_status = signum ? -1 : (int)status });
	close_all(p);
}

static void on_timeout(uv_timer_t *uv)
{
	struct loop_process *p = uv->data;

	p->loop->firing = true;
	kill_group(p);
	for (size_t i = 0; i < STREAMS; i++)
		uv_read_stop((uv_stream_t *)&p->streams[i].uv);
	/* A program that even SIGKILL does not end (a dead disk) is waited for behind the scenes. */
	report_result(
		p, (struct loop_process_result){ .exit_status = -1, .timed_out = !p->problem, .problem = p->problem });
}

/* Is the variable of this entry among the additions? */
static bool is_set(const char *const *additions, const char *entry)
{
	const char *eq = strchr(entry, '=');
	size_t n = eq ? (size_t)(eq - entry) : strlen(entry);

	for (size_t i = 0; additions && additions[i]; i++)
		if (strncmp(additions[i], entry, n) == 0 && additions[i][n] == '=')
			return true;
	return false;
}

/* Ours with the additions; the strings are not copied. */
static char **env_with(const char *const *additions)
{
	size_t n = 0, most = 1;
	char **env;

	for (size_t i = 0; environ && environ[i]; i++)
		most++;
	for (size_t i = 0; additions && additions[i]; i++)
		most++;
	env = xcalloc(most, sizeof(*env));
	for (size_t i = 0; environ && environ[i]; i++)
		if (!is_set(additions, environ[i]))
			env[n++] = environ[i];
	for (size_t i = 0; additions && additions[i]; i++)
		env[n++] = (char *)additions[i];
	return env;
}

static int spawn(struct loop_process *p, const struct loop_process_spec *spec)
{
	uv_stdio_container_t stdio[1 + STREAMS] = { { .flags = UV_IGNORE } };
	uv_process_options_t options = { .exit_cb = on_exit_status, .flags = UV_PROCESS_DETACHED };
	int rc;

	for (size_t i = 0; i < STREAMS; i++) {
		stdio[1 + i].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
		stdio[1 + i].data.stream = (uv_stream_t *)&p->streams[i].uv;
	}
	options.stdio = stdio;
	options.stdio_count = ARRAY_LEN(stdio);
	options.file = spec->argv[0];
	options.args = (char **)spec->argv;
	options.env = env_with(spec->env);
	rc = uv_spawn(&p->loop->uv, &p->uv, &options);
	free(options.env);
	return rc;
}

struct loop_process *loop_process_start(struct loop *l, const struct loop_process_spec *spec, loop_process_fn fn,
                                        void *cookie)
{
	struct loop_process *p = xcalloc(1, sizeof(*p));
	int rc;

	p->loop = l;
	p->fn = fn;
	p->cookie = cookie;
	p->handles = 2 + STREAMS;
	p->uv.data = p->timer.data = p;
	ASSERT(uv_timer_init(&l->uv, &p->timer) == 0);
	for (size_t i = 0; i < STREAMS; i++) {
		p->streams[i].process = p;
		p->streams[i].uv.data = p;
		p->streams[i].text = (struct buf)BUF_INIT(spec->output_max);
		ASSERT(uv_pipe_init(&l->uv, &p->streams[i].uv, 0) == 0);
	}
	l->open++;
	rc = spawn(p, spec);
	p->running = rc == 0;
	if (rc) {
		p->problem = uv_strerror(rc);
		uv_timer_start(&p->timer, on_timeout, loop_from_now(l, 0), 0);
		return p;
	}
	for (size_t i = 0; i < STREAMS; i++)
		ASSERT(uv_read_start((uv_stream_t *)&p->streams[i].uv, on_room, on_text) == 0);
	if (spec->timeout > 0)
		uv_timer_start(&p->timer, on_timeout, loop_from_now(l, spec->timeout), 0);
	return p;
}

void loop_process_free(struct loop_process *p)
{
	if (!p)
		return;
	ASSERT(!p->freed);
	p->freed = true;
	p->loop->open--;
	kill_group(p);
	uv_timer_stop(&p->timer);
	close_all(p);
}
