/* What an operator is shown: watches that stall, repeat themselves or break. */
#include "sim/mutant.h"
#include "sim/sim.h"

static enum resource resource_of(const struct sim_link *l, const struct sim_stream *st)
{
	return (enum resource)(st - l->streams);
}

static void schedule(struct sim *s, struct sim_stream *st)
{
	if (st->head < st->items.n)
		sim_move(s, st->timer, MAX(st->items.v[st->head].at, st->stalled));
}

static void push(struct sim *s, struct sim_stream *st, struct stream_item it)
{
	bool idle = st->head == st->items.n;

	if (idle)
		st->head = st->items.n = 0;
	*vec_push(s->arena, &st->items) = it;
	if (idle)
		schedule(s, st);
}

void stream_push(struct sim *s, enum resource r, struct sim_version *v, bool gone)
{
	struct sim_link *links[] = { s->link, s->former };

	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		if (links[i] && links[i]->streams[r].on)
			push(s, &links[i]->streams[r],
			     (struct stream_item){ .gone = gone, .version = v, .at = s->now + sim_between(s, 1, 50) });
}

static const char *const resource_names[] = { "jobs", "pods", "services", "nodes", "podgroups" };

void stream_anew(struct sim *s, struct sim_stream *st, msec wait)
{
	st->on = false;
	st->head = st->items.n = 0;
	sim_cancel(s, st->timer);
	sim_move(s, st->relist, s->now + wait);
}

void stream_watch(struct sim *s, struct sim_stream *st)
{
	struct sim_link *l = st->link;
	struct stream_item *it;

	if (st->head == st->items.n)
		return;
	it = &st->items.v[st->head++];
	/* Nobody can tell what it was: a list must. */
	if (!it->list && it->version->size && sim_chance(s, 20)) {
		s->tally->hits[HIT_NAMELESS]++;
		stream_anew(s, st, sim_between(s, 1, 2000));
		return;
	}
	l->item = it;
	l->at = 0;
	l->resource = resource_of(l, st);
	if (!it->list)
		st->last[st->n_last++ % STREAM_REPLAY] = *it;
	TRACE(s, "  watch of %s: %s", resource_names[l->resource], it->list ? "list" : it->gone ? "gone" : "put");
	if (s->opt.mutant && mutant_drops(s, it))
		l->item = NULL;
	link_run(s, l);
	ASSERT(!l->item);
	schedule(s, st);
}

static struct sim_version *version_of(enum resource r, void *value)
{
	switch (r) {
	case RES_JOB:
		return ((struct sim_job *)value)->now;
	case RES_POD:
		return ((struct sim_pod *)value)->labelled ? ((struct sim_pod *)value)->version : NULL;
	case RES_SERVICE:
		return ((struct sim_service *)value)->labelled ? ((struct sim_service *)value)->version : NULL;
	case RES_GROUP:
		return ((struct sim_group *)value)->now.job_uid.n ? ((struct sim_group *)value)->version : NULL;
	case RES_NODE:
	case RES_COUNT:
		break;
	}
	return NULL;
}

/* It cannot be listed; the watch tries again. */
static bool unlisted(struct sim *s, struct sim_stream *st)
{
	struct buf line = BUF_INIT(1024);

	if (resource_of(st->link, st) != RES_GROUP || s->now >= s->groups_absent)
		return false;
	operator_trouble(st->link->op, RES_GROUP, STR_NONE, 404, STR("404 page not found"), &line);
	buf_release(&line);
	sim_move(s, st->relist, s->now + sim_between(s, 500, 10000));
	link_run(s, st->link);
	return true;
}

/* The server reads what there is; the operator sees it a little later. */
void stream_list(struct sim *s, struct sim_stream *st)
{
	enum resource r = resource_of(st->link, st);
	const struct map *maps[RES_COUNT] = { [RES_JOB] = &s->jobs_by_name,
		                              [RES_POD] = &s->pods,
		                              [RES_SERVICE] = &s->services,
		                              [RES_GROUP] = &s->groups };
	const struct map *from = maps[r];
	struct stream_item it = { .list = true, .at = s->now + sim_between(s, 1, 200) };
	void *value;

	if (unlisted(s, st))
		return;
	if (r == RES_NODE) {
		it.versions = arena_array(s->arena, struct sim_version *, SIM_NODES);
		for (size_t i = 0; i < SIM_NODES; i++)
			if (s->nodes[i].exists)
				it.versions[it.n++] = s->nodes[i].version;
	} else {
		it.versions = arena_array(s->arena, struct sim_version *, from->n);
		for (size_t at = 0; map_next(from, &at, NULL, &value);) {
			struct sim_version *v = version_of(r, value);

			if (v)
				it.versions[it.n++] = v;
		}
	}
	st->on = true;
	push(s, st, it);
}

void stream_replay(struct sim *s, struct sim_stream *st)
{
	size_t n = MIN(st->n_last, (size_t)STREAM_REPLAY), from = st->n_last - n + rng_below(&s->rng, n);

	for (size_t i = from; i < st->n_last; i++) {
		struct stream_item it = st->last[i % STREAM_REPLAY];

		it.at = s->now + sim_between(s, 1, 50);
		push(s, st, it);
	}
}

void stream_stall(struct sim *s, struct sim_stream *st, msec until)
{
	st->stalled = until;
	schedule(s, st);
}
