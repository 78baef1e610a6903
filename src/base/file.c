#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
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
