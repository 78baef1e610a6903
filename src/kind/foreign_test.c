/* Kinds without Lua: what the operator notes of a job of a kind is enough to show and to scale it where nobody has the
   kind's file. */
#include "kind/testing.h"

static struct fixture f = FIXTURE_INIT;
static struct kinds *others;

static int setup(void **state)
{
	(void)state;
	fixture_builtin(&f);
	others = kinds_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kinds_free(others);
	fixture_release(&f);
	return 0;
}

/* The kind of the job in F, among OTHERS. */
static const struct kind *make_foreign(void)
{
	struct kind k = *kinds_by_id(f.kinds, kind_job(f.job)->kind);

	assert_true(kinds_add_foreign(others, &k));
	assert_false(kinds_add_foreign(others, &k));
	return kinds_by_id(others, k.id);
}

/* The object with the status that an operator writes of it. */
static yyjson_doc *with_status(const struct record *r)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *object = yyjson_val_mut_copy(doc, yaml_root(f.file, 0));
	yyjson_doc *ret;

	yyjson_mut_obj_put(object, yyjson_mut_str(doc, "status"), kind_status(f.job, r, doc, &f.e));
	ret = yyjson_mut_val_imut_copy(object, NULL);
	yyjson_mut_doc_free(doc);
	return ret;
}

static void test_roles(void **state)
{
	struct record_role roles[] = { { .name = STR("ps"), .count = 1 }, { .name = STR("worker"), .count = 2 } };
	struct record r = { .version = RECORD_VERSION, .phase = PHASE_RUNNING, .roles = roles, .n_roles = 2 };
	struct kind_names names;
	const struct role *role;
	struct kind_job *kj;
	yyjson_doc *doc;

	(void)state;
	fixture_read(&f, "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: demo, namespace: ml, uid: u}\n"
	                 "spec: {replica_specs: [{tf_replica_type: PS, replicas: 1},\n"
	                 "{tf_replica_type: WORKER, replicas: 2,\n"
	                 "template: {spec: {containers: [{name: tensorflow, image: i}]}}}]}");
	doc = with_status(&r);
	kj = kind_read(others, make_foreign(), yyjson_doc_get_root(doc), STR_NONE, &f.e);
	assert_non_null(kj);
	assert_string_equal(kind_job(kj)->name.p, "demo");
	assert_int_equal(kind_job(kj)->n_roles, 2);
	assert_int_equal(kind_job(kj)->problems.list.n, 0);
	role = job_role(kind_job(kj), STR("worker"));
	assert_int_equal(role->count, 2);
	assert_true(str_eqc(role->title, "WORKER"));
	assert_true(str_eqc(role->count_path, "spec.replica_specs[1].replicas"));
	assert_false(role->aux || role->elastic);
	assert_int_equal(role->n_containers, 1);
	assert_true(role->containers[0].counts && str_eqc(role->containers[0].name, "tensorflow"));
	assert_false(kind_names(kj, 0, 0, &names, &f.e));
	assert_string_equal(err_msg(&f.e), "what pods of a TfJob.mlkube.io are called is not known here");
	kind_job_free(kj);
	yyjson_doc_free(doc);
}

/* Of an operator that did not note it, or of nobody: what is there is shown. */
static void test_without_notes(void **state)
{
	struct kind k = { .group = STR("a.example"),
		          .version = STR("v1"),
		          .kind = STR("Other"),
		          .plural = STR("others"),
		          .singular = STR("other") };
	yyjson_doc *doc = json_parse(STR("{\"metadata\":{\"name\":\"x\"},\"status\":{\"dlOperator\":{\"roles\":{"
	                                 "\"a\":{\"count\":3},\"b\":7,\"c\":{\"count\":-1,\"replicas\":\"x\"}}}}}"),
	                             &f.e);
	struct kind_job *kj;

	(void)state;
	assert_true(kinds_add_foreign(others, &k));
	kj = kind_read(others, kinds_by_id(others, STR("Other.a.example")), yyjson_doc_get_root(doc), STR_NONE, &f.e);
	assert_int_equal(kind_job(kj)->n_roles, 3);
	assert_int_equal(kind_job(kj)->roles[0].count, 3);
	assert_int_equal(kind_job(kj)->roles[0].count_path.n, 0);
	assert_int_equal(kind_job(kj)->roles[1].count, 0);
	assert_int_equal(kind_job(kj)->roles[2].count, 0);
	kind_job_free(kj);
	yyjson_doc_free(doc);
	doc = json_parse(STR("{\"metadata\":{\"name\":\"x\"}}"), &f.e);
	kj = kind_read(others, kinds_by_id(others, STR("Other.a.example")), yyjson_doc_get_root(doc), STR_NONE, &f.e);
	assert_int_equal(kind_job(kj)->n_roles, 0);
	kind_job_free(kj);
	yyjson_doc_free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_roles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_notes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
