/* read.c and validate.c: documents in, values or the exact problems out. */
#include "job/testing.h"

#define NAME63 "a23456789012345678901234567890123456789012345678901234567890123"
#define R(name, count, more)                                                                                           \
	"{'name':'" name "','path':'spec.r." name "','count':" count ",'template':" TEMPLATE more "}"

/* A document and what is wrong with it. */
static const struct {
	const char *doc, *problems;
} cases[] = {
	{ "{'roles':[" R("a", "1", "") "]}", "" },
	{ "{'roles':[" R("a", "0", "") "," R("b", "1", "") "]}", "" },
	{ "{'roles':[" R(NAME63, "1", "") "]}", "" },
	{ "{'roles':[" R("a", "1.0", "") "]}", "" },

	{ NULL, "spec: has no roles; a job needs at least one" },
	{ "{}", "spec: has no roles; a job needs at least one" },
	{ "[]", "spec: has no roles; a job needs at least one" },
	{ "{'roles':{}}", "spec: has no roles; a job needs at least one" },
	{ "null", "spec: must be an object, found null\nspec: has no roles; a job needs at least one" },
	{ "{'roles':{'a':1}}",
	  "spec: roles must be a list, found an object\nspec: has no roles; a job needs at least one" },
	{ "{'roles':'a'}", "spec: roles must be a list, found a string\nspec: has no roles; a job needs at least one" },
	{ "{'role':[]}",
	  "spec.role: unknown field; did you mean \"roles\"?\nspec: has no roles; a job needs at least one" },
	{ "{'roles':[7]}", "spec.roles[0]: must be an object, found a number\n"
	                   "spec.roles[0].template: is missing; it must be a pod template with spec.containers\n"
	                   "spec.roles[0].name: a role needs a name" },

	/* How many. */
	{ "{'roles':[" R("a", "0", "") "]}", "spec: has no replicas; a job needs at least one" },
	{ "{'roles':[" R("a", "0", "") "," R("b", "1", ",'aux':true") "]}",
	  "spec: has no replicas; a job needs at least one" },
	{ "{'roles':[" R("a", "null", "") "]}", "spec.r.a.count: is missing" },
	{ "{'roles':[{'name':'a','template':" TEMPLATE ",'fields':{'count':'replicas'}}]}",
	  "spec.roles[0].replicas: is missing" },
	{ "{'roles':[" R("a", "-1", "") "]}", "spec.r.a.count: must be at least 0, found -1" },
	{ "{'roles':[" R("a", "100001", "") "]}", "spec.r.a.count: must be at most 100000, found 100001" },
	{ "{'roles':[" R("a", "99999999999999999999", "") "]}",
	  "spec.r.a.count: must be a whole number between 0 and 100000" },
	{ "{'roles':[" R("a", "0.5", "") "]}", "spec.r.a.count: must be a whole number between 0 and 100000" },
	{ "{'roles':[" R("a", "'2'", "") "]}", "spec.r.a.count: must be a whole number, found a string" },
	{ "{'roles':[" R("a", "100000", "") "," R("b", "1", "") "]}",
	  "spec: has 100001 replicas in all; at most 100000 are allowed" },
	{ "{'roles':[" R("a", "2", ",'min':1,'max':2") "]}", "" },
	{ "{'roles':[" R("a", "2", ",'min':3,'max':1") "]}", "spec.r.a.min: 3 is more than the maximum 1" },
	{ "{'roles':[" R("a", "2", ",'min':3") "]}", "spec.r.a.min: 3 is more than the number of replicas, 2" },
	{ "{'roles':[" R("a", "2", ",'max':1,'fields':{'max':'maxReplicas'}") "]}",
	  "spec.r.a.maxReplicas: 1 is less than the number of replicas, 2" },
	{ "{'roles':[" R("a", "'x'", ",'min':3,'max':1") "]}",
	  "spec.r.a.count: must be a whole number, found a string\nspec.r.a.min: 3 is more than the maximum 1" },
	{ "{'roles':[" R("a", "'x'", ",'min':3,'max':4") "]}",
	  "spec.r.a.count: must be a whole number, found a string" },
	{ "{'roles':[" R("a", "1", ",'min':-1,'max':-2") "]}",
	  "spec.r.a.min: must be at least 0, found -1\nspec.r.a.max: must be at least 0, found -2" },

	/* Names. */
	{ "{'roles':[" R("", "1", "") "]}", "spec.r..name: a role needs a name" },
	{ "{'roles':[" R("A", "1", "") "]}",
	  "spec.r.A.name: must be a DNS label (letters, digits, '-', at most 63), found \"A\"" },
	{ "{'roles':[" R("a b", "1", ",'title':'A B'") "]}",
	  "spec.r.a b.name: must be a DNS label (letters, digits, '-', at most 63), found \"A B\"" },
	{ "{'roles':[" R(NAME63 "4", "1", "") "]}",
	  "spec.r." NAME63 "4.name: must be a DNS label (letters, digits, '-', at most 63), found "
	  "\"a234567890123456789012345678901234567890…\"" },
	{ "{'roles':[" R("a", "1", ",'title':'A'") "," R("b", "1", "") "," R("a", "1", ",'title':'a'") "]}",
	  "spec.r.a.name: role \"a\" already exists, as \"A\" at spec.r.a" },
	{ "{'roles':[{'count':1,'name':7,'template':" TEMPLATE "}]}",
	  "spec.roles[0].name: must be a string, found a number\nspec.roles[0].name: a role needs a name" },

	/* What is kept running anyway does not make a limit useful. */
	{ "{'roles':[" R("a", "1", "") "," R(
		  "b", "1", ",'aux':true,'default':{'restart':{'policy':'Always'}}") "],"
	                                                                             "'own':{'restart':{'limit':3}}}",
	  "warning spec.restart.limit: has no effect: the restart policy is Never" },

	/* A kind's mistakes. */
	{ "{'roles':[" R("a", "1", ",'env':'some','aux':1,'countt':1,'title':3,'containers':3,'ports':true") "]}",
	  "spec.r.a.env: must be counting or all, found \"some\"\n"
	  "spec.r.a.aux: must be true or false, found a number\n"
	  "spec.r.a.countt: unknown field; did you mean \"count\"?\n"
	  "spec.r.a.title: must be a string, found a number\n"
	  "spec.r.a.containers: must be an object, found a number\n"
	  "spec.r.a.ports: must be an object, found a boolean" },
};

static void test_problems(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench b = BENCH_INIT;

		assert_string_equal(problems_text(&b, &read_job(&b, cases[i].doc, NULL)->problems), cases[i].problems);
		bench_release(&b);
	}
}

static void test_values(void **state)
{
	struct bench b = BENCH_INIT;
	struct job_identity id = { STR("K.g"), STR("ns"), STR("a.b"), STR("u"), 5, 6, true };
	yyjson_val *doc = parse(&b, "{'roles':[" R("a", "2",
	                                           ",'title':'A','min':1,'max':3,'elastic':true,'service':true,"
	                                           "'env':'all'") "," R("b", "1", ",'aux':true,'env':'counting'") "]}");
	struct job *job = job_read(&b.a, &id, doc, NULL, STR_NONE, NULL);
	const struct role *role = job_role(job, STR("a"));

	(void)state;
	assert_int_equal(job->problems.list.n, 0);
	assert_true(str_eqc(job->kind, "K.g") && str_eqc(job->ns, "ns") && str_eqc(job->name, "a.b") &&
	            str_eqc(job->uid, "u"));
	assert_int_equal(job->created, 5);
	assert_int_equal(job->generation, 6);
	assert_true(job->deleting);
	assert_int_equal(job->n_roles, 2);
	assert_ptr_equal(role, &job->roles[0]);
	assert_true(str_eqc(role->path, "spec.r.a") && str_eqc(role->count_path, "spec.r.a.count"));
	assert_true(str_eqc(role->title, "A") && str_eqc(role->path, "spec.r.a"));
	assert_int_equal(role->count, 2);
	assert_int_equal(role->min, 1);
	assert_int_equal(role->max, 3);
	assert_true(role->elastic && role->service && role->env_everywhere && !role->aux);
	assert_ptr_equal(role->template, json_get(yyjson_arr_get(json_get(doc, "roles"), 0), "template"));
	role = job_role(job, STR("b"));
	assert_ptr_equal(role, &job->roles[1]);
	assert_true(str_eqc(role->title, "b"));
	assert_int_equal(role->min, -1);
	assert_int_equal(role->max, -1);
	assert_true(!role->elastic && !role->service && !role->env_everywhere && role->aux);
	assert_null(job_role(job, STR("A")));
	bench_release(&b);
}

static void test_job_names(void **state)
{
	static const struct {
		const char *name;
		bool good;
	} names[] = {
		{ "a", true },         { "0a", true },   { "a.b-c.d", true }, { NAME63, true }, { "", false },
		{ NAME63 "4", false }, { "A", false },   { "a.", false },     { ".a", false },  { "a..b", false },
		{ "-a", false },       { "a b", false }, { "a\nb", false },
	};
	struct bench b = BENCH_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct job_identity id = { .name = str_c(names[i].name) };
		struct job *job =
			job_read(&b.a, &id, parse(&b, "{'roles':[" R("a", "1", "") "]}"), NULL, STR_NONE, NULL);

		assert_int_equal(job->problems.errors, !names[i].good);
		if (!names[i].good)
			assert_true(str_eqc(job->problems.list.v[0].path, "metadata.name"));
	}
	bench_release(&b);
}

static void test_annotations(void **state)
{
	static const struct {
		const char *annotations;
		enum external_end end;
		const char *message;
	} endings[] = {
		{ NULL, EXTERNAL_NONE, "" },
		{ "null", EXTERNAL_NONE, "" },
		{ "7", EXTERNAL_NONE, "" },
		{ "{'x':'y','PREEMPTED':'no'}", EXTERNAL_NONE, "" },
		{ "{'Preempted':null}", EXTERNAL_NONE, "" },
		{ "{'Preempted':'by x'}", EXTERNAL_PREEMPTED, "by x" },
		{ "{'Failed':''}", EXTERNAL_FAILED, "" },
		{ "{'NodeFail':'n1'}", EXTERNAL_NODE_FAILED, "n1" },
		{ "{'Succeed':'enough'}", EXTERNAL_SUCCEEDED, "enough" },
		{ "{'Timeout':7}", EXTERNAL_TIMED_OUT, "" },
		{ "{'Timeout':'1','Succeed':'2','NodeFail':'3','Failed':'4','Preempted':'5'}", EXTERNAL_PREEMPTED,
		  "5" },
		{ "{'Timeout':'1','Succeed':'2','NodeFail':'3','Failed':'4'}", EXTERNAL_FAILED, "4" },
		{ "{'Timeout':'1','Succeed':'2','NodeFail':'3'}", EXTERNAL_NODE_FAILED, "3" },
		{ "{'Timeout':'1','Succeed':'2'}", EXTERNAL_SUCCEEDED, "2" },
		/* words of some kinds only */
		{ "{'preempted':'by y','failed':'f','nodefailed':'n2'}", EXTERNAL_NONE, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		struct bench b = BENCH_INIT;
		struct job *job = read_val(&b, parse(&b, "{'roles':[" R("a", "1", "") "]}"), NULL,
		                           parse(&b, endings[i].annotations));

		assert_int_equal(job->external, endings[i].end);
		assert_true(str_eqc(job->external_message, endings[i].message));
		assert_int_equal(job->problems.list.n, 0);
		bench_release(&b);
	}
}

/* external.c: what a kind's own users write. */
static void test_words_of_a_kind(void **state)
{
	static const struct {
		const char *annotations;
		enum external_end end;
		const char *message;
	} endings[] = {
		{ "{'preempted':'by y'}", EXTERNAL_PREEMPTED, "by y" },
		{ "{'failed':'f'}", EXTERNAL_FAILED, "f" },
		{ "{'nodefailed':'n2'}", EXTERNAL_NODE_FAILED, "n2" },
		{ "{'nodefail':'n2','succeed':'s','timeout':'t'}", EXTERNAL_NONE, "" },
		{ "{'nodefailed':'3','failed':'4','preempted':'5','Failed':'6'}", EXTERNAL_PREEMPTED, "5" },
		{ "{'failed':'4','Failed':'6'}", EXTERNAL_FAILED, "6" },
	};
	static const struct end_word words[] = { { STR_INIT("failed"), EXTERNAL_FAILED },
		                                 { STR_INIT("nodefailed"), EXTERNAL_NODE_FAILED },
		                                 { STR_INIT("preempted"), EXTERNAL_PREEMPTED } };
	struct job_identity id = { .name = STR("a"), .end_words = words, .n_end_words = ARRAY_LEN(words) };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		struct bench b = BENCH_INIT;
		struct job *job = job_read(&b.a, &id, parse(&b, "{'roles':[" R("a", "1", "") "]}"), NULL, STR_NONE,
		                           parse(&b, endings[i].annotations));

		assert_int_equal(job->external, endings[i].end);
		assert_true(str_eqc(job->external_message, endings[i].message));
		bench_release(&b);
	}
	assert_int_equal(external_parse(STR("NodeFailed")), EXTERNAL_NODE_FAILED);
	assert_int_equal(external_parse(STR("NodeFail")), EXTERNAL_NONE);
	assert_int_equal(external_parse(STR_NONE), EXTERNAL_NONE);
}

static void test_policy_path(void **state)
{
	struct bench b = BENCH_INIT;
	struct job_identity id = { .name = STR("a") };
	yyjson_val *doc = parse(&b, "{'roles':[" R("a", "1", "") "]}"), *policy = parse(&b, "{'fale':'Any'}");
	struct job *job;

	(void)state;
	job = job_read(&b.a, &id, doc, policy, STR("metadata.annotations[p]"), NULL);
	assert_string_equal(problems_text(&b, &job->problems),
	                    "metadata.annotations[p].fale: unknown field; did you mean \"fail\"?");
	job = job_read(&b.a, &id, doc, policy, STR_NONE, NULL);
	assert_string_equal(problems_text(&b, &job->problems),
	                    "spec.policy.fale: unknown field; did you mean \"fail\"?");
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_problems),        cmocka_unit_test(test_values),
		cmocka_unit_test(test_job_names),       cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_words_of_a_kind), cmocka_unit_test(test_policy_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
