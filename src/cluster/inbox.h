/* Events that wait for cluster_next(). What came together shares its memory and goes together. */
#ifndef CLUSTER_INBOX_H
#define CLUSTER_INBOX_H

#include "base/arena.h"
#include "base/err.h"
#include "cluster/cluster.h"

struct inbox_batch {
	struct arena arena;
	VEC(yyjson_doc **) docs; /* of jobs; NULL: it was taken */
	size_t events;           /* not yet handed out and done with */
	bool open;
};

struct inbox_item {
	struct cluster_event event;
	struct inbox_batch *batch;
	struct inbox_item *next;
};

struct inbox {
	struct inbox_item *first, *last, *out; /* `out` was handed out last */
	size_t n;
};

void inbox_init(struct inbox *in);
void inbox_release(struct inbox *in);

/* A batch is filled between begin and end. */
struct inbox_batch *inbox_begin(struct inbox *in);
void inbox_end(struct inbox *in, struct inbox_batch *b);
/* A new event at the end of the queue, zeroed. */
struct cluster_event *inbox_push(struct inbox *in, struct inbox_batch *b);
/* Decodes VAL into *RET with memory of the batch; VAL need not live on. */
bool inbox_object(struct inbox_batch *b, struct object *ret, enum resource resource, struct str kind, yyjson_val *val,
                  struct err *e);
/* The answer to R, as an event: what is known of it without BODY, and what that says. */
void inbox_outcome(struct inbox *in, const struct request *r, const struct outcome *answer, struct str body);
/* The first event; it is valid until the next call. */
bool inbox_next(struct inbox *in, struct cluster_event *ret);

#endif
