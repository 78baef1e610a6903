/* Every small world: two workers under every combination of policies, every short history of what can
   happen to them. After each event the plan must come to rest, and the rules that hold always hold. */
#include "plan/testing.h"

enum event { EV_RUN, EV_EXIT_0, EV_EXIT_1, EV_EXIT_137, EV_VANISH, EV_EVICT, EV_COUNT };

enum { WORKERS = 2, LIMIT = 1, LENGTH = 2 };

struct memory {
	enum phase outcome;
	int64_t generation[WORKERS];
	bool completed[WORKERS]; /* in that generation */
	int32_t counted;
};

static struct t *world(enum restart_policy policy, enum scope scope, enum role_end complete, enum role_end fail)
{
	struct t *t = t_new();
	struct role *r = t_role(t, "worker", WORKERS);

	r->service = false;
	r->restart.policy = policy;
	r->restart.scope = scope;
	r->restart.limit = LIMIT;
	t_codes(r, "128-255");
	r->complete = complete;
	r->fail = fail;
	t_settle(t);
	return t;
}

static void happen(struct t *t, enum event ev, int32_t index)
{
	struct t_pod *p = t_pod(t, "worker", index);

	/* What has ended can only be deleted. */
	if (!p || (ev != EV_VANISH && (p->pod.phase == POD_SUCCEEDED || p->pod.phase == POD_FAILED)))
		return;
	switch (ev) {
	case EV_RUN:
		t_run(t);
		break;
	case EV_EXIT_0:
		t_exit(t, "worker", index, 0);
		break;
	case EV_EXIT_1:
		t_exit(t, "worker", index, 1);
		break;
	case EV_EXIT_137:
		t_exit(t, "worker", index, 137);
		break;
	case EV_VANISH:
		t_vanish(t, "worker", index);
		break;
	case EV_EVICT:
		t_exit(t, "worker", index, 137);
		p->pod.reason = STR("Evicted");
		p->pod.disrupted = true;
		break;
	case EV_COUNT:
		break;
	}
}

/* Nothing is forgotten, nothing falls back. */
static void check(struct t *t, struct memory *m)
{
	const struct record_role *r = t_rec(t, "worker");

	if (m->outcome != PHASE_NONE)
		assert_int_equal(t->record->outcome, m->outcome);
	m->outcome = t->record->outcome;
	/* Each replica has the limit for itself, unless more than itself starts again. */
	assert_true(r->counted_ever <= (t->roles[0].restart.scope == SCOPE_POD ? WORKERS : 1) * LIMIT);
	assert_true(t->record->level.counted <= LIMIT && r->level.counted <= LIMIT);
	for (size_t i = 0; i < r->n_indexes; i++)
		assert_true(r->indexes[i].level.counted <= LIMIT);
	assert_true(r->counted_ever >= m->counted);
	m->counted = r->counted_ever;
	for (int32_t i = 0; i < WORKERS; i++) {
		int64_t g = record_generation(t->record, &t->roles[0], r, i);
		struct t_pod *p = t_pod(t, "worker", i);

		assert_true(g >= m->generation[i]);
		/* A completed replica does not run again in its generation. */
		if (g == m->generation[i] && m->completed[i]) {
			assert_true(ranges_has(&r->completed, i));
			assert_true(!p || p->pod.phase == POD_SUCCEEDED);
		}
		m->generation[i] = g;
		m->completed[i] = ranges_has(&r->completed, i);
		/* As long as it goes on, everyone who has not ended has a pod or waits for one. */
		if (t->record->outcome == PHASE_NONE && !m->completed[i] && !ranges_has(&r->failed, i))
			assert_true(p || t->plan.wake != NEVER);
	}
}

static void histories(struct t *(*make)(int), int which)
{
	enum { MOVES = EV_COUNT * WORKERS };
	int total = 1;

	for (int i = 0; i < LENGTH; i++)
		total *= MOVES;
	for (int h = 0; h < total; h++) {
		struct t *t = make(which);
		struct memory m = { 0 };

		for (int i = 0, code = h; i < LENGTH; i++, code /= MOVES) {
			happen(t, (enum event)(code % MOVES % EV_COUNT), code % MOVES / EV_COUNT);
			t_settle(t);
			check(t, &m);
			t_pass(t, MINUTES(1));
			t_settle(t);
			check(t, &m);
		}
		t_free(t);
	}
}

enum { POLICIES = RESTART_ON_NODE_FAIL_WITH_EXIT_CODE + 1, SCOPES = SCOPE_JOB + 1, ENDS = END_NONE + 1 };

static struct t *numbered(int which)
{
	int policy = which % POLICIES, scope = which / POLICIES % SCOPES, complete = which / POLICIES / SCOPES % ENDS,
	    fail = which / POLICIES / SCOPES / ENDS;

	return world((enum restart_policy)policy, (enum scope)scope, (enum role_end)complete, (enum role_end)fail);
}

static void every_small_world(void **state)
{
	(void)state;
	for (int which = 0; which < POLICIES * SCOPES * ENDS * ENDS; which++)
		histories(numbered, which);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_small_world) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
