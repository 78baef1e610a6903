/* Node failure. A list that failed means "unknown", never "gone": a node has failed only if its own
   object has said so for longer than the grace time, or a GET said that it is not there. */
#include "plan/world.h"

/* When most nodes are NotReady together it may be we, or the API server, who are cut off. */
static bool outage(const struct fleet *f)
{
	return f->total >= 3 && f->not_ready * 2 > f->total;
}

static void ask_for(struct world *w, struct str name)
{
	for (size_t i = 0; i < w->actions.n; i++)
		if (w->actions.v[i].type == ACT_GET_NODE && str_eq(w->actions.v[i].node, name))
			return;
	world_act(w, ACT_GET_NODE)->node = name;
}

enum node_state node_state_of(struct world *w, struct str name)
{
	const struct plan_config *cfg = w->in->config;
	const struct fleet *fleet = w->in->fleet;
	const struct node *node;
	msec failed_at;

	if (!fleet)
		return NODE_GOOD;
	node = map_get(fleet->nodes, name);
	if (!node) {
		ask_for(w, name);
		return NODE_GOOD;
	}
	if (node->gone || node->out_of_service)
		return NODE_GONE;
	if (node->ready)
		return NODE_GOOD;
	failed_at = node->since + (outage(fleet) ? cfg->node_outage_wait : cfg->node_grace);
	if (w->now >= failed_at)
		return NODE_FAILED;
	world_wake(w, failed_at);
	return NODE_GOOD;
}
