/* Which job is looked at next. An item is in it at most once. Fresh changes and what is due (timers, retries) take
   turns, so that neither waits for the end of the other; an item that failed waits, longer each time. */
#ifndef OPERATOR_QUEUE_H
#define OPERATOR_QUEUE_H

#include "base/clock.h"
#include "base/heap.h"

enum urgency {
	QUEUE_FRESH,  /* it has changed */
	QUEUE_DUE,    /* its time has come */
	QUEUE_RESYNC, /* nothing of its own has changed */
	QUEUE_URGENCIES
};

struct queue_item {
	struct heap_node node; /* among those that are ready */
	enum urgency urgency;  /* … which of them */
	struct heap_node timer;
	msec not_before;  /* back-off; 0: none */
	int32_t failures; /* in a row */
};

struct queue {
	struct heap ready[QUEUE_URGENCIES]; /* first come first served */
	struct heap waiting;                /* by time; an item that is ready can be here as well */
	size_t turn;
	msec retry_initial, retry_max;
	uint64_t adds, retries; /* since the start */
};

/* Look at it as soon as its back-off allows. */
void queue_add(struct queue *q, struct queue_item *item, enum urgency urgency);
/* Look at it at that time at the latest. NEVER: no need. */
void queue_at(struct queue *q, struct queue_item *item, msec at);
/* It failed: look again after its back-off, or after WAIT if that is longer, but at LATEST (NEVER: no matter). */
void queue_retry(struct queue *q, struct queue_item *item, msec now, msec wait, msec latest);
/* It succeeded: the next failure starts from the shortest back-off. */
void queue_forget(struct queue_item *item);
void queue_remove(struct queue *q, struct queue_item *item);
/* Takes the next one out, and forgets its timer; NULL: none is due. */
struct queue_item *queue_take(struct queue *q, msec now);
/* When the next one is due: 0 if one is ready, NEVER if there is none. */
msec queue_next(const struct queue *q);
/* How many are ready. */
size_t queue_ready(const struct queue *q);
void queue_release(struct queue *q);

#endif
