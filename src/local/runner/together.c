#include "local/runner/together.h"

#include "local/runner/companion.h"
#include "local/runner/pods.h"

/* The operator makes pods in batches, one soon after the other. Some may never come: those that have completed. */
static const msec patience = 500;

static bool counts(const struct runner_pod *p)
{
	return p->unit && !p->gone && !companion_is(p) && !pods_is_deleting(p);
}

void together_count(struct runner *r)
{
	for (struct runner_unit *u = r->first_unit; u; u = u->next)
		u->here = u->living = u->nameless = 0;
	for (struct runner_pod *p = r->first_pod; p; p = p->next) {
		if (!counts(p))
			continue;
		p->unit->here++;
		p->unit->living += p->stage == RUN_LIVES;
		/* One that was put off is waited for by nobody. */
		p->unit->nameless += p->stage == RUN_BOUND && !p->has_ip && p->retry_at <= r->now;
	}
}

bool together_may_start(struct runner *r, const struct runner_pod *p)
{
	const struct runner_unit *u = p->unit;

	if (!counts(p) || u->living)
		return true;
	if (u->nameless) {
		runner_wake_at(r, r->now);
		return false;
	}
	if ((int64_t)u->here >= u->replicas || r->now >= u->came + patience)
		return true;
	runner_wake_at(r, u->came + patience);
	return false;
}
