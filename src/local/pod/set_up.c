#include "local/pod/set_up.h"

#include "local/pod/mounts.h"
#include "local/pod/process.h"
#include "local/pod/user.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Something that was wanted cannot be had: *E says what. */
static bool without(struct proc_pod *p, struct err *e)
{
	if (p->spec.strict)
		return false;
	pod_note(p, err_msg(e));
	err_release(e);
	return true;
}

/* Never without: on another network it would be another pod. */
static bool join_network(struct proc_pod *p, struct err *e)
{
	const char *path = p->spec.network.p;
	int fd;
	bool ok;

	if (p->spec.network.n == 0)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* A descriptor of the one who starts us, /proc/PID/fd/N, kept open until our first word: it goes only with that
	   process, a moment before we would. */
	p->orphan = fd < 0 && errno == ENOENT && str_has_prefix(p->spec.network, STR("/proc/"));
	if (fd < 0)
		return err_set(e, ERR_IO, "network namespace %s: %s", path, strerror(errno));
	ok = setns(fd, CLONE_NEWNET) == 0;
	close(fd);
	return ok || err_set(e, ERR_IO, "network namespace %s cannot be joined: %s", path, strerror(errno));
}

static bool take_hostname(struct proc_pod *p, struct err *e)
{
	if (p->spec.hostname.n == 0)
		return true;
	if (unshare(CLONE_NEWUTS) != 0 || sethostname(p->spec.hostname.p, p->spec.hostname.n) != 0)
		return err_set(e, ERR_IO, "the pod has no host name of its own: %s", strerror(errno)) || without(p, e);
	return true;
}

static bool take_ipc(struct proc_pod *p, struct err *e)
{
	if (!p->spec.ipc_namespace || unshare(CLONE_NEWIPC) == 0)
		return true;
	return err_set(e, ERR_IO, "the pod shares the machine's IPC: %s", strerror(errno)) || without(p, e);
}

/* emptyDir with medium Memory. */
static void mount_memory(struct proc_pod *p)
{
	for (size_t i = 0; i < p->spec.volumes.n; i++) {
		const struct pod_volume *v = &p->spec.volumes.v[i];
		char path[256], options[64];

		if (v->kind != POD_VOLUME_MEMORY)
			continue;
		snprintf(path, sizeof(path), "volumes/%.*s", STR_F(v->name));
		snprintf(options, sizeof(options), "mode=0777,size=%lld", (long long)v->size);
		if (!v->size)
			snprintf(options, sizeof(options), "mode=0777");
		if (!p->mount_namespace || mount("memory", path, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
			pod_note(p, "volumes with medium Memory are on disk");
	}
}

static bool take_mounts(struct proc_pod *p, struct err *e)
{
	if (!p->spec.mount_namespace)
		return true;
	if (!mounts_unshare(e))
		return without(p, e);
	p->mount_namespace = true;
	if (p->state.own_pids) {
		p->own_proc = mounts_proc(e);
		if (!p->own_proc && !without(p, e))
			return false;
	}
	return mounts_dev(p->spec.ipc_namespace, e) || without(p, e);
}

static bool wants_user(const struct proc_pod *p)
{
	for (size_t i = 0; i < p->spec.containers.n; i++)
		if (p->spec.containers.v[i].uid > 0 || p->spec.containers.v[i].gid > 0)
			return true;
	return false;
}

bool pod_set_up(struct proc_pod *p, struct err *e)
{
	static const char *const folders[] = { "logs", "termination", "volumes" };

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (mkdir(folders[i], 0700) != 0 && errno != EEXIST)
			return err_set(e, ERR_IO, "%s: %s", folders[i], strerror(errno));
	if (p->spec.pid_namespace && !p->state.own_pids) {
		err_set(e, ERR_IO, "the pod has no PID namespace of its own");
		if (!without(p, e))
			return false;
	}
	p->own_proc = !p->state.own_pids;
	p->any_user = user_is_many();
	if (!p->any_user && wants_user(p)) {
		err_set(e, ERR_IO, "runAsUser and runAsGroup are ignored: only root can change the user");
		if (!without(p, e))
			return false;
	}
	for (size_t i = 0; i < p->spec.notes.n; i++)
		pod_note(p, arena_str(&p->arena, p->spec.notes.v[i]).p);
	cgroup_mounts_find(&p->cgroups);
	if (!join_network(p, e) || !take_hostname(p, e) || !take_ipc(p, e) || !take_mounts(p, e))
		return false;
	mount_memory(p);
	return true;
}
