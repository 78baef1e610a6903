#include "local/net/hosts_file.h"

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

/* The file's bytes, at most MAX; how many, or -1. */
static ssize_t read_whole(int fd, char *to, size_t max)
{
	size_t n = 0;

	while (n < max) {
		ssize_t got = pread(fd, to + n, max - n, (off_t)n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static bool write_whole(int fd, struct str s, off_t at)
{
	while (s.n > 0) {
		ssize_t n = pwrite(fd, s.p, s.n, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		s = str_sub(s, (size_t)n, s.n);
		at += n;
	}
	return true;
}

bool hosts_file_write(const char *path, struct str text, bool *changed, struct err *e)
{
	CLEANUP(close_fd) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	CLEANUP(freep) char *old = NULL;
	size_t from = 0, to = text.n;
	struct stat st;
	ssize_t n;

	if (changed)
		*changed = false;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	/* One byte more than is compared tells that the old one is longer. */
	old = xmalloc(text.n + 1);
	n = read_whole(fd, old, text.n + 1);
	if (n < 0)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	while (from < MIN((size_t)n, text.n) && old[from] == text.p[from])
		from++;
	if (from == text.n && (size_t)n == text.n)
		return true;
	while ((size_t)n == text.n && to > from && old[to - 1] == text.p[to - 1])
		to--;
	if (text.n > (size_t)n && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)text.n) < 0 && errno == ENOSPC)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	/* A umask of ours is not the pod's. */
	if (n == 0)
		(void)fchmod(fd, 0644);
	if (!write_whole(fd, str_sub(text, from, to - from), (off_t)from) ||
	    (n > (ssize_t)text.n && ftruncate(fd, (off_t)text.n) < 0))
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	if (changed)
		*changed = true;
	return true;
}

enum { OWN_MAX = 64 << 10, WHOLE_MAX = 32 << 20 };
static const struct str marker = STR_INIT("# What is above is kept up to date; below are the pod's own lines.\n");

/* In OLD, which began as TEXT does if it is an older one of ours. */
static struct str own_lines(struct str old, struct str text)
{
	struct str line, first, rest = old, begin = text;

	while (str_next(&rest, '\n', &line))
		if (line.n == marker.n - 1 && memcmp(line.p, marker.p, line.n) == 0)
			return rest;
	rest = old;
	if (!str_next(&rest, '\n', &line) || !str_next(&begin, '\n', &first) || str_eq(line, first))
		return STR_NONE;
	return old;
}

bool hosts_file_write_own(const char *path, struct str text, struct err *e)
{
	CLEANUP(close_fd) int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	CLEANUP(buf_release) struct buf b = BUF_INIT(WHOLE_MAX);
	CLEANUP(freep) char *old = NULL;
	struct stat st = { .st_size = 0 };
	ssize_t n = 0;

	if (fd < 0 && errno != ENOENT)
		return true;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		size_t max = MIN((size_t)st.st_size, (size_t)WHOLE_MAX / 2);

		old = xmalloc(max + 1);
		n = read_whole(fd, old, max);
	}
	buf_put(&b, text);
	buf_put(&b, marker);
	if (n > 0)
		buf_put(&b, str_sub(own_lines((struct str){ old, (size_t)n }, text), 0, OWN_MAX));
	return hosts_file_write(path, buf_str(&b), NULL, e);
}
