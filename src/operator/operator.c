#include "operator/operator.h"
#include "operator/internal.h"

enum {
	PASSES_MAX = 256,   /* of one step: whoever owns the loop has other things to do as well */
	BODY_MAX = 3 << 20, /* what an API server takes */
};

const struct operator_config operator_config_default = {
	.nodes = true,
	.creates_max = 64,
	.jobs_open = 32,
	.requests_max = 256,
	.retry_initial = 250,
	.retry_max = MINUTES(2),
};

static void on_changed(void *cookie, struct cached_job *job)
{
	struct op *op = cookie;

	job->creates.stale |= !op->created;
	operator_look(op, job, QUEUE_FRESH);
}

static void on_drop(void *cookie, struct cached_job *job)
{
	struct op *op = cookie;

	queue_remove(&op->queue, &job->item);
	open_forget(op, job);
	creates_drop(op, job);
	/* Otherwise the last answer frees it. */
	if (!job->in_flight)
		cached_job_free(job);
}

struct op *operator_new(struct cluster *cluster, struct kinds *kinds, const struct clock *clock,
                        const struct operator_config *config)
{
	struct op *op = xcalloc(1, sizeof(*op));

	ASSERT(config->creates_max > 0 && config->requests_max > 0 && config->retry_initial > 0);
	op->cluster = cluster;
	op->kinds = kinds;
	op->clock = clock;
	op->config = *config;
	op->cache.changed = on_changed;
	op->cache.drop_job = on_drop;
	op->cache.cookie = op;
	op->queue.retry_initial = config->retry_initial;
	op->queue.retry_max = config->retry_max;
	op->body = (struct buf)BUF_INIT(BODY_MAX);
	return op;
}

void operator_free(struct op *op)
{
	if (!op)
		return;
	/* Jobs that are gone live by their requests alone. */
	for (size_t i = 0; i < op->requests.n; i++) {
		struct pending *p = &op->requests.v[i];

		if (p->id && --p->job->in_flight == 0 && p->job->gone)
			cached_job_free(p->job);
	}
	requests_release(&op->requests);
	cache_release(&op->cache);
	queue_release(&op->queue);
	arena_release(&op->arena);
	buf_release(&op->body);
	free(op->groups_trouble);
	free(op);
}

void operator_look(struct op *op, struct cached_job *job, enum urgency urgency)
{
	if (!job->in_flight && !job->gone)
		queue_add(&op->queue, &job->item, urgency);
}

/* gather → plan → apply. The same job never has two passes at once: what it sent must be answered. */
static void pass(struct op *op, struct cached_job *job)
{
	struct plan_input in;
	struct plan plan;

	job->pass_began = op->now;
	switch (gather(op, job, &in)) {
	case GATHER_ASK:
		break;
	case GATHER_LEAVE:
		observe_pass(op, job, false, false);
		break;
	case GATHERED:
		plan = plan_job(&in, &op->arena);
		if (!apply(op, job, &in, &plan)) {
			queue_at(&op->queue, &job->item, plan.wake);
			observe_pass(op, job, false, plan.wake != NEVER);
		}
		break;
	}
	arena_reset(&op->arena);
}

static void take_events(struct op *op)
{
	struct cluster_event ev;

	while (cluster_next(op->cluster, &ev)) {
		if (ev.type == EVENT_OUTCOME)
			outcome_take(op, &ev.outcome);
		else
			cache_event(&op->cache, &ev);
		if (ev.type == EVENT_SYNCED && ev.resource == RES_GROUP)
			groups_listed(op);
	}
}

void operator_listen(struct op *op)
{
	op->now = clock_now(op->clock);
	take_events(op);
}

bool operator_ready(const struct op *op)
{
	/* Where PodGroups cannot be listed, the jobs that want one wait, and everybody else is served. */
	bool groups = op->config.plan.gang != GANG_NONE && !op->groups_trouble;

	return cache_ready(&op->cache, kinds_count(op->kinds), op->config.nodes, groups);
}

msec operator_step(struct op *op)
{
	struct queue_item *item;
	size_t passes = 0;

	operator_listen(op);
	/* A list that has not come means "unknown", never "gone". */
	if (!operator_ready(op))
		return NEVER;
	creates_go_on(op);
	while (op->requests.in_flight < op->config.requests_max && passes++ < PASSES_MAX &&
	       (item = queue_take(&op->queue, op->now)))
		pass(op, heap_entry(item, struct cached_job, item));
	if (op->requests.in_flight >= op->config.requests_max)
		return NEVER;
	return MAX(queue_next(&op->queue), op->now);
}

struct operator_stats operator_stats(const struct op *op)
{
	return (struct operator_stats){
		.ready = op->queue.ready.n,
		.waiting = op->queue.waiting.n,
		.adds = op->queue.adds,
		.retries = op->queue.retries,
		.in_flight = op->requests.in_flight,
		.jobs = op->cache.jobs.n,
		.pods = op->cache.pods.n,
		.services = op->cache.services.n,
		.nodes = op->cache.nodes.n,
		.groups = op->cache.groups.n,
	};
}

void operator_phases(const struct op *op, struct str kind, size_t ret[static PHASE_COUNT])
{
	struct str key;
	void *value;
	size_t at = 0;

	memset(ret, 0, PHASE_COUNT * sizeof(ret[0]));
	while (map_next(&op->cache.jobs, &at, &key, &value)) {
		const struct cached_job *job = value;

		if (str_eq(job->kind, kind))
			ret[job->phase]++;
	}
}
