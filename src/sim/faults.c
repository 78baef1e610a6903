/* What goes wrong between operators and the server. */
#include "sim/faults.h"
#include "sim/groups.h"
#include "sim/kubelet.h"
#include "sim/load.h"
#include "sim/nodes.h"
#include "sim/server.h"
#include "sim/sim.h"
#include "sim/sizes.h"

/* What an admission policy or a webhook says. */
static const int codes[] = { 422, 400, 403 };

static void refuse_status(struct sim *s)
{
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists && rng_one_in(&s->rng, 4)) {
			j->status_code = codes[rng_below(&s->rng, ARRAY_LEN(codes))];
			if (rng_one_in(&s->rng, 2))
				j->status_refused = s->now + sim_between(s, 1000, 20000);
			else
				j->own_refused = s->now + sim_between(s, 1000, 300000);
			return;
		}
}

/* An admission policy, or a webhook that sets no code. All are denied for less time than ends a job that was never
   accepted, and then not for a while; one that has run is denied for as long as it takes. */
static void deny(struct sim *s)
{
	struct sim_job *found = NULL;
	size_t n = 0;

	s->deny_code = codes[rng_below(&s->rng, ARRAY_LEN(codes))];
	if (s->now >= s->deny_again && rng_one_in(&s->rng, 2)) {
		s->denied = s->now + sim_between(s, 1000, 45000);
		s->deny_again = s->denied + SECONDS(130);
		return;
	}
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists && j->now->record && j->now->record->running && rng_one_in(&s->rng, ++n))
			found = j;
	if (found)
		found->denied = s->now + sim_between(s, 60000, 300000);
}

/* A quota that only one role of a job meets, or only its services: for a while, or for ever. */
static void bar_role(struct sim *s, struct sim_job *job, msec until)
{
	const struct job *spec = kind_job(job->spec);
	const struct role *role = spec->n_roles > 1 ? &spec->roles[rng_below(&s->rng, spec->n_roles)] : NULL;

	if (!job->exists || !role || role->aux || job->wish.script != SCRIPT_WILD)
		return;
	job->barred = until;
	job->barred_sort = rng_one_in(&s->rng, 3) ? RES_SERVICE : RES_POD;
	job->barred_role = role->name;
	TRACE(s, "quota on %s of %.*s of %.*s%s", resource_plural(job->barred_sort), STR_F(role->name),
	      STR_F(job->name), until == NEVER ? " for ever" : "");
}

static struct sim_job *some_job(struct sim *s)
{
	struct sim_job *found = NULL;
	size_t n = 0;

	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists && rng_one_in(&s->rng, ++n))
			found = j;
	return found;
}

/* All pods that are not kept, and a service that does not come back. */
static void lose_children(struct sim *s, struct sim_job *job)
{
	struct sim_service *service = job->services;
	struct sim_pod *next;

	for (struct sim_pod *p = job->pods; p; p = next) {
		next = p->next;
		if (p->labelled && s->now >= p->kept)
			server_delete_pod(s, p, -1);
	}
	while (service && !(service->labelled && str_eq(service->now.role, job->barred_role)))
		service = service->next;
	if (service && job->barred == NEVER && job->barred_sort == RES_SERVICE)
		server_remove_service(s, service);
}

/* A pod has failed, and must go, and the operator may not delete it. */
static void keep_pod(struct sim *s, struct sim_job *job, msec until)
{
	struct sim_pod *p = job->pods;

	/* A companion lives by rules of its own. */
	while (p && !(p->labelled && companion_named(p->now.role) == COMPANION_COUNT && p->on &&
	              p->stage >= STAGE_STARTING && p->stage < STAGE_ENDED))
		p = p->next;
	if (!p || job->wish.script != SCRIPT_WILD)
		return;
	TRACE(s, "pod %.*s is not let go%s", STR_F(p->now.meta.name), until == NEVER ? ", for ever" : "");
	p->kept = until;
	job->keeps |= until == NEVER;
	kubelet_evict(s, p);
}

void faults_stay(struct sim *s)
{
	for (struct sim_job *j = s->all_jobs; j; j = j->next) {
		if (!j->exists)
			continue;
		if (rng_one_in(&s->rng, 2))
			bar_role(s, j, NEVER);
		else
			keep_pod(s, j, NEVER);
		if (j->barred == NEVER || j->keeps)
			lose_children(s, j);
	}
}

static void keep_out_or_in(struct sim *s)
{
	struct sim_job *job = some_job(s);
	msec until = s->now + sim_between(s, 20000, 200000);

	if (job && rng_one_in(&s->rng, 2))
		bar_role(s, job, until);
	else if (job)
		keep_pod(s, job, until);
}

static void something_fails(struct sim *s)
{
	struct sim_stream *st = s->link ? &s->link->streams[rng_below(&s->rng, link_streams(s))] : NULL;

	switch (rng_below(&s->rng, 20)) {
	case 0:
		if (s->link && rng_one_in(&s->rng, 2))
			link_kill(s);
		else if (s->link)
			link_change_leader(s);
		break;
	case 1:
	case 2:
	case 3:
	case 4:
		if (st) {
			TRACE(s, "watch stalls");
			stream_stall(s, st, s->now + sim_between(s, 500, 40000));
			s->tally->hits[HIT_WATCH_STALLED]++;
		}
		break;
	case 5:
	case 6:
		if (st && st->on) {
			TRACE(s, "watch breaks");
			stream_anew(s, st, sim_between(s, 100, 20000));
			s->tally->hits[HIT_WATCH_DROPPED]++;
		}
		break;
	case 7:
		if (st && st->on) {
			TRACE(s, "410");
			stream_anew(s, st, 1);
			s->tally->hits[HIT_WATCH_EXPIRED]++;
		}
		break;
	case 8:
	case 9:
		if (st && st->on && st->n_last) {
			stream_replay(s, st);
			s->tally->hits[HIT_WATCH_REPEATED]++;
		}
		break;
	case 10:
		s->quota_until = s->now + sim_between(s, 1000, 30000);
		break;
	case 11:
		s->webhook_until = s->now + sim_between(s, 1000, 10000);
		break;
	case 12:
		refuse_status(s);
		break;
	case 13:
		deny(s);
		break;
	case 14:
	case 15:
		s->registry_until = s->now + sim_between(s, 20000, 180000);
		break;
	default:
		nodes_fault(s);
	}
	if (sim_chance(s, 4))
		sizes_fault(s);
	if (sim_chance(s, 4))
		keep_out_or_in(s);
	if (s->gang && sim_chance(s, 30)) {
		groups_undefine(s);
		if (s->link && s->link->streams[RES_GROUP].on)
			stream_anew(s, &s->link->streams[RES_GROUP], sim_between(s, 1, 2000));
	}
}

/* Now and then something goes wrong. */
void faults_act(struct sim *s)
{
	if (!s->busy)
		something_fails(s);
	else if (rng_one_in(&s->rng, 2))
		load_begin_storm(s);
	else
		nodes_fault(s);
	sim_move(s, s->faults, s->now + sim_between(s, 200, 12000));
}
