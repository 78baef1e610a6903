#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
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

static bool is_regular(const char *path, const struct stat *st, struct err *e)
{
	return S_ISREG(st->st_mode) || err_set(e, ERR_IO, "%s: is not a regular file", path);
}

int file_open_regular(const char *path, struct err *e)
{
	struct stat st;
	int fd;

	if (stat(path, &st) < 0) {
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
		return -1;
	}
	/* Opening alone can do something, with a device; what is put there in between is found out below. */
	if (!is_regular(path, &st, e))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
		close_fd(&fd);
		return -1;
	}
	if (is_regular(path, &st, e))
		return fd;
	close(fd);
	return -1;
}
