#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

enum file_read file_read(struct str *ret, const char *path, struct arena *a, struct err *e)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct buf b = BUF_INIT(FILE_MAX);
	char piece[16384];
	ssize_t n;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return FILE_MISSING;
	if (fd < 0) {
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
		return FILE_FAILED;
	}
	while ((n = read(fd, piece, sizeof(piece))) > 0 && !b.overflow)
		buf_put(&b, (struct str){ piece, (size_t)n });
	if (n < 0)
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	else if (b.overflow)
		err_set(e, ERR_LIMIT, "%s: larger than %d MiB", path, FILE_MAX >> 20);
	else
		*ret = arena_str(a, buf_str(&b));
	n = n < 0 || b.overflow ? -1 : 0;
	buf_release(&b);
	return n < 0 ? FILE_FAILED : FILE_READ;
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(name) && errno != ENOENT ? -1 : 0;
}

static int remove_inner(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	return ftw->level ? remove_one(name, st, type, ftw) : 0;
}

bool file_remove_tree(const char *path, bool empty, struct err *e)
{
	enum { OPEN_FOLDERS = 16 };

	if (nftw(path, empty ? remove_inner : remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0 ||
	    errno == ENOENT)
		return true;
	return err_set(e, ERR_IO, "%s cannot be removed: %s", path, strerror(errno));
}
