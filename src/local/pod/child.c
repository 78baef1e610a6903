#include "local/pod/child.h"

#include "local/net/net.h"
#include "local/pod/container.h"
#include "local/pod/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

enum { FAULT_TEXT = 2048 };

/* Says why, and ends. */
static _Noreturn void give_up(int fault, char kind, const char *text)
{
	char out[FAULT_TEXT];
	int n = snprintf(out, sizeof(out), "%c%s", kind, text);

	if (fault >= 0 && write(fault, out, (size_t)MIN(n, FAULT_TEXT - 1)) < 0)
		_exit(127);
	_exit(128);
}

/* Handlers are the parent's; what it ignores would stay ignored. */
static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, before);
}

static void die_with_parent(const struct proc_pod *p)
{
	if (p->state.own_pids)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have died just before. */
	if (getppid() != p->self)
		_exit(128);
}

static void take_stdio(int out, int err)
{
	int in = open("/dev/null", out >= 0 ? O_RDONLY : O_RDWR);

	dup2(in, STDIN_FILENO);
	dup2(out >= 0 ? out : in, STDOUT_FILENO);
	dup2(err >= 0 ? err : in, STDERR_FILENO);
}

static char **container_env(struct proc_pod *p, const pod_envs *env, bool tty)
{
	char **v = arena_array(&p->arena, char *, env->n + 2);
	bool said = false;

	for (size_t i = 0; i < env->n; i++)
		said |= str_eqc(env->v[i].name, "TERM");
	if (tty && !said)
		v[env->n] = (char *)arena_str(&p->arena, STR("TERM=xterm")).p;
	for (size_t i = 0; i < env->n; i++)
		v[i] = (char *)arena_printf(&p->arena, "%.*s=%.*s", STR_F(env->v[i].name), STR_F(env->v[i].value)).p;
	return v;
}

static char **arguments(struct proc_pod *p, const pod_strs *command)
{
	char **v = arena_array(&p->arena, char *, command->n + 1);

	for (size_t i = 0; i < command->n; i++)
		v[i] = (char *)arena_str(&p->arena, command->v[i]).p;
	return v;
}

static const struct pod_volume *volume_of(const struct proc_pod *p, struct str name)
{
	for (size_t i = 0; i < p->spec.volumes.n; i++)
		if (str_eq(p->spec.volumes.v[i].name, name))
			return &p->spec.volumes.v[i];
	return NULL;
}

/* hostPath's type. */
static bool check_host(const struct pod_volume *v, struct err *e)
{
	const char *path = v->path.p;
	bool want_dir = v->host == POD_HOST_DIR || v->host == POD_HOST_DIR_CREATE;
	struct stat st;
	int fd;

	if (v->host == POD_HOST_DIR_CREATE)
		mkdir(path, 0755);
	if (v->host == POD_HOST_FILE_CREATE) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd >= 0)
			close(fd);
	}
	if (stat(path, &st) != 0)
		return err_set(e, ERR_IO, "hostPath %s: %s", path, strerror(errno));
	if (v->host != POD_HOST_ANY && S_ISDIR(st.st_mode) != want_dir)
		return err_set(e, ERR_INVALID, "hostPath %s is %s", path, want_dir ? "not a folder" : "a folder");
	return true;
}

static bool add_volume(struct mount_plan *plan, struct proc_pod *p, const struct pod_mount *m, struct err *e)
{
	const struct pod_volume *v = volume_of(p, m->volume);
	struct str from;

	if (!v)
		return err_set(e, ERR_INVALID, "there is no volume of that name");
	if (v->kind == POD_VOLUME_HOST && !check_host(v, e))
		return false;
	from = v->kind == POD_VOLUME_HOST ? v->path : arena_printf(&p->arena, "volumes/%.*s", STR_F(v->name));
	if (m->sub_path.n)
		return mounts_add_below(plan, from.p, m->sub_path, !v->read_only && v->kind != POD_VOLUME_HOST, m->path,
		                        m->read_only || v->read_only, v->kind != POD_VOLUME_HOST, e);
	return mounts_add(plan, from.p, m->path, m->read_only || v->read_only, v->kind != POD_VOLUME_HOST, e);
}

static bool is_mounted(const struct pod_container *c, const char *path)
{
	for (size_t i = 0; i < c->mounts.n; i++)
		if (str_eqc(c->mounts.v[i].path, path))
			return true;
	return false;
}

/* A link leads to what others read, too: that is not to be written to. */
static bool add_file_of_ours(struct mount_plan *plan, struct proc_container *c, const char *name, const char *target,
                             struct err *e)
{
	struct stat st;

	if (lstat(name, &st) != 0 || access(name, F_OK) != 0 || is_mounted(c->spec, target))
		return true;
	return mounts_add(plan, name, str_c(target), !S_ISREG(st.st_mode), false, e);
}

static bool add_own(struct mount_plan *plan, struct proc_container *c, struct err *e)
{
	const char *message = arena_printf(&c->pod->arena, "termination/%.*s", STR_F(c->spec->name)).p;

	if (c->spec->termination_path.n && !mounts_add(plan, message, c->spec->termination_path, false, false, e))
		return false;
	return add_file_of_ours(plan, c, "hosts", "/etc/hosts", e) &&
	       add_file_of_ours(plan, c, "resolv.conf", "/etc/resolv.conf", e);
}

static bool mount_all(struct proc_container *c, struct err *e)
{
	struct mount_plan *plan = xcalloc(1, sizeof(*plan));
	struct proc_pod *p = c->pod;
	bool ok;

	if (!p->mount_namespace) {
		free(plan);
		if (c->spec->mounts.n || c->spec->rootfs.n)
			return err_set(e, ERR_IO,
			               "volumes and root file systems need a mount namespace, and there is none: "
			               "run as root, or where user namespaces are allowed");
		return true;
	}
	plan->rootfs = c->spec->rootfs;
	ok = mounts_unshare(e);
	for (size_t i = 0; ok && i < c->spec->mounts.n; i++)
		if (!add_volume(plan, p, &c->spec->mounts.v[i], e))
			ok = err_wrap(e, "volume %.*s", STR_F(c->spec->mounts.v[i].volume));
	ok = ok && add_own(plan, c, e) && mounts_apply(plan, e);
	free(plan);
	return ok;
}

static bool become_user(const struct pod_container *c, struct err *e)
{
	if (c->uid < 0 && c->gid < 0)
		return true;
	if (geteuid() == 0 && setgroups(0, NULL) != 0 && errno != EPERM)
		return err_set(e, ERR_IO, "groups cannot be dropped: %s", strerror(errno));
	if (c->gid >= 0 && (gid_t)c->gid != getegid() && setgid((gid_t)c->gid) != 0)
		return err_set(e, ERR_IO, "runAsGroup %lld: %s", (long long)c->gid, strerror(errno));
	if (c->uid >= 0 && (uid_t)c->uid != geteuid() && setuid((uid_t)c->uid) != 0)
		return err_set(e, ERR_IO, "runAsUser %lld: %s", (long long)c->uid, strerror(errno));
	return true;
}

static bool enter_cwd(const struct pod_container *c, struct err *e)
{
	if (chdir(c->cwd.n ? c->cwd.p : "/") != 0)
		return err_set(e, ERR_IO, "working directory %s: %s", c->cwd.p, strerror(errno));
	return true;
}

static _Noreturn void run_program(struct proc_container *c, const pod_strs *command, bool tty, int fault)
{
	char **argv = arguments(c->pod, command);
	struct err e = ERR_INIT;

	environ = container_env(c->pod, &c->spec->env, tty);
	if (!enter_cwd(c->spec, &e) || (c->pod->any_user && !become_user(c->spec, &e)))
		give_up(fault, FAULT_CREATE, err_msg(&e));
	umask(022);
	/* Changing the user forgets it. */
	die_with_parent(c->pod);
	/* The parents of pods may have rights that are handed on from program to program; here they end. */
	net_rights_drop();
	/* What the pod's parent has open is not the container's. */
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	execvp(argv[0], argv);
	err_set(&e, ERR_IO, "exec %s: %s", argv[0], errno == ENOENT ? "executable file not found" : strerror(errno));
	give_up(fault, FAULT_START, err_msg(&e));
}

/* 0 in the new process, which is in a session and in the container's cgroup; OUT and ERR are its output. */
static pid_t fork_into(const struct proc_container *c, int out, int err)
{
	struct proc_pod *p = c->pod;
	sigset_t before;
	pid_t pid;

	block_signals(&before);
	pid = fork();
	if (pid != 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return pid;
	}
	reset_signals();
	setsid();
	die_with_parent(p);
	if (p->state.cgroup.n)
		cgroup_join(&p->cgroups, p->state.cgroup, c->spec->name);
	take_stdio(out, err);
	return 0;
}

pid_t child_container(struct proc_container *c, int out, int err, int fault)
{
	pid_t pid = fork_into(c, out, err);
	struct err e = ERR_INIT;

	if (pid != 0)
		return pid;
	if (!mount_all(c, &e))
		give_up(fault, FAULT_CREATE, err_msg(&e));
	run_program(c, &c->spec->command, false, fault);
}

/* The mount namespace of the container's first process. */
static bool enter_container(const struct proc_container *c)
{
	int fd = (int)syscall(SYS_pidfd_open, c->pid, 0);

	return fd >= 0 && setns(fd, CLONE_NEWNS) == 0;
}

pid_t child_helper(struct proc_container *c, const pod_strs *command)
{
	pid_t pid = fork_into(c, -1, -1);

	if (pid != 0)
		return pid;
	if (c->pod->mount_namespace && !enter_container(c))
		_exit(126);
	run_program(c, command, false, -1);
}

static bool take_terminal(const struct proc_container *c)
{
	/* By its name it is opened again. */
	if (c->pod->any_user && c->spec->uid > 0 && fchown(STDIN_FILENO, (uid_t)c->spec->uid, (gid_t)-1) != 0)
		return false;
	return ioctl(STDIN_FILENO, TIOCSCTTY, 0) == 0;
}

pid_t child_exec(struct proc_container *c, const pod_strs *command, const int fds[static 3], bool tty, int fault)
{
	pid_t pid = fork_into(c, -1, -1);

	if (pid != 0)
		return pid;
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	if (tty && !take_terminal(c))
		give_up(fault, FAULT_CREATE, "the terminal cannot be used");
	if (c->pod->mount_namespace && !enter_container(c))
		give_up(fault, FAULT_CREATE, "the container's mounts cannot be entered");
	run_program(c, command, tty, fault);
}
