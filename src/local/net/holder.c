#include "local/net/holder.h"

#include "base/file.h"
#include "local/net/idmap.h"
#include "local/net/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "dlj-net"

enum { ANSWER_MS = 30000, END_MS = 10000, WORDS = 256 };

/* ---- which process it is ---- */

/* When the process was started, in the kernel's ticks, if it is called as a holder is: no other process of the same
   number has both. 0: it is not one. */
static int64_t started(pid_t pid, struct arena *a)
{
	struct str text, field = STR_NONE;
	const char *end;
	int64_t v = 0;

	if (file_read(&text, arena_printf(a, "/proc/%d/stat", (int)pid).p, a, NULL) != FILE_READ)
		return 0;
	end = strstr(text.p, "(" NAME ") ");
	if (!end)
		return 0;
	text = str_c(end + strlen("(" NAME ") "));
	/* proc(5): the state is field 3, the start 22. A zombie keeps nothing. */
	if (str_has_prefix(text, STR("Z")) || str_has_prefix(text, STR("X")))
		return 0;
	for (int i = 3; i <= 22; i++)
		str_next(&text, ' ', &field);
	return str_int(field, &v) ? v : 0;
}

pid_t holder_find(const char *folder, enum net_kind *kind)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str text, word;
	int64_t v[3];

	if (file_read(&text, arena_printf(&a, "%s/holder", folder).p, &a, NULL) != FILE_READ)
		return 0;
	text = str_trim(text);
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		if (!str_next(&text, ' ', &word) || !str_int(word, &v[i]))
			return 0;
	}
	if (v[0] <= 1 || v[0] > INT32_MAX || v[1] <= 0 || (v[2] != NET_ROOT && v[2] != NET_USER))
		return 0;
	if (started((pid_t)v[0], &a) != v[1])
		return 0;
	*kind = (enum net_kind)v[2];
	return (pid_t)v[0];
}

static bool record(const char *folder, pid_t pid, enum net_kind kind, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str path = arena_printf(&a, "%s/holder", folder), new = arena_printf(&a, "%s/holder.new", folder);
	struct str text = arena_printf(&a, "%d %lld %d\n", (int)pid, (long long)started(pid, &a), (int)kind);
	int fd = open(new.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n;

	if (fd >= 0 && close(fd) < 0)
		ok = false;
	return (ok && rename(new.p, path.p) == 0) || err_set(e, ERR_IO, "%s: %s", path.p, strerror(errno));
}

/* ---- the life of a holder ---- */

struct start {
	const char *folder;
	enum net_kind kind;
	enum net_keep keep;
	const struct outside *way_out;
	int talk; /* with the one who started it */
	pid_t parent;
	uid_t uid;
	gid_t gid;
};

static _Noreturn void fail(const struct start *s, const char *what, const char *why)
{
	char words[WORDS];
	int n = snprintf(words, sizeof(words), "E%s: %s", what, why);

	(void)!write(s->talk, words, MIN((size_t)n, sizeof(words) - 1));
	_exit(1);
}

/* No descriptor of ours may live as long as the holder does, but for the one or two given (in their order). */
static void close_others(int low, int high)
{
	if (low > 3)
		(void)close_range(3, (unsigned)low - 1, 0);
	if (high > low + 1)
		(void)close_range((unsigned)low + 1, (unsigned)high - 1, 0);
	(void)close_range((unsigned)MAX(low, high) + 1, UINT32_MAX, 0);
}

static void stdio_to(const char *log)
{
	int null = open("/dev/null", O_RDWR);
	int out = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600) : null;

	dup2(null, 0);
	dup2(out < 0 ? null : out, 1);
	dup2(out < 0 ? null : out, 2);
}

/* Beside the holder and outside of its namespaces; waits until they are ready. Its parent is the holder. */
static _Noreturn void run_outside(const struct start *s, int go, pid_t holder)
{
	const char *argv[OUTSIDE_ARGS];
	char pid[16], log[PROGRAM_PATH], one;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(log, sizeof(log), "%s/outside.log", s->folder);
	snprintf(pid, sizeof(pid), "%d", (int)holder);
	stdio_to(log);
	close_others(go, go);
	if (getppid() != holder || read(go, &one, 1) != 1)
		_exit(1);
	close(go);
	outside_argv(argv, s->way_out, pid);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* A kernel without pairs of links is found out here and not at the first pod. */
static bool try_links(struct err *e)
{
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	bool ok;

	link_up(&m, LINK_LO);
	link_veth(&m, &(struct link_end){ "try0", 0, NULL, -1 }, &(struct link_end){ "try1", 0, NULL, -1 }, 1500);
	link_delete(&m, "try0");
	ok = nl_open(&nl, NETLINK_ROUTE, e) && nl_talk(&nl, &m, NULL, e);
	nl_close(&nl);
	return ok;
}

static void take_namespaces(const struct start *s)
{
	bool user = s->kind == NET_USER;

	if (unshare(user ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET) == 0)
		return;
	/* unshare(2): a limit, and no disk. */
	fail(s, user ? "a user namespace" : "a network namespace",
	     errno == ENOSPC ? "a limit is reached (sysctl user.max_user_namespaces, user.max_net_namespaces)"
	                     : strerror(errno));
}

static void take_maps(const struct start *s)
{
	char done;

	if (write(s->talk, "U", 1) != 1 || read(s->talk, &done, 1) != 1)
		_exit(1);
	if (done != IDMAP_BOTH && !idmap_single(done == IDMAP_NONE, s->uid, s->gid))
		fail(s, "the map of users", strerror(errno));
}

static _Noreturn void live(const struct start *s)
{
	struct err e = ERR_INIT;
	int go[2] = { -1, -1 };
	pid_t self = getpid();
	sigset_t none;
	char recorded;

	setsid();
	prctl(PR_SET_NAME, NAME);
	if (chdir("/") < 0 || (s->way_out && pipe2(go, O_CLOEXEC) < 0))
		fail(s, "a holder", strerror(errno));
	if (s->way_out && fork() == 0)
		run_outside(s, go[0], self);
	take_namespaces(s);
	if (s->kind == NET_USER)
		take_maps(s);
	if (!try_links(&e))
		fail(s, "links between namespaces", err_msg(&e));
	/* After the change of namespaces, which may clear it. */
	if (s->keep == NET_DIES_WITH_US && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != s->parent))
		_exit(1);
	stdio_to(NULL);
	if (s->way_out)
		(void)!write(go[1], "G", 1);
	/* Killed before it had us written down, whoever started us could never find us again. */
	if (write(s->talk, "R", 1) != 1 || read(s->talk, &recorded, 1) != 1)
		_exit(1);
	close_range(3, UINT32_MAX, 0);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	for (;;)
		sigsuspend(&none);
}

/* ---- its start and its end ---- */

/* One message from the holder; 0 with *E when there is none. */
static char hear(int talk, char words[WORDS], struct err *e)
{
	struct pollfd p = { .fd = talk, .events = POLLIN };
	ssize_t n = -1;
	int got;

	do
		got = poll(&p, 1, ANSWER_MS);
	while (got < 0 && errno == EINTR);
	if (got == 1)
		n = read(talk, words, WORDS - 1);
	words[MAX(n, 0)] = 0;
	if (n > 0 && words[0] != 'E')
		return words[0];
	err_set(e, ERR_IO, "%s", n > 0 ? words + 1 : "the holder of the network ended before it was ready");
	return 0;
}

static bool greet(int talk, pid_t pid, struct err *e)
{
	char words[WORDS];
	char heard = hear(talk, words, e);

	if (heard == 'U') {
		char done = (char)idmap_by_programs(pid);

		if (send(talk, &done, 1, MSG_NOSIGNAL) != 1)
			return err_set(e, ERR_IO, "the holder of the network: %s", strerror(errno));
		heard = hear(talk, words, e);
	}
	return heard == 'R';
}

static void kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
}

bool holder_start(pid_t *ret, const char *folder, enum net_kind kind, enum net_keep keep, const struct outside *way_out,
                  struct err *e)
{
	struct start s = { folder, kind, keep, way_out, -1, getpid(), geteuid(), getegid() };
	int talk[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
		return err_set(e, ERR_IO, "the holder of the network: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(talk[0]);
		s.talk = talk[1];
		live(&s);
	}
	close(talk[1]);
	if (pid < 0) {
		close(talk[0]);
		return err_set(e, ERR_IO, "the holder of the network: %s", strerror(errno));
	}
	if (!greet(talk[0], pid, e) || !record(folder, pid, kind, e) || send(talk[0], "K", 1, MSG_NOSIGNAL) != 1) {
		kill_child(pid);
		close(talk[0]);
		return false;
	}
	close(talk[0]);
	*ret = pid;
	return true;
}

bool holder_end(const char *folder, struct err *e)
{
	enum net_kind kind;
	pid_t pid = holder_find(folder, &kind);
	int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	bool ok = true;

	/* Found again: the descriptor then is of this very process. */
	if (pidfd >= 0 && holder_find(folder, &kind) == pid) {
		ok = (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0 || errno == ESRCH) ||
		     err_set(e, ERR_IO, "ending the holder of the network: %s", strerror(errno));
		ok = ok && (net_program_wait(pidfd, END_MS) ||
		            err_set(e, ERR_IO, "the holder of the network (process %d) does not end", (int)pid));
		/* A child of ours, if we started it. */
		(void)waitpid(pid, NULL, WNOHANG);
	}
	if (pidfd >= 0)
		close(pidfd);
	return ok;
}
