#include "local/pod/user.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static bool write_line(const char *path, const char *text, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool well = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!well)
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return well;
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

/* A map of one line says "inside outside how-many"; more lines are more users. */
bool user_is_many(void)
{
	struct arena a = ARENA_INIT;
	struct str text = STR_NONE, word = STR_NONE, last = STR_NONE;
	int64_t n = 0;

	if (geteuid() != 0)
		return false;
	file_read(&text, "/proc/self/uid_map", &a, NULL);
	text = str_trim(text);
	while (str_next(&text, ' ', &word))
		if (word.n)
			last = word;
	str_int(last, &n);
	arena_release(&a);
	return n > 1;
}
