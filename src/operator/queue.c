#include "operator/queue.h"

static void wait_until(struct queue *q, struct queue_item *item, msec at)
{
	item->delayed = true;
	heap_put(&q->waiting, &item->node, at);
}

void queue_remove(struct queue *q, struct queue_item *item)
{
	heap_remove(item->delayed ? &q->waiting : &q->ready, &item->node);
	item->delayed = false;
}

void queue_add(struct queue *q, struct queue_item *item, enum urgency urgency)
{
	if (item->not_before) {
		queue_at(q, item, item->not_before);
		return;
	}
	if (item->node.at && !item->delayed && item->node.key <= (int64_t)urgency)
		return;
	queue_remove(q, item);
	heap_put(&q->ready, &item->node, urgency);
	q->adds++;
}

void queue_at(struct queue *q, struct queue_item *item, msec at)
{
	if (at == NEVER)
		return;
	at = MAX(at, item->not_before);
	if (item->node.at && (!item->delayed || item->node.key <= at))
		return;
	wait_until(q, item, at);
}

void queue_retry(struct queue *q, struct queue_item *item, msec now, msec wait)
{
	msec backoff = q->retry_initial;

	for (int32_t i = 0; i < item->failures && backoff < q->retry_max; i++)
		backoff *= 2;
	backoff = MIN(backoff, q->retry_max);
	item->failures++;
	q->retries++;
	item->not_before = now + MAX(backoff, wait);
	queue_remove(q, item);
	wait_until(q, item, item->not_before);
}

void queue_forget(struct queue_item *item)
{
	item->failures = 0;
	item->not_before = 0;
}

struct queue_item *queue_take(struct queue *q, msec now)
{
	struct heap_node *node;
	struct queue_item *item;

	while ((node = heap_first(&q->waiting)) && node->key <= now) {
		item = heap_entry(node, struct queue_item, node);
		queue_remove(q, item);
		item->not_before = 0;
		heap_put(&q->ready, &item->node, QUEUE_RESYNC);
		q->adds++;
	}
	node = heap_first(&q->ready);
	if (!node)
		return NULL;
	item = heap_entry(node, struct queue_item, node);
	queue_remove(q, item);
	return item;
}

msec queue_next(const struct queue *q)
{
	struct heap_node *node = heap_first(&q->waiting);

	if (q->ready.n)
		return 0;
	return node ? node->key : NEVER;
}

void queue_release(struct queue *q)
{
	heap_release(&q->ready);
	heap_release(&q->waiting);
}
