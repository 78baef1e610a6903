/* The other side of exec.c: whoever wants a program in a container. */
#include "local/pod/exec.h"

#include "local/pod/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void put_zero(struct buf *b, struct str s)
{
	buf_put(b, s);
	buf_putc(b, 0);
}

/* The folder's path may be longer than an address may be. */
static bool reach(const char *folder, int *ret, struct err *e)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, problem;

	if (dir < 0)
		return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/" EXEC_SOCKET, dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	problem = fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 ? errno : 0;
	close(dir);
	if (!problem) {
		*ret = fd;
		return true;
	}
	if (fd >= 0)
		close(fd);
	if (problem == ENOENT || problem == ECONNREFUSED)
		return err_set(e, ERR_IO, "the pod does not run, or was started by an older dljob");
	return err_set(e, ERR_IO, "the pod takes no commands: %s", strerror(problem));
}

bool pod_exec(const char *folder, const struct pod_exec *x, int *ret, struct err *e)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(x->fds))];
	} control = { 0 };
	struct buf text = BUF_INIT(EXEC_REQUEST_MAX);
	struct iovec v;
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	bool ok;

	buf_putc(&text, x->tty ? '1' : '0');
	put_zero(&text, x->container);
	for (size_t i = 0; i < x->command.n; i++)
		put_zero(&text, x->command.v[i]);
	v = (struct iovec){ text.p, text.n };
	control.head = (struct cmsghdr){ CMSG_LEN(sizeof(x->fds)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), x->fds, sizeof(x->fds));
	ok = (!text.overflow && x->command.n <= EXEC_ARGS_MAX) ||
	     err_set(e, ERR_INVALID, "the command is longer than %d bytes or %d words", EXEC_REQUEST_MAX,
	             EXEC_ARGS_MAX);
	ok = ok && reach(folder, ret, e);
	if (ok && sendmsg(*ret, &m, MSG_NOSIGNAL) < 0) {
		ok = err_set(e, ERR_IO, "the pod takes no commands: %s", strerror(errno));
		close(*ret);
	}
	buf_release(&text);
	return ok;
}

enum pod_exec_news pod_exec_look(int fd, struct pod_exec_answer *ret)
{
	char text[sizeof(ret->text)];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);
	int64_t status;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return POD_EXEC_NOTHING;
	if (n <= 1)
		return POD_EXEC_GONE;
	if (text[0] == FAULT_CREATE || text[0] == FAULT_START) {
		snprintf(ret->text, sizeof(ret->text), "%.*s", (int)n - 1, text + 1);
		return POD_EXEC_FAULT;
	}
	if (text[0] != EXEC_ENDED || !str_int((struct str){ text + 1, (size_t)n - 1 }, &status))
		return POD_EXEC_GONE;
	ret->status = (int)status;
	return POD_EXEC_ENDED;
}

bool pod_connect(const char *folder, int port, int *ret, struct err *e)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%c%d", EXEC_CONNECT, port);

	if (!reach(folder, ret, e))
		return false;
	if (send(*ret, text, (size_t)n, MSG_NOSIGNAL) == n)
		return true;
	close(*ret);
	return err_set(e, ERR_IO, "the pod makes no connections: %s", strerror(errno));
}

bool pod_connect_look(int fd, int *ret)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(*ret))];
	} control;
	struct iovec v = { (char[1]){ 0 }, 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *c;
	ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*ret = -1;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(*ret)))
		memcpy(ret, CMSG_DATA(c), sizeof(*ret));
	return true;
}
