/* Looking at a folder whose pod somebody else may have started, and clearing up after a parent that was killed. */
#include "local/pod/pod.h"

#include "base/buf.h"
#include "base/file.h"
#include "local/pod/cgroup.h"
#include "local/pod/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATE_MAX = 4 << 20, ROUNDS = 2000, KILLED = 137 };

static bool same_boot(const struct pod_state *s)
{
	char boot[BOOT_ID];

	process_boot(boot);
	return str_eqc(s->boot, boot);
}

static enum pod_found look_at_parent(const struct pod_state *s)
{
	if (s->life == POD_ENDED)
		return POD_FOUND_ENDED;
	return same_boot(s) && process_lives(s->pid, s->pid_start) ? POD_FOUND_ALIVE : POD_FOUND_DIED;
}

bool pod_find(const char *folder, enum pod_found *ret, pid_t *ret_pid, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct pod_state s;
	bool missing, ok = pod_state_read(&s, &missing, folder, &a, e);

	*ret_pid = 0;
	if (ok) {
		*ret = missing ? POD_FOUND_NOTHING : look_at_parent(&s);
		if (*ret == POD_FOUND_ALIVE)
			*ret_pid = (pid_t)s.pid;
	}
	arena_release(&a);
	return ok;
}

/* Its arguments are `dljob pod FOLDER`. */
static bool is_parent_of(const char *pid, const char *folder, struct arena *a)
{
	struct str text, arg = STR_NONE;
	size_t i = 0;

	if (file_read(&text, arena_printf(a, "/proc/%s/cmdline", pid).p, a, NULL) != FILE_READ)
		return false;
	for (; i < 3 && str_next(&text, 0, &arg); i++)
		if (i == 1 && !str_eqc(arg, "pod"))
			return false;
	return i == 3 && str_eqc(arg, folder);
}

pid_t pod_parent(const char *folder)
{
	struct arena a = ARENA_INIT;
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int64_t pid = 0;

	while (dir && (entry = readdir(dir))) {
		arena_reset(&a);
		if (str_int(str_c(entry->d_name), &pid) && is_parent_of(entry->d_name, folder, &a))
			break;
		pid = 0;
	}
	if (dir)
		closedir(dir);
	arena_release(&a);
	return (pid_t)pid;
}

static bool replace(const char *folder, const char *name, struct str text, struct arena *a, struct err *e)
{
	const char *path = arena_printf(a, "%s/%s", folder, name).p, *new = arena_printf(a, "%s.new", path).p;
	int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok;

	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s", new, strerror(errno));
	ok = write(fd, text.p, text.n) == (ssize_t)text.n;
	close(fd);
	return (ok && rename(new, path) == 0) || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
}

static bool stop(const char *folder, int64_t grace, const char *why, struct err *e)
{
	struct arena a = ARENA_INIT;
	long long seconds = grace < 0 ? -1 : (grace + 999) / 1000;
	enum pod_found found;
	pid_t pid;
	bool ok;

	/* The parent reads it when it hears the signal, or before it can hear one. */
	ok = replace(folder, "grace", arena_printf(&a, "%lld%s", seconds, why), &a, e) &&
	     pod_find(folder, &found, &pid, e);
	if (ok && found == POD_FOUND_ALIVE)
		kill(pid, SIGTERM);
	arena_release(&a);
	return ok;
}

bool pod_stop(const char *folder, int64_t grace, struct err *e)
{
	return stop(folder, grace, "", e);
}

bool pod_shut_down(const char *folder, int64_t grace, struct err *e)
{
	return stop(folder, grace, " shutdown", e);
}

bool pod_kill(const char *folder, struct err *e)
{
	enum pod_found found;
	pid_t pid;

	if (!pod_find(folder, &found, &pid, e))
		return false;
	if (found != POD_FOUND_ALIVE)
		return err_set(e, ERR_INVALID, "%s: no process runs", folder);
	process_kill_children(pid);
	return true;
}

static void a_moment(void)
{
	struct timespec t = { .tv_nsec = 2000000 };

	nanosleep(&t, NULL);
}

/* If it is our child it stays as a zombie until somebody waits; that is no life. */
static void kill_parent(const struct pod_state *s)
{
	for (int i = 0; i < ROUNDS && look_at_parent(s) == POD_FOUND_ALIVE; i++) {
		kill((pid_t)s->pid, SIGKILL);
		a_moment();
	}
}

/* Containers die with their parent; what they have started may not. Their numbers are those of our own namespace only
   if the pod had none. */
static void kill_sessions(const struct pod_state *s)
{
	if (s->own_pids || !same_boot(s))
		return;
	for (size_t i = 0; i < s->containers.n; i++) {
		const struct pod_container_state *c = &s->containers.v[i];
		struct process_stat st;
		char which[32];

		snprintf(which, sizeof(which), "%lld", (long long)c->pid);
		if (c->pid <= 1 || (process_stat(&st, which) && st.start != c->pid_start))
			continue; /* none, or the number is another's now */
		process_kill_session(c->pid);
	}
}

static void mark_dead(struct pod_state *s, msec now)
{
	for (size_t i = 0; i < s->containers.n; i++) {
		struct pod_container_state *c = &s->containers.v[i];

		if (c->now.run != POD_RUN_RUNNING)
			continue;
		c->now.run = POD_RUN_TERMINATED;
		c->now.exit_code = KILLED;
		c->now.reason = STR("ContainerStatusUnknown");
		c->now.message = STR("The container could not be located when the pod was terminated");
		c->now.finished = now;
		c->ready = c->started = false;
		c->ready_since = now;
		c->pid = c->pid_start = 0;
	}
	if (!same_boot(s) && !s->reason.n) {
		s->reason = STR("NodeShutdown");
		s->message = STR("The machine was rebooted while the pod ran");
	}
	s->life = POD_ENDED;
	s->failed = true;
	s->ended = now;
}

static bool remove_groups(struct str cgroup, struct err *e)
{
	struct cgroup_mounts mounts;

	cgroup_mounts_find(&mounts);
	for (int i = 0; i < ROUNDS; i++) {
		if (cgroup_remove(&mounts, cgroup))
			return true;
		a_moment();
	}
	return err_set(e, ERR_IO, "control group %.*s does not become empty", STR_F(cgroup));
}

static bool reap(const char *folder, struct pod_state *s, const struct clock *clock, struct arena *a, struct err *e)
{
	struct buf text = BUF_INIT(STATE_MAX);
	bool ok;

	kill_parent(s);
	kill_sessions(s);
	if (!remove_groups(s->cgroup, e))
		return false;
	if (s->life == POD_ENDED)
		return true;
	mark_dead(s, clock_now(clock));
	pod_state_write(s, &text);
	ok = replace(folder, "state.json", buf_str(&text), a, e);
	buf_release(&text);
	return ok;
}

/* Killed before it has said a word, or never started. */
static bool reap_silent(const char *folder, struct arena *a, struct err *e)
{
	struct pod_spec spec;
	struct err ignored = ERR_INIT;
	pid_t pid = 0;

	for (int i = 0; i < ROUNDS && (pid = pod_parent(folder)) > 0; i++) {
		kill(pid, SIGKILL);
		a_moment();
	}
	if (pid > 0)
		return err_set(e, ERR_IO, "process %d does not end", (int)pid);
	if (pod_spec_read(&spec, folder, a, &ignored))
		return remove_groups(spec.cgroup, e);
	err_release(&ignored);
	return true;
}

bool pod_reap(const char *folder, const struct clock *clock, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct pod_state s;
	bool missing, ok = pod_state_read(&s, &missing, folder, &a, e);

	if (ok)
		ok = missing ? reap_silent(folder, &a, e) : reap(folder, &s, clock, &a, e);
	arena_release(&a);
	return ok;
}
