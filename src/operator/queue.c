#include "operator/queue.h"

/* Whose turn it is; where nobody of them is there, the first of the others is. */
static const enum urgency turns[] = { QUEUE_FRESH, QUEUE_DUE,   QUEUE_FRESH, QUEUE_DUE,   QUEUE_FRESH,
	                              QUEUE_DUE,   QUEUE_FRESH, QUEUE_DUE,   QUEUE_RESYNC };

static void make_ready(struct queue *q, struct queue_item *item, enum urgency urgency)
{
	if (item->node.at)
		heap_remove(&q->ready[item->urgency], &item->node);
	else
		q->adds++;
	item->urgency = urgency;
	heap_put(&q->ready[urgency], &item->node, 0);
}

void queue_remove(struct queue *q, struct queue_item *item)
{
	heap_remove(&q->ready[item->urgency], &item->node);
	heap_remove(&q->waiting, &item->timer);
}

void queue_add(struct queue *q, struct queue_item *item, enum urgency urgency)
{
	if (item->not_before)
		queue_at(q, item, item->not_before);
	else if (!item->node.at || (item->urgency == QUEUE_RESYNC && urgency != QUEUE_RESYNC))
		make_ready(q, item, urgency);
}

void queue_at(struct queue *q, struct queue_item *item, msec at)
{
	if (at == NEVER)
		return;
	at = MAX(at, item->not_before);
	if (!item->timer.at || item->timer.key > at)
		heap_put(&q->waiting, &item->timer, at);
}

void queue_retry(struct queue *q, struct queue_item *item, msec now, msec wait, msec latest)
{
	msec backoff = q->retry_initial;

	for (int32_t i = 0; i < item->failures && backoff < q->retry_max; i++)
		backoff *= 2;
	backoff = MIN(backoff, q->retry_max);
	item->failures++;
	q->retries++;
	item->not_before = MIN(now + MAX(backoff, wait), latest);
	queue_remove(q, item);
	heap_put(&q->waiting, &item->timer, item->not_before);
}

void queue_forget(struct queue_item *item)
{
	item->failures = 0;
	item->not_before = 0;
}

static enum urgency whose_turn(struct queue *q)
{
	enum urgency u = turns[q->turn++ % ARRAY_LEN(turns)];

	if (!q->ready[u].n)
		for (u = QUEUE_FRESH; u < QUEUE_RESYNC && !q->ready[u].n; u++)
			;
	return u;
}

struct queue_item *queue_take(struct queue *q, msec now)
{
	struct heap_node *node;
	struct queue_item *item;

	while ((node = heap_first(&q->waiting)) && node->key <= now) {
		item = heap_entry(node, struct queue_item, timer);
		heap_remove(&q->waiting, node);
		item->not_before = 0;
		make_ready(q, item, QUEUE_DUE);
	}
	node = heap_first(&q->ready[whose_turn(q)]);
	if (!node)
		return NULL;
	item = heap_entry(node, struct queue_item, node);
	queue_remove(q, item);
	return item;
}

size_t queue_ready(const struct queue *q)
{
	size_t n = 0;

	for (size_t i = 0; i < QUEUE_URGENCIES; i++)
		n += q->ready[i].n;
	return n;
}

msec queue_next(const struct queue *q)
{
	struct heap_node *node = heap_first(&q->waiting);

	if (queue_ready(q))
		return 0;
	return node ? node->key : NEVER;
}

void queue_release(struct queue *q)
{
	for (size_t i = 0; i < QUEUE_URGENCIES; i++)
		heap_release(&q->ready[i]);
	heap_release(&q->waiting);
}
