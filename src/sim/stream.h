/* What one operator is shown of one resource: lists, watches, and how these go wrong. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "base/arena.h"
#include "sim/objects.h"

enum { STREAM_REPLAY = 4 };

struct sim;

struct stream_item {
	bool list, gone;
	struct sim_version *version;
	struct sim_version **versions; /* of a list */
	size_t n;
	msec at;
};

struct sim_stream {
	struct sim_link *link;
	bool on; /* listed, and told of what follows */
	VEC(struct stream_item) items;
	size_t head;
	msec stalled; /* nothing is delivered before */
	struct stream_item last[STREAM_REPLAY];
	size_t n_last;
	struct sim_event *timer, *relist;
};

/* To all operators that watch it. */
void stream_push(struct sim *s, enum resource r, struct sim_version *v, bool gone);
/* It is time to: list, or deliver what is next. */
void stream_list(struct sim *s, struct sim_stream *st);
void stream_watch(struct sim *s, struct sim_stream *st);
/* The watch breaks; the next list is made after WAIT. */
void stream_anew(struct sim *s, struct sim_stream *st, msec wait);
void stream_stall(struct sim *s, struct sim_stream *st, msec until);
/* What it was shown last is shown again. */
void stream_replay(struct sim *s, struct sim_stream *st);

#endif
