/* Node failure. A list that failed means "unknown", never "gone": a node has failed only if its own
   object has said so for longer than the grace time, by our own clock, or a GET said that it is not there. */
#include "plan/world.h"

/* When most nodes are NotReady together it may be we, or the API server, who are cut off. */
static bool outage(const struct fleet *f)
{
	return f->total >= 3 && f->not_ready * 2 > f->total;
}

static void ask_for(struct world *w, struct str name)
{
	for (size_t i = 0; i < w->actions.n; i++)
		if (w->actions.v[i].type == ACT_GET && str_eq(w->actions.v[i].node, name))
			return;
	world_act(w, ACT_GET, RES_NODE)->node = name;
}

static const struct node *find_node(const struct world *w, struct str name)
{
	return w->in->fleet && name.n ? map_get(w->in->fleet->nodes, name) : NULL;
}

/* Seconds; -1: not at all. */
static int32_t tolerated(const struct tolerations *t, const struct node *node)
{
	return node->unreachable ? t->unreachable : t->not_ready;
}

/* Would its loss end the replica for good? */
static bool loss_is_final(const struct world *w, const struct role_view *v, const struct replica *rep)
{
	int32_t index = (int32_t)(rep - v->replicas);

	if (v->role->aux)
		return false;
	return !restart_covers_nodes(restart_rules(w, v, index)->policy) ||
	       limit_is_reached(w, v, rep, CAUSE_NODE_FAIL);
}

/* Whoever gives a pod time to stay on a node that does not answer shall have it; "for ever" says nothing of how long to
   wait for a restart. Where the loss of a node ends the job, nobody is quicker than Kubernetes itself would be: the pod
   as it is stored has the time that the API server gave, and one that stays for ever is never lost. */
static msec grace_of(const struct world *w, const struct role_view *v, const struct replica *rep,
                     const struct node *node)
{
	int32_t asked = tolerated(&v->role->tolerations, node), stored = tolerated(&rep->pod->tolerations, node);
	msec grace = w->in->config->node_grace;

	if (asked != TOLERATED_FOR_EVER)
		grace = MAX(grace, SECONDS(MAX(asked, 0)));
	if (!loss_is_final(w, v, rep))
		return grace;
	return stored == TOLERATED_FOR_EVER ? NEVER : MAX(grace, SECONDS(MAX(stored, 0)));
}

bool node_is_asked_for(struct world *w, const struct pod *pod)
{
	if (!w->in->fleet || !pod->node.n || find_node(w, pod->node))
		return false;
	ask_for(w, pod->node);
	return true;
}

bool node_is_down(const struct world *w, struct str name)
{
	const struct node *node = find_node(w, name);

	return node && (!node->ready || node->gone || node->out_of_service);
}

/* NODE_FAILED: it has not been ready for GRACE; NEVER: that says nothing. */
static enum node_state state_after(struct world *w, const struct pod *pod, const struct node *node, msec grace)
{
	msec failed_at;

	if (node_is_asked_for(w, pod) || !node)
		return NODE_GOOD;
	if (node->gone || node->out_of_service)
		return NODE_GONE;
	if (node->ready || grace == NEVER)
		return NODE_GOOD;
	failed_at = node->since + (outage(w->in->fleet) ? MAX(grace, w->in->config->node_outage_wait) : grace);
	if (w->now >= failed_at)
		return NODE_FAILED;
	world_wake(w, failed_at);
	return NODE_GOOD;
}

enum node_state node_state_of(struct world *w, const struct role_view *v, const struct replica *rep)
{
	const struct node *node = find_node(w, rep->pod->node);

	return state_after(w, rep->pod, node, node ? grace_of(w, v, rep, node) : 0);
}

enum node_state node_state_to_force(struct world *w, const struct pod *pod)
{
	const struct plan_config *c = w->in->config;
	bool waits = pod->meta.deleted && c->force_delete_after > 0;

	return state_after(w, pod, find_node(w, pod->node), MAX(c->node_grace, waits ? c->force_delete_after : 0));
}
