/* startAfter: roles that wait for others (start_after.c). */
#include "plan/testing.h"

/* Workers wait for two parameter servers. */
static struct t *begin(enum scope scope)
{
	struct t *t = t_new();
	struct role *ps = t_role(t, "ps", 2), *worker = t_role(t, "worker", 3);

	ps->complete = END_NONE;
	ps->restart = worker->restart = (struct restart){ .policy = RESTART_ON_FAILURE, .scope = scope, .limit = -1 };
	worker->after = 1;
	t_settle(t);
	return t;
}

static void run_one(struct t *t, const char *role, int32_t index, bool ready)
{
	struct t_pod *p = t_pod(t, role, index);

	p->pod.phase = POD_RUNNING;
	p->pod.ready = ready;
	p->containers[0].state = CONTAINER_RUNNING;
	t_settle(t);
}

static void waits_until_all_run(void **state)
{
	struct t *t = begin(SCOPE_POD);

	(void)state;
	assert_non_null(t_pod(t, "ps", 1));
	assert_null(t_pod(t, "worker", 0));
	/* The names of those that wait resolve already. */
	assert_int_equal(t->n_services, 5);
	assert_string_equal(t_reason(t), "waiting for 2 of 2 ps to run");
	run_one(t, "ps", 0, false);
	assert_null(t_pod(t, "worker", 0));
	assert_string_equal(t_reason(t), "waiting for 1 of 2 ps to run");
	run_one(t, "ps", 1, false);
	assert_non_null(t_pod(t, "worker", 0));
	assert_non_null(t_pod(t, "worker", 2));
	t_free(t);
}

static void waits_for_readiness_where_it_is_probed(void **state)
{
	struct t *t = begin(SCOPE_POD);

	(void)state;
	t->job.roles[0].probed = true;
	run_one(t, "ps", 0, true);
	run_one(t, "ps", 1, false);
	assert_null(t_pod(t, "worker", 0));
	assert_string_equal(t_reason(t), "waiting for 1 of 2 ps to be ready");
	run_one(t, "ps", 1, true);
	assert_non_null(t_pod(t, "worker", 0));
	t_free(t);
}

/* Who is there stays; who is made anew waits. */
static void a_loss_stops_nobody(void **state)
{
	struct t *t = begin(SCOPE_POD);

	(void)state;
	t_run(t);
	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	t_exit(t, "ps", 0, 1);
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	assert_non_null(t_pod(t, "ps", 0));
	assert_null(t_pod(t, "worker", 1));
	assert_non_null(t_pod(t, "worker", 0));
	assert_non_null(t_pod(t, "worker", 2));
	run_one(t, "ps", 0, false);
	assert_non_null(t_pod(t, "worker", 1));
	t_free(t);
}

static void a_restart_of_the_job_and_a_resume_keep_the_order(void **state)
{
	struct t *t = begin(SCOPE_JOB);

	(void)state;
	t_run(t);
	t_settle(t);
	t_run(t);
	t_settle(t);
	t_exit(t, "worker", 1, 1);
	t_settle(t);
	assert_phase(t, "Restarting");
	assert_non_null(t_pod(t, "ps", 0));
	assert_null(t_pod(t, "worker", 0));
	t_run(t);
	t_settle(t);
	assert_non_null(t_pod(t, "worker", 0));
	t->job.suspend = true;
	t_settle(t);
	assert_null(t_pod(t, "ps", 0));
	t->job.suspend = false;
	t_settle(t);
	assert_non_null(t_pod(t, "ps", 0));
	assert_null(t_pod(t, "worker", 0));
	t_free(t);
}

/* It has done what others waited for. */
static void a_completed_replica_is_up(void **state)
{
	struct t *t = begin(SCOPE_POD);

	(void)state;
	run_one(t, "ps", 0, false);
	t_exit(t, "ps", 1, 0);
	t_settle(t);
	assert_non_null(t_pod(t, "worker", 0));
	t_free(t);
}

/* A job that was begun without gangs is not held by its order when there are some. */
static void a_gang_has_no_order(void **state)
{
	struct t *t = t_new();

	(void)state;
	t_role(t, "ps", 1);
	t_role(t, "worker", 1)->after = 1;
	t->config.gang = GANG_PLUGINS;
	t_settle(t);
	assert_non_null(t_pod(t, "worker", 0));
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_until_all_run),
		cmocka_unit_test(waits_for_readiness_where_it_is_probed),
		cmocka_unit_test(a_loss_stops_nobody),
		cmocka_unit_test(a_restart_of_the_job_and_a_resume_keep_the_order),
		cmocka_unit_test(a_completed_replica_is_up),
		cmocka_unit_test(a_gang_has_no_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
