/* One operator: what it is shown is delivered to it, it acts, and dies in the middle of a sentence. */
#include "base/http_code.h"
#include "sim/load.h"
#include "sim/mutant.h"
#include "sim/nodes.h"
#include "sim/sim.h"
#include "sim/sizes.h"
#include "sim/work.h"

/* Delivery */

static void shown(struct sim *s, const struct sim_link *l, struct sim_version *v)
{
	struct sim_version **known = v->job ? &v->job->known[l->slot] : NULL;

	if (known && (!*known || (*known)->seq < v->seq)) {
		*known = v;
		if (s->opt.mutant)
			mutant_shown(s, v->job);
	}
}

static void shown_group(const struct sim_link *l, struct sim_version *v)
{
	struct sim_version **known = v->gang ? &v->gang->group_known[l->slot] : NULL;

	if (known && (!*known || (*known)->seq < v->seq))
		*known = v;
}

static struct object show(const struct sim_link *l, struct sim_version *v)
{
	struct sim *s = l->sim;

	shown(s, l, v);
	shown_group(l, v);
	if (v->object.resource == RES_NODE)
		nodes_shown(s, l->slot, v->object.node);
	return s->opt.mutant ? mutant_object(s, v) : v->object;
}

static bool next_of_list(struct sim_link *l, struct cluster_event *ret)
{
	const struct stream_item *it = l->item;
	size_t at = l->at++;
	struct sim_version *v = at > 0 && at <= it->n ? it->versions[at - 1] : NULL;

	if (at == 0) {
		ret->type = EVENT_SYNC;
	} else if (v && v->size) {
		sizes_skip(l->sim, l, v, false, !sim_chance(l->sim, 20), ret);
	} else if (v) {
		ret->type = EVENT_PUT;
		ret->object = show(l, v);
	} else {
		ret->type = EVENT_SYNCED;
		l->item = NULL;
	}
	return true;
}

static bool link_next(struct cluster *c, struct cluster_event *ret)
{
	struct sim_link *l = (struct sim_link *)(void *)c;

	*ret = (struct cluster_event){ 0 };
	if (l->reply) {
		struct sim_request *r = l->reply;

		l->reply = NULL;
		ret->type = EVENT_OUTCOME;
		ret->outcome = r->outcome;
		ret->outcome.id = r->r.id;
		if (r->version)
			ret->outcome.object = show(l, r->version);
		else if (r->r.resource == RES_NODE && r->outcome.code == HTTP_NOT_FOUND)
			nodes_shown_gone(l->sim, l->slot, r->r.name);
		return true;
	}
	if (!l->item)
		return false;
	ret->resource = l->resource;
	if (l->item->list)
		return next_of_list(l, ret);
	if (l->item->version->size) {
		sizes_skip(l->sim, l, l->item->version, l->item->gone, true, ret);
	} else {
		if (l->item->gone && l->resource == RES_NODE)
			nodes_shown_gone(l->sim, l->slot, l->item->version->object.node->name);
		ret->type = l->item->gone ? EVENT_GONE : EVENT_PUT;
		ret->object = l->item->gone ? l->item->version->object : show(l, l->item->version);
	}
	l->item = NULL;
	return true;
}

void link_run(struct sim *s, struct sim_link *l)
{
	msec wake;

	work_called(s);
	if (s->now < l->busy) {
		operator_listen(l->op);
		sim_move(s, l->wake, l->busy);
		return;
	}
	wake = operator_step(l->op);
	l->busy = s->now + load_turn(s);
	if (wake == NEVER)
		sim_cancel(s, l->wake);
	else
		sim_move(s, l->wake, MAX(wake, l->busy));
}

void link_wake(struct sim *s, struct sim_link *l)
{
	work_woken(s);
	link_run(s, l);
}

/* Life and death */

static const struct cluster_ops link_ops = { wire_submit, link_next };

static struct operator_config config(const struct sim *s)
{
	struct operator_config c = operator_config_default;

	c.plan = plan_config_default;
	/* The same rules at a quicker pace, so that a run sees more of them. */
	c.plan.node_outage_wait = MINUTES(3);
	c.plan.force_delete_after = MINUTES(1);
	c.plan.creating_duration = s->opt.mutant == MUTANT_CURT ? 1000 : SIM_CREATING;
	c.plan.gang = s->opt.mutant == MUTANT_EAGER ? GANG_NONE : s->gang;
	load_config(s, &c);
	/* Some runs keep few jobs ready, so that they are read again and again. */
	c.jobs_open = s->opt.seed % 4 ? c.jobs_open : 2;
	return c;
}

/* PodGroups, the last ones, are watched only where there is a gang scheduler. */
size_t link_streams(const struct sim *s)
{
	return s->gang ? RES_COUNT : RES_GROUP;
}

struct sim_link *link_new(struct sim *s, size_t slot)
{
	struct sim_link *l = arena_new(s->arena, struct sim_link);
	struct operator_config c = config(s);

	l->cluster.ops = &link_ops;
	l->sim = s;
	l->slot = slot;
	l->began = s->now;
	l->requests_max = c.requests_max;
	if (s->opt.mutant == MUTANT_FLOOD)
		c.requests_max *= 4;
	if (s->opt.mutant == MUTANT_JUMPY)
		c.plan.node_grace = 0;
	l->wake = arena_new(s->arena, struct sim_event);
	l->wake->type = EV_OPERATOR;
	l->wake->what = l;
	for (size_t i = 0; i < link_streams(s); i++) {
		struct sim_stream *st = &l->streams[i];

		st->link = l;
		st->timer = arena_new(s->arena, struct sim_event);
		st->timer->type = EV_WATCH;
		st->timer->what = st;
		st->relist = arena_new(s->arena, struct sim_event);
		st->relist->type = EV_LIST;
		st->relist->what = st;
		sim_move(s, st->relist, s->now + sim_between(s, 1, 2000));
	}
	l->op = operator_new(&l->cluster, s->kinds, &s->clock, &c);
	return l;
}

void link_crash(struct sim *s, struct sim_link *l, bool cut_off)
{
	operator_free(l->op);
	l->op = NULL;
	nodes_unseen(s, l->slot);
	if (s->link == l)
		s->link = NULL;
	else
		s->former = NULL;
	sim_cancel(s, l->wake);
	for (size_t i = 0; i < link_streams(s); i++) {
		sim_cancel(s, l->streams[i].timer);
		sim_cancel(s, l->streams[i].relist);
	}
	wire_cut(s, l, cut_off);
}

void link_kill(struct sim *s)
{
	TRACE(s, "CRASH");
	s->tally->hits[HIT_CRASH]++;
	link_crash(s, s->link, false);
	s->start = sim_at(s, s->now + sim_between(s, 1, 30000), EV_START, NULL);
}

/* Another one takes over. What the old one has sent still arrives; and sometimes it goes on for a while,
   since nobody told it. */
void link_change_leader(struct sim *s)
{
	TRACE(s, "LEADER CHANGE");
	s->tally->hits[HIT_LEADER]++;
	if (!s->former && rng_one_in(&s->rng, 2)) {
		s->tally->hits[HIT_TWO_LEADERS]++;
		s->former = s->link;
		s->link = NULL;
		s->depose = sim_at(s, s->now + sim_between(s, 100, 15000), EV_DEPOSE, NULL);
	} else {
		link_crash(s, s->link, true);
	}
	s->start = sim_at(s, s->now + sim_between(s, 1, 200), EV_START, NULL);
}

void link_depose(struct sim *s)
{
	sim_cancel(s, s->depose);
	if (s->former) {
		TRACE(s, "the former leader stops");
		link_crash(s, s->former, true);
	}
}
