/* TensorBoard: it outlives the job for a set time, is told where it answers, and never counts. */
#include "plan/testing.h"

static struct companion companion;

static struct t *with_companion(int64_t ttl)
{
	struct t *t = t_new();
	struct role *role;

	companion = (struct companion){ .ttl = ttl };
	t_role(t, "worker", 2);
	role = t_role(t, "tensorboard", 1);
	role->aux = role->service = true;
	role->companion = &companion;
	return t;
}

static struct t *running(int64_t ttl)
{
	struct t *t = with_companion(ttl);

	t_settle(t);
	t_run(t);
	t_settle(t);
	assert_phase(t, "Running");
	return t;
}

static void end(struct t *t, int32_t code)
{
	t_exit(t, "worker", 0, code);
	t_exit(t, "worker", 1, code);
	t_settle(t);
}

static size_t services_of(const struct t *t, const char *role)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_services; i++)
		n += str_eqc(t->services[i].role, role);
	return n;
}

static void address_while_it_answers(void **state)
{
	struct t *t = with_companion(-1);

	(void)state;
	t_settle(t);
	assert_int_equal(t->record->addresses[COMPANION_TENSORBOARD].n, 0);
	t_run(t);
	t_pod(t, "tensorboard", 0)->pod.ready = false;
	t_settle(t);
	assert_phase(t, "Running");
	assert_int_equal(t->record->addresses[COMPANION_TENSORBOARD].n, 0);
	t_pod(t, "tensorboard", 0)->pod.ready = true;
	t_pass(t, SECONDS(2));
	t_settle(t);
	assert_true(str_eqc(t->record->addresses[COMPANION_TENSORBOARD], "http://job-tensorboard-0.ns.svc:80"));
	/* What the machine says goes before the cluster's name. */
	t_pod(t, "tensorboard", 0)->pod.address = STR("http://127.0.0.1:6006/");
	t_pass(t, SECONDS(2));
	t_settle(t);
	assert_true(str_eqc(t->record->addresses[COMPANION_TENSORBOARD], "http://127.0.0.1:6006/"));
	/* It outlives the end, and is still told. */
	end(t, 0);
	assert_phase(t, "Succeeded");
	t_pass(t, SECONDS(2));
	t_settle(t);
	assert_true(str_eqc(t->record->addresses[COMPANION_TENSORBOARD], "http://127.0.0.1:6006/"));
	t_exit(t, "tensorboard", 0, 1);
	t_pass(t, SECONDS(2));
	t_settle(t);
	assert_int_equal(t->record->addresses[COMPANION_TENSORBOARD].n, 0);
	t_free(t);
}

/* What can only be seen is written at most once a second. */
static void an_address_that_flaps_is_written_seldom(void **state)
{
	struct t *t = running(-1);
	int before;

	(void)state;
	t_pass(t, SECONDS(2));
	t_settle(t);
	before = t->writes;
	for (int i = 0; i < 100; i++) {
		t_pod(t, "tensorboard", 0)->pod.ready = i % 2;
		t_pass(t, 20);
		t_plan(t);
	}
	assert_in_range(t->writes - before, 1, 3);
	t_free(t);
}

static void goes_a_set_time_after_the_end(void **state)
{
	struct t *t = running(600);
	msec ended;

	(void)state;
	end(t, 0);
	assert_phase(t, "Succeeded");
	ended = t->record->end;
	assert_non_null(t_pod(t, "tensorboard", 0));
	assert_int_equal(services_of(t, "tensorboard"), 1);
	/* Woken by the clock, not by an event; and by the record, so that another operator does the same. */
	assert_int_equal(t->plan.wake, ended + SECONDS(600));
	t_pass(t, ended + SECONDS(590) - t->now);
	t_settle(t);
	assert_non_null(t_pod(t, "tensorboard", 0));
	t_pass(t, SECONDS(10));
	t_settle(t);
	assert_null(t_pod(t, "tensorboard", 0));
	assert_int_equal(services_of(t, "tensorboard"), 0);
	assert_int_equal(t->record->addresses[COMPANION_TENSORBOARD].n, 0);
	assert_phase(t, "Succeeded");
	/* … and not made again. */
	assert_int_equal(t->plan.wake, NEVER);
	t_pass(t, MINUTES(60));
	t_settle(t);
	assert_null(t_pod(t, "tensorboard", 0));
	assert_int_equal(t_rec(t, "tensorboard")->restarts[CAUSE_DELETED], 0);
	t_free(t);
}

static void at_once(void **state)
{
	struct t *t = running(0);

	(void)state;
	end(t, 1);
	assert_phase(t, "Failed");
	assert_null(t_pod(t, "tensorboard", 0));
	assert_int_equal(t->n_services, 0);
	t_free(t);
}

/* A restart that is due after its time is over does not come. */
static void a_failure_at_the_end(void **state)
{
	struct t *t = running(5);

	(void)state;
	t_exit(t, "tensorboard", 0, 1);
	t_settle(t);
	t_run(t);
	t_exit(t, "tensorboard", 0, 1);
	end(t, 0);
	assert_null(t_pod(t, "tensorboard", 0));
	t_pass(t, SECONDS(10));
	t_settle(t);
	assert_null(t_pod(t, "tensorboard", 0));
	assert_int_equal(t->plan.wake, NEVER);
	t_free(t);
}

/* Suspended: what was there stays and is kept running; what never ran is not made. */
static void while_suspended(void **state)
{
	struct t *t = running(-1);

	(void)state;
	t->job.suspend = true;
	t_settle(t);
	assert_phase(t, "Suspended");
	assert_null(t_pod(t, "worker", 0));
	assert_int_equal(t_pod(t, "tensorboard", 0)->pod.generation, 0);
	t_vanish(t, "tensorboard", 0);
	t_settle(t);
	assert_int_equal(t_pod(t, "tensorboard", 0)->pod.generation, 1);
	assert_phase(t, "Suspended");
	assert_null(t_pod(t, "worker", 0));
	t->job.suspend = false;
	t_settle(t);
	assert_non_null(t_pod(t, "worker", 0));
	assert_int_equal(t_pod(t, "tensorboard", 0)->pod.generation, 1);
	t_free(t);
	t = with_companion(-1);
	t->job.suspend = true;
	t_settle(t);
	assert_phase(t, "Suspended");
	assert_int_equal(t->n_pods + t->n_services, 0);
	t->job.suspend = false;
	t_settle(t);
	assert_non_null(t_pod(t, "tensorboard", 0));
	t_free(t);
}

/* An image that cannot be pulled, for ever. */
static void does_not_hold_the_job(void **state)
{
	struct t *t = with_companion(-1);
	struct t_pod *p;

	(void)state;
	t_settle(t);
	t_run(t);
	p = t_pod(t, "tensorboard", 0);
	p->pod.phase = POD_PENDING;
	p->pod.ready = false;
	p->containers[0].state = CONTAINER_WAITING;
	p->containers[0].reason = STR("ImagePullBackOff");
	t_settle(t);
	assert_phase(t, "Running");
	assert_contains(t_reason(t), "2 running");
	t_pass(t, MINUTES(60));
	t_settle(t);
	assert_phase(t, "Running");
	assert_int_equal(t->record->restarts, 0);
	end(t, 0);
	assert_phase(t, "Succeeded");
	t_free(t);
}

/* The server refuses its pod: the others go on, and it is tried again later and later. */
static void refused(void **state)
{
	static const enum refusal_kind kinds[] = { REFUSED_INVALID, REFUSED_QUOTA, REFUSED_FOREIGN, REFUSED_SERVER };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct t *t = with_companion(-1);

		t->aux_refusal = (struct refusal){ kinds[i], STR("no"), 3, t->now, RES_POD, STR("tensorboard") };
		t->service_refusal = t->aux_refusal;
		t->service_refusal.resource = RES_SERVICE;
		t_settle(t);
		assert_non_null(t_pod(t, "worker", 1));
		assert_null(t_pod(t, "tensorboard", 0));
		assert_int_equal(services_of(t, "tensorboard"), 0);
		assert_true(t->plan.wake > t->now && t->plan.wake < NEVER);
		t_run(t);
		t_settle(t);
		assert_phase(t, "Running");
		t_pass(t, MINUTES(2));
		t_settle(t);
		assert_non_null(t_pod(t, "tensorboard", 0));
		t_free(t);
	}
}

/* Everything that is known is in the record: whoever starts anew does not keep it longer. */
static void edited_away(void **state)
{
	struct t *t = running(-1);

	(void)state;
	t->job.n_roles = 1;
	t_settle(t);
	assert_int_equal(t->record->addresses[COMPANION_TENSORBOARD].n, 0);
	assert_null(t_pod(t, "tensorboard", 0));
	assert_int_equal(services_of(t, "tensorboard"), 0);
	assert_phase(t, "Running");
	assert_int_equal(t_pod(t, "worker", 0)->pod.generation, 0);
	t_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_while_it_answers),
		cmocka_unit_test(an_address_that_flaps_is_written_seldom),
		cmocka_unit_test(goes_a_set_time_after_the_end),
		cmocka_unit_test(at_once),
		cmocka_unit_test(a_failure_at_the_end),
		cmocka_unit_test(while_suspended),
		cmocka_unit_test(does_not_hold_the_job),
		cmocka_unit_test(refused),
		cmocka_unit_test(edited_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
