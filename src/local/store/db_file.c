#include "local/store/db_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* By SQLite's file format: what it is for, and whose it is. In a new file of ours all but the first page is still in
   the log, and so is our mark. */
static bool header_is_ours(int fd, off_t size)
{
	enum { HEADER = 100, MARK_AT = 68, PAGE = 4096 };
	unsigned char h[HEADER];
	uint32_t mark;

	if (size == 0)
		return true;
	if (pread(fd, h, sizeof(h), 0) != sizeof(h) || memcmp(h, "SQLite format 3", 16) != 0)
		return false;
	mark = (uint32_t)h[MARK_AT] << 24 | (uint32_t)h[MARK_AT + 1] << 16 | (uint32_t)h[MARK_AT + 2] << 8 |
	       h[MARK_AT + 3];
	return mark == DB_APPLICATION || (mark == 0 && size <= PAGE);
}

/* Secrets are in it: nobody else reads it. SQLite gives its other files the same mode. What is not ours is not opened
   as a database: that alone would change it. */
bool db_file_check(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat st;
	bool ok = false;

	if (fd < 0 || fstat(fd, &st))
		err_set(e, ERR_IO, "%s: %s", path, errno == ELOOP ? "is a link" : strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		err_set(e, ERR_INVALID, "%s: belongs to another user, or is not a regular file", path);
	else
		ok = header_is_ours(fd, st.st_size) ||
		     err_set(e, ERR_INVALID,
		             "%s: is not a database of the local cluster; `dljob local reset` creates a new one", path);
	if (fd >= 0)
		close(fd);
	return ok;
}
