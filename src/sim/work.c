/* No sequence of answers makes the operator work without end: what one call sends is bounded, it does not want to be
   called at once for ever, and what cannot be made is not tried again without a pause. */
#include "sim/sim.h"
#include "sim/work.h"

enum {
	SENT_MOST = 512,  /* in one call: twice what it may have in flight */
	CALLS_MOST = 100, /* at one time, each because the one before wanted it */
	TRIES_MOST = 40,  /* creates of one name in TRIES_TIME; without back-off there would be a hundred */
};
static const msec tries_time = SECONDS(10);

struct tries {
	struct str key;
	msec since;
	int n;
};

void work_called(struct sim *s)
{
	s->sent_now = 0;
}

void work_woken(struct sim *s)
{
	s->calls_now = s->called == s->now ? s->calls_now + 1 : 0;
	s->called = s->now;
	if (s->calls_now > CALLS_MOST)
		sim_broken(s, INV_WORK, "the operator wants to be called at once for the %zuth time", s->calls_now);
}

void work_sent(struct sim *s, const struct sim_request *r)
{
	struct str key;
	struct tries *t;

	if (++s->sent_now > SENT_MOST)
		sim_broken(s, INV_WORK, "one call sends more than %d requests", SENT_MOST);
	if (r->r.verb != VERB_CREATE)
		return;
	key = arena_printf(s->arena, "%d/%.*s", (int)r->r.resource, STR_F(r->r.name));
	t = map_get(&s->tries, key);
	if (!t) {
		t = arena_new(s->arena, struct tries);
		t->key = key;
		map_put(&s->tries, key, t);
	}
	if (s->now - t->since > tries_time)
		*t = (struct tries){ t->key, s->now, 0 };
	if (++t->n > TRIES_MOST)
		sim_broken(s, INV_WORK, "%.*s is made for the %dth time in %lld s", STR_F(r->r.name), t->n,
		           (long long)tries_time / 1000);
}
