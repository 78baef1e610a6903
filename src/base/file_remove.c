/* Removing a folder, whatever somebody has left in there: links, mounts, folders without rights. Every step goes by
   descriptor, so that nobody can lead us elsewhere. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 256 };

static bool empty(int fd, dev_t dev, int depth, struct err *e);

static bool remove_in(int parent, const char *name, dev_t dev, int depth, struct err *e)
{
	struct stat st;
	int fd;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return true;
	/* Linux says EISDIR, POSIX EPERM. */
	if (errno != EISDIR && errno != EPERM)
		return err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0)
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (st.st_dev != dev) {
		close(fd);
		return err_set(e, ERR_IO, "%s: something is mounted there", name);
	}
	/* Ours to empty, whatever it forbids. */
	fchmod(fd, 0700);
	if (!empty(fd, dev, depth + 1, e))
		return err_wrap(e, "%s", name);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT ||
	       err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
}

/* Takes FD. */
static bool empty(int fd, dev_t dev, int depth, struct err *e)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	bool ok = true;

	if (!dir) {
		close(fd);
		return err_set(e, ERR_IO, "%s", strerror(errno));
	}
	if (depth > DEPTH_MAX)
		ok = err_set(e, ERR_LIMIT, "deeper than %d folders", DEPTH_MAX);
	while (ok && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ok = remove_in(dirfd(dir), entry->d_name, dev, depth, e);
	closedir(dir);
	return ok;
}

bool file_remove_tree(const char *path, bool only_inside, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0 || fstat(fd, &st) != 0) {
		err_set(e, ERR_IO, "%s cannot be removed: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (!empty(fd, st.st_dev, 0, e))
		return err_wrap(e, "%s cannot be removed", path);
	return only_inside || rmdir(path) == 0 || errno == ENOENT ||
	       err_set(e, ERR_IO, "%s cannot be removed: %s", path, strerror(errno));
}
