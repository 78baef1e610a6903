/* Reads what a container has written, in order and while it still writes: across the rotated files of one run, and
   on to the next run of the container if asked. Nothing blocks: who follows asks again when the folder has changed. */
#ifndef LOCAL_POD_TAIL_H
#define LOCAL_POD_TAIL_H

#include "base/buf.h"
#include "base/err.h"

struct pod_tail;

struct pod_tail_line {
	struct str time; /* 2026-01-02T03:04:05.678901234Z */
	bool is_stderr;
	bool part;       /* the line goes on in the next one of its stream */
	struct str text; /* without a newline */
	int64_t lost;    /* lines before it that were rotated away before they were read */
};

/* FOLDER is the pod's. RUN: which run of the container, from 0 on; -1: all that are there, and those to come. What is
   not there yet may come. */
struct pod_tail *pod_tail_new(const char *folder, struct str container, int64_t run);
void pod_tail_free(struct pod_tail *t);
/* The next whole line, valid until the next call; false: there is none now. A line that was damaged is left out. What
   was rotated away before it was read is lost, and counted. */
bool pod_tail_next(struct pod_tail *t, struct pod_tail_line *ret);
/* Skips all but the last N lines that are there now. To be called before the first pod_tail_next(). */
void pod_tail_last(struct pod_tail *t, size_t n);
/* What is said of lines that are lost, without a newline. */
void pod_tail_tell_lost(int64_t lost, struct buf *ret);
/* The number of the container's last run in FOLDER; -1: it has none. */
int64_t pod_tail_runs(const char *folder, struct str container);

#endif
