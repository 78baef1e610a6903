/* TensorBoard: how long it outlives the job, and where people find it. */
#include "plan/world.h"

bool board_is_over(struct world *w, const struct role *role)
{
	msec at;

	if (!role->board || role->board->ttl < 0 || w->next->outcome == PHASE_NONE || !w->next->end)
		return false;
	at = w->next->end + SECONDS(role->board->ttl);
	if (w->now >= at)
		return true;
	world_wake(w, at);
	return false;
}

static struct str address(const struct world *w, const struct replica *rep)
{
	const struct meta *service;

	if (!rep->pod || rep->pod->gone || rep->pod->meta.deleted || !rep->pod->ready || rep->verdict != V_RUNNING)
		return STR_NONE;
	if (rep->pod->address.n)
		return rep->pod->address;
	if (!rep->service || rep->service->meta.deleted)
		return STR_NONE;
	service = &rep->service->meta;
	return arena_printf(w->a, "http://%.*s.%.*s.svc:%d", STR_F(service->name), STR_F(service->ns),
	                    BOARD_SERVICE_PORT);
}

void board_address(struct world *w)
{
	w->next->tensorboard = STR_NONE;
	for (size_t r = 0; r < w->job->n_roles && w->roles; r++)
		if (w->roles[r].role->board && !board_is_over(w, w->roles[r].role))
			w->next->tensorboard = address(w, &w->roles[r].replicas[0]);
}
