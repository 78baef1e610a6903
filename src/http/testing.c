#include "http/testing.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVERS_MAX = 8 };

struct loop *testing_loop;
struct http_client *testing_client;
static struct loop_timer *deadline;
static pid_t servers[SERVERS_MAX];
static size_t servers_n;
static int wanted;

int testing_serve(void (*serve)(int listener))
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	ASSERT(s >= 0 && bind(s, (struct sockaddr *)&a, n) == 0 && listen(s, 128) == 0);
	ASSERT(getsockname(s, (struct sockaddr *)&a, &n) == 0);
	fflush(NULL);
	pid = fork();
	ASSERT(pid >= 0);
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(s);
		_exit(0);
	}
	setpgid(pid, pid);
	close(s);
	ASSERT(servers_n < SERVERS_MAX);
	servers[servers_n++] = pid;
	return ntohs(a.sin_port);
}

void testing_end_servers(void)
{
	for (size_t i = 0; i < servers_n; i++) {
		kill(-servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
	servers_n = 0;
}

int testing_accept(int listener)
{
	int fd = accept(listener, NULL, NULL);

	ASSERT(fd >= 0);
	return fd;
}

bool testing_read(int fd, char head[static TESTING_HEAD], struct buf *body)
{
	size_t n = 0, left = 0;
	const char *length;
	char c;

	buf_clear(body);
	for (head[0] = 0; n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0; head[n] = 0)
		if (n + 1 == TESTING_HEAD || read(fd, &head[n++], 1) != 1)
			return false;
	length = strcasestr(head, "\r\nContent-Length:");
	if (length)
		left = strtoul(length + 17, NULL, 10);
	for (; left; left--, buf_putc(body, c))
		if (read(fd, &c, 1) != 1)
			return false;
	return true;
}

void testing_say(int fd, const char *text)
{
	size_t n = strlen(text);

	/* Whoever has heard enough closes. */
	while (n) {
		ssize_t k = send(fd, text, n, MSG_NOSIGNAL);

		if (k <= 0)
			return;
		text += k;
		n -= (size_t)k;
	}
}

void testing_answer(int fd, int status, const char *headers, struct str body)
{
	struct buf b = BUF_INIT(1 << 26);

	buf_printf(&b, "HTTP/1.1 %d Whatever\r\n%sContent-Length: %zu\r\n\r\n", status, headers, body.n);
	buf_put(&b, body);
	testing_say(fd, b.p);
	buf_release(&b);
}

void testing_hang(void)
{
	for (;;)
		pause();
}

static void late(void *cookie)
{
	(void)cookie;
	testing_end_servers();
	BUG("no answer in time");
}

int testing_setup(void **state)
{
	(void)state;
	testing_loop = loop_new();
	deadline = loop_timer_new(testing_loop, late, NULL);
	return 0;
}

int testing_teardown(void **state)
{
	(void)state;
	http_client_free(testing_client);
	testing_client = NULL;
	loop_timer_free(deadline);
	loop_free(testing_loop);
	testing_end_servers();
	return 0;
}

void testing_connect_to(const struct http_server *s, size_t connections)
{
	struct err e = ERR_INIT;

	testing_client = http_client_new(testing_loop, s, connections, &e);
	if (!testing_client)
		BUG("no client: %s", err_msg(&e));
}

void testing_connect(int port, size_t connections)
{
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	testing_connect_to(&(struct http_server){ .url = str_c(url), .user_agent = STR("tests/1"), .proxy = STR("-") },
	                   connections);
}

static void on_done(void *cookie, const struct http_answer *a)
{
	struct fetch *f = cookie;

	f->calls++;
	f->status = a->status;
	f->never_sent = a->never_sent;
	f->retry_after = a->retry_after;
	f->took = a->took;
	f->began = a->began;
	snprintf(f->problem, sizeof(f->problem), "%s", a->problem ? a->problem : "");
	f->body = (struct buf)BUF_INIT(1 << 26);
	buf_put(&f->body, a->body);
	if (--wanted == 0)
		loop_stop(testing_loop);
}

bool testing_keep_piece(void *cookie, struct str piece)
{
	struct fetch *f = cookie;

	f->pieces.max = 1 << 26;
	buf_put(&f->pieces, piece);
	return true;
}

struct http_call *testing_send(struct fetch *f, struct http_request r)
{
	r.done = r.done ? r.done : on_done;
	r.cookie = r.cookie ? r.cookie : f;
	return http_send(testing_client, &r);
}

void testing_wait(int n)
{
	wanted = n;
	loop_timer_set(deadline, MINUTES(1));
	loop_run(testing_loop);
	loop_timer_stop(deadline);
}

void testing_enough(void)
{
	loop_stop(testing_loop);
}

void testing_get(struct fetch *f, const char *path)
{
	*f = (struct fetch){ 0 };
	testing_send(f, (struct http_request){ .path = str_c(path) });
	testing_wait(1);
}

void fetch_release(struct fetch *f)
{
	buf_release(&f->body);
	buf_release(&f->pieces);
}
