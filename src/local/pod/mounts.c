#include "local/pod/mounts.h"

#include "base/buf.h"
#include "local/pod/below.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIRROR_MAX = 4096, PLACES_MAX = 4 * MOUNTS_MAX, PATH_TEXT = PATH_MAX };

/* Of /dev, what containers have, and accelerators. */
static const char *const dev_names[] = { "null", "zero", "full",   "random", "urandom", "tty",        "ptmx",
	                                 "pts",  "shm",  "mqueue", "fd",     "stdin",   "stdout",     "stderr",
	                                 "fuse", "kvm",  "net",    "dri",    "kfd",     "infiniband", "hugepages" };
static const char *const dev_prefixes[] = { "nvidia", "accel", "davinci", "hisi", "vfio", "mlu", "gaudi" };

/* What is mounted outside later is seen inside, not the other way round. */
static bool make_slave(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

static void close_some(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Inside a chroot "/" need not be a mount, and the one that it lies in has no name there. To enter the namespace that
   one is in leads to its root, where it has. */
static bool make_slave_in_chroot(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC),
	    ns = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	bool ok = root >= 0 && cwd >= 0 && ns >= 0 && setns(ns, CLONE_NEWNS) == 0;

	if (ok) {
		ok = make_slave();
		/* Back in any case: outside is not ours. */
		if (fchdir(root) != 0 || chroot(".") != 0 || fchdir(cwd) != 0)
			BUG("the way back into the chroot is lost: %s", strerror(errno));
	}
	close_some(root);
	close_some(cwd);
	close_some(ns);
	return ok;
}

bool mounts_unshare(struct err *e)
{
	if (unshare(CLONE_NEWNS) != 0)
		return err_set(e, ERR_IO,
		               "no mount namespace, so names of other pods are not known in it: %s; run as root, or "
		               "where user namespaces are allowed",
		               strerror(errno));
	if (!make_slave() && !(errno == EINVAL && make_slave_in_chroot()))
		return err_set(e, ERR_IO, "mounts cannot be made private: %s", strerror(errno));
	return true;
}

bool mounts_proc(struct err *e)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return err_set(e, ERR_IO, "/proc of the pod cannot be mounted: %s", strerror(errno));
	return true;
}

static bool in_dev(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(dev_names); i++)
		if (str_eqc(str_c(name), dev_names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(dev_prefixes); i++)
		if (str_has_prefix(str_c(name), str_c(dev_prefixes[i])))
			return true;
	return false;
}

static bool make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool copy_link(int from, const char *name, int to)
{
	char text[PATH_TEXT];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return false;
	text[n] = 0;
	return symlinkat(text, to, name) == 0;
}

static bool make_file_at(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* One entry of a mirrored folder. What cannot be bound (it vanished, or nobody may see it) is left out. */
static void mirror_entry(int from, const char *name, int to)
{
	struct stat st;
	int tree;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (S_ISLNK(st.st_mode)) {
		copy_link(from, name, to);
		return;
	}
	tree = open_tree(from, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0)
		return;
	if (S_ISDIR(st.st_mode) ? mkdirat(to, name, 0755) == 0 : make_file_at(to, name))
		if (move_mount(tree, "", to, name, MOVE_MOUNT_F_EMPTY_PATH) != 0)
			unlinkat(to, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
	close(tree);
}

static bool fill_mirror(const char *folder, int from, int to, bool (*wanted)(const char *), struct err *e)
{
	int copy = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *d;
	size_t n = 0;

	if (!dir)
		return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	while ((d = readdir(dir)) && n <= MIRROR_MAX) {
		struct str name = str_c(d->d_name);

		if (str_eqc(name, ".") || str_eqc(name, "..") || (wanted && !wanted(d->d_name)))
			continue;
		mirror_entry(from, d->d_name, to);
		n++;
	}
	closedir(dir);
	if (n > MIRROR_MAX)
		return err_set(e, ERR_LIMIT, "%s has more than %d entries: create the mount point there yourself",
		               folder, MIRROR_MAX);
	return true;
}

/* A tmpfs that is mounted nowhere yet; -1. */
static int new_tmpfs(unsigned mode)
{
	char text[16];
	int mnt = -1, fs = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (fs < 0)
		return -1;
	snprintf(text, sizeof(text), "%o", mode);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "mode", text, 0) == 0 &&
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mnt = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
	close(fs);
	return mnt;
}

/* Mounts MNT over FOLDER; if that is the root, it becomes ours. */
static bool cover(int mnt, const char *folder, struct err *e)
{
	if (move_mount(mnt, "", AT_FDCWD, folder, MOVE_MOUNT_F_EMPTY_PATH) != 0)
		return err_set(e, ERR_IO, "%s cannot be covered: %s", folder, strerror(errno));
	if (str_eqc(str_c(folder), "/") && (fchdir(mnt) != 0 || chroot(".") != 0 || chdir("/") != 0))
		return err_set(e, ERR_IO, "the new root cannot be entered: %s", strerror(errno));
	return true;
}

/* FOLDER is covered first and filled then: all goes by descriptors, so that no other place is needed for it. */
static bool mirror(const char *folder, bool (*wanted)(const char *), struct err *e)
{
	int from = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), to = -1;
	struct stat st;
	bool ok;

	if (from < 0 || fstat(from, &st) != 0)
		ok = err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	else if ((to = new_tmpfs((unsigned)st.st_mode & 07777)) < 0)
		ok = err_set(e, ERR_IO, "no tmpfs: %s", strerror(errno));
	else
		ok = cover(to, folder, e) && fill_mirror(folder, from, to, wanted, e);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return ok;
}

bool mounts_dev(bool shm, struct err *e)
{
	if (!mirror("/dev", in_dev, e))
		return false;
	make_file("/dev/termination-log");
	mkdir("/dev/shm", 01777);
	if (shm && mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
		return err_set(e, ERR_IO, "no /dev/shm: %s", strerror(errno));
	return true;
}

/* TREE is a detached mount (-1: errno says why there is none) of what was at FROM. */
static bool add_tree(struct mount_plan *p, int tree, const char *from, struct str target, bool read_only, bool ours,
                     struct err *e)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	struct stat st;

	if (tree < 0 || fstat(tree, &st) != 0)
		return err_set(e, ERR_IO, "%s: %s", from, strerror(errno));
	if (read_only && mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) != 0)
		return err_set(e, ERR_IO, "%s cannot be made read-only: %s", from, strerror(errno));
	while (target.n > 1 && target.p[target.n - 1] == '/')
		target.n--;
	p->v[p->n++] = (struct mount_plan_item){
		.tree = tree, .dir = S_ISDIR(st.st_mode), .ours = ours && !read_only, .target = target
	};
	return true;
}

static bool has_room(const struct mount_plan *p, struct err *e)
{
	return p->n < MOUNTS_MAX || err_set(e, ERR_LIMIT, "more than %d mounts", MOUNTS_MAX);
}

bool mounts_add(struct mount_plan *p, const char *from, struct str target, bool read_only, bool ours, struct err *e)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;

	return has_room(p, e) && add_tree(p, open_tree(AT_FDCWD, from, flags), from, target, read_only, ours, e);
}

bool mounts_add_below(struct mount_plan *p, const char *from, struct str sub, bool make, struct str target,
                      bool read_only, bool ours, struct err *e)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
	int fd = has_room(p, e) ? below_open(from, sub, make, e) : -1;
	bool ok = fd >= 0 && add_tree(p, open_tree(fd, "", flags), from, target, read_only, ours, e);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Where points may be made: by their real paths. */
struct places {
	struct mount_place {
		char path[PATH_TEXT];
		bool ours;
		bool alone; /* says nothing of what is below */
	} v[PLACES_MAX];
	size_t n;
};

static bool place_add(struct places *p, const char *path, bool ours, bool alone, struct err *e)
{
	struct mount_place *new = &p->v[p->n];

	if (p->n == PLACES_MAX)
		return err_set(e, ERR_LIMIT,
		               "more than %d folders and mounts for the volumes: create the mount points yourself, or "
		               "mount less",
		               PLACES_MAX);
	snprintf(new->path, sizeof(new->path), "%s", path);
	new->ours = ours;
	new->alone = alone;
	p->n++;
	return true;
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return n == 1 || (strncmp(path, top, n) == 0 && (path[n] == '/' || path[n] == 0));
}

/* The deepest place that says something of PATH; of equals the latest. */
static bool is_ours(const struct places *p, const char *path)
{
	size_t most = 0;
	bool ours = false;

	for (size_t i = 0; i < p->n; i++) {
		const struct mount_place *q = &p->v[i];
		size_t n = strlen(q->path);

		if (n < most || (q->alone ? strcmp(q->path, path) != 0 : !is_below(path, q->path)))
			continue;
		most = n;
		ours = q->ours;
	}
	return ours;
}

/* The part of PATH that exists is cut to *UP_TO bytes. */
static bool nearest(const char *path, char real[static PATH_TEXT], size_t *up_to)
{
	char cut[PATH_TEXT];

	*up_to = strlen(path);
	for (;;) {
		snprintf(cut, sizeof(cut), "%.*s", (int)*up_to, *up_to ? path : "/");
		if (realpath(*up_to ? cut : "/", real))
			return true;
		if (errno != ENOENT || *up_to == 0)
			return false;
		while (*up_to > 0 && path[--*up_to] != '/')
			;
	}
}

/* Makes NAME in the folder AT, if it is missing; a descriptor of it, or -1. AT is closed. */
static int make_one(int at, const char *name, bool dir)
{
	int fd = -1;

	int problem;

	if (dir ? mkdirat(at, name, 0755) == 0 || errno == EEXIST : make_file_at(at, name))
		fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (dir ? O_DIRECTORY : 0));
	problem = errno;
	close(at);
	errno = problem;
	return fd;
}

/* REAL becomes REAL/PART, a place of ours. */
static bool go_down(struct places *places, char real[static PATH_TEXT], struct str part, struct err *e)
{
	size_t n = strlen(real);

	if (part.n > NAME_MAX || n + part.n + 2 > PATH_TEXT)
		return err_set(e, ERR_LIMIT, "the path is too long");
	snprintf(real + n, PATH_TEXT - n, "%s%.*s", n > 1 ? "/" : "", STR_F(part));
	return place_add(places, real, true, false, e);
}

/* Makes REST ("/a/b") below the folder REAL, by descriptors: a link that somebody puts there meanwhile leads nowhere.
   Returns the last one's; -1, with *E. */
static int make_rest(struct places *places, char real[static PATH_TEXT], const char *rest, bool dir, struct err *e)
{
	struct str left = str_c(rest), part;
	int at = below_reopen(real);

	while (at >= 0 && str_next(&left, '/', &part)) {
		if (str_empty(part))
			continue;
		if (!go_down(places, real, part, e)) {
			close(at);
			return -1;
		}
		at = make_one(at, strrchr(real, '/') + 1, dir || !str_empty(left));
	}
	if (at < 0)
		err_set(e, ERR_IO, "%s: %s", real, strerror(errno));
	return at;
}

/* A descriptor of the point, which the caller closes; -1, with *E. */
static int make_point(struct places *places, const char *target, bool dir, char real[static PATH_TEXT], struct err *e)
{
	struct stat st;
	size_t up_to;
	int fd = -1;

	if (!nearest(target, real, &up_to) || (fd = below_reopen(real)) < 0 || fstat(fd, &st) != 0) {
		err_set(e, ERR_IO, "%s: %s", target, strerror(errno));
	} else if (target[up_to] == 0 && S_ISDIR(st.st_mode) == dir) {
		return fd;
	} else if (target[up_to] == 0) {
		err_set(e, ERR_INVALID, "%s is %s, and what is mounted there is %s", target,
		        dir ? "a file" : "a folder", dir ? "a folder" : "a file");
	} else if (!S_ISDIR(st.st_mode)) {
		err_set(e, ERR_INVALID, "%s is not a folder", real);
	} else if (is_ours(places, real) || (mirror(real, NULL, e) && place_add(places, real, true, true, e))) {
		close(fd);
		return make_rest(places, real, target + up_to, dir, e);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int by_target(const void *a, const void *b)
{
	const struct mount_plan_item *x = a, *y = b;

	return str_cmp(x->target, y->target);
}

/* A tree of another's has no devices and processes of its own. */
static bool enter_rootfs(struct mount_plan *p, struct err *e)
{
	static const char *const taken[] = { "/proc", "/sys", "/dev" };
	bool ok;
	int tree;

	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (!mounts_add(p, taken[i], str_c(taken[i]), false, false, e))
			return false;
	tree = open_tree(AT_FDCWD, p->rootfs.p, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (tree < 0)
		return err_set(e, ERR_IO, "%s: %s", p->rootfs.p, strerror(errno));
	ok = cover(tree, "/", e);
	close(tree);
	return ok;
}

bool mounts_apply(struct mount_plan *p, struct err *e)
{
	CLEANUP(freep) struct places *places = xcalloc(1, sizeof(*places));
	char real[PATH_TEXT], text[PATH_TEXT];
	bool moved;
	int point;

	if (p->rootfs.n && !enter_rootfs(p, e))
		return false;
	qsort(p->v, p->n, sizeof(p->v[0]), by_target);
	for (size_t i = 0; i < p->n; i++) {
		struct mount_plan_item *item = &p->v[i];

		snprintf(text, sizeof(text), "%.*s", STR_F(item->target));
		point = make_point(places, text, item->dir, real, e);
		if (point < 0)
			return err_wrap(e, "mount point %s", text);
		moved = move_mount(item->tree, "", point, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
		close(point);
		if (!moved)
			return err_set(e, ERR_IO, "%s: %s", text, strerror(errno));
		close(item->tree);
		if (!place_add(places, real, item->ours, false, e))
			return false;
	}
	return true;
}
