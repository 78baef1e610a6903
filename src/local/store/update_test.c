#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

static const char widget[] = "{\"metadata\":{\"name\":\"w\"},\"spec\":{\"n\":1},\"status\":{\"s\":1}}";

static void make_widget(struct fixture *f)
{
	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	assert_int_equal(create(f, "widgets", widget), 201);
}

/* The object as it was answered last, with one text put in the place of another. */
static const char *edited(struct fixture *f, const char *from, const char *to)
{
	const char *text = buf_str(&f->answer.body).p, *at = strstr(text, from);

	assert_non_null(at);
	return fmt(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void a_new_object_has_no_status(void **state)
{
	struct fixture *f = *state;

	make_widget(f);
	assert_unsaid(f, "status");
	assert_said(f, "metadata.generation", "1");
	/* A node brings its own. */
	assert_int_equal(create(f, "nodes", "{\"metadata\":{\"name\":\"n\"},\"status\":{\"a\":1}}"), 201);
	assert_said(f, "status.a", "1");
}

static void the_generation_counts_changes_of_the_spec(void **state)
{
	struct fixture *f = *state;

	make_widget(f);
	assert_int_equal(update(f, "widgets", "w", edited(f, "{\"n\":1}", "{\"n\":2}")), 200);
	assert_said(f, "metadata.generation", "2");
	assert_said(f, "spec.n", "2");
	assert_int_equal(merge_patch(f, "widgets", "w", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"), 200);
	assert_said(f, "metadata.generation", "2");
	assert_int_equal(merge_patch(f, "widgets", "w", "{\"other\":[1]}"), 200);
	assert_said(f, "metadata.generation", "3");
	assert_int_equal(merge_patch(f, "widgets", "w", "{\"other\":null}"), 200);
	assert_said(f, "metadata.generation", "4");
	assert_int_equal(create(f, "pods", POD("p")), 201);
	assert_int_equal(merge_patch(f, "pods", "p", "{\"spec\":{\"nodeName\":\"n\"}}"), 200);
	assert_said(f, "metadata.generation", "2");
}

static void the_status_has_an_endpoint_of_its_own(void **state)
{
	struct fixture *f = *state;

	make_widget(f);
	assert_int_equal(update_status(f, "widgets", "w", edited(f, "{\"n\":1}", "{\"n\":5},\"status\":{\"s\":2}")),
	                 200);
	assert_said(f, "spec.n", "1");
	assert_said(f, "status.s", "2");
	assert_said(f, "metadata.generation", "1");
	/* The main one leaves it alone. */
	assert_int_equal(update(f, "widgets", "w", edited(f, "{\"s\":2}", "{\"s\":3}")), 200);
	assert_said(f, "status.s", "2");
	assert_int_equal(merge_patch(f, "widgets", "w", "{\"status\":null}"), 200);
	assert_said(f, "status.s", "2");
	/* A patch of it changes nothing else, and what it does not name stays. */
	assert_int_equal(
		ask(f, (struct store_request){ .verb = STORE_PATCH,
	                                       .type = type_named(f, "widgets"),
	                                       .ns = STR("ml"),
	                                       .name = STR("w"),
	                                       .status = true,
	                                       .body = STR("{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":null,"
	                                                   "\"status\":{\"dlOperator\":{\"x\":1}}}") }),
		200);
	assert_said(f, "status.s", "2");
	assert_said(f, "status.dlOperator.x", "1");
	assert_said(f, "spec.n", "1");
	assert_unsaid(f, "metadata.labels");
	/* Not every type has one. */
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"}}"), 201);
	assert_int_equal(update_status(f, "configmaps", "c", "{}"), 404);
}

static void an_old_version_is_a_conflict(void **state)
{
	struct fixture *f = *state;
	const char *old;

	make_widget(f);
	old = edited(f, "{\"n\":1}", "{\"n\":9}");
	assert_int_equal(merge_patch(f, "widgets", "w", "{\"spec\":{\"n\":2}}"), 200);
	assert_int_equal(update(f, "widgets", "w", old), 409);
	assert_said(f, "reason", "Conflict");
	assert_said(f, "message",
	            "Operation cannot be fulfilled on widgets.example.org \"w\": the object has been modified; please "
	            "apply "
	            "your changes to the latest version and try again");
	assert_int_equal(
		merge_patch(f, "widgets", "w", "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"n\":3}}"), 409);
	assert_int_equal(get(f, "widgets", "w"), 200);
	assert_said(f, "spec.n", "2");
	/* Custom objects need a version, others do not. */
	assert_int_equal(update(f, "widgets", "w", widget), 422);
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}"), 201);
	assert_int_equal(update(f, "configmaps", "c", "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"2\"}}"), 200);
	assert_said(f, "data.a", "2");
}

static void another_object_is_a_conflict(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"}}"), 201);
	assert_int_equal(update(f, "configmaps", "c", "{\"metadata\":{\"name\":\"c\",\"uid\":\"other\"}}"), 409);
	assert_int_equal(update(f, "configmaps", "c", "{\"metadata\":{\"name\":\"d\"}}"), 400);
	assert_int_equal(update(f, "configmaps", "c", "{\"metadata\":{\"name\":\"c\",\"namespace\":\"default\"}}"),
	                 400);
	assert_int_equal(update(f, "configmaps", "c", "{}"), 400);
	assert_int_equal(update(f, "configmaps", "c", "x"), 400);
	assert_int_equal(update(f, "configmaps", "no", "{\"metadata\":{\"name\":\"no\"}}"), 404);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"metadata\":{\"name\":\"d\"}}"), 400);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"metadata\":{\"uid\":\"d\"}}"), 422);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"metadata\":[]}"), 422);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"metadata\":{\"labels\":3}}"), 422);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"kind\":\"Pod\"}"), 400);
}

static void what_the_store_writes_stays(void **state)
{
	struct fixture *f = *state;
	const char *uid, *made;

	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\"}}"), 201);
	uid = fmt(f, "%s", said(f, "metadata.uid"));
	made = fmt(f, "%s", said(f, "metadata.creationTimestamp"));
	f->now += MINUTES(5);
	assert_int_equal(
		merge_patch(
			f, "configmaps", "c",
			"{\"metadata\":{\"creationTimestamp\":null,\"uid\":null,\"namespace\":null,"
			"\"deletionTimestamp\":\"2020-01-01T00:00:00Z\",\"generation\":7,\"labels\":{\"a\":\"b\"}}}"),
		200);
	assert_said(f, "metadata.uid", uid);
	assert_said(f, "metadata.creationTimestamp", made);
	assert_said(f, "metadata.namespace", "ml");
	assert_said(f, "metadata.labels.a", "b");
	assert_unsaid(f, "metadata.deletionTimestamp");
	assert_unsaid(f, "metadata.generation");
}

static void no_change_is_no_version(void **state)
{
	struct fixture *f = *state;
	uint64_t rv;

	make_widget(f);
	rv = f->answer.rv;
	assert_int_equal(update(f, "widgets", "w", fmt(f, "%s", buf_str(&f->answer.body).p)), 200);
	assert_true(f->answer.rv == rv);
	assert_int_equal(merge_patch(f, "widgets", "w", "{\"spec\":{\"n\":1.0}}"), 200);
	assert_true(store_version(f->store) == rv);
}

static void the_last_finalizer_ends_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"c\",\"finalizers\":[\"a/b\",\"c\"]}}"),
	                 201);
	assert_int_equal(delete_one(f, "configmaps", "c", NULL), 200);
	assert_said(f, "metadata.deletionTimestamp", "2027-01-15T08:00:00Z");
	assert_said(f, "metadata.deletionGracePeriodSeconds", "0");
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"metadata\":{\"finalizers\":[\"a/b\",\"d\"]}}"), 422);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"metadata\":{\"finalizers\":[\"c\"]}}"), 200);
	assert_int_equal(delete_one(f, "configmaps", "c", NULL), 200);
	assert_int_equal(get(f, "configmaps", "c"), 200);
	assert_int_equal(merge_patch(f, "configmaps", "c", "{\"metadata\":{\"finalizers\":null}}"), 200);
	assert_int_equal(get(f, "configmaps", "c"), 404);
}

static void a_lease_is_made_by_its_update(void **state)
{
	struct fixture *f = *state;
	const char *lease = "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"a\"}}";

	assert_int_equal(update(f, "leases", "l", lease), 201);
	assert_int_equal(update(f, "leases", "l", lease), 422);
	assert_int_equal(get(f, "leases", "l"), 200);
	assert_said(f, "spec.holderIdentity", "a");
	assert_int_equal(update(f, "configmaps", "l", "{\"metadata\":{\"name\":\"l\"}}"), 404);
	assert_int_equal(update(f, "leases", "m", "{\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"3\"}}"), 404);
	/* Under the name that was asked for. */
	assert_int_equal(update(f, "leases", "m", lease), 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_new_object_has_no_status),
		STORE_TEST(the_generation_counts_changes_of_the_spec),
		STORE_TEST(the_status_has_an_endpoint_of_its_own),
		STORE_TEST(an_old_version_is_a_conflict),
		STORE_TEST(another_object_is_a_conflict),
		STORE_TEST(what_the_store_writes_stays),
		STORE_TEST(no_change_is_no_version),
		STORE_TEST(the_last_finalizer_ends_it),
		STORE_TEST(a_lease_is_made_by_its_update),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
