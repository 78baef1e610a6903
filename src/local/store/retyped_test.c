/* Real objects in which any value has any other type: refused, or stored and found again; never a fault of ours. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/decode.h"
#include "local/store/testing.h"

static const char *plural, *real;

/* An answer in JSON, which ask() has looked at, and nothing that we did not foresee. */
static void answered(int code)
{
	assert_in_range(code, 200, 499);
}

/* What the operator would read. */
static void is_decoded(struct fixture *f)
{
	yyjson_val *object = yyjson_doc_get_root(f->doc);
	struct arena a = ARENA_INIT;
	struct job_object job;
	struct service service;
	struct node node;
	struct pod pod;

	decode_pod(&pod, object, &a, NULL);
	decode_service(&service, object, &a, NULL);
	decode_node(&node, object, &a, NULL);
	decode_job(&job, object, STR("AITrainingJob"), &a, NULL);
	arena_release(&a);
}

static void is_found(struct fixture *f)
{
	answered(list(f, plural, "a=b,!c", ""));
	answered(list(f, plural, "", "metadata.name=a"));
	if (!strcmp(plural, "pods"))
		answered(list(f, plural, "", "status.phase!=Running,spec.nodeName=this,spec.hostNetwork=false"));
	if (!strcmp(plural, "events"))
		answered(list(f, plural, "", "involvedObject.name=a,source=c,type!=Normal"));
}

/* Whatever it is, it can be deleted. */
static void is_deleted(struct fixture *f)
{
	answered(merge_patch(f, plural, "a", "{\"metadata\":{\"finalizers\":null}}"));
	answered(delete_one(f, plural, "a", "{\"gracePeriodSeconds\":0}"));
	settle(f);
	assert_int_equal(get(f, plural, "a"), 404);
}

static void is_created(struct fixture *f, const char *text)
{
	int code = create(f, plural, text);

	answered(code);
	if (code != 201)
		return;
	is_decoded(f);
	is_found(f);
	settle(f);
	is_deleted(f);
}

/* Also of what is being deleted; of what is gone there is another. */
static void is_changed(struct fixture *f, const char *text)
{
	answered(create(f, plural, real));
	answered(update(f, plural, "a", text));
	answered(patch_as(f, STORE_PATCH_STRATEGIC, plural, "a", text));
	if (type_named(f, plural)->status)
		answered(update_status(f, plural, "a", text));
	answered(merge_patch(f, plural, "a", text));
	answered(delete_one(f, plural, "a", text));
}

static void try_sample(struct fixture *f, const char *name, const char *type)
{
	plural = type;
	real = sample(f, name);
	each_retyped(f, name, is_created);
	assert_int_equal(create(f, plural, real), 201);
	each_retyped(f, name, is_changed);
}

static void pods(void **state)
{
	try_sample(*state, "pod", "pods");
}

static void services(void **state)
{
	try_sample(*state, "service", "services");
}

static void nodes(void **state)
{
	try_sample(*state, "node", "nodes");
}

static void jobs(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(create(f, "customresourcedefinitions", sample(f, "crd")), 201);
	try_sample(f, "job", "aitrainingjobs");
}

static void others(void **state)
{
	struct fixture *f = *state;

	try_sample(f, "namespace", "namespaces");
	try_sample(f, "configmap", "configmaps");
	try_sample(f, "secret", "secrets");
	try_sample(f, "event", "events");
	try_sample(f, "lease", "leases");
}

#define DEFINITION "aitrainingjobs.elasticdeeplearning.ai"

static void is_defined(struct fixture *f, const char *text)
{
	int code = create(f, plural, text);

	answered(code);
	if (code != 201)
		return;
	is_decoded(f);
	if (store_type(f->store, STR("elasticdeeplearning.ai"), STR("v1"), STR("aitrainingjobs")))
		answered(create(f, "aitrainingjobs", sample(f, "job")));
	answered(merge_patch(f, plural, DEFINITION, "{\"metadata\":{\"finalizers\":null}}"));
	answered(delete_one(f, plural, DEFINITION, ""));
	settle(f);
	assert_int_equal(get(f, plural, DEFINITION), 404);
}

static void is_redefined(struct fixture *f, const char *text)
{
	answered(update(f, plural, DEFINITION, text));
	answered(patch_as(f, STORE_PATCH_STRATEGIC, plural, DEFINITION, text));
	answered(update_status(f, plural, DEFINITION, text));
	answered(merge_patch(f, plural, DEFINITION, text));
	assert_int_equal(create(f, "aitrainingjobs", "{\"metadata\":{\"generateName\":\"n-\"}}"), 201);
}

static void crds(void **state)
{
	struct fixture *f = *state;

	plural = "customresourcedefinitions";
	each_retyped(f, "crd", is_defined);
	assert_int_equal(create(f, plural, sample(f, "crd")), 201);
	each_retyped(f, "crd", is_redefined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(pods), STORE_TEST(services), STORE_TEST(nodes),
		STORE_TEST(jobs), STORE_TEST(others),   STORE_TEST(crds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
