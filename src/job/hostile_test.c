/* Every value of a good document replaced by every kind of bad one: no crash, and what is wrong
   everywhere is said. What decode.c refuses, and what text.c shows of it. */
#include "job/testing.h"

static const char good_doc[] =
	"{'roles':[{'name':'worker','title':'WORKER','path':'spec.a','count':2,'min':1,'max':3,'elastic':true,"
	"'aux':false,'service':true,'containers':{'prefix':'x-'},'env':'all','ports':{'prefix':'x-'},"
	"'template':{'spec':{'initContainers':[{'name':'init','image':'i'}],'containers':[{'name':'x-a','image':'i',"
	"'ports':[{'name':'x-p','containerPort':5}],'env':[{'name':'E'}]},{'name':'b','image':'i'}]}},"
	"'own':{'restart':{'policy':'ExitCode','scope':'Role','limit':3,'exitCodes':[137,'1-2'],'oomPermanent':true},"
	"'complete':'Any','fail':'None'},'default':{'restart':{'backoff':{'initialSeconds':1,'maxSeconds':2}}}},"
	"{'name':'ps','count':1,'containers':{'name':'b'},'ports':[{'name':'p','port':1}],"
	"'template':{'spec':{'containers':[{'name':'b','image':'i'}]}}}],"
	"'own':{'timeLimit':5,'complete':{'role':'ps','index':0}},'default':{'cleanPods':'All','suspend':false}}";
static const char good_policy[] =
	"{'restart':{'policy':'ExitCode','scope':'Job','limit':1,'backoff':{'initialSeconds':1,'maxSeconds':2},"
	"'exitCodes':['1','2-3',4]},'complete':{'role':'ps','index':0},'fail':'All','activeDeadlineSeconds':7,"
	"'ttlSecondsAfterFinished':8,'cleanPods':'None','suspend':true,"
	"'roles':{'Worker':{'restart':{'limit':3},'complete':'Any','fail':'None'},'PS':{'restart':{'scope':'Pod'}}}}";

/* The first is wrong wherever it stands; the others only may be. */
static const char *const bad[] = {
	"[null]",
	"null",
	"true",
	"-1",
	"0",
	"1",
	"2147483648",
	"9223372036854775808",
	"-1e300",
	"0.5",
	"''",
	"'x'",
	"'A b/\\u0000\\u001b[2J'",
	"'a234567890123456789012345678901234567890123456789012345678901234'",
	"[]",
	"{}",
	"[[[]]]",
	"{'x':{'y':null}}",
	"[1,2,3]",
	"['a','b']",
	"{'name':1,'role':[],'port':{},'containerPort':true}",
};

/* Replaces the *LEFT-th value below VAL; false: there are fewer. */
static bool replace(yyjson_mut_doc *doc, yyjson_mut_val *val, size_t *left, yyjson_val *by)
{
	yyjson_mut_val *key, *item;
	size_t i, max;

	if (yyjson_mut_is_obj(val)) {
		yyjson_mut_obj_foreach(val, i, max, key, item)
		{
			if ((*left)-- == 0)
				return yyjson_mut_obj_replace(val, key, yyjson_val_mut_copy(doc, by));
			if (replace(doc, item, left, by))
				return true;
		}
	} else if (yyjson_mut_is_arr(val)) {
		yyjson_mut_arr_foreach(val, i, max, item)
		{
			if ((*left)-- == 0)
				return yyjson_mut_arr_replace(val, i, yyjson_val_mut_copy(doc, by)) != NULL;
			if (replace(doc, item, left, by))
				return true;
		}
	}
	return false;
}

/* GOOD with its N-th value replaced; NULL: there are fewer. */
static yyjson_doc *spoil(yyjson_val *good, size_t n, yyjson_val *by)
{
	yyjson_mut_doc *mut = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *root = yyjson_val_mut_copy(mut, good);
	yyjson_doc *ret = NULL;

	yyjson_mut_doc_set_root(mut, root);
	if (replace(mut, root, &n, by))
		ret = yyjson_mut_doc_imut_copy(mut, NULL);
	yyjson_mut_doc_free(mut);
	return ret;
}

/* What everybody who takes a job without errors relies on. */
static void check_sound(const struct job *job)
{
	int64_t total = 0;

	assert_in_range(job->n_roles, 1, JOB_MAX_ROLES);
	assert_in_range(job->complete, JOB_END_ANY, JOB_END_CHIEF);
	assert_in_range(job->fail, JOB_END_ANY, JOB_END_ALL);
	if (job->complete == JOB_END_CHIEF)
		assert_true(job->chief_role < job->n_roles && job->chief_index < job->roles[job->chief_role].count);
	assert_true(job->time_limit == -1 || job->time_limit > 0);
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];
		size_t counting = 0;

		total += role->count;
		assert_true(role->count >= 0 && str_is_dns_label(role->name, false));
		assert_non_null(role->template);
		for (size_t k = 0; k < role->n_containers; k++)
			counting += role->containers[k].counts && !role->containers[k].init;
		assert_true(counting > 0);
		for (size_t k = 0; k < role->n_ports; k++)
			assert_in_range(role->ports[k].number, 1, 65535);
		assert_true(role->restart.limit >= -1 && role->restart.backoff_initial <= role->restart.backoff_max);
		assert_false(code_set_has(&role->restart.codes, 0));
	}
	assert_in_range(total, 1, JOB_MAX_REPLICAS);
}

static void check_problems(const struct problems *p)
{
	for (size_t i = 0; i < p->list.n; i++) {
		const struct problem *one = &p->list.v[i];

		assert_true(one->path.n > 0 && one->message.n > 0);
		for (size_t k = 0; k < one->message.n; k++)
			assert_true((unsigned char)one->message.p[k] >= ' ');
	}
}

static void spoil_all(bool the_policy)
{
	struct bench b = BENCH_INIT;
	yyjson_val *doc = parse(&b, good_doc), *policy = parse(&b, good_policy);
	size_t spoilt = 0;

	assert_string_equal(problems_text(&b, &read_val(&b, doc, policy, NULL)->problems), "");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		yyjson_val *by = parse(&b, bad[i]);
		yyjson_doc *other;

		for (size_t n = 0; (other = spoil(the_policy ? policy : doc, n, by)); n++) {
			struct arena a = ARENA_INIT;
			struct job_identity id = { .name = STR("job") };
			yyjson_val *root = yyjson_doc_get_root(other);
			struct job *job =
				job_read(&a, &id, the_policy ? doc : root, the_policy ? root : policy, STR_NONE, NULL);

			check_problems(&job->problems);
			if (!job->problems.errors)
				check_sound(job);
			if (i == 0 && !job->problems.errors)
				fail_msg("value %zu as %s is taken", n, bad[i]);
			arena_release(&a);
			yyjson_doc_free(other);
			spoilt++;
		}
	}
	assert_true(spoilt > 500);
	bench_release(&b);
}

static void test_document(void **state)
{
	(void)state;
	spoil_all(false);
}

static void test_policy(void **state)
{
	(void)state;
	spoil_all(true);
}

/* N values of the same shape, with # for the number. */
static yyjson_val *many(struct bench *b, const char *before, const char *one, int n, const char *after)
{
	struct buf text = BUF_INIT(16 << 20);
	yyjson_val *ret;

	buf_put(&text, str_c(before));
	for (int i = 0; i < n; i++) {
		buf_put(&text, i ? STR(",") : STR(""));
		for (const char *p = one; *p; p++)
			if (*p == '#')
				buf_printf(&text, "%d", i);
			else
				buf_putc(&text, *p);
	}
	buf_put(&text, str_c(after));
	ret = parse(b, text.p);
	buf_release(&text);
	return ret;
}

static void test_many(void **state)
{
	struct bench b = BENCH_INIT;
	struct job *job;

	(void)state;
	job = read_val(&b, many(&b, "{'roles':[", ROLE("r#", 1) "}", 10000, "]}"), NULL, NULL);
	assert_int_equal(job->n_roles, JOB_MAX_ROLES);
	assert_string_equal(problems_text(&b, &job->problems), "spec: has 10000 roles; at most 64 are allowed");

	/* As many problems as are kept, all counted. */
	job = read_val(&b, parse(&b, good_doc), many(&b, "{'roles':{", "'nobody#':{}", 10000, "}}"), NULL);
	assert_int_equal(job->problems.list.n, PROBLEMS_MAX);
	assert_int_equal(job->problems.errors, 10000);
	job = read_val(&b, parse(&b, good_doc), many(&b, "{", "'unknown#':1", 10000, "}"), NULL);
	assert_int_equal(job->problems.errors, 10000);
	bench_release(&b);
}

/* What a user wrote cannot move the cursor of whoever reads the message, nor fill the screen. */
static void test_shown(void **state)
{
	struct bench b = BENCH_INIT;
	struct job_identity id = { 0 };
	char junk[50];
	struct job *job;

	(void)state;
	job = read_job(&b, good_doc, "{'\\u001b[2J\\n':1,'fail':'\\u007fAll\\r','roles':{'\\t':{}}}");
	assert_int_equal(job->problems.errors, 3);
	assert_string_equal(problems_text(&b, &job->problems),
	                    "spec.policy.?[2J?: unknown field; must be restart, complete, fail, timeLimit, "
	                    "activeDeadlineSeconds, ttlSecondsAfterFinished, cleanPods, suspend, doNotDisrupt, "
	                    "runningDeadlineSeconds, startAfter, "
	                    "schedulingPolicy, tensorboard or roles\n"
	                    "spec.policy.fail: must be Any or All, found \"?All?\"\n"
	                    "spec.policy.roles.?: there is no such role; the roles are WORKER or ps");

	/* Bytes that are no text at all. */
	memset(junk, 0x80, sizeof(junk));
	id.name = (struct str){ junk, sizeof(junk) };
	job = job_read(&b.a, &id, parse(&b, good_doc), NULL, STR_NONE, NULL);
	assert_string_equal(problems_text(&b, &job->problems),
	                    "metadata.name: must be lower case letters, digits, '-' and "
	                    "'.', at most 63 characters, found \"…\"");
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
