#include "local/api/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_TEXT = 4096 };

static bool file_path(char path[static PATH_TEXT], const char *folder, const char *name, const char *ending,
                      struct err *e)
{
	int n = snprintf(path, PATH_TEXT, "%s/%s%s", folder, name, ending);

	return (n > 0 && n < PATH_TEXT) || err_set(e, ERR_LIMIT, "%s: the path is too long", folder);
}

bool keep_folder(const char *folder, struct err *e)
{
	struct stat st;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	if (stat(folder, &st))
		return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_INVALID, "%s: not a folder", folder);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_INVALID, "%s: belongs to another user", folder);
	if (st.st_mode & 022)
		return err_set(e, ERR_INVALID, "%s: others may write to it (chmod go-w)", folder);
	return true;
}

static bool write_all(int fd, struct str text)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text = str_sub(text, (size_t)n, text.n);
	}
	return true;
}

bool keep_write(const char *folder, const char *name, struct str text, struct err *e)
{
	char path[PATH_TEXT], new[PATH_TEXT];
	bool ok;
	int fd;

	if (!file_path(path, folder, name, "", e) || !file_path(new, folder, name, ".new", e))
		return false;
	/* One of a process that was killed. */
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s", new, strerror(errno));
	ok = fchmod(fd, 0600) == 0 && write_all(fd, text) && fsync(fd) == 0;
	ok = close(fd) == 0 && ok;
	if (ok && rename(new, path) == 0)
		return true;
	err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	unlink(new);
	return false;
}

enum file_read keep_read(struct str *ret, const char *folder, const char *name, struct arena *a, struct err *e)
{
	char path[PATH_TEXT];
	struct stat st;

	*ret = STR_NONE;
	if (!file_path(path, folder, name, "", e))
		return FILE_FAILED;
	if (lstat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)) {
		err_set(e, ERR_INVALID, "%s: others may read it, or it is not a regular file of this user", path);
		return FILE_FAILED;
	}
	return file_read(ret, path, a, e);
}
