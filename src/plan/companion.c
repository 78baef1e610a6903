/* Companions: how long they outlive the job, and where people find them. */
#include "plan/world.h"

bool companion_is_over(struct world *w, const struct role *role)
{
	msec at;

	if (!role->companion || role->companion->ttl < 0 || w->next->outcome == PHASE_NONE || !w->next->end)
		return false;
	at = w->next->end + SECONDS(role->companion->ttl);
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
	                    COMPANION_SERVICE_PORT);
}

void companion_addresses(struct world *w)
{
	memset(w->next->addresses, 0, sizeof(w->next->addresses));
	for (size_t r = 0; r < w->job->n_roles && w->roles; r++) {
		const struct role *role = w->roles[r].role;

		if (role->companion && !companion_is_over(w, role))
			w->next->addresses[role->companion->id] = address(w, &w->roles[r].replicas[0]);
	}
}
