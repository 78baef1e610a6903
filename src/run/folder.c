/* The folder of one run, and those that killed ones have left. A run locks FOLDER/lock as long as it lives; a folder
   whose lock is free belongs to nobody, and the next run ends and removes what is left of it. With --keep the folder
   is marked, and stays. */
#include "run/internal.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "dljob-run-"
enum { SWEEP_MAX = 64 };

static bool lock_it(int fd)
{
	struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &f) == 0;
}

/* --- What others left --- */

/* Somebody could put other things in our folders' place. */
static bool is_safe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (!(st.st_mode & 022) || (st.st_mode & S_ISVTX));
}

/* Ours, closed to others, and its process is gone: the lock, open and ours now; otherwise -1. */
static int dead(int top, const char *name)
{
	int dir = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd = -1;
	struct stat st;

	if (dir < 0)
		return -1;
	if (fstat(dir, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
		fd = openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	close(dir);
	if (fd >= 0 && !lock_it(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* What does not work now is for the next one. */
static void sweep_one(struct run *r, int top, const char *path, const char *name)
{
	int lock = dead(top, name);
	const char *folder = arena_printf(&r->cli->arena, "%s/%s", path, name).p;
	struct err e = ERR_INIT;
	bool kept;

	if (lock < 0)
		return;
	kept = access(arena_printf(&r->cli->arena, "%s/kept", folder).p, F_OK) == 0;
	if (embedded_clear(folder, &e)) {
		if (kept)
			unlink(arena_printf(&r->cli->arena, "%s/lock", folder).p);
		else
			file_remove_tree(folder, false, &e);
	}
	close(lock);
	err_release(&e);
}

static void sweep(struct run *r, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (dir && is_safe(dirfd(dir)) && n < SWEEP_MAX && (entry = readdir(dir))) {
		if (!str_has_prefix(str_c(entry->d_name), STR(NAME)))
			continue;
		n++;
		sweep_one(r, dirfd(dir), path, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* --- Our own --- */

/* It has its name only once it is locked. */
static bool make_lock(struct run *r)
{
	const char *path = arena_printf(&r->cli->arena, "%s/lock", r->folder).p;
	const char *new = arena_printf(&r->cli->arena, "%s.new", path).p;
	const char *kept = arena_printf(&r->cli->arena, "%s/kept", r->folder).p;
	int fd;

	if (r->options->keep) {
		fd = open(kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			return false;
		close(fd);
	}
	r->lock = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return r->lock >= 0 && lock_it(r->lock) && rename(new, path) == 0;
}

bool run_folder_make(struct run *r)
{
	const char *top = getenv("TMPDIR");
	struct str name;

	top = top && *top ? top : "/tmp";
	sweep(r, top);
	name = arena_printf(&r->cli->arena, "%s/" NAME "XXXXXX", top);
	r->folder = xstrndup(name.p, name.n);
	r->lock = -1;
	if (mkdtemp(r->folder) && make_lock(r))
		return true;
	r->cli->status = cli_fail(r->cli, CLI_FAILED, "cannot create %s: %s; set TMPDIR to another folder", r->folder,
	                          strerror(errno));
	run_folder_release(r);
	return false;
}

void run_folder_end(struct run *r)
{
	struct err e = ERR_INIT;

	if (r->options->keep) {
		run_say(r, "pods' folders and logs: %s/pods", r->folder);
		unlink(arena_printf(&r->cli->arena, "%s/lock", r->folder).p);
	} else if (!file_remove_tree(r->folder, false, &e)) {
		run_say(r, "%s", err_msg(&e));
	}
	err_release(&e);
	run_folder_release(r);
}

void run_folder_release(struct run *r)
{
	if (r->lock >= 0)
		close(r->lock);
	free(r->folder);
	r->folder = NULL;
	r->lock = -1;
}
