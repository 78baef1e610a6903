/* Who runs the cluster of a folder: whoever has locked FOLDER/lock, which ends with its process, however that ends.
   The file says "PID START PORT": the process, when it began (numbers come again), and where it serves; 0 as long as it
   does not, and ENDED once nothing of the cluster runs any more. */
#include "run/local.h"

#include "local/pod/process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { NUMBERS_TEXT = 64, ENDED = -1, PATIENCE = 3000 };
static const struct timespec moment = { .tv_nsec = 10000000 };

struct numbers {
	int64_t pid, start, port;
};

static bool read_numbers(int fd, struct numbers *ret)
{
	char text[NUMBERS_TEXT];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct str rest = { text, n > 0 ? (size_t)n : 0 }, word;
	int64_t *all[] = { &ret->pid, &ret->start, &ret->port };
	size_t got = 0;

	*ret = (struct numbers){ .port = n == 0 ? ENDED : 0 };
	rest = str_trim(rest);
	while (got < ARRAY_LEN(all) && str_next(&rest, ' ', &word))
		if (word.n && !str_int(word, all[got++]))
			return false;
	return got == ARRAY_LEN(all);
}

static bool write_numbers(int fd, const struct numbers *v, struct err *e)
{
	char text[NUMBERS_TEXT];
	/* Always as long: whoever reads it meanwhile reads one or the other. */
	int n = snprintf(text, sizeof(text), "%10lld %20lld %5lld\n", (long long)v->pid, (long long)v->start,
	                 (long long)v->port);

	return (pwrite(fd, text, (size_t)n, 0) == n && ftruncate(fd, n) == 0) ||
	       err_set(e, ERR_IO, "lock: %s", strerror(errno));
}

/* Only taking it or only asking: who asks is in nobody's way. */
static bool is_free(int fd, bool take)
{
	struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (take)
		return fcntl(fd, F_OFD_SETLK, &f) == 0;
	return fcntl(fd, F_OFD_GETLK, &f) == 0 && f.l_type == F_UNLCK;
}

static bool look_at_lock(struct local_holder *h, bool take, struct err *e)
{
	struct numbers v;

	for (int i = 0; i < PATIENCE; i++) {
		if (is_free(h->lock, take)) {
			read_numbers(h->lock, &v);
			h->clean = v.port == ENDED;
			/* From now on whoever was there before is not meant any more. */
			return !take || write_numbers(h->lock, &(struct numbers){ 0 }, e);
		}
		if (read_numbers(h->lock, &v) && process_lives(v.pid, v.start)) {
			h->pid = (pid_t)v.pid;
			h->port = (int)MAX(v.port, (int64_t)0);
			return true;
		}
		nanosleep(&moment, NULL);
	}
	return err_set(e, ERR_IO, "lock: held by an unknown process");
}

bool local_look(const char *folder, enum local_look how, struct local_holder *ret, struct err *e)
{
	bool take = how != LOOK_ONLY;
	char path[4096];
	bool ok;

	*ret = (struct local_holder){ .lock = -1 };
	snprintf(path, sizeof(path), "%s/lock", folder);
	ret->lock = open(path, O_RDWR | (how == LOOK_TAKE_NEW ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (ret->lock < 0) {
		ret->clean = errno == ENOENT;
		return ret->clean || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	}
	ok = look_at_lock(ret, take, e);
	if (!ok || ret->pid || !take)
		local_holder_release(ret);
	return ok;
}

void local_holder_release(struct local_holder *h)
{
	if (h->lock >= 0)
		close(h->lock);
	h->lock = -1;
}

static bool write_ours(const struct local_holder *h, int port, struct err *e)
{
	struct numbers v = { .pid = getpid(), .port = port };
	struct process_stat st;

	if (process_stat(&st, "self"))
		v.start = st.start;
	return write_numbers(h->lock, &v, e);
}

bool local_hold(const struct local_holder *h, int port, struct err *e)
{
	return write_ours(h, port, e);
}

bool local_ended(const struct local_holder *h, struct err *e)
{
	return write_ours(h, ENDED, e);
}
