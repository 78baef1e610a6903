#include "local/pod/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUT_MAX = 1 << 20, PATH_TEXT = 4096, TAIL_LINES = 80, TAIL_BYTES = 2048, TAIL_READ = 16384 };
enum { READ_SIZE = 64 << 10, WITH_FRONT = POD_LOG_LINE + 128 };

int64_t pod_log_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Lines that are whole, as pod_log_whole() has them. */
static int64_t count_whole(struct str s)
{
	struct str line;
	int64_t n = 0;

	while (memchr(str_text(s), '\n', s.n) && str_next(&s, '\n', &line))
		n += pod_log_whole(line);
	return n;
}

/* One that somebody else has begun. */
static void count_file(struct pod_log *l)
{
	int fd = open(l->path, O_RDONLY | O_CLOEXEC);
	struct buf text = BUF_INIT(WITH_FRONT + READ_SIZE);
	char piece[READ_SIZE];
	ssize_t n;

	l->lines = 0;
	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0) {
		struct str all, line;

		buf_put(&text, (struct str){ piece, (size_t)n });
		all = buf_str(&text);
		while (all.n && memchr(all.p, '\n', all.n) && str_next(&all, '\n', &line))
			if (!pod_log_head(line, &l->lines))
				l->lines += pod_log_whole(line);
		if (all.n > WITH_FRONT)
			all = STR_NONE;
		if (all.n)
			memmove(text.p, all.p, all.n);
		text.n = all.n;
	}
	buf_release(&text);
	if (fd >= 0)
		close(fd);
}

static void open_file(struct pod_log *l)
{
	struct stat st;

	l->fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	if (l->fd < 0)
		l->problem = errno;
	l->size = l->fd >= 0 && fstat(l->fd, &st) == 0 ? st.st_size : 0;
	l->torn = false;
}

bool pod_log_head(struct str line, int64_t *before)
{
	return line.n > 1 && *line.p == '#' && str_int(str_sub(line, 1, line.n), before);
}

bool pod_log_whole(struct str line)
{
	/* TIME, which is always as long, a blank, stdout or stderr, a blank, the tag. */
	const size_t tag = sizeof("2026-01-02T03:04:05.678901234Z stdout ") - 1;

	return line.n > tag && line.p[tag] == 'F';
}

void pod_log_open(struct pod_log *l, const char *path, int64_t max, int64_t files, int64_t (*now)(void))
{
	*l = (struct pod_log){ .path = xstrndup(path, strlen(path)), .max = max, .files = files, .now = now };
	l->line[POD_STDOUT] = l->line[POD_STDERR] = (struct buf)BUF_INIT(POD_LOG_LINE);
	l->out = (struct buf)BUF_INIT(OUT_MAX);
	open_file(l);
	if (l->size > 0)
		count_file(l);
}

static void log_file(const struct pod_log *l, int64_t i, char ret[static PATH_TEXT])
{
	if (i)
		snprintf(ret, PATH_TEXT, "%s.%lld", l->path, (long long)i);
	else
		snprintf(ret, PATH_TEXT, "%s", l->path);
}

static void rotate(struct pod_log *l)
{
	char from[PATH_TEXT], to[PATH_TEXT];
	ssize_t n;

	close(l->fd);
	for (int64_t i = l->files - 1; i > 0; i--) {
		log_file(l, i - 1, from);
		log_file(l, i, to);
		rename(from, to);
	}
	if (l->files <= 1)
		unlink(l->path);
	open_file(l);
	snprintf(from, sizeof(from), "#%lld\n", (long long)l->lines);
	if (l->fd < 0 || l->size > 0)
		return;
	n = write(l->fd, from, strlen(from));
	/* A full disk: better none than a part of it. */
	if (n > 0 && n < (ssize_t)strlen(from) && ftruncate(l->fd, 0) == 0)
		n = 0;
	l->size += MAX(n, 0);
}

/* The bytes of OUT that the disk took. */
static size_t write_all(struct pod_log *l)
{
	size_t done = 0;

	while (done < l->out.n) {
		ssize_t n = write(l->fd, l->out.p + done, l->out.n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			l->problem = n < 0 ? errno : ENOSPC;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

static int64_t count_lines(struct str s)
{
	int64_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

/* What is written next is a line of its own. */
static void mend(struct pod_log *l)
{
	if (write(l->fd, "\n", 1) != 1) {
		l->problem = errno;
		return;
	}
	l->torn = false;
	l->size++;
}

static void flush(struct pod_log *l)
{
	size_t done;

	if (l->out.n == 0)
		return;
	if (l->fd >= 0 && l->size > 0 && l->size + (int64_t)l->out.n > l->max)
		rotate(l);
	if (l->fd < 0)
		open_file(l);
	if (l->fd >= 0 && l->torn)
		mend(l);
	done = l->fd >= 0 && !l->torn ? write_all(l) : 0;
	l->size += (int64_t)done;
	l->lines += count_whole((struct str){ l->out.p, done });
	if (done > 0)
		l->torn = l->out.p[done - 1] != '\n';
	if (l->out.p && done < l->out.n)
		l->dropped += count_lines((struct str){ l->out.p + done, l->out.n - done });
	buf_clear(&l->out);
}

static void put_log_line(struct pod_log *l, enum pod_stream s, char tag, struct str text)
{
	int64_t now = l->now();
	time_t seconds = (time_t)(now / 1000000000);
	struct tm tm;
	char when[32];

	if (l->out.n + text.n + 128 > l->out.max)
		flush(l);
	gmtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	buf_printf(&l->out, "%s.%09lldZ %s %c ", when, (long long)(now % 1000000000), s ? "stderr" : "stdout", tag);
	buf_put(&l->out, text);
	buf_putc(&l->out, '\n');
}

/* One line, or as much of it as fits into a part. */
static void add_piece(struct pod_log *l, enum pod_stream s, struct str piece, bool whole)
{
	struct buf *line = &l->line[s];

	while (piece.n > line->max - line->n) {
		struct str part = str_sub(piece, 0, line->max - line->n);

		buf_put(line, part);
		put_log_line(l, s, 'P', buf_str(line));
		buf_clear(line);
		piece = str_sub(piece, part.n, piece.n - part.n);
	}
	if (!whole) {
		buf_put(line, piece);
		return;
	}
	if (line->n) {
		buf_put(line, piece);
		piece = buf_str(line);
	}
	put_log_line(l, s, 'F', piece);
	buf_clear(line);
}

void pod_log_add(struct pod_log *l, enum pod_stream s, struct str bytes)
{
	while (bytes.n) {
		const char *end = memchr(bytes.p, '\n', bytes.n);
		size_t n = end ? (size_t)(end - bytes.p) : bytes.n;

		add_piece(l, s, str_sub(bytes, 0, n), end);
		n += end ? 1 : 0;
		bytes = str_sub(bytes, n, bytes.n - n);
	}
	/* A progress bar is to be seen before its line ends, if it ever does. */
	if (l->line[s].n && memchr(l->line[s].p, '\r', l->line[s].n)) {
		put_log_line(l, s, 'P', buf_str(&l->line[s]));
		buf_clear(&l->line[s]);
	}
	flush(l);
}

void pod_log_end(struct pod_log *l, enum pod_stream s)
{
	if (l->line[s].n)
		add_piece(l, s, STR_NONE, true);
	flush(l);
}

void pod_log_close(struct pod_log *l)
{
	pod_log_end(l, POD_STDOUT);
	pod_log_end(l, POD_STDERR);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	free(l->path);
	l->path = NULL;
	buf_release(&l->line[POD_STDOUT]);
	buf_release(&l->line[POD_STDERR]);
	buf_release(&l->out);
}

/* "TIME STREAM TAG text" without its front. */
static struct str line_text(struct str line)
{
	for (int blanks = 0; line.n && blanks < 3; line = str_sub(line, 1, line.n - 1))
		blanks += *line.p == ' ';
	return line;
}

void pod_log_tail(const char *path, struct buf *ret)
{
	struct str lines[TAIL_LINES], rest, line;
	char text[TAIL_READ];
	size_t n = 0, bytes = 0;
	struct stat st;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(text))
		lseek(fd, -(off_t)sizeof(text), SEEK_END);
	got = read(fd, text, sizeof(text));
	close(fd);
	rest = (struct str){ text, got > 0 ? (size_t)got : 0 };
	if (rest.n == sizeof(text)) /* begins within a line */
		str_next(&rest, '\n', &line);
	while (str_next(&rest, '\n', &line)) {
		if (line.n == 0 || *line.p == '#')
			continue;
		if (n == TAIL_LINES)
			memmove(lines, lines + 1, --n * sizeof(*lines));
		lines[n++] = line_text(line);
	}
	for (size_t i = n; i > 0; i--) {
		bytes += lines[i - 1].n + 1;
		if (bytes > TAIL_BYTES)
			memmove(lines, lines + i, (n -= i) * sizeof(*lines)), i = 1;
	}
	for (size_t i = 0; i < n; i++) {
		buf_put(ret, lines[i]);
		buf_putc(ret, '\n');
	}
}
