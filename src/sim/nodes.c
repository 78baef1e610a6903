/* What becomes of nodes. */
#include "sim/kubelet.h"
#include "sim/nodes.h"
#include "sim/server.h"
#include "sim/sim.h"

static msec whole(msec t)
{
	return t - t % 1000;
}

static void set_ready(struct sim *s, struct sim_node *n, bool ready)
{
	if (n->now.ready == ready && n->exists)
		return;
	TRACE(s, "node %.*s is %s", STR_F(n->now.name), ready ? "ready" : "not ready");
	n->now.ready = ready;
	n->now.unreachable = !ready && rng_one_in(&s->rng, 2);
	n->now.since = whole(s->now);
	n->down = ready ? 0 : s->now;
	server_node_changed(s, n);
}

void nodes_start(struct sim *s)
{
	for (size_t i = 0; i < SIM_NODES; i++) {
		struct sim_node *n = &s->nodes[i];

		n->now.name = arena_printf(s->arena, "node-%zu", i);
		n->skew = sim_between(s, -60000, 60000);
		n->timer = arena_new(s->arena, struct sim_event);
		n->timer->type = EV_NODE;
		n->timer->what = n;
		n->taints = arena_new(s->arena, struct sim_event);
		n->taints->type = EV_TAINTS;
		n->taints->what = n;
		set_ready(s, n, true);
	}
}

/* No operator is behind for longer. */
static const msec told_late = MINUTES(3);

void nodes_pod_left(struct sim *s, struct sim_node *n, struct sim_pod *p)
{
	size_t i = n->n_left++ % NODE_LEFT;

	n->left[i] = p;
	n->left_at[i] = s->now;
}

/* What that operator was shown of the node excuses it: it may take pods for lost, and count them. One that is only not
   ready must have been so for the whole grace time; but what is being deleted there is lost at once. To an operator
   that was not told yet those that have left are still there. */
static void excuse(struct sim *s, const struct sim_node *n, size_t slot)
{
	const struct node_sight *sight = &n->sights[slot];
	bool lost = sight->lost || s->now >= sight->down + plan_config_default.node_grace;

	if (!sight->down && !sight->lost)
		return;
	for (size_t i = 0; i < MIN(n->n_left, (size_t)NODE_LEFT); i++)
		if (s->now - n->left_at[i] < told_late)
			kubelet_failure(s, n->left[i]);
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		for (struct sim_pod *p = j->pods; p; p = p->next)
			if (p->on == n && (lost || p->now.meta.deleted))
				kubelet_failure(s, p);
}

void nodes_excuse(struct sim *s)
{
	for (size_t i = 0; i < SIM_NODES; i++)
		for (size_t slot = 0; slot < SIM_LINKS; slot++)
			excuse(s, &s->nodes[i], slot);
}

static struct sim_node *node_named(struct sim *s, struct str name)
{
	for (size_t i = 0; i < SIM_NODES; i++)
		if (str_eq(s->nodes[i].now.name, name))
			return &s->nodes[i];
	BUG("no such node");
}

void nodes_shown(struct sim *s, size_t slot, const struct node *now)
{
	struct sim_node *n = node_named(s, now->name);
	struct node_sight *sight = &n->sights[slot];

	/* A restart that was planned before this is still on its way. */
	excuse(s, n, slot);
	sight->down = now->ready ? 0 : sight->down ? sight->down : s->now;
	sight->lost = now->out_of_service;
}

void nodes_shown_gone(struct sim *s, size_t slot, struct str name)
{
	struct sim_node *n = node_named(s, name);

	excuse(s, n, slot);
	n->sights[slot] = (struct node_sight){ .lost = true };
}

void nodes_unseen(struct sim *s, size_t slot)
{
	for (size_t i = 0; i < SIM_NODES; i++) {
		excuse(s, &s->nodes[i], slot);
		s->nodes[i].sights[slot] = (struct node_sight){ 0 };
	}
}

static void taint_pod(struct sim *s, const struct sim_node *n, struct sim_pod *p)
{
	int32_t tolerated = n->now.unreachable ? p->now.tolerations.unreachable : p->now.tolerations.not_ready;

	if (p->stage >= STAGE_ENDED || p->now.meta.deleted)
		return;
	if (tolerated == TOLERATED_FOR_EVER) {
		s->tally->hits[HIT_TOLERATED]++;
		return;
	}
	if (s->now < n->down + SECONDS(tolerated))
		return;
	TRACE(s, "the taint manager deletes pod %.*s", STR_F(p->now.meta.name));
	s->tally->hits[HIT_TAINTED]++;
	p->now.disrupted = true;
	p->now.disrupted_at = whole(s->now);
	p->now.disrupter = STR("DeletionByTaintManager");
	kubelet_failure(s, p);
	server_pod_changed(s, p);
	server_delete_pod(s, p, -1);
}

void nodes_taints(struct sim *s, struct sim_node *n)
{
	if (!n->exists || n->now.ready)
		return;
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		for (struct sim_pod *p = j->pods, *next; p; p = next) {
			next = p->next;
			if (p->on == n)
				taint_pod(s, n, p);
		}
	sim_move(s, n->taints, s->now + sim_between(s, 1000, 5000));
}

/* It comes back; or, if it is gone, what was on it is cleared away and a new one takes its place. */
void nodes_timer(struct sim *s, struct sim_node *n)
{
	struct sim_pod *p, *next;

	if (n->exists) {
		n->now.out_of_service = false;
		set_ready(s, n, true);
		return;
	}
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		for (p = j->pods; p; p = next) {
			next = p->next;
			if (p->on != n)
				continue;
			p->now.disrupted = true;
			p->now.disrupted_at = whole(s->now);
			p->now.disrupter = STR("DeletionByPodGC");
			kubelet_failure(s, p);
			server_remove_pod(s, p);
		}
	set_ready(s, n, true);
}

static void down(struct sim *s, struct sim_node *n, msec from, msec to)
{
	set_ready(s, n, false);
	sim_move(s, n->taints, s->now + sim_between(s, 100, 5000));
	sim_move(s, n->timer, s->now + sim_between(s, from, to));
}

/* Sometimes a node tells its pods before it goes. */
static void shut_down(struct sim *s, const struct sim_node *n)
{
	if (!rng_one_in(&s->rng, 2))
		return;
	s->tally->hits[HIT_NODE_SHUTDOWN]++;
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		for (struct sim_pod *p = j->pods, *next; p; p = next) {
			next = p->next;
			if (p->on == n)
				kubelet_shutdown(s, p);
		}
}

void nodes_fault(struct sim *s)
{
	struct sim_node *n = &s->nodes[rng_between(&s->rng, SIM_STABLE, SIM_NODES - 1)];

	if (!n->exists || !n->now.ready)
		return;
	switch (rng_below(&s->rng, 8)) {
	case 0:
	case 1:
		s->tally->hits[HIT_NODE_SHORT]++;
		down(s, n, 2000, 35000);
		break;
	case 2:
	case 3:
		s->tally->hits[HIT_NODE_LONG]++;
		shut_down(s, n);
		down(s, n, 50000, 400000);
		break;
	case 4:
	case 5:
		s->tally->hits[HIT_NODE_GONE]++;
		TRACE(s, "node %.*s is gone", STR_F(n->now.name));
		shut_down(s, n);
		down(s, n, 20000, 100000);
		server_node_gone(s, n);
		break;
	case 6:
		s->tally->hits[HIT_NODE_TAINT]++;
		n->now.out_of_service = true;
		down(s, n, 30000, 200000);
		break;
	default:
		s->tally->hits[HIT_OUTAGE]++;
		for (size_t i = SIM_STABLE; i < SIM_NODES; i++)
			if (s->nodes[i].exists && s->nodes[i].now.ready)
				down(s, &s->nodes[i], 10000, 300000);
	}
}

void nodes_heal(struct sim *s)
{
	for (size_t i = 0; i < SIM_NODES; i++)
		if (!s->nodes[i].exists || !s->nodes[i].now.ready)
			sim_move(s, s->nodes[i].timer, s->now);
}
