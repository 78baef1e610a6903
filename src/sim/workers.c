#include "sim/workers.h"

#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(struct seed_result) <= 4096, "a pipe takes that much in one piece");

/* One process. It runs every seed whose number is NEXT plus a multiple of the number of processes. */
struct worker {
	pid_t pid;
	int from; /* the pipe; -1: it has ended */
	uint64_t next;
};

/* What a worker does; it never returns. */
static void work(const struct workers *w, uint64_t next, int to, pid_t parent)
{
	/* Ctrl-C is for the one who prints; whatever ends that one ends this process, too. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (; next < w->seeds; next += w->jobs) {
		struct seed_result r = { .seed = w->from + next };

		w->run(w->arg, &r);
		if (write(to, &r, sizeof(r)) != (ssize_t)sizeof(r))
			_exit(1);
	}
	/* Not _exit(): a sanitizer looks for leaks now. */
	exit(0);
}

static bool start_worker(const struct workers *w, struct worker *one, struct err *e)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe(ends) < 0)
		return err_set(e, ERR_IO, "no pipe: %s", strerror(errno));
	/* What is in the buffers now is not the child's to write. */
	fflush(NULL);
	one->pid = fork();
	if (one->pid == 0) {
		close(ends[0]);
		work(w, one->next, ends[1], parent);
	}
	close(ends[1]);
	if (one->pid < 0) {
		close(ends[0]);
		return err_set(e, ERR_IO, "no process: %s", strerror(errno));
	}
	one->from = ends[0];
	return true;
}

/* How a process ended, in words; false: it succeeded. */
static bool died(pid_t pid, char why[static 512])
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	if (WIFSIGNALED(status))
		snprintf(why, 512, "its process died: %s", strsignal(WTERMSIG(status)));
	else
		snprintf(why, 512, "its process ended with exit status %d", WEXITSTATUS(status));
	return true;
}

/* The pipe is at its end: all seeds are done, or the next one has killed the process, and another goes on behind it. */
static bool ended(const struct workers *w, struct worker *one, bool *enough, struct err *e)
{
	struct seed_result r = { .seed = w->from + one->next };

	close(one->from);
	one->from = -1;
	if (!died(one->pid, r.why))
		return true;
	r.tally.seeds = one->next < w->seeds;
	/* After its last seed: what a sanitizer finds then cannot be told apart. */
	if (!r.tally.seeds)
		r.seed -= w->jobs;
	*enough = !w->done(w->arg, &r);
	one->next += w->jobs;
	return *enough || one->next >= w->seeds || start_worker(w, one, e);
}

/* Something has come from a worker. */
static bool hear(const struct workers *w, struct worker *one, bool *enough, struct err *e)
{
	struct seed_result r;
	ssize_t n = read(one->from, &r, sizeof(r));

	if (n < 0 && errno == EINTR)
		return true;
	if (n != (ssize_t)sizeof(r))
		return ended(w, one, enough, e);
	one->next += w->jobs;
	*enough = !w->done(w->arg, &r);
	return true;
}

static bool hear_all(const struct workers *w, struct worker *workers, struct err *e)
{
	struct pollfd fds[WORKERS_MAX];
	bool enough = false, ok = true;

	for (;;) {
		unsigned open = 0;

		for (unsigned i = 0; i < w->jobs; i++) {
			fds[i] = (struct pollfd){ .fd = workers[i].from, .events = POLLIN };
			open += workers[i].from >= 0;
		}
		if (!open || enough || !ok || (w->stop && *w->stop))
			return ok;
		if (poll(fds, w->jobs, -1) < 0)
			continue;
		for (unsigned i = 0; i < w->jobs && !enough && ok; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				ok = hear(w, &workers[i], &enough, e);
	}
}

bool workers_run(const struct workers *w, struct err *e)
{
	struct worker workers[WORKERS_MAX];
	bool ok = true;

	ASSERT(w->jobs > 0 && w->jobs <= WORKERS_MAX);
	for (unsigned i = 0; i < w->jobs; i++)
		workers[i] = (struct worker){ .from = -1, .next = i };
	for (unsigned i = 0; i < w->jobs && i < w->seeds && ok; i++)
		ok = start_worker(w, &workers[i], e);
	ok = ok && hear_all(w, workers, e);
	for (unsigned i = 0; i < w->jobs; i++) {
		char why[512];

		if (workers[i].from < 0)
			continue;
		close(workers[i].from);
		kill(workers[i].pid, SIGKILL);
		died(workers[i].pid, why);
	}
	return ok;
}
