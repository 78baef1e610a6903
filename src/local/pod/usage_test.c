/* What a real pod uses, by container. */
#include "local/pod/testing.h"
#include "local/pod/usage.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { ROUNDS = 3000 };

static bool both_run(const struct pod_state *s)
{
	return s->containers.n == 2 && s->containers.v[0].ready && s->containers.v[1].ready;
}

static void add(struct testing_pod *t, const char *name, const char *script)
{
	struct pod_container *c = testing_pod_sh(t, name, script);

	testing_pod_mount(t, c, "v", "/v");
	c->readiness = (struct pod_probe){
		.kind = POD_PROBE_EXEC, .period = 5, .timeout = SECONDS(60), .success = 1, .failure = 1, .grace = -1
	};
	*vec_push(&t->arena, &c->readiness.command) = STR("test");
	*vec_push(&t->arena, &c->readiness.command) = STR("-e");
	*vec_push(&t->arena, &c->readiness.command) = arena_printf(&t->arena, "/v/%s", name);
}

/* One works, in a child in a session of its own, too; the other sleeps. */
static void test_by_container(void **state)
{
	struct timespec moment = { .tv_nsec = 10000000 };
	struct usage_sample before, now;
	struct pod_usage busy = { 0 }, idle = { 0 };
	struct testing_pod t;

	(void)state;
	testing_pod_needs_namespaces();
	testing_pod_begin(&t);
	*vec_push(&t.arena, &t.spec.volumes) = (struct pod_volume){ .name = STR("v") };
	add(&t, "idle", "touch /v/idle; exec sleep 1000");
	add(&t, "busy", "touch /v/busy; (while :; do :; done) & while :; do :; done");
	testing_pod_start(&t);
	testing_pod_until(&t, both_run);
	usage_take(&before, 0);
	for (int i = 0; i < ROUNDS && busy.cpu_milli < 100; i++) {
		nanosleep(&moment, NULL);
		usage_take(&now, 1000);
		idle = usage_between(&before, &now, &t.state, 0);
		busy = usage_between(&before, &now, &t.state, 1);
		usage_release(&now);
	}
	usage_release(&before);
	assert_true(busy.cpu_milli >= 100);
	assert_true(idle.cpu_milli < 100);
	assert_in_range(busy.memory, 1 << 12, 1 << 28);
	assert_in_range(idle.memory, 1 << 12, 1 << 28);
	testing_pod_end(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_by_container) };
	int status;

	if (testing_is_parent(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
