#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

static void make_running(struct fixture *f, const char *name)
{
	assert_int_equal(create(f, "pods",
	                        fmt(f,
	                            "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{"
	                            "\"name\":\"c\"}]}}",
	                            name)),
	                 201);
}

static void what_nobody_runs_goes_at_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"}}"), 201);
	assert_int_equal(delete_one(f, "configmaps", "c", NULL), 200);
	assert_said(f, "status", "Success");
	assert_said(f, "details.name", "c");
	assert_said(f, "details.kind", "configmaps");
	assert_int_equal(strlen(said(f, "details.uid")), 36);
	assert_int_equal(get(f, "configmaps", "c"), 404);
	assert_int_equal(delete_one(f, "configmaps", "c", NULL), 404);
	/* A pod without a node, and one that has ended. */
	assert_int_equal(create(f, "pods", POD("p")), 201);
	assert_int_equal(delete_one(f, "pods", "p", NULL), 200);
	assert_said(f, "kind", "Pod");
	assert_int_equal(get(f, "pods", "p"), 404);
	make_running(f, "q");
	assert_int_equal(
		update_status(f, "pods", "q", "{\"metadata\":{\"name\":\"q\"},\"status\":{\"phase\":\"Failed\"}}"),
		200);
	assert_int_equal(delete_one(f, "pods", "q", NULL), 200);
	assert_int_equal(get(f, "pods", "q"), 404);
}

static void a_running_pod_has_its_grace(void **state)
{
	struct fixture *f = *state;
	uint64_t rv;

	make_running(f, "p");
	assert_int_equal(delete_one(f, "pods", "p", NULL), 200);
	assert_said(f, "metadata.deletionTimestamp", "2027-01-15T08:00:30Z");
	assert_said(f, "metadata.deletionGracePeriodSeconds", "30");
	rv = store_version(f->store);
	/* Again, and longer: nothing changes. */
	assert_int_equal(delete_one(f, "pods", "p", NULL), 200);
	assert_int_equal(delete_one(f, "pods", "p", "{\"gracePeriodSeconds\":60}"), 200);
	assert_true(store_version(f->store) == rv);
	/* Shorter counts from the first request. */
	f->now += SECONDS(3);
	assert_int_equal(delete_one(f, "pods", "p", "{\"gracePeriodSeconds\":10}"), 200);
	assert_said(f, "metadata.deletionTimestamp", "2027-01-15T08:00:10Z");
	assert_said(f, "metadata.deletionGracePeriodSeconds", "10");
	assert_said(f, "metadata.generation", "2");
	/* Its time is over, and who runs it has not said so. */
	f->now += MINUTES(5);
	settle(f);
	assert_int_equal(get(f, "pods", "p"), 200);
	assert_int_equal(delete_one(f, "pods", "p", "{\"gracePeriodSeconds\":0}"), 200);
	assert_said(f, "metadata.deletionTimestamp", "2027-01-15T08:00:00Z");
	assert_said(f, "metadata.deletionGracePeriodSeconds", "0");
	assert_int_equal(get(f, "pods", "p"), 404);
}

static void the_grace_is_the_pods_own_or_asked_for(void **state)
{
	struct fixture *f = *state;

	make_running(f, "p");
	assert_int_equal(merge_patch(f, "pods", "p", "{\"spec\":{\"terminationGracePeriodSeconds\":5}}"), 200);
	assert_int_equal(delete_one(f, "pods", "p", NULL), 200);
	assert_said(f, "metadata.deletionGracePeriodSeconds", "5");
	make_running(f, "q");
	assert_int_equal(delete_one(f, "pods", "q", "{\"gracePeriodSeconds\":7}"), 200);
	assert_said(f, "metadata.deletionGracePeriodSeconds", "7");
	make_running(f, "s");
	assert_int_equal(delete_one(f, "pods", "s", "{\"gracePeriodSeconds\":-5}"), 200);
	assert_said(f, "metadata.deletionGracePeriodSeconds", "1");
	make_running(f, "r");
	assert_int_equal(delete_one(f, "pods", "r", "{\"gracePeriodSeconds\":0}"), 200);
	assert_said(f, "metadata.deletionTimestamp", "2027-01-15T08:00:00Z");
	assert_said(f, "metadata.generation", "2");
	assert_int_equal(get(f, "pods", "r"), 404);
}

static void a_pod_waits_for_its_finalizers_too(void **state)
{
	struct fixture *f = *state;

	make_running(f, "p");
	assert_int_equal(merge_patch(f, "pods", "p", "{\"metadata\":{\"finalizers\":[\"a\"]}}"), 200);
	assert_int_equal(delete_one(f, "pods", "p", NULL), 200);
	/* Without the runner's word the last finalizer does not end it. */
	assert_int_equal(merge_patch(f, "pods", "p", "{\"metadata\":{\"finalizers\":null}}"), 200);
	assert_int_equal(get(f, "pods", "p"), 200);
	make_running(f, "q");
	assert_int_equal(merge_patch(f, "pods", "q", "{\"metadata\":{\"finalizers\":[\"a\"]}}"), 200);
	assert_int_equal(delete_one(f, "pods", "q", NULL), 200);
	assert_int_equal(delete_one(f, "pods", "q", "{\"gracePeriodSeconds\":0}"), 200);
	assert_said(f, "metadata.deletionGracePeriodSeconds", "0");
	assert_int_equal(get(f, "pods", "q"), 200);
	assert_int_equal(merge_patch(f, "pods", "q", "{\"metadata\":{\"finalizers\":null}}"), 200);
	assert_int_equal(get(f, "pods", "q"), 404);
}

static void preconditions_must_hold(void **state)
{
	struct fixture *f = *state;
	const char *uid, *rv;

	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"}}"), 201);
	uid = fmt(f, "%s", said(f, "metadata.uid"));
	rv = fmt(f, "%s", said(f, "metadata.resourceVersion"));
	assert_int_equal(delete_one(f, "configmaps", "c", "{\"preconditions\":{\"uid\":\"other\"}}"), 409);
	assert_said(f, "reason", "Conflict");
	assert_int_equal(delete_one(f, "configmaps", "c", "{\"preconditions\":{\"resourceVersion\":\"1\"}}"), 409);
	assert_int_equal(get(f, "configmaps", "c"), 200);
	assert_int_equal(delete_one(f, "configmaps", "c",
	                            fmt(f, "{\"preconditions\":{\"uid\":\"%s\",\"resourceVersion\":\"%s\"}}", uid, rv)),
	                 200);
}

static void bad_options_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"}}"), 201);
	assert_int_equal(delete_one(f, "configmaps", "c", "x"), 400);
	assert_int_equal(delete_one(f, "configmaps", "c", "[]"), 400);
	assert_int_equal(delete_one(f, "configmaps", "c", "{\"gracePeriodSeconds\":\"1\"}"), 422);
	assert_int_equal(delete_one(f, "configmaps", "c", "{\"propagationPolicy\":\"All\"}"), 422);
	assert_int_equal(delete_one(f, "configmaps", "c", "{\"propagationPolicy\":7}"), 422);
	assert_int_equal(delete_one(f, "configmaps", "c", "{\"dryRun\":[\"All\"]}"), 200);
	assert_int_equal(get(f, "configmaps", "c"), 200);
	assert_int_equal(
		delete_one(f, "configmaps", "c", "{\"gracePeriodSeconds\":null,\"propagationPolicy\":\"Foreground\"}"),
		200);
	assert_int_equal(get(f, "configmaps", "c"), 404);
	assert_int_equal(delete_one(f, "namespaces", "default", NULL), 403);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(what_nobody_runs_goes_at_once),
		STORE_TEST(a_running_pod_has_its_grace),
		STORE_TEST(the_grace_is_the_pods_own_or_asked_for),
		STORE_TEST(a_pod_waits_for_its_finalizers_too),
		STORE_TEST(preconditions_must_hold),
		STORE_TEST(bad_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
