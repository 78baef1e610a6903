/* Lines of replicas' logs for people: "worker-1 | text", each replica in a colour of its own, and nothing in the text
   that could move a terminal's cursor. Or a line of JSON for each. For dljob logs and dljob run.

   A line that redraws itself with carriage returns (a progress bar) comes in parts. On a terminal the last state of
   each such line stands below all others until the line ends. Elsewhere the parts of a single replica are written as
   they come, and those of several when their line ends. */
#ifndef LOGS_LOGLINE_H
#define LOGS_LOGLINE_H

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>

struct logline {
	struct str replica; /* what stands in front: worker-1 */
	struct str time;    /* as it was given; may be empty */
	bool is_stderr;
	bool part;       /* the line goes on in the replica's next one */
	struct str text; /* without a newline at its end */
	/* For JSON only. */
	struct str role, pod, container;
	int32_t index;
	bool archived; /* of an archive, which knows the generation and not the pod */
	int64_t generation;
};

struct logline_options {
	bool json;       /* {"time", "role", "index", "pod" or "generation", "container", "text"}, and "part": true */
	bool colors;     /* of the replicas' names; those that the program writes are left out without it */
	bool terminal;   /* control characters are shown, not done; else the text is written as it is */
	bool timestamps; /* the time in front of the text */
	bool plain;      /* no names in front */
};

struct logline_replica;
struct logline_printer {
	struct logline_options options;
	FILE *to;
	struct logline_replica *replicas;
	size_t n;
	int width;     /* of the widest name so far */
	size_t open;   /* 1 + the replica whose line is not ended; 0: none */
	bool open_err; /* … of its standard error */
	size_t bars;   /* lines that redraw themselves, not ended yet */
	int drawn;     /* rows that they take on the terminal now */
	bool redraw;   /* … and are not what they should be */
	msec drawn_at;
	struct buf out; /* of one line, kept for its memory */
};

/* WHEN is what --color says: auto (NULL too), always, never. Auto: TO is a terminal and NO_COLOR is not set. False: it
   is none of them. */
bool logline_options_for(struct logline_options *ret, const char *when, FILE *to);
struct logline_printer logline_printer(FILE *to, const struct logline_options *o);
/* Gives REPLICA its colour and width before its first line: colours go by the order in which they come here. */
void logline_expect(struct logline_printer *p, struct str replica);
/* Writes one line, or a part of one. Parts of different replicas may come mixed: each piece then stands on a line
   of its own. Writing errors are TO's. */
void logline_print(struct logline_printer *p, const struct logline *l);
/* On a terminal: shows where the progress bars are, one at once, several twice a second. Returns when to call it again
   (NEVER: when something has come). */
msec logline_draw(struct logline_printer *p, msec now);
/* When it would draw. */
msec logline_due(const struct logline_printer *p);
/* Ends a line that is not ended, and takes the progress bars away, so that something else can be written. */
void logline_break(struct logline_printer *p);
/* Nothing more comes of REPLICA (empty: of all): what its progress bar has shown becomes a line. */
void logline_end(struct logline_printer *p, struct str replica);
void logline_release(struct logline_printer *p);

/* Appends S as a terminal may be given it: escape sequences but for colours (SGR; not even these without COLORS)
   and control characters are shown as ^[, \x9b …; of what carriage returns would have written over each other only
   the last is left. True: a colour is set in it, and is to be reset. */
bool logline_harmless(struct buf *out, struct str s, bool colors);

#endif
