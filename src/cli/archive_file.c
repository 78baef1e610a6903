#include "cli/archive_file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WINDOW = 64 << 10,     /* of the end that is read first … */
	WINDOW_MAX = 16 << 20, /* … and at most */
	WINDOW_FACTOR = 16,
	COPY = 256 << 10,
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

/* Reads the last N bytes, SIZE being all. *MORE: they are too few. */
static bool read_end(struct archive_file *f, uint64_t size, size_t n, bool *more)
{
	CLEANUP(freep) char *window = xmalloc(n);
	uint64_t from = size - n;
	ssize_t got = read_at(f->fd, window, n, from);
	struct str end = { window, got > 0 ? (size_t)got : 0 };
	const char *line = from && end.n ? memchr(end.p, '\n', end.n) : NULL;
	struct resume_point point;
	size_t keep, skip = 0;

	if (got < 0)
		return false;
	if (from)
		skip = line ? (size_t)(line - end.p) + 1 : end.n;
	*more = !resume_scan(str_sub(end, skip, end.n), !from, &point, &keep);
	f->resume = resume_after(point);
	f->size = from + skip + keep;
	return true;
}

static bool find_end(struct archive_file *f)
{
	struct stat st;
	uint64_t n = WINDOW, size;
	bool more = true;

	if (fstat(f->fd, &st) != 0)
		return false;
	size = (uint64_t)st.st_size;
	while (more) {
		n = MIN(n, size);
		if (!read_end(f, size, (size_t)n, &more))
			return false;
		if (n == size || n >= WINDOW_MAX)
			break;
		n *= WINDOW_FACTOR;
	}
	return f->size == size || ftruncate(f->fd, (off_t)f->size) == 0;
}

bool archive_file_open(struct archive_file *f, const char *root, struct str path, struct err *e)
{
	struct buf whole = BUF_INIT(1 << 16);

	buf_printf(&whole, "%s/%.*s", root, STR_F(path));
	*f = (struct archive_file){ .fd = -1, .path = xstrndup(whole.p, whole.n) };
	buf_release(&whole);
	if (make_folders(f->path, strlen(root) + 1))
		f->fd = open(f->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (f->fd >= 0 && find_end(f))
		return true;
	failed(f, e);
	archive_file_close(f);
	return false;
}

static bool put(struct archive_file *f, struct str s, struct err *e)
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

	return put(f, head, e) && put(f, rest, e);
}

bool archive_file_complete(struct archive_file *f, struct err *e)
{
	return !f->in_line || put(f, STR("\n"), e);
}

/* Copies from FROM, or rather from the line that begins after it. */
static bool copy_lines(int from_fd, uint64_t from, struct archive_file *to, struct err *e)
{
	CLEANUP(freep) char *piece = xmalloc(COPY);
	bool begun = false;
	ssize_t n;

	while ((n = read_at(from_fd, piece, COPY, from)) > 0) {
		struct str s = { piece, (size_t)n };
		const char *line = memchr(s.p, '\n', s.n);

		from += s.n;
		if (!begun)
			s = line ? str_sub(s, (size_t)(line - s.p) + 1, s.n) : STR_NONE;
		begun = begun || line;
		if (!put(to, s, e))
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
	if (to.fd < 0 || !copy_lines(f->fd, f->size / 2 - (f->size > 1), &to, e) || rename(to.path, f->path) != 0) {
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
