/* Room on the disk that is kept beside the database, in a file of its own. When the disk is full it is released for the
   time of one call that makes room or says how something ends, and taken back at once. */
#ifndef LOCAL_STORE_RESERVE_H
#define LOCAL_STORE_RESERVE_H

#include "base/util.h"

struct reserve {
	char *path;
	int fd;       /* -1: nothing can be kept here */
	int64_t size; /* that is kept now */
	int64_t want; /* that is to be kept */
	int64_t had;  /* the most that was kept */
};

#define RESERVE_INIT                                                                                                   \
	{                                                                                                              \
		.path = NULL, .fd = -1                                                                                 \
	}

/* Of the database at that path. What is kept is there after the end of the process, too. */
void reserve_open(struct reserve *r, const char *database);
void reserve_close(struct reserve *r);
/* Keeps as much as is wanted: GREEDY: or all that there is; else only if that leaves as much again to everybody. */
void reserve_fill(struct reserve *r, bool greedy);
void reserve_release(struct reserve *r);
/* More than half of it was used, and could not be taken back. */
bool reserve_is_short(const struct reserve *r);

#endif
