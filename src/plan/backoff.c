/* Restarts wait longer and longer, as a container's do under the kubelet: the first not at all, then
   10 s, 20 s, 40 s … up to a cap; after a quiet time twice the cap it begins anew. What is taken away again and again
   before it has run for a moment waits for minutes in any case: nothing else limits it. */
#include "plan/world.h"

msec backoff_delay(const struct restart *r, int32_t streak)
{
	int64_t delay = r->backoff_initial;

	if (streak <= 1)
		return 0;
	for (int32_t i = 2; i < streak && delay < r->backoff_max; i++)
		delay *= 2;
	return SECONDS(MIN(delay, (int64_t)r->backoff_max));
}

static const struct restart barren_pace = { .backoff_initial = 10, .backoff_max = 300 };

static msec barren_delay(int32_t barren)
{
	return barren > 2 ? backoff_delay(&barren_pace, barren) : 0;
}

static msec level_delay(const struct restart_level *l, const struct restart *r)
{
	return MAX(backoff_delay(r, l->streak), barren_delay(l->barren));
}

bool backoff_is_quiet(const struct restart_level *l, const struct restart *r, msec now)
{
	int32_t cap = l->barren ? MAX(r->backoff_max, barren_pace.backoff_max) : r->backoff_max;

	return now - l->at > 2 * SECONDS(cap) + level_delay(l, r);
}

void backoff_hit(struct restart_level *l, const struct restart *r, msec stamp, bool barren)
{
	bool quiet = backoff_is_quiet(l, r, stamp);

	l->streak = l->at && !quiet && l->streak < INT32_MAX ? l->streak + 1 : 1;
	l->barren = barren && l->barren < INT32_MAX ? l->barren + 1 : 0;
	l->at = stamp;
}

/* A restart that lies further ahead than the longest wait was written by a clock that was set back since: nobody waits
   for that time to come again. */
static msec level_until(const struct world *w, const struct restart_level *l, const struct restart *r)
{
	return l->at > w->now + SECONDS(r->backoff_max) + MINUTES(1) ? 0 : l->at + level_delay(l, r);
}

msec backoff_until(const struct world *w, const struct role_view *v, int32_t index)
{
	const struct restart *r = restart_rules(w, v, index);
	const struct restart_level *own = record_index_level(v->rec, index), *role = &v->rec->level,
				   *job = &w->next->level;
	msec until = level_until(w, role, r);

	if (!v->role->aux)
		until = MAX(until, level_until(w, job, r));
	if (own)
		until = MAX(until, level_until(w, own, r));
	return until;
}
