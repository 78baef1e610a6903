#include "local/pod/exec.h"

#include "base/list.h"
#include "local/pod/child.h"
#include "local/pod/container.h"
#include "local/pod/parent.h"
#include "local/pod/process.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FDS = 3, HANGUP_MS = 1000 };

struct exec {
	struct proc_pod *pod;
	struct proc_container *c; /* NULL: the request has not come yet */
	int conn;
	struct loop_fd *watch;
	pid_t pid; /* also the number of its session; 0: it does not run */
	bool ended, left;
	int status;
	msec kill_at; /* 0: nobody has left */
	struct exec *prev, *next;
};

/* Everything in its session that can be found. */
static void kill_session(const struct exec *x)
{
	kill(-x->pid, SIGKILL);
	if (x->pod->own_proc)
		process_kill_session(x->pid);
}

static void hang_up(struct exec *x)
{
	if (x->kill_at)
		return;
	loop_fd_set(x->watch, 0);
	x->left = true;
	if (x->pid) {
		kill(-x->pid, SIGHUP);
		kill(-x->pid, SIGCONT);
		x->kill_at = loop_now(x->pod->loop) + HANGUP_MS;
	}
	pod_wake(x->pod);
}

static void exec_free(struct exec *x)
{
	loop_fd_free(x->watch);
	close(x->conn);
	list_drop(&x->pod->execs.first, x);
	x->pod->execs.n--;
	free(x);
}

/* Requests */

static void exec_refuse(struct exec *x, const char *why)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "%c%s", FAULT_CREATE, why);

	if (send(x->conn, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		x->left = true;
	x->ended = true;
	x->status = 128 << 8;
	pod_wake(x->pod);
}

static struct proc_container *container_named(struct proc_pod *p, struct str name)
{
	for (size_t i = 0; i < p->spec.containers.n; i++)
		if (str_eq(p->spec.containers.v[i].name, name))
			return &p->containers[i];
	return NULL;
}

static bool can_run(const struct proc_container *c)
{
	return c && container_runs(c) && c->began && !c->reaped && !c->killed;
}

/* TEXT is the whole message. */
static void exec_begin(struct exec *x, struct str text, const int fds[static FDS])
{
	struct proc_pod *p = x->pod;
	struct arena a = ARENA_INIT;
	pod_strs command = { 0 };
	struct str rest = str_sub(text, 1, text.n), part;
	struct proc_container *c;
	pid_t pid = 0;

	str_next(&rest, 0, &part);
	c = container_named(p, part);
	/* Behind the last zero there is nothing. */
	while (rest.n && str_next(&rest, 0, &part) && command.n < EXEC_ARGS_MAX)
		*vec_push(&a, &command) = part;
	if (!can_run(c))
		exec_refuse(x, "the container does not run");
	else if (!command.n || text.p[text.n - 1])
		exec_refuse(x, "there is no command");
	else
		pid = child_exec(c, &command, fds, text.p[0] == '1', x->conn);
	if (pid < 0)
		exec_refuse(x, strerror(errno));
	x->c = c;
	x->pid = MAX(pid, 0);
	arena_release(&a);
}

/* Descriptors that came; false, with none of them open, if they are not as many as there must be. */
static bool take_fds(struct msghdr *m, int ret[static FDS])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n = 0;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret, CMSG_DATA(c), MIN(n, (size_t)FDS) * sizeof(int));
	}
	if (n == FDS && !(m->msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return true;
	for (size_t i = 0; i < MIN(n, (size_t)FDS); i++)
		close(ret[i]);
	return false;
}

static void send_fd(struct exec *x, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(fd))];
	} control = { .head = { CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec v = { (char[]){ EXEC_CONNECT }, 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	/* Who does not get it sees the end of the connection. */
	if (sendmsg(x->conn, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		x->left = true;
}

/* We are in the pod's network. */
static void connect_for(struct exec *x, struct str port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int64_t n;

	if (fd >= 0 && str_int(port, &n) && n > 0 && n <= UINT16_MAX) {
		to.sin_port = htons((uint16_t)n);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS)
			send_fd(x, fd);
	}
	if (fd >= 0)
		close(fd);
	x->left = true;
	pod_wake(x->pod);
}

static void read_request(struct exec *x)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(FDS * sizeof(int))];
	} control;
	char *text = xmalloc(EXEC_REQUEST_MAX);
	struct iovec v = { text, EXEC_REQUEST_MAX };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t n = recvmsg(x->conn, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fds[FDS];
	bool with_fds = n > 0 && take_fds(&m, fds);

	if (n <= 0 && !(n < 0 && (errno == EAGAIN || errno == EINTR))) {
		hang_up(x);
	} else if (n > 0 && !with_fds && text[0] == EXEC_CONNECT) {
		connect_for(x, (struct str){ text + 1, (size_t)n - 1 });
	} else if (n > 0 && !with_fds) {
		exec_refuse(x, "it is not a request");
	} else if (n > 0) {
		exec_begin(x, (struct str){ text, (size_t)n }, fds);
		for (int i = 0; i < FDS; i++)
			close(fds[i]);
	}
	free(text);
}

/* After the request nothing comes but the end. */
static void on_conn(void *cookie, int events)
{
	struct exec *x = cookie;
	char c;

	(void)events;
	if (!x->c && !x->ended)
		read_request(x);
	else if (recv(x->conn, &c, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
		hang_up(x);
}

static bool is_us(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.uid == geteuid();
}

static void on_listener(void *cookie, int events)
{
	struct proc_pod *p = cookie;
	int fd = accept4(p->execs.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct exec *x;

	(void)events;
	if (fd < 0)
		return;
	if (p->execs.n == EXECS_MAX || !is_us(fd)) {
		close(fd);
		return;
	}
	x = xcalloc(1, sizeof(*x));
	x->pod = p;
	x->conn = fd;
	list_push(&p->execs.first, x);
	p->execs.n++;
	x->watch = loop_fd_new(p->loop, fd, on_conn, x);
	loop_fd_set(x->watch, LOOP_READ);
}

/* Their lives */

bool execs_take_exit(struct proc_pod *p, pid_t pid, int status)
{
	for (struct exec *x = p->execs.first; x; x = x->next)
		if (x->pid == pid && !x->ended) {
			x->ended = true;
			x->status = status;
			return true;
		}
	return false;
}

static void tell_end(struct exec *x)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%c%d", EXEC_ENDED, x->status);

	/* There is room: nothing but a fault was sent before. */
	if (send(x->conn, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		x->left = true;
}

void execs_step(struct proc_pod *p, msec now)
{
	struct exec *next;

	for (struct exec *x = p->execs.first; x; x = next) {
		next = x->next;
		if (x->kill_at && (x->ended || now >= x->kill_at))
			kill_session(x);
		else if (x->kill_at)
			pod_wake_at(p, x->kill_at);
		if (x->ended && !x->left)
			tell_end(x);
		if (x->ended || (x->left && !x->pid))
			exec_free(x);
	}
}

void execs_kill(struct proc_container *c)
{
	for (struct exec *x = c->pod->execs.first; x; x = x->next)
		if (x->c == c && x->pid)
			kill_session(x);
}

/* The way in */

void execs_open(struct proc_pod *p)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = EXEC_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before = umask(0177);

	p->execs = (struct execs){ .listener = fd };
	unlink(EXEC_SOCKET);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, EXECS_MAX) != 0) {
		pod_note(p, "no further programs can be run in it (exec)");
	} else {
		p->execs.watch = loop_fd_new(p->loop, fd, on_listener, p);
		loop_fd_set(p->execs.watch, LOOP_READ);
	}
	umask(before);
}

/* It ends with the pod, and whoever waits for it hears how. */
static void end_with_pod(struct exec *x)
{
	if (!x->pid || x->left)
		return;
	if (!x->ended && waitpid(x->pid, &x->status, WNOHANG) != x->pid) {
		kill_session(x);
		x->status = SIGKILL;
	}
	tell_end(x);
}

void execs_close(struct proc_pod *p)
{
	for (struct exec *x = p->execs.first, *next; x; x = next) {
		next = x->next;
		end_with_pod(x);
		exec_free(x);
	}
	loop_fd_free(p->execs.watch);
	if (p->execs.listener >= 0)
		close(p->execs.listener);
	unlink(EXEC_SOCKET);
}
