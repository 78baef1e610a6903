/* Lines of many logs in the order of their times, however the bytes come in, with a bounded part of each in memory. A
   log is what the API server sends with timestamps=true: "TIME text" lines, each log in order by itself. */
#ifndef LOGS_MERGE_H
#define LOGS_MERGE_H

#include "base/buf.h"
#include "base/clock.h"

enum {
	MERGE_PART = 16 << 10, /* a longer line comes in parts, and one that redraws itself (carriage returns) too */
	MERGE_HIGH = 64 << 10, /* from here on a source should be paused … */
	MERGE_LOW = 32 << 10,  /* … until here */
};

struct merge_source {
	void *cookie; /* its owner's */
	struct buf bytes;
	size_t at;    /* what stands before it was taken */
	bool ended;   /* nothing more comes */
	bool in_line; /* the line that it goes on with has begun in a part before */
	/* What was handed out last, so that a stream which is opened again goes on behind it. */
	int64_t out_time;   /* of the line; 0: none was */
	uint64_t out_lines; /* so many whole ones of that time … */
	size_t out_bytes;   /* … and so much of another, whose end has not come */
	struct {
		int64_t time;
		uint64_t lines;
		size_t bytes;
	} left_out;  /* what the stream repeats of that */
	bool in_old; /* the line that it goes on with is left out */
	/* The next line, if there is one. */
	bool ready;
	msec since; /* when it was ready */
	size_t length, skip;
	bool part;
	char time_text[48]; /* of the line that was read last */
	int64_t time;       /* nanoseconds since 1970; that of the line before if it has none */
};

struct log_merge {
	struct merge_source **v;
	size_t n;
	msec grace;                  /* a line waits at most so long for those of others; NEVER: until all have one */
	struct merge_source *broken; /* the one whose line was handed out in part */
};

struct merge_line {
	struct merge_source *source;
	struct str time; /* as it was given */
	bool part;       /* goes on in the source's next one, which is the next that is handed out */
	struct str text;
};

struct merge_source *merge_add(struct log_merge *m, void *cookie);
/* A new stream of the same log begins at a line that is not later than out_time (0: at its beginning): what was handed
   out is left out. */
void merge_again(struct merge_source *s);
void merge_push(struct merge_source *s, struct str bytes, msec now);
void merge_end(struct merge_source *s, msec now);
/* The next line, valid until the next call. False: none now; *WAKE is when to ask again (NEVER: when something has
   come). */
bool merge_next(struct log_merge *m, msec now, struct merge_line *ret, msec *wake);
/* Has everything been handed out? */
bool merge_done(const struct log_merge *m);
static inline size_t merge_held(const struct merge_source *s)
{
	return s->bytes.n - s->at;
}
/* Takes it out, with what was not handed out yet. */
void merge_remove(struct log_merge *m, struct merge_source *s);
void merge_release(struct log_merge *m);

/* "2026-01-02T03:04:05.000000006+01:00" in nanoseconds since 1970. */
bool nanoseconds_parse(struct str s, int64_t *ret);

#endif
