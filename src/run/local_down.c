/* dljob local down and reset: the cluster ends, and nothing of it runs any more. */
#include "run/local.h"

#include "base/log.h"
#include "run/local_folder.h"
#include "term/duration.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

static const msec told_every = SECONDS(5);

static void report_problem(void *cookie, const char *problem)
{
	struct local *l = cookie;

	if (problem)
		l->cli->status = cli_fail(l->cli, CLI_FAILED, "%s", problem);
}

static enum exit_code still_clean(struct local *l)
{
	struct err e = ERR_INIT;
	bool ok = local_ended(&l->holder, &e);

	if (!ok)
		cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return ok ? CLI_OK : CLI_FAILED;
}

/* Its process was killed: what it left is taken over, and ended as it would have done. */
static enum exit_code end_rest(struct local *l)
{
	struct kinds *kinds = cli_kinds(l->cli);
	struct err e = ERR_INIT;
	enum exit_code status;

	if (!kinds)
		return l->cli->status;
	log_setup(LOG_TEXT, LOG_WARN, &clock_wall);
	if (local_hold(&l->holder, 0, &e))
		status = local_serve(l, kinds, true, report_problem, l);
	else
		status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	kinds_free(kinds);
	return status;
}

/* True once it has ended. */
static bool await_end(int fd, msec time)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, (int)time);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

static enum exit_code end_process(struct local *l, pid_t pid, msec timeout)
{
	int fd = pidfd_open(pid, 0);
	msec waited = 0;

	if (fd < 0)
		return errno == ESRCH ? CLI_OK : cli_fail(l->cli, CLI_FAILED, "pid %d: %s", (int)pid, strerror(errno));
	if (pidfd_send_signal(fd, l->options->now ? SIGNAL_NOW : SIGTERM, NULL, 0) && errno != ESRCH) {
		close(fd);
		return cli_fail(l->cli, CLI_FAILED, "pid %d: %s", (int)pid, strerror(errno));
	}
	while (!await_end(fd, timeout ? MIN(told_every, timeout - waited) : told_every)) {
		waited += told_every;
		if (timeout && waited >= timeout) {
			close(fd);
			return cli_fail(l->cli, CLI_TIMED_OUT,
			                "pods are still ending; `dljob local down --now` kills them");
		}
		fprintf(stderr, "dljob local: waiting for pods to end (%lld s); --now kills them\n",
		        (long long)(waited / 1000));
	}
	close(fd);
	return CLI_OK;
}

/* One look may meet a process that is killed before it has ended everything. *FOUND: there was a cluster, running or
   not; nothing is made in a folder that has none. */
static enum exit_code down(struct local *l, msec timeout, bool *found)
{
	struct local_holder *h = &l->holder;
	struct err e = ERR_INIT;
	enum exit_code status = CLI_OK;
	bool clean = false;

	*found = false;
	while (!clean && status == CLI_OK) {
		if (!local_look(l->folder, LOOK_TAKE, h, &e)) {
			status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
			err_release(&e);
			return status;
		}
		*found |= h->pid || h->lock >= 0;
		clean = !h->pid;
		if (h->pid)
			status = end_process(l, h->pid, timeout);
		else if (h->lock >= 0)
			status = h->clean ? still_clean(l) : end_rest(l);
		local_holder_release(h);
	}
	return status;
}

static bool times(struct local *l, msec *ret)
{
	*ret = 0;
	if (!l->options->timeout || duration_parse(str_c(l->options->timeout), ret))
		return true;
	l->cli->status = cli_usage(l->cli, "--timeout wants a time such as 90s or 5m, not '%s'", l->options->timeout);
	return false;
}

/* Ours to work in. False: the status is set; a folder that is not there is ok. */
static bool look_at_folder(struct local *l, bool *there)
{
	struct err e = ERR_INIT;
	bool ok = local_folder_check(l->folder, true, there, &e);

	if (!ok)
		l->cli->status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return ok;
}

enum exit_code local_down(struct local *l)
{
	bool there, found = false;
	enum exit_code status = CLI_OK;
	msec timeout;

	if (!times(l, &timeout) || !look_at_folder(l, &there))
		return l->cli->status;
	if (there)
		status = down(l, timeout, &found);
	if (status == CLI_OK)
		puts(found ? "stopped; its jobs are kept and continue with `dljob local up`" : "no cluster is running");
	return status;
}

/* Nobody runs it, or somebody who cannot be ended. */
static bool clear(struct local *l, struct err *e)
{
	struct local_holder *h = &l->holder;
	bool ok = local_look(l->folder, LOOK_TAKE, h, e);

	if (ok && h->pid)
		ok = err_set(e, ERR_IO, "process %d holds it", (int)h->pid);
	ok = ok && embedded_clear(l->folder, e);
	local_holder_release(h);
	return ok;
}

enum exit_code local_reset(struct local *l)
{
	struct err e = ERR_INIT;
	enum exit_code status;
	bool there, found, left;
	msec timeout;

	if (!times(l, &timeout))
		return l->cli->status;
	if (!l->options->yes)
		return cli_usage(l->cli, "this deletes all jobs, logs and keys in %s: confirm with --yes", l->folder);
	if (!look_at_folder(l, &there))
		return l->cli->status;
	if (!there) {
		puts("no cluster is running");
		return CLI_OK;
	}
	status = down(l, timeout, &found);
	if (status != CLI_OK && status != CLI_FAILED)
		return status;
	/* A database that cannot be opened is why one comes here. */
	if ((status == CLI_OK || clear(l, &e)) && local_folder_empty(l->folder, &left, &e)) {
		printf(left ? "%s: the cluster is deleted, other files are left\n" : "%s is empty\n", l->folder);
		return CLI_OK;
	}
	status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return status;
}
