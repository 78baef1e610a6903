/* Starting the parent process, and telling it to stop. */
#include "local/pod/pod.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* As fork(), with a PID namespace of its own for the child. */
static pid_t fork_with(unsigned long flags)
{
	return flags ? (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0) : fork();
}

/* The other end of the pipe goes with the one who starts us. */
static bool is_orphan(int fault)
{
	struct pollfd p = { .fd = fault };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

static _Noreturn void become_parent(const char *exe, const char *folder, int log, int fault, bool tied)
{
	sigset_t later;
	int in, problem;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	/* Whoever wants it to stop before it can hear that is heard then (run_containers()). */
	sigemptyset(&later);
	sigaddset(&later, SIGTERM);
	sigaddset(&later, SIGINT);
	sigprocmask(SIG_SETMASK, &later, NULL);
	setsid();
	/* Until the program runs nobody could find us again, and then it needs our network; later it unties itself. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_orphan(fault))
		_exit(126);
	in = open("/dev/null", O_RDONLY);
	dup2(in, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	/* Whatever else is open belongs to the one who starts us; FAULT closes itself. */
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	execl(exe, "dljob", "pod", folder, tied ? "tied" : NULL, (char *)NULL);
	problem = errno;
	if (write(fault, &problem, sizeof(problem)) < 0)
		_exit(126);
	_exit(127);
}

/* The number of what went wrong before the program ran; 0: nothing. */
static int wait_for_exec(int fd)
{
	int problem = 0;
	ssize_t n;

	do
		n = read(fd, &problem, sizeof(problem));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(problem) ? problem : 0;
}

static bool start_parent(const char *folder, const struct pod_start_options *o, bool own_pids, bool strict, int log,
                         pid_t *ret, struct err *e)
{
	const char *exe = o->exe ? o->exe : "/proc/self/exe";
	int fault[2], problem;
	pid_t pid;

	if (pipe2(fault, O_CLOEXEC) != 0)
		return err_set(e, ERR_IO, "no pipe: %s", strerror(errno));
	pid = fork_with(own_pids ? CLONE_NEWPID : 0);
	if (pid < 0 && own_pids && !strict)
		pid = fork_with(0);
	if (pid == 0) {
		close(fault[0]);
		become_parent(exe, folder, log, fault[1], o->tied);
	}
	problem = pid < 0 ? errno : 0;
	close(fault[1]);
	if (pid > 0)
		problem = wait_for_exec(fault[0]);
	close(fault[0]);
	if (problem && pid > 0)
		waitpid(pid, NULL, 0);
	if (problem)
		return err_set(e, ERR_IO, "%s cannot be started: %s", exe, strerror(problem));
	*ret = pid;
	return true;
}

bool pod_start(const char *folder, const struct pod_start_options *o, pid_t *ret, struct err *e)
{
	static const struct pod_start_options plain;
	struct arena a = ARENA_INIT;
	struct pod_spec spec;
	bool ok = pod_spec_read(&spec, folder, &a, e);
	int log = -1;

	if (ok) {
		log = open(arena_printf(&a, "%s/parent.log", folder).p, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		           0600);
		ok = log >= 0 || err_set(e, ERR_IO, "%s/parent.log: %s", folder, strerror(errno));
	}
	ok = ok && start_parent(folder, o ? o : &plain, spec.pid_namespace, spec.strict, log, ret, e);
	if (log >= 0)
		close(log);
	arena_release(&a);
	return ok;
}
