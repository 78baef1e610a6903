#include "local/pod/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRIES = 100 };

static int open_as(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve | RESOLVE_NO_MAGICLINKS };
	int fd = -1;

	/* EAGAIN: somebody moved a folder meanwhile. */
	for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EAGAIN); i++)
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	return fd;
}

int below_reopen(const char *path)
{
	return open_as(AT_FDCWD, path, RESOLVE_NO_SYMLINKS);
}

/* One more folder of the way: TEXT is all of it from ROOT, NAME the last part, which lies in AT. */
static int go_on(int root, int at, const char *text, struct str name, bool make)
{
	char last[NAME_MAX + 1];
	int fd = open_as(root, text, RESOLVE_IN_ROOT);

	if (fd >= 0 || errno != ENOENT || !make || name.n >= sizeof(last))
		return fd;
	snprintf(last, sizeof(last), "%.*s", STR_F(name));
	/* A link that leads nowhere is there, and stays. */
	if (mkdirat(at, last, 0777) != 0 && errno != EEXIST)
		return -1;
	return open_as(root, text, RESOLVE_IN_ROOT);
}

int below_open(const char *top, struct str path, bool make, struct err *e)
{
	int root = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC), at = root, next;
	char text[PATH_MAX] = "";
	struct str left = path, part;
	size_t n = 0;

	while (at >= 0 && path.n < sizeof(text) && str_next(&left, '/', &part)) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", n ? "/" : "", STR_F(part));
		next = go_on(root, at, text, part, make);
		if (next < 0)
			err_set(e, ERR_IO, "%s/%s: %s", top, text, strerror(errno));
		if (at != root)
			close(at);
		at = next;
	}
	if (root < 0)
		err_set(e, ERR_IO, "%s: %s", top, strerror(errno));
	else if (at == root)
		err_set(e, ERR_LIMIT, "%s: the path below it is not relative, or too long", top);
	if (root >= 0)
		close(root);
	return at == root ? -1 : at;
}
