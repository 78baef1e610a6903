/* dljob local up: starts the cluster in the background, and waits until it serves. */
#include "run/local.h"

#include "base/log.h"
#include "run/local_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOLD_MAX = 4096, PATIENCE = 1200 };

static void tell_pipe(void *cookie, const char *problem)
{
	int *fd = cookie;
	struct str s = problem ? str_c(problem) : STR("\n");

	/* Whoever waits may be gone by now; that is no reason to end. */
	if (write(*fd, s.p, MIN(s.n, (size_t)TOLD_MAX)) < 0)
		log_warn(NO_FIELDS, "nobody waits for the start");
	close(*fd);
}

static void tell_terminal(void *cookie, const char *problem)
{
	struct local *l = cookie;

	if (problem)
		l->cli->status = cli_fail(l->cli, CLI_FAILED, "%s", problem);
	else
		local_status(l);
	fflush(stdout);
}

/* Whoever waits for the end of a pipe that we got from somebody would wait as long as we live. */
static void close_others(int fd, int lock)
{
	unsigned first = (unsigned)MIN(fd, lock), last = (unsigned)MAX(fd, lock);

	close_range(STDERR_FILENO + 1, first - 1, 0);
	close_range(first + 1, last - 1, 0);
	close_range(last + 1, ~0U, 0);
}

/* The child: everything of before is left, but for the pipe and the lock. */
static enum exit_code background(struct local *l, struct kinds *kinds, int fd)
{
	struct err e = ERR_INIT;
	int null;

	setsid();
	close_others(fd, l->holder.lock);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	close(null);
	local_log_open(l->folder);
	log_setup(LOG_TEXT, LOG_INFO, &clock_wall);
	if (!local_hold(&l->holder, 0, &e)) {
		tell_pipe(&fd, err_msg(&e));
		return CLI_FAILED;
	}
	return local_serve(l, kinds, false, tell_pipe, &fd);
}

/* What the child has to say; 0 bytes: it died. */
static enum exit_code await(struct local *l, pid_t pid, int fd)
{
	char text[TOLD_MAX + 1];
	size_t n = 0;
	ssize_t got;

	while (n < TOLD_MAX && (got = read(fd, text + n, TOLD_MAX - n)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		n += (size_t)got;
		if (n == 1 && *text == '\n')
			break;
	}
	close(fd);
	text[n] = 0;
	if (n == 1 && *text == '\n')
		return local_status(l);
	waitpid(pid, NULL, 0);
	if (n == 0)
		return cli_fail(l->cli, CLI_FAILED, "it ended before it was ready; see %s/log", l->folder);
	return cli_fail(l->cli, CLI_FAILED, "%s", text);
}

static enum exit_code start_server(struct local *l, struct kinds *kinds)
{
	enum exit_code status;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return cli_fail(l->cli, CLI_FAILED, "pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		status = background(l, kinds, fds[1]);
		_exit((int)status);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return cli_fail(l->cli, CLI_FAILED, "fork: %s", strerror(errno));
	}
	return await(l, pid, fds[0]);
}

/* Somebody else has it: until that one serves, or is gone. False: it takes too long. */
static bool await_other(struct local *l, struct err *e)
{
	static const struct timespec moment = { .tv_nsec = 50000000 }; /* 60 s in all */
	struct local_holder *h = &l->holder;

	for (int i = 0; i < PATIENCE; i++) {
		if (!h->pid || h->port)
			return true;
		nanosleep(&moment, NULL);
		if (!local_look(l->folder, LOOK_TAKE_NEW, h, e))
			return false;
	}
	return err_set(e, ERR_IO, "process %d is still starting or stopping the cluster", (int)h->pid);
}

static enum exit_code up_already(struct local *l)
{
	const char *missing = local_kinds_missing(l);

	if (missing)
		return cli_fail(l->cli, CLI_INVALID,
		                "it is already up, and cannot load the kinds of %s while it runs: 'dljob local down' "
		                "keeps its jobs, then 'dljob local up --kinds-dir %s'",
		                missing, missing);
	fputs("it is already up\n", stdout);
	return local_status(l);
}

enum exit_code local_up(struct local *l)
{
	struct err e = ERR_INIT;
	struct kinds *kinds;
	enum exit_code status;

	if (!local_folder_make(l->folder, &e) || !local_look(l->folder, LOOK_TAKE_NEW, &l->holder, &e) ||
	    !await_other(l, &e)) {
		status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
		err_release(&e);
		return status;
	}
	if (l->holder.pid)
		return up_already(l);
	kinds = cli_kinds(l->cli);
	if (kinds && !local_kinds_note(l, &e)) {
		l->cli->status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
		err_release(&e);
		kinds_free(kinds);
		kinds = NULL;
	}
	if (!kinds) {
		local_holder_release(&l->holder);
		return l->cli->status;
	}
	if (!l->options->foreground) {
		status = start_server(l, kinds);
	} else if (local_hold(&l->holder, 0, &e)) {
		log_setup(LOG_TEXT, LOG_INFO, &clock_wall);
		status = local_serve(l, kinds, false, tell_terminal, l);
	} else {
		status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
	}
	err_release(&e);
	kinds_free(kinds);
	local_holder_release(&l->holder);
	return status;
}
