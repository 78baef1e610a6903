#include "local/pod/tail.h"

#include "local/pod/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_SIZE = 64 << 10, LINE_MAX_BYTES = POD_LOG_LINE + 128, FILES_MAX = 1000, PATH_TEXT = 4096 };

struct pod_tail {
	char *folder; /* FOLDER/logs/NAME */
	bool all;     /* every run */
	int64_t run;
	int fd;        /* of the file that is read; -1: none */
	struct buf in; /* read, not yet given out */
	size_t at;     /* … from here on */
	int64_t seen;  /* lines of the run up to here, as far as its files say */
	int64_t lost;  /* … that were rotated away, and not told yet */
	bool anywhere; /* what stands before its first line is not missed */
};

struct pod_tail *pod_tail_new(const char *folder, struct str container, int64_t run)
{
	struct pod_tail *t = xcalloc(1, sizeof(*t));
	char path[PATH_TEXT];

	snprintf(path, sizeof(path), "%s/logs/%.*s", folder, STR_F(container));
	t->folder = xstrndup(path, strlen(path));
	t->all = run < 0;
	t->run = MAX(run, 0);
	t->fd = -1;
	t->in = (struct buf)BUF_INIT(READ_SIZE + LINE_MAX_BYTES);
	return t;
}

static void close_file(struct pod_tail *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	buf_clear(&t->in);
	t->at = 0;
}

void pod_tail_free(struct pod_tail *t)
{
	if (!t)
		return;
	close_file(t);
	buf_release(&t->in);
	free(t->folder);
	free(t);
}

/* The I-th file of a run: 0 is the newest. */
static void log_file(const struct pod_tail *t, int64_t i, char ret[static PATH_TEXT])
{
	if (i)
		snprintf(ret, PATH_TEXT, "%s/%lld.log.%lld", t->folder, (long long)t->run, (long long)i);
	else
		snprintf(ret, PATH_TEXT, "%s/%lld.log", t->folder, (long long)t->run);
}

/* Which of the run's files the open one is by now; -1: it was removed. */
static int64_t place_of(const struct pod_tail *t)
{
	char path[PATH_TEXT];
	struct stat ours, st;

	if (fstat(t->fd, &ours))
		return -1;
	for (int64_t i = 0; i < FILES_MAX; i++) {
		log_file(t, i, path);
		if (stat(path, &st))
			return -1;
		if (st.st_ino == ours.st_ino && st.st_dev == ours.st_dev)
			return i;
	}
	return -1;
}

static int64_t oldest_of(const struct pod_tail *t)
{
	char path[PATH_TEXT];
	int64_t i = 0;

	for (; i < FILES_MAX; i++) {
		log_file(t, i, path);
		if (access(path, F_OK))
			break;
	}
	return i - 1;
}

static bool open_at(struct pod_tail *t, int64_t i)
{
	char path[PATH_TEXT];

	if (i < 0)
		return false;
	close_file(t);
	log_file(t, i, path);
	t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return t->fd >= 0;
}

/* Goes on to the file after the open one. False: there is none. */
static bool open_next(struct pod_tail *t)
{
	int64_t place;

	if (t->fd < 0)
		return open_at(t, oldest_of(t));
	place = place_of(t);
	if (place > 0)
		return open_at(t, place - 1);
	if (place < 0)
		return open_at(t, oldest_of(t));
	if (!t->all || oldest_of(&(struct pod_tail){ .folder = t->folder, .run = t->run + 1 }) < 0)
		return false;
	t->run++;
	t->seen = 0;
	return open_at(t, oldest_of(t));
}

/* A file after the first says how many lines stand before it. */
static void take_head(struct pod_tail *t, int64_t before)
{
	if (before > t->seen && !t->anywhere)
		t->lost += before - t->seen;
	t->seen = MAX(t->seen, before);
}

/* Reads on. False: at the end of the file, for now. */
static bool fill(struct pod_tail *t)
{
	char piece[READ_SIZE];
	ssize_t n;
	struct str left = str_sub(buf_str(&t->in), t->at, t->in.n);

	if (left.n >= LINE_MAX_BYTES)
		left = STR_NONE; /* no line of ours: what is left of it is found to be damaged */
	if (left.n)
		memmove(t->in.p, left.p, left.n);
	t->in.n = left.n;
	t->at = 0;
	do
		n = read(t->fd, piece, sizeof(piece));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	buf_put(&t->in, (struct str){ piece, (size_t)n });
	return true;
}

static bool parse(struct str line, struct pod_tail_line *ret)
{
	struct str stream, tag;

	if (!str_next(&line, ' ', &ret->time) || !str_next(&line, ' ', &stream) || !str_next(&line, ' ', &tag))
		return false;
	if (ret->time.n != sizeof("2026-01-02T03:04:05.678901234Z") - 1 || tag.n != 1)
		return false;
	ret->is_stderr = str_eqc(stream, "stderr");
	ret->part = *tag.p == 'P';
	ret->lost = 0;
	ret->text = line.p ? line : STR_NONE;
	return (ret->is_stderr || str_eqc(stream, "stdout")) && (ret->part || *tag.p == 'F');
}

static bool take_line(struct pod_tail *t, struct str *ret)
{
	struct str rest = str_sub(buf_str(&t->in), t->at, t->in.n);
	const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;

	if (!end)
		return false;
	*ret = str_sub(rest, 0, (size_t)(end - rest.p));
	t->at += ret->n + 1;
	return true;
}

static bool at_newest(const struct pod_tail *t)
{
	return t->fd >= 0 && place_of(t) == 0;
}

bool pod_tail_next(struct pod_tail *t, struct pod_tail_line *ret)
{
	struct str line;
	int64_t before;

	for (;;) {
		while (t->fd >= 0 && take_line(t, &line)) {
			if (parse(line, ret)) {
				t->seen += !ret->part;
				t->anywhere = false;
				ret->lost = t->lost;
				t->lost = 0;
				return true;
			}
			if (pod_log_head(line, &before))
				take_head(t, before);
		}
		if (t->fd >= 0 && fill(t))
			continue;
		/* It may have been written to between the read and the rotation: look once more. */
		if (t->fd >= 0 && !at_newest(t) && fill(t))
			continue;
		if (!open_next(t))
			return false;
	}
}

static size_t count_lines(const struct pod_tail *t)
{
	struct pod_tail all = {
		.folder = t->folder, .all = t->all, .run = t->run, .fd = -1, .in = BUF_INIT(t->in.max)
	};
	struct pod_tail_line line;
	size_t n = 0;

	while (pod_tail_next(&all, &line))
		n += !line.part;
	close_file(&all);
	buf_release(&all.in);
	return n;
}

void pod_tail_last(struct pod_tail *t, size_t n)
{
	size_t all = count_lines(t);
	struct pod_tail_line line;

	while (all > n && pod_tail_next(t, &line))
		all -= !line.part;
	t->lost = 0;
	t->anywhere = t->fd < 0;
}

void pod_tail_tell_lost(int64_t lost, struct buf *ret)
{
	buf_printf(ret,
	           "[%lld line%s missing here: written faster than read, and of a container's log only the newest "
	           "files are kept]",
	           (long long)lost, lost == 1 ? " is" : "s are");
}

int64_t pod_tail_runs(const char *folder, struct str container)
{
	char path[PATH_TEXT];
	struct dirent *d;
	int64_t last = -1, n;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/logs/%.*s", folder, STR_F(container));
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		struct str name = str_c(d->d_name);

		if (str_has_suffix(name, STR(".log")) && str_int(str_sub(name, 0, name.n - 4), &n))
			last = MAX(last, n);
	}
	if (dir)
		closedir(dir);
	return last;
}
