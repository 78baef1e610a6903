#include "plan/testing.h"

static void delays(void **state)
{
	const struct restart r = { .backoff_initial = 10, .backoff_max = 300 };
	static const struct {
		int32_t streak;
		msec seconds;
	} table[] = { { 0, 0 },   { 1, 0 },   { 2, 10 },  { 3, 20 },         { 4, 40 },
		      { 6, 160 }, { 7, 300 }, { 8, 300 }, { INT32_MAX, 300 } };
	const struct restart none = { .backoff_initial = 0, .backoff_max = 300 };
	const struct restart high = { .backoff_initial = 500, .backoff_max = 300 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(backoff_delay(&r, table[i].streak), SECONDS(table[i].seconds));
	assert_int_equal(backoff_delay(&none, 40), 0);
	assert_int_equal(backoff_delay(&high, 2), SECONDS(300));
}

/* The first restart comes at once, the second after ten seconds, by timer. */
static void restarts_wait(void **state)
{
	struct t *t = t_new();
	msec failed;

	(void)state;
	t_role(t, "worker", 1)->restart.policy = RESTART_ALWAYS;
	t_settle(t);
	t_exit(t, "worker", 0, 1);
	t_settle(t);
	assert_int_equal(t->created, 2);
	t_exit(t, "worker", 0, 1);
	t_pass(t, SECONDS(1));
	t_plan(t);
	failed = t->record->last.at;
	for (int i = 0; i < 3; i++) {
		t_pass(t, SECONDS(1));
		t_plan(t);
		t_apply(t);
	}
	assert_int_equal(t->created, 2);
	assert_int_equal(t->plan.wake, failed + SECONDS(10));
	assert_contains(t_reason(t), "restarts at 2023-11-14T");
	t->now = failed + SECONDS(10);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 1);
	t_free(t);
}

/* The clock is set back by an hour: nobody waits an hour for the restart. */
static void a_clock_is_set_back(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 1)->restart.policy = RESTART_ALWAYS;
	t_settle(t);
	t_exit(t, "worker", 0, 1);
	t_settle(t);
	t_exit(t, "worker", 0, 1);
	for (int i = 0; i < 4; i++) {
		t_pass(t, SECONDS(1));
		t_plan(t);
		t_apply(t);
	}
	assert_int_equal(t->created, 2);
	t->now -= MINUTES(60);
	t_plan(t);
	assert_int_equal(t_actions(t, ACT_CREATE, RES_POD), 1);
	t_free(t);
}

static void a_quiet_time_resets_it(void **state)
{
	struct restart_level l = { 0 };
	const struct restart r = { .backoff_initial = 10, .backoff_max = 300 };
	msec now = 1700000000000;

	(void)state;
	for (int i = 1; i <= 5; i++) {
		backoff_hit(&l, &r, now, false);
		assert_int_equal(l.streak, i);
		now += MINUTES(1);
	}
	now += MINUTES(11);
	backoff_hit(&l, &r, now, false);
	assert_int_equal(l.streak, 1);
	assert_int_equal(l.at, now);
	l.streak = INT32_MAX;
	backoff_hit(&l, &r, now, false);
	assert_int_equal(l.streak, 1);
}

/* Levels do not share their waits: one worker that crashes does not slow the others. */
static void levels_are_apart(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "worker", 2)->restart.policy = RESTART_ALWAYS;
	t_settle(t);
	t_run(t);
	for (int i = 0; i < 3; i++) {
		t_exit(t, "worker", 0, 1);
		t_pass(t, SECONDS(60));
		t_settle(t);
		t_pass(t, SECONDS(60));
		t_settle(t);
	}
	assert_int_equal(record_index_level(t_rec(t, "worker"), 0)->streak, 3);
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	assert_non_null(t_pod(t, "worker", 1));
	assert_int_equal(t_pod(t, "worker", 1)->pod.generation, 1);
	t_free(t);
}

/* Nobody writes because a time was quiet; who writes anyway leaves out what is of no use any more. */
static void quiet_streaks_go_with_other_writes(void **state)
{
	struct t *t = t_new();
	struct role *role;
	int writes;

	(void)state;
	role = t_role(t, "worker", 3);
	role->restart.policy = RESTART_ALWAYS;
	role->restart.limit = -1;
	t_settle(t);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 1)->streak, 1);
	t_pass(t, MINUTES(24 * 60));
	writes = t->writes;
	t_plan(t);
	assert_int_equal(t->plan.write, CHANGE_NONE);
	assert_int_equal(t->writes, writes);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 1)->streak, 1);
	t_exit(t, "worker", 2, 1);
	t_settle(t);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 1)->streak, 0);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 1)->at, 0);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 1)->generation, 1);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 2)->streak, 1);
	t_free(t);
}

/* A kubelet that rejects the pod again and again, whatever the user's pace: minutes, and the line says how often. */
static void taken_away_before_it_ran(void **state)
{
	struct t *t = t_new();
	msec waited = 0;

	(void)state;
	t_role(t, "worker", 1)->restart = (struct restart){ .backoff_initial = 0, .backoff_max = 0, .limit = 0 };
	t_settle(t);
	for (int i = 0; i < 9; i++) {
		struct t_pod *p = t_pod(t, "worker", 0);
		msec rejected = t->now;

		p->pod.phase = POD_FAILED;
		p->pod.reason = STR("NodeAffinity");
		p->pod.n_containers = 0;
		t_settle(t);
		while (!t_pod(t, "worker", 0)) {
			t->now = t->plan.wake;
			t_settle(t);
		}
		waited = t->now - rejected;
	}
	assert_true(waited >= MINUTES(5));
	assert_int_equal(t->record->outcome, PHASE_NONE);
	assert_contains(t_reason(t), "worker-0 Disrupted (NodeAffinity), 9 times in a row before it ran");
	/* Once it has run, the next one is a first one. */
	t_run(t);
	t_settle(t);
	t_vanish(t, "worker", 0);
	t_settle(t);
	assert_int_equal(record_index_level(t_rec(t, "worker"), 0)->barren, 0);
	assert_non_null(t_pod(t, "worker", 0));
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delays),
		cmocka_unit_test(restarts_wait),
		cmocka_unit_test(a_clock_is_set_back),
		cmocka_unit_test(a_quiet_time_resets_it),
		cmocka_unit_test(levels_are_apart),
		cmocka_unit_test(quiet_streaks_go_with_other_writes),
		cmocka_unit_test(taken_away_before_it_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
