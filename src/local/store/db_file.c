#include "local/store/db_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, HEADER = 100, LEAF_HEADER = 8 };

/* One page, to be written through a log, which holds no table and no mark: what SQLite makes before our first
   transaction, or as much of it as was written. In a new file of ours all but this page is still in the log, and so is
   our mark. */
static bool page_is_new(const unsigned char *h, off_t size)
{
	enum { PAGE_SIZE_AT = 16, WAL_AT = 18, COOKIE_AT = 40, VERSION_AT = 60, LEAF = 0x0d, CELLS_AT = HEADER + 3 };
	static const unsigned char none[4];

	return size <= PAGE && h[PAGE_SIZE_AT] == PAGE >> 8 && h[PAGE_SIZE_AT + 1] == 0 && h[WAL_AT] == 2 &&
	       h[WAL_AT + 1] == 2 && memcmp(h + COOKIE_AT, none, 4) == 0 && memcmp(h + VERSION_AT, none, 4) == 0 &&
	       h[HEADER] == LEAF && h[CELLS_AT] == 0 && h[CELLS_AT + 1] == 0;
}

/* By SQLite's file format: what it is for, and whose it is. */
static bool header_is_ours(int fd, off_t size)
{
	enum { MARK_AT = 68 };
	unsigned char h[HEADER + LEAF_HEADER];
	uint32_t mark;

	if (size == 0)
		return true;
	if (pread(fd, h, sizeof(h), 0) != sizeof(h) || memcmp(h, "SQLite format 3", 16) != 0)
		return false;
	mark = (uint32_t)h[MARK_AT] << 24 | (uint32_t)h[MARK_AT + 1] << 16 | (uint32_t)h[MARK_AT + 2] << 8 |
	       h[MARK_AT + 3];
	return mark == DB_APPLICATION || (mark == 0 && page_is_new(h, size));
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
