#include "local/store/reserve.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* As much as a checkpoint of SQLite's log may add to the database. A small disk is not filled by us alone. */
enum { WANTED = 4 << 20, STEP = 4096, PART_OF_DISK = 8 };

static int64_t disk_size(const struct statvfs *v, fsblkcnt_t blocks)
{
	return (int64_t)MIN((uint64_t)blocks * v->f_frsize, (uint64_t)INT64_MAX);
}

void reserve_open(struct reserve *r, const char *database)
{
	size_t size = strlen(database) + sizeof("-reserve");
	struct statvfs v;
	struct stat st;

	r->path = xmalloc(size);
	snprintf(r->path, size, "%s-reserve", database);
	r->fd = open(r->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (r->fd < 0 || fstat(r->fd, &st) || fstatvfs(r->fd, &v))
		return;
	r->size = r->had = st.st_size;
	r->want = MIN((int64_t)WANTED, disk_size(&v, v.f_blocks) / PART_OF_DISK) / STEP * STEP;
	reserve_fill(r, false);
}

void reserve_close(struct reserve *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	*r = (struct reserve)RESERVE_INIT;
}

void reserve_fill(struct reserve *r, bool greedy)
{
	int64_t lacks = r->want - r->size, free, part;
	struct statvfs v;

	if (r->fd < 0 || lacks <= 0 || fstatvfs(r->fd, &v))
		return;
	free = disk_size(&v, v.f_bavail);
	if (!greedy && free < 2 * lacks)
		return;
	lacks = MIN(lacks, free) / STEP * STEP;
	/* Others take from the same disk meanwhile. */
	for (part = lacks; part > 0; part = MIN(part, lacks)) {
		if (posix_fallocate(r->fd, r->size, part) == 0) {
			r->size += part;
			lacks -= part;
		} else if (ftruncate(r->fd, r->size)) {
			break;
		} else {
			part = part / 2 / STEP * STEP;
		}
	}
	r->had = MAX(r->had, r->size);
}

bool reserve_is_short(const struct reserve *r)
{
	return r->size < r->had / 2;
}

void reserve_release(struct reserve *r)
{
	if (r->fd >= 0 && ftruncate(r->fd, 0) == 0)
		r->size = 0;
}
