#include "operator/operator.h"
#include "operator/internal.h"

enum {
	BODY_MAX = 3 << 20, /* what an API server takes */
};

const struct operator_config operator_config_default = {
	.nodes = true,
	.creates_max = 64,
	.jobs_open = 32,
	.requests_max = 256,
	.turns_max = 256,
	.retry_initial = 250,
	.retry_max = MINUTES(2),
};

static void on_changed(void *cookie, struct cached_job *job)
{
	struct operator_loop *op = cookie;

	job->creates.stale |= !op->created;
	/* Whoever mends a job need not wait for what went wrong before. */
	if (job->edited)
		queue_forget(&job->item);
	job->edited = false;
	operator_look(op, job, QUEUE_FRESH);
}

static void on_left(void *cookie, enum resource resource, struct str ns, struct str name)
{
	taken_left(cookie, resource, ns, name);
}

static void on_drop(void *cookie, struct cached_job *job)
{
	struct operator_loop *op = cookie;

	queue_remove(&op->queue, &job->item);
	open_forget(op, job);
	creates_drop(op, job);
	taken_forget(op, job);
	/* Otherwise the last answer frees it. */
	if (!job->in_flight)
		cached_job_free(job);
}

struct operator_loop *operator_new(struct cluster *cluster, struct kinds *kinds, const struct clock *clock,
                                   const struct operator_config *config)
{
	struct operator_loop *op = xcalloc(1, sizeof(*op));

	ASSERT(config->creates_max > 0 && config->requests_max > 0 && config->turns_max > 0 &&
	       config->retry_initial > 0);
	op->cluster = cluster;
	op->kinds = kinds;
	op->clock = clock;
	op->config = *config;
	op->cache.changed = on_changed;
	op->cache.left = on_left;
	op->cache.drop_job = on_drop;
	op->cache.cookie = op;
	op->queue.retry_initial = config->retry_initial;
	op->queue.retry_max = config->retry_max;
	op->body = (struct buf)BUF_INIT(BODY_MAX);
	return op;
}

void operator_free(struct operator_loop *op)
{
	if (!op)
		return;
	/* Jobs that are gone live by their requests alone. */
	for (size_t i = 0; i < op->requests.n; i++) {
		struct request_sent *p = &op->requests.v[i];

		if (p->id && --p->job->in_flight == 0 && p->job->gone)
			cached_job_free(p->job);
	}
	requests_release(&op->requests);
	cache_release(&op->cache);
	queue_release(&op->queue);
	arena_release(&op->arena);
	buf_release(&op->body);
	trouble_release(op);
	skipped_release(op);
	free(op);
}

void operator_look(struct operator_loop *op, struct cached_job *job, enum urgency urgency)
{
	/* Of a list that has not ended yet: it is looked at then. */
	if (!cache_listed(&op->cache, RES_JOB, job->kind))
		return;
	if (!job->in_flight && !job->gone)
		queue_add(&op->queue, &job->item, urgency);
}

void operator_retry(struct operator_loop *op, struct cached_job *job, msec wait)
{
	queue_retry(&op->queue, &job->item, op->now, wait, job->deadline > op->now ? job->deadline : NEVER);
}

/* gather → plan → apply. The same job never has two passes at once: what it sent must be answered. */
static void pass(struct operator_loop *op, struct cached_job *job)
{
	struct plan_input in;
	struct plan plan;

	job->pass_began = op->now;
	skipped_tell(op, job);
	switch (gather(op, job, &in)) {
	case GATHER_ASK:
		/* To be told something is no success: what failed is not yet tried again. */
		job->unproven = true;
		break;
	case GATHER_LATER:
		observe_pass(op, job, true, false);
		break;
	case GATHER_LEAVE:
		observe_pass(op, job, false, false);
		break;
	case GATHER_DONE:
		plan = plan_job(&in, &op->arena);
		job->deadline = plan.deadline;
		refused_passed(job, plan.passed);
		if (!apply_plan(op, job, &in, &plan)) {
			queue_at(&op->queue, &job->item, plan.wake);
			observe_pass(op, job, false, plan.wake != NEVER);
		}
		break;
	}
	arena_reset(&op->arena);
}

static void take_event(struct operator_loop *op, const struct cluster_event *ev)
{
	bool first = ev->type == EVENT_SYNCED && !cache_listed(&op->cache, ev->resource, ev->kind);

	skipped_event(op, ev);
	cache_event(&op->cache, ev);
	if (ev->type == EVENT_SYNCED)
		trouble_listed(op, ev->resource, ev->kind, first);
}

static void take_events(struct operator_loop *op)
{
	struct cluster_event ev;

	while (cluster_next(op->cluster, &ev)) {
		if (ev.type == EVENT_OUTCOME)
			outcome_take(op, &ev.outcome);
		else
			take_event(op, &ev);
	}
}

void operator_listen(struct operator_loop *op)
{
	op->now = op->cache.now = clock_now(op->clock);
	take_events(op);
}

/* What the plan of every job looks at was listed once. */
static bool can_plan(const struct operator_loop *op)
{
	const struct cache *c = &op->cache;

	for (enum resource r = 0; r < RES_COUNT; r++)
		if (sole_is_used(op, r) && !trouble_of(op, r, STR_NONE).n && !c->synced[r])
			return false;
	return c->synced[RES_POD] && c->synced[RES_SERVICE] && (!op->config.nodes || c->synced[RES_NODE]);
}

bool operator_serves(const struct operator_loop *op, struct str kind)
{
	return cache_listed(&op->cache, RES_JOB, kind) && !trouble_of(op, RES_JOB, kind).n;
}

bool operator_ready(const struct operator_loop *op)
{
	bool any = false;

	if (!can_plan(op))
		return false;
	for (size_t i = 0; i < kinds_count(op->kinds); i++) {
		struct str kind = kinds_at(op->kinds, i)->id;
		bool listed = cache_listed(&op->cache, RES_JOB, kind);

		if (!listed && !trouble_of(op, RES_JOB, kind).n)
			return false;
		any |= listed;
	}
	return any;
}

/* A pass over the next job, or one of the creates that wait: in turns, so that neither new jobs nor large ones wait for
   the end of the others. False: there is nothing to do. */
static bool take_turn(struct operator_loop *op)
{
	struct queue_item *item;

	op->creates_turn = !op->creates_turn;
	if (op->creates_turn && creates_next(op))
		return true;
	item = queue_take(&op->queue, op->now);
	if (!item)
		return creates_next(op);
	pass(op, heap_entry(item, struct cached_job, item));
	return true;
}

msec operator_step(struct operator_loop *op)
{
	size_t turns = 0;

	operator_listen(op);
	/* A list that has not come means "unknown", never "gone". */
	if (!can_plan(op))
		return NEVER;
	creates_prune(op);
	while (op->requests.in_flight < op->config.requests_max && turns < op->config.turns_max && take_turn(op))
		turns++;
	if (op->requests.in_flight >= op->config.requests_max)
		return NEVER;
	if (turns == op->config.turns_max)
		return op->now;
	return MAX(queue_next(&op->queue), op->now);
}

struct operator_stats operator_stats(const struct operator_loop *op)
{
	struct operator_stats s = {
		.ready = queue_ready(&op->queue),
		.waiting = op->queue.waiting.n,
		.adds = op->queue.adds,
		.retries = op->queue.retries,
		.in_flight = op->requests.in_flight,
		.jobs = op->cache.jobs.n,
		.pods = op->cache.by_name[RES_POD].n,
		.services = op->cache.by_name[RES_SERVICE].n,
		.nodes = op->cache.nodes.n,
		.groups = op->cache.by_name[RES_GROUP].n,
	};

	memcpy(s.unread, op->n_skipped, sizeof(s.unread));
	return s;
}

void operator_phases(const struct operator_loop *op, struct str kind, size_t ret[static PHASE_COUNT])
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
