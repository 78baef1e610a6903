#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

/* Makes a config map with owners; each text is a UID. Returns its own. */
static const char *make(struct fixture *f, const char *name, const char *owner, const char *other)
{
	const char *one =
		owner ? fmt(f, "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"name\":\"o\",\"uid\":\"%s\"}", owner) : "";
	const char *two =
		other ? fmt(f, ",{\"apiVersion\":\"v1\",\"kind\":\"X\",\"name\":\"o\",\"uid\":\"%s\"}", other) : "";

	assert_int_equal(create(f, "configmaps",
	                        fmt(f, "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[%s%s]}}", name, one, two)),
	                 201);
	return fmt(f, "%s", said(f, "metadata.uid"));
}

static void children_go_after_their_owner(void **state)
{
	struct fixture *f = *state;
	const char *a = make(f, "a", NULL, NULL), *b = make(f, "b", a, NULL);

	make(f, "c", b, NULL);
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(get(f, "configmaps", "c"), 200);
	f->wakes = 0;
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	assert_true(f->wakes > 0);
	assert_int_equal(get(f, "configmaps", "b"), 200);
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(get(f, "configmaps", "b"), 404);
	assert_int_equal(get(f, "configmaps", "c"), 404);
}

static void one_owner_is_enough(void **state)
{
	struct fixture *f = *state;
	const char *a = make(f, "a", NULL, NULL), *b = make(f, "b", NULL, NULL);

	make(f, "c", a, b);
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	settle(f);
	assert_int_equal(get(f, "configmaps", "c"), 200);
	assert_said(f, "metadata.ownerReferences.0.uid", b);
	assert_unsaid(f, "metadata.ownerReferences.1");
	assert_int_equal(delete_one(f, "configmaps", "b", NULL), 200);
	settle(f);
	assert_int_equal(get(f, "configmaps", "c"), 404);
}

static void an_owner_that_never_was_is_gone(void **state)
{
	struct fixture *f = *state;
	const char *elsewhere;

	make(f, "a", "11111111-2222-3333-4444-555555555555", NULL);
	settle(f);
	assert_int_equal(get(f, "configmaps", "a"), 404);
	/* One in another namespace is none. */
	assert_int_equal(ask(f, (struct store_request){ .verb = STORE_CREATE,
	                                                .type = type_named(f, "configmaps"),
	                                                .ns = STR("default"),
	                                                .body = STR("{\"metadata\":{\"name\":\"o\"}}") }),
	                 201);
	elsewhere = fmt(f, "%s", said(f, "metadata.uid"));
	make(f, "b", elsewhere, NULL);
	/* One in none is. */
	assert_int_equal(create(f, "nodes", "{\"metadata\":{\"name\":\"n\"}}"), 201);
	make(f, "c", fmt(f, "%s", said(f, "metadata.uid")), NULL);
	settle(f);
	assert_int_equal(get(f, "configmaps", "b"), 404);
	assert_int_equal(get(f, "configmaps", "c"), 200);
}

static void orphans_may_stay(void **state)
{
	struct fixture *f = *state;
	const char *a = make(f, "a", NULL, NULL);

	for (int i = 0; i < 300; i++)
		make(f, fmt(f, "c%d", i), a, NULL);
	assert_int_equal(delete_one(f, "configmaps", "a", "{\"propagationPolicy\":\"Orphan\"}"), 200);
	settle(f);
	assert_int_equal(get(f, "configmaps", "c299"), 200);
	assert_unsaid(f, "metadata.ownerReferences");
}

static void many_children_go_in_several_steps(void **state)
{
	struct fixture *f = *state;
	const char *a = make(f, "a", NULL, NULL);

	for (int i = 0; i < 1000; i++)
		make(f, fmt(f, "c%d", i), a, NULL);
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	assert_true(store_step(f->store) <= f->now);
	settle(f);
	assert_int_equal(list(f, "configmaps", NULL, NULL), 200);
	assert_said(f, "items", "[]");
}

static void a_running_child_has_its_grace(void **state)
{
	struct fixture *f = *state;
	const char *a = make(f, "a", NULL, NULL);

	assert_int_equal(
		create(f, "pods",
	               fmt(f,
	                   "{\"metadata\":{\"name\":\"p\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"X\","
	                   "\"name\":\"a\",\"uid\":\"%s\"}]},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
	                   "\"c\"}]}}",
	                   a)),
		201);
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	/* It comes to rest though the pod is still there. */
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(get(f, "pods", "p"), 200);
	assert_said(f, "metadata.deletionGracePeriodSeconds", "30");
}

static void a_namespace_goes_when_it_is_empty(void **state)
{
	struct fixture *f = *state;

	make(f, "a", NULL, NULL);
	assert_int_equal(create(f, "pods",
	                        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
	                        "\"c\"}]}}"),
	                 201);
	assert_int_equal(delete_one(f, "namespaces", "ml", NULL), 200);
	assert_said(f, "status.phase", "Terminating");
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"late\"}}"), 403);
	assert_said(f, "reason", "Forbidden");
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(get(f, "configmaps", "a"), 404);
	assert_int_equal(get(f, "namespaces", "ml"), 200);
	f->wakes = 0;
	assert_int_equal(delete_one(f, "pods", "p", "{\"gracePeriodSeconds\":0}"), 200);
	assert_true(f->wakes > 0);
	settle(f);
	assert_int_equal(get(f, "namespaces", "ml"), 404);
	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
}

static void a_namespace_waits_for_its_finalizers(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(merge_patch(f, "namespaces", "ml", "{\"metadata\":{\"finalizers\":[\"a\"]}}"), 200);
	assert_int_equal(delete_one(f, "namespaces", "ml", NULL), 200);
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(get(f, "namespaces", "ml"), 200);
	assert_int_equal(merge_patch(f, "namespaces", "ml", "{\"metadata\":{\"finalizers\":null}}"), 200);
	settle(f);
	assert_int_equal(get(f, "namespaces", "ml"), 404);
}

static void events_live_for_an_hour(void **state)
{
	struct fixture *f = *state;
	msec begin = f->now;

	assert_int_equal(create(f, "events", "{\"metadata\":{\"name\":\"e\"}}"), 201);
	f->now += MINUTES(30);
	for (int i = 0; i < 300; i++)
		assert_int_equal(create(f, "events", fmt(f, "{\"metadata\":{\"name\":\"f%d\"}}", i)), 201);
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"}}"), 201);
	assert_int_equal(settle(f), begin + MINUTES(60) + 1);
	f->now = begin + MINUTES(60) + 1;
	assert_int_equal(settle(f), begin + MINUTES(90) + 1);
	assert_int_equal(get(f, "events", "e"), 404);
	assert_int_equal(get(f, "events", "f1"), 200);
	f->now = begin + MINUTES(200);
	assert_int_equal(settle(f), NEVER);
	assert_int_equal(list(f, "events", NULL, NULL), 200);
	assert_said(f, "items", "[]");
	assert_int_equal(get(f, "configmaps", "c"), 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(children_go_after_their_owner),     STORE_TEST(one_owner_is_enough),
		STORE_TEST(an_owner_that_never_was_is_gone),   STORE_TEST(orphans_may_stay),
		STORE_TEST(many_children_go_in_several_steps), STORE_TEST(a_running_child_has_its_grace),
		STORE_TEST(a_namespace_goes_when_it_is_empty), STORE_TEST(a_namespace_waits_for_its_finalizers),
		STORE_TEST(events_live_for_an_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
