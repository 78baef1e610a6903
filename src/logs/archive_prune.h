/* What an archive may hold. The jobs whose last line is oldest go first; of those that still write, earlier
   generations. */
#ifndef LOGS_ARCHIVE_PRUNE_H
#define LOGS_ARCHIVE_PRUNE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"

struct archive_limits {
	uint64_t bytes; /* 0: no limit */
	msec age;       /* of jobs that write no more, since the last change; 0: no limit */
};

/* The folder of a job, or a file (or folder) of a job that still writes. */
struct archive_item {
	struct str path;
	uint64_t bytes; /* of disk: blocks and folders count */
	msec changed;
	bool of_active; /* a file of such a job … */
	bool busy;      /* … which is open, or may not go */
	bool goes;
};

/* Marks what goes, in the order of V, which is sorted. Returns how many bytes are left. */
uint64_t archive_choose(struct archive_item *v, size_t n, const struct archive_limits *l, msec now);

struct archive_use {
	/* PATH is relative: the folder of a job, or a file of one. Is somebody writing there? */
	bool (*active)(void *cookie, struct str path);
	void *cookie;
};
/* Looks through the archive and removes. *LEFT: bytes that are left. What is not laid out as an archive is neither
   counted nor touched. False, with *E: something could not be removed or read. */
bool archive_prune(const char *dir, const struct archive_limits *l, const struct archive_use *u, msec now,
                   uint64_t *left, struct err *e);

#endif
