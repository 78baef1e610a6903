/* How a log that was kept in part goes on, without a line twice and without one missing. A log is lines of "TIME text",
   as the API server sends them with timestamps=true; a line without a time has that of the line before. The server can
   be asked for what is not older than a second; the lines up to the last one that is there are left out here. */
#ifndef LOGS_ARCHIVE_RESUME_H
#define LOGS_ARCHIVE_RESUME_H

#include "base/str.h"

/* The last line that is there. */
struct resume_point {
	int64_t time;   /* nanoseconds since 1970; 0: nothing is there */
	uint64_t lines; /* how many of this very time */
};

enum { RESUME_HEAD = 48 }; /* of a line: the time is in it */

/* The end of a file, read piece by piece; of a line only the head is remembered. */
struct resume_scan {
	struct resume_point point;
	uint64_t keep; /* up to where its lines are complete; what follows was being written when somebody was killed */
	/* Its own. */
	bool whole, sure; /* lines of another time stand before those of the point */
	bool begun;       /* a line has */
	uint64_t seen;
	char head[RESUME_HEAD];
	size_t n;
};

/* WHOLE: it begins where the file does. Else what comes before the first end of a line is left out. */
static inline struct resume_scan resume_scan_begin(bool whole)
{
	return (struct resume_scan){ .whole = whole, .begun = whole };
}
void resume_scan(struct resume_scan *s, struct str piece);
/* False: it must see more, to count the lines of the last time. */
static inline bool resume_scan_ok(const struct resume_scan *s)
{
	return s->whole || s->sure;
}

struct archive_resume {
	struct resume_point point;
	bool caught_up; /* the rest is new */
	bool in_line;   /* of a line that is left out, after its head */
	int64_t time;   /* of the line before */
	uint64_t seen;  /* lines of the very time of the point */
	char head[RESUME_HEAD];
	size_t n;
};

static inline struct archive_resume resume_after(struct resume_point p)
{
	return (struct archive_resume){ .point = p, .caught_up = !p.time };
}
/* The bytes of PIECE that are new, at its end. Before them come those of HEAD (may be empty), which earlier pieces have
   brought. Both are valid until the next call. */
struct str resume_feed(struct archive_resume *r, struct str piece, struct str *head);

#endif
