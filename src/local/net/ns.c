#include "local/net/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

struct visit {
	int fd; /* -1: a new one */
	ns_fn fn;
	void *cookie;
	struct err *e;
	bool ok;
};

int ns_own(struct err *e)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err_set(e, ERR_IO, "network namespace: %s", strerror(errno));
	return fd;
}

static void *visit(void *cookie)
{
	struct visit *v = cookie;

	if (v->fd >= 0) {
		if (setns(v->fd, CLONE_NEWNET) < 0) {
			err_set(v->e, ERR_IO, "entering a network namespace: %s", strerror(errno));
			return NULL;
		}
	} else {
		if (unshare(CLONE_NEWNET) < 0) {
			err_set(v->e, ERR_IO, "a network namespace: %s", strerror(errno));
			return NULL;
		}
		v->fd = ns_own(v->e);
		if (v->fd < 0)
			return NULL;
	}
	v->ok = !v->fn || v->fn(v->cookie, v->e);
	return NULL;
}

/* A thread, since a process of an ordinary user could not come back. Signals stay with the others. */
static bool in_thread(struct visit *v)
{
	pthread_t thread;
	sigset_t all, before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, NULL, visit, v);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code != 0)
		return err_set(v->e, ERR_IO, "a thread: %s", strerror(code));
	pthread_join(thread, NULL);
	return v->ok;
}

int ns_new(ns_fn fn, void *cookie, struct err *e)
{
	struct visit v = { -1, fn, cookie, e, false };

	if (in_thread(&v))
		return v.fd;
	if (v.fd >= 0)
		close(v.fd);
	return -1;
}

bool ns_inside(int fd, ns_fn fn, void *cookie, struct err *e)
{
	struct visit v = { fd, fn, cookie, e, false };

	return in_thread(&v);
}

bool ns_sysctl(const char *path, const char *value, struct err *e)
{
	char full[160];
	ssize_t n = (ssize_t)strlen(value);
	bool ok;
	int fd;

	snprintf(full, sizeof(full), "/proc/sys/%s", path);
	fd = open(full, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s", full, strerror(errno));
	ok = write(fd, value, (size_t)n) == n || err_set(e, ERR_IO, "%s: %s", full, strerror(errno));
	close(fd);
	return ok;
}
