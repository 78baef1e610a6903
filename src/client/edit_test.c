#include "client/edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char job[] = "{\"metadata\":{\"name\":\"demo\",\"annotations\":{\"a.b/c\":\"old\"}},"
			  "\"spec\":{\"roles\":[{\"n\":1},{\"n\":2}],\"text\":\"x\",\"none\":null}}";

/* The job after one --set. */
static void sets(const char *assignment, const char *want)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(job), NULL);
	CLEANUP(json_docp) yyjson_doc *expected = json_parse(str_c(want), NULL);
	CLEANUP(json_docp) yyjson_doc *after = NULL;
	struct job_edits e = { 0 };
	struct err err = ERR_INIT;

	opt_list_add(&e.set, assignment);
	assert_true(edits_any(&e));
	after = edits_apply(&e, yyjson_doc_get_root(doc), &err);
	if (!after)
		fail_msg("%s", err_msg(&err));
	assert_non_null(expected);
	if (!json_eq(yyjson_doc_get_root(after), yyjson_doc_get_root(expected)))
		fail_msg("%s: %s", assignment, yyjson_write(after, 0, NULL));
	edits_release(&e);
}

static void refuses(const char *assignment, const char *why)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(job), NULL);
	struct job_edits e = { 0 };
	struct err err = ERR_INIT;
	char want[300];

	opt_list_add(&e.set, assignment);
	assert_null(edits_apply(&e, yyjson_doc_get_root(doc), &err));
	snprintf(want, sizeof(want), "--set %s: %s", assignment, why);
	assert_string_equal(err_msg(&err), want);
	err_release(&err);
	edits_release(&e);
}

#define META "{\"metadata\":{\"name\":\"demo\",\"annotations\":{\"a.b/c\":\"old\"}},\"spec\":"
#define ROLES "\"roles\":[{\"n\":1},{\"n\":2}]"
#define REST "\"text\":\"x\",\"none\":null}"

static void values_are_set_where_the_path_leads(void **state)
{
	(void)state;
	sets("spec.roles[1].n=3", META "{\"roles\":[{\"n\":1},{\"n\":3}]," REST "}");
	sets("spec.text=y=z", META "{" ROLES ",\"text\":\"y=z\",\"none\":null}}");
	sets("metadata.annotations[\"a.b/c\"]=new",
	     "{\"metadata\":{\"name\":\"demo\",\"annotations\":{\"a.b/c\":\"new\"}},\"spec\":{" ROLES "," REST "}");
	sets("metadata.annotations[\"x=\\\"y\"]=1",
	     "{\"metadata\":{\"name\":\"demo\",\"annotations\":{\"a.b/c\":\"old\",\"x=\\\"y\":1}},"
	     "\"spec\":{" ROLES "," REST "}");
}

static void types_are_those_of_yaml(void **state)
{
	(void)state;
	sets("spec.text=12", META "{" ROLES ",\"text\":12,\"none\":null}}");
	sets("spec.text=\"12\"", META "{" ROLES ",\"text\":\"12\",\"none\":null}}");
	sets("spec.text=true", META "{" ROLES ",\"text\":true,\"none\":null}}");
	sets("spec.text={a: [1, b]}", META "{" ROLES ",\"text\":{\"a\":[1,\"b\"]},\"none\":null}}");
}

static void what_is_not_there_is_made(void **state)
{
	(void)state;
	sets("spec.policy.restart.limit=3", META "{" ROLES ","
	                                         "\"policy\":{\"restart\":{\"limit\":3}}," REST "}");
	sets("spec.none.x=1", META "{" ROLES ",\"text\":\"x\",\"none\":{\"x\":1}}}");
	sets("spec.roles[2].n=7", META "{\"roles\":[{\"n\":1},{\"n\":2},{\"n\":7}]," REST "}");
	sets("spec.args[0]=a", META "{\"args\":[\"a\"]," ROLES "," REST "}");
	sets("spec.map[\"k\"]=a", META "{\"map\":{\"k\":\"a\"}," ROLES "," REST "}");
}

static void null_removes(void **state)
{
	(void)state;
	sets("spec.text=null", META "{" ROLES ",\"none\":null}}");
	sets("spec.text=", META "{" ROLES ",\"none\":null}}");
	sets("spec.roles[0]=null", META "{\"roles\":[{\"n\":2}]," REST "}");
	sets("spec.not.there=null", META "{\"not\":{}," ROLES "," REST "}");
	sets("spec.roles[2]=null", META "{" ROLES "," REST "}");
}

static void a_path_that_leads_nowhere_is_named(void **state)
{
	(void)state;
	refuses("spec.text.x=1", "spec.text is a string and cannot contain x");
	refuses("spec.roles.worker=1", "spec.roles is a list: write spec.roles[0] for its first item");
	refuses("spec.roles[3]=1", "spec.roles has 2 items, starting at [0]: there is no [3]");
	refuses("spec[0]=1", "spec is an object, not a list");
	refuses("spec.text", "'spec.text' is not PATH=VALUE");
	refuses("=1", "'' is not a path such as spec.replicaSpecs[0].replicas");
	refuses("spec..x=1", "'spec..x' is not a path such as spec.replicaSpecs[0].replicas");
	refuses("spec.roles[-1]=1", "'spec.roles[-1]' is not a path such as spec.replicaSpecs[0].replicas");
	refuses("spec.roles[0=1", "'spec.roles[0' is not a path such as spec.replicaSpecs[0].replicas");
	refuses("spec.roles[0]n=1", "'spec.roles[0]n' is not a path such as spec.replicaSpecs[0].replicas");
	refuses("spec[\"a=1", "'spec[\"a=1' is not PATH=VALUE");
	refuses("spec.text=a\n---\nb", "spec.text: the value has more than one YAML document");
}

/* What becomes of BEFORE's spec with --env TEXT; NULL: the error is WANT. */
static yyjson_doc *with_env(const char *before, const char *text, struct err *err)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(before), NULL);
	struct job_edits e = { 0 };
	yyjson_doc *after;

	assert_non_null(doc);
	opt_list_add(&e.env, text);
	after = edits_apply(&e, yyjson_doc_get_root(doc), err);
	edits_release(&e);
	return after;
}

static void variables_reach_all_containers(void **state)
{
	static const char before[] =
		"{\"spec\":{\"specs\":{\"a\":{\"template\":{\"spec\":{\"initContainers\":[{\"name\":\"i\"}],"
		"\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"LR\",\"valueFrom\":{}},{\"name\":\"B\"}]}]}}}},"
		"\"list\":[{\"template\":{\"spec\":{\"containers\":[{\"name\":\"d\",\"env\":null},7]}}},"
		"{\"template\":null}]}}";
	static const char want[] =
		"{\"spec\":{\"specs\":{\"a\":{\"template\":{\"spec\":{"
		"\"initContainers\":[{\"name\":\"i\",\"env\":[{\"name\":\"LR\",\"value\":\"0.1\"}]}],"
		"\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"B\"},{\"name\":\"LR\",\"value\":\"0.1\"}]}]}}}},"
		"\"list\":[{\"template\":{\"spec\":{\"containers\":["
		"{\"name\":\"d\",\"env\":[{\"name\":\"LR\",\"value\":\"0.1\"}]},7]}}},{\"template\":null}]}}";
	CLEANUP(json_docp) yyjson_doc *expected = json_parse(str_c(want), NULL);
	struct err err = ERR_INIT;
	CLEANUP(json_docp) yyjson_doc *after = with_env(before, "LR=0.1", &err);

	(void)state;
	assert_non_null(after);
	if (!json_eq(yyjson_doc_get_root(after), yyjson_doc_get_root(expected)))
		fail_msg("%s", yyjson_write(after, 0, NULL));
}

static void a_variable_without_value_is_the_callers(void **state)
{
	static const char before[] = "{\"spec\":[{\"template\":{\"spec\":{\"containers\":[{}]}}}]}";
	CLEANUP(json_docp) yyjson_doc *after = NULL;
	struct err err = ERR_INIT;

	(void)state;
	setenv("EDIT_TEST", "here", 1);
	after = with_env(before, "EDIT_TEST", &err);
	assert_string_equal(
		json_str(yyjson_ptr_get(yyjson_doc_get_root(after), "/spec/0/template/spec/containers/0/env/0/value"))
			.p,
		"here");
	unsetenv("EDIT_TEST");
	assert_null(with_env(before, "EDIT_TEST", &err));
	assert_string_equal(err_msg(&err), "--env EDIT_TEST: EDIT_TEST is not set here; write EDIT_TEST=VALUE");
	assert_null(with_env(before, "=x", &err));
	assert_string_equal(err_msg(&err), "--env =x: '' is not the name of a variable");
	assert_null(with_env("{\"spec\":{}}", "A=x", &err));
	assert_string_equal(err_msg(&err), "--env A=x: the job has no container to set A in");
	err_release(&err);
}

static void named(const struct job_edits *e, const char *before, const char *want)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(str_c(before), NULL);
	CLEANUP(json_docp) yyjson_doc *after = edits_apply(e, yyjson_doc_get_root(doc), NULL);
	char *text = yyjson_write(after, 0, NULL);

	assert_string_equal(text, want);
	free(text);
}

static void a_job_is_given_another_name(void **state)
{
	(void)state;
	named(&(struct job_edits){ .name = "new" }, "{\"metadata\":{\"name\":\"old\"}}",
	      "{\"metadata\":{\"name\":\"new\"}}");
	named(&(struct job_edits){ .suffix = "2" }, "{\"metadata\":{\"name\":\"old\"}}",
	      "{\"metadata\":{\"name\":\"old-2\"}}");
	named(&(struct job_edits){ .name = "new", .suffix = "2", .ns = "ml" }, "{}",
	      "{\"metadata\":{\"name\":\"new-2\",\"namespace\":\"ml\"}}");
	named(&(struct job_edits){ .ns = "ml" }, "{\"metadata\":{\"namespace\":\"own\"}}",
	      "{\"metadata\":{\"namespace\":\"own\"}}");
	named(&(struct job_edits){ .suffix = "2" }, "{\"metadata\":{\"generateName\":\"x-\"}}",
	      "{\"metadata\":{\"generateName\":\"x-\"}}");
	assert_false(edits_any(&(struct job_edits){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_set_where_the_path_leads),
		cmocka_unit_test(types_are_those_of_yaml),
		cmocka_unit_test(what_is_not_there_is_made),
		cmocka_unit_test(null_removes),
		cmocka_unit_test(a_path_that_leads_nowhere_is_named),
		cmocka_unit_test(variables_reach_all_containers),
		cmocka_unit_test(a_variable_without_value_is_the_callers),
		cmocka_unit_test(a_job_is_given_another_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
