#include "logs/archive_file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WINDOW = 64 << 10,  /* of the end that is looked at first … */
	WINDOW_FACTOR = 16, /* … and so many times more each time after */
	COPY = 256 << 10,   /* is read at once */
};

static bool failed(const struct archive_file *f, struct err *e)
{
	return err_set(e, ERR_IO, "%s: %s", f->path, strerror(errno));
}

/* The folders on the way to PATH, from byte FROM on. */
static bool make_folders(char *path, size_t from)
{
	for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0750) != 0 && errno != EEXIST) {
			*slash = '/';
			return false;
		}
		*slash = '/';
	}
	return true;
}

/* N bytes from FROM on, or fewer at the end of the file. -1: errno says why. */
static ssize_t read_at(int fd, char *to, size_t n, uint64_t from)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(fd, to + got, n - got, (off_t)(from + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

/* Looks at the last N bytes, SIZE being all. *MORE: they are too few. */
static bool read_end(struct archive_file *f, uint64_t size, uint64_t n, char *piece, bool *more)
{
	uint64_t from = size - n, at = from;
	struct resume_scan scan = resume_scan_begin(!from);
	ssize_t got;

	while (at < size && (got = read_at(f->fd, piece, MIN((uint64_t)COPY, size - at), at)) != 0) {
		if (got < 0)
			return false;
		resume_scan(&scan, (struct str){ piece, (size_t)got });
		at += (uint64_t)got;
	}
	*more = !resume_scan_ok(&scan);
	f->resume = resume_after(scan.point);
	f->size = from + scan.keep;
	return true;
}

/* Without a limit: a line may be longer than memory. */
static bool find_end(struct archive_file *f)
{
	CLEANUP(freep) char *piece = xmalloc(COPY);
	struct stat st;
	uint64_t n = WINDOW, size;
	bool more = true;

	if (fstat(f->fd, &st) != 0)
		return false;
	size = (uint64_t)st.st_size;
	for (; more; n *= WINDOW_FACTOR)
		if (!read_end(f, size, MIN(n, size), piece, &more))
			return false;
	return f->size == size || ftruncate(f->fd, (off_t)f->size) == 0;
}

/* What somebody who was killed while he halved it has left. */
static void remove_new(const char *path)
{
	struct buf other = BUF_INIT(1 << 16);

	buf_printf(&other, "%s.new", path);
	unlink(other.p);
	buf_release(&other);
}

bool archive_file_open(struct archive_file *f, const char *root, struct str path, struct err *e)
{
	struct buf whole = BUF_INIT(1 << 16);

	buf_printf(&whole, "%s/%.*s", root, STR_F(path));
	*f = (struct archive_file){ .fd = -1, .path = xstrndup(whole.p, whole.n) };
	buf_release(&whole);
	if (make_folders(f->path, strlen(root) + 1))
		f->fd = open(f->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (f->fd >= 0 && find_end(f)) {
		remove_new(f->path);
		return true;
	}
	failed(f, e);
	archive_file_close(f);
	return false;
}

static bool put_bytes(struct archive_file *f, struct str s, struct err *e)
{
	while (s.n) {
		ssize_t n = write(f->fd, s.p, s.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(f, e);
		f->size += (uint64_t)n;
		f->in_line = s.p[n - 1] != '\n';
		s = str_sub(s, (size_t)n, s.n);
	}
	return true;
}

bool archive_file_put(struct archive_file *f, struct str piece, struct err *e)
{
	struct str head, rest = resume_feed(&f->resume, piece, &head);

	return put_bytes(f, head, e) && put_bytes(f, rest, e);
}

bool archive_file_complete(struct archive_file *f, struct err *e)
{
	return !f->in_line || put_bytes(f, STR("\n"), e);
}

/* Where the first line begins that begins after FROM, or the end of the file. False: errno says why. */
static bool line_after(int fd, uint64_t from, char *piece, uint64_t *ret)
{
	const char *newline = NULL;
	ssize_t n;

	*ret = from;
	while (!newline && (n = read_at(fd, piece, COPY, *ret)) != 0) {
		if (n < 0)
			return false;
		newline = memchr(piece, '\n', (size_t)n);
		*ret += newline ? (uint64_t)(newline - piece) + 1 : (uint64_t)n;
	}
	return true;
}

/* Where the last line begins, SIZE being all. False: errno says why. */
static bool last_line(int fd, uint64_t size, char *piece, uint64_t *ret)
{
	*ret = 0;
	/* Its own end is none before it. */
	for (uint64_t at = size ? size - 1 : 0; at && !*ret;) {
		size_t n = (size_t)MIN((uint64_t)COPY, at);
		const char *newline;

		at -= n;
		if (read_at(fd, piece, n, at) != (ssize_t)n)
			return false;
		newline = memrchr(piece, '\n', n);
		if (newline)
			*ret = at + (uint64_t)(newline - piece) + 1;
	}
	return true;
}

/* The time of the line that begins at FROM, with the blank after it: none, if it has none. */
static bool time_at(int fd, uint64_t from, char *piece, struct str *ret)
{
	ssize_t n = read_at(fd, piece, RESUME_HEAD, from);
	const char *blank = n > 0 ? memchr(piece, ' ', (size_t)n) : NULL;

	*ret = (struct str){ piece, blank ? (size_t)(blank - piece) + 1 : 0 };
	return n >= 0;
}

/* Copies the lines that begin after FROM. If none does: the time of the last one, and what comes of it after FROM. */
static bool copy_lines(const struct archive_file *f, uint64_t from, struct archive_file *to, struct err *e)
{
	CLEANUP(freep) char *piece = xmalloc(COPY);
	uint64_t at, line;
	struct str time;
	ssize_t n;

	if (!line_after(f->fd, from, piece, &at))
		return failed(f, e);
	if (at >= f->size) {
		if (!last_line(f->fd, f->size, piece, &line) || !time_at(f->fd, line, piece, &time))
			return failed(f, e);
		at = MAX(from, line + time.n);
		if (!put_bytes(to, time, e))
			return false;
	}
	while ((n = read_at(f->fd, piece, COPY, at)) > 0) {
		at += (uint64_t)n;
		if (!put_bytes(to, (struct str){ piece, (size_t)n }, e))
			return false;
	}
	return n == 0 || failed(to, e);
}

bool archive_file_halve(struct archive_file *f, struct err *e)
{
	struct buf path = BUF_INIT(1 << 16);
	struct archive_file to = { .resume = f->resume };

	buf_printf(&path, "%s.new", f->path);
	to.path = path.p;
	to.fd = open(to.path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
	/* Its bytes before its name: a power failure leaves one of both. */
	if (to.fd < 0 || !copy_lines(f, f->size / 2 - (f->size > 1), &to, e) || fdatasync(to.fd) != 0 ||
	    rename(to.path, f->path) != 0) {
		if (to.fd < 0 || !e->code)
			failed(&to, e);
		if (to.fd >= 0)
			close(to.fd);
		unlink(to.path);
		buf_release(&path);
		return false;
	}
	close(f->fd);
	to.path = f->path;
	*f = to;
	buf_release(&path);
	return true;
}

void archive_file_close(struct archive_file *f)
{
	if (f->path && f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = (struct archive_file){ .fd = -1 };
}
