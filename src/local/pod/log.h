/* What a container writes, kept as the kubelet keeps it: one line of text in one line of the file, with time and
   stream; a line of more than 16 KiB, and one that redraws itself with carriage returns, in parts marked P. Files are
   rotated; one that is not the first begins with "#N": so many lines stand in those before it. What the disk does not
   take is dropped and counted: the container never waits for it. */
#ifndef LOCAL_POD_LOG_H
#define LOCAL_POD_LOG_H

#include "base/buf.h"
#include "base/err.h"

enum pod_stream { POD_STDOUT, POD_STDERR };
enum { POD_LOG_LINE = 16 << 10 };

struct pod_log {
	char *path;         /* owned; rotated ones have ".1" … behind */
	int fd;             /* -1: could not be opened */
	int64_t size;       /* of the file */
	int64_t max;        /* when it is rotated */
	int64_t files;      /* how many are kept, the newest included */
	int64_t dropped;    /* lines */
	int problem;        /* errno of what was dropped last; 0: nothing was */
	int64_t lines;      /* in this file and those before it */
	bool torn;          /* the file ends within a line */
	struct buf line[2]; /* begun, not yet ended */
	struct buf out;
	int64_t (*now)(void); /* nanoseconds since 1970 */
};

int64_t pod_log_clock(void);
/* Is the line of a file one that says how many stand in the files before it? */
bool pod_log_head(struct str line, int64_t *before);
/* Does a line of the container end with this line of a file? */
bool pod_log_whole(struct str line);
/* Opens it for appending. Never fails: what cannot be opened drops its lines. */
void pod_log_open(struct pod_log *l, const char *path, int64_t max, int64_t files, int64_t (*now)(void));
void pod_log_add(struct pod_log *l, enum pod_stream s, struct str bytes);
/* A line that has begun is ended by the end of its stream. */
void pod_log_end(struct pod_log *l, enum pod_stream s);
void pod_log_close(struct pod_log *l);
/* The last lines (80, at most 2048 bytes) without time and stream, appended to RET. */
void pod_log_tail(const char *path, struct buf *ret);

#endif
