/*
 * Load. In some runs the operator is slow: each turn takes it a while, in which it listens but plans nothing, and it
 * may have few requests in flight. Now and then a storm of changes keeps it busy: pods of half of the jobs change all
 * the time, in nothing that matters. What the other half waits for must come all the same, so in these runs nothing
 * goes wrong between operator and server that would explain a delay.
 */
#include "sim/load.h"
#include "sim/server.h"
#include "sim/sim.h"

/* So late a deadline may be. */
static const msec late = SECONDS(2);

bool load_is_busy(const struct sim *s)
{
	return s->opt.seed % 8 == 6;
}

msec load_turn(const struct sim *s)
{
	return s->busy ? 50 : 0;
}

void load_config(const struct sim *s, struct operator_config *c)
{
	c->creates_max = 4;
	c->requests_max = s->busy || s->opt.seed % 4 == 0 ? 8 : 24;
	c->turns_max = s->busy ? 1 : c->turns_max;
}

void load_begin_storm(struct sim *s)
{
	TRACE(s, "STORM");
	s->tally->hits[HIT_STORM]++;
	s->storm = rng_below(&s->rng, 2);
	if (s->now >= s->storm_until)
		sim_at(s, s->now, EV_STORM, NULL);
	s->storm_until = s->now + sim_between(s, 4000, 8000);
}

void load_storm(struct sim *s)
{
	size_t n = 0;

	if (s->now >= s->storm_until || s->quiet)
		return;
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists && j->pods && n++ % 2 == s->storm && j->pods->labelled)
			server_pod_changed(s, j->pods);
	sim_at(s, s->now + sim_between(s, 20, 40), EV_STORM, NULL);
}

static msec deadline(const struct job *spec, const struct record *r)
{
	msec at = NEVER;

	if (r->start && spec->active_deadline >= 0)
		at = r->start + SECONDS(spec->active_deadline);
	if (r->running && spec->time_limit >= 0)
		at = MIN(at, r->running + SECONDS(spec->time_limit));
	return at;
}

void load_check_end(struct sim *s, const struct sim_job *job, const struct record *before)
{
	msec due = deadline(kind_job(job->spec), before);

	/* It may have been suspended, or invalid, until it was edited. */
	if (!s->busy || due == NEVER || s->now <= MAX(due, job->edited) + late)
		return;
	sim_broken(s, INV_DEADLINE, "%.*s ends %lld ms after its deadline", STR_F(job->name),
	           (long long)(s->now - due));
}

void load_check_flight(struct sim *s, const struct sim_link *l)
{
	size_t n = 0;

	for (const struct sim_request *r = s->in_flight; r; r = r->next)
		n += r->link == l;
	if (n > l->requests_max)
		sim_broken(s, INV_FLIGHT, "%zu requests are in flight, %zu may be", n, l->requests_max);
}
