#include "local/pod/user.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static bool write_line(const char *path, const char *text, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!ok)
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

bool pod_user_namespace(struct err *e)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWUSER) != 0)
		return err_set(e, ERR_IO, "no user namespace: %s", strerror(errno));
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (!write_line("/proc/self/uid_map", map, e) || !write_line("/proc/self/setgroups", "deny", e))
		return false;
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return write_line("/proc/self/gid_map", map, e);
}

/* The next number of TEXT, after blanks. */
static bool next_number(struct str *text, int64_t *ret)
{
	struct str word = STR_NONE;

	while (str_next(text, ' ', &word))
		if (word.n)
			return str_int(word, ret);
	return false;
}

int64_t user_outside(struct str map, int64_t inside)
{
	struct str line;

	while (str_next(&map, '\n', &line)) {
		int64_t first, outside, n;

		if (next_number(&line, &first) && next_number(&line, &outside) && next_number(&line, &n) &&
		    inside >= first && inside - first < n)
			return outside + (inside - first);
	}
	return -1;
}

/* A map of one line says "inside outside how-many"; more lines are more users. */
static bool is_many(struct str map)
{
	struct str line;
	int64_t sum = 0, inside, outside, n;

	while (str_next(&map, '\n', &line))
		if (next_number(&line, &inside) && next_number(&line, &outside) && next_number(&line, &n))
			sum += n;
	return sum > 1;
}

static struct str own_map(struct arena *a)
{
	struct str text = STR_NONE;

	file_read(&text, "/proc/self/uid_map", a, NULL);
	return text;
}

bool user_is_many(void)
{
	struct arena a = ARENA_INIT;
	bool many = geteuid() == 0 && is_many(own_map(&a));

	arena_release(&a);
	return many;
}

void pod_from_as(struct pod_from_options *o)
{
	struct arena a = ARENA_INIT;

	o->as_root = user_outside(own_map(&a), geteuid()) == 0;
	o->any_user = user_is_many();
	arena_release(&a);
}
