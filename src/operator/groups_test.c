/* The loop and PodGroups: the order of things, answers of all sorts, a cluster that knows none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/internal.h"
#include "operator/testing.h"

static struct str odd; /* the last SIGHT_ODD's message */
static char odd_text[256];

static void see(void *cookie, const struct observer_sight *s)
{
	(void)cookie;
	if (s->type != SIGHT_ODD)
		return;
	snprintf(odd_text, sizeof(odd_text), "%.*s", STR_F(s->message));
	odd = str_c(odd_text);
}

static int setup(void **state, enum gang_kind kind, const char *scheduler)
{
	struct operator_script *s;

	script_setup(state);
	s = *state;
	kinds_set_gang(s->kinds, str_c(scheduler));
	/* The loop was made without; what it was told is all that it knows of gangs. */
	s->op->config.plan.gang = kind;
	s->op->config.observer = (struct observer){ see, NULL };
	odd = STR_NONE;
	return 0;
}

static int volcano(void **state)
{
	return setup(state, GANG_VOLCANO, "volcano");
}

static int plugins(void **state)
{
	return setup(state, GANG_PLUGINS, "sched");
}

/* As the server has it after the create or patch T. */
static struct group made_of(struct operator_script *s, const struct sent *t)
{
	struct group g = { .meta = { .ns = STR("ns"), .name = STR("j"), .uid = STR("g-1"), .owner_uid = STR(UID) },
		           .job_uid = STR(UID),
		           .min_member = 1,
		           .timeout = -1 };

	(void)t;
	g.meta.rv = arena_printf(&s->arena, "%d", 100 + s->rv++);
	return g;
}

static void group_answer(struct operator_script *s, struct sent *t, const struct group *g)
{
	answer(s, t, (struct outcome){ .code = 200, .object = { RES_GROUP, .group = g } });
}

static void group_event(struct operator_script *s, enum cluster_event_type type, const struct group *g)
{
	deliver(s, (struct cluster_event){ .type = type, .resource = RES_GROUP, .object = { RES_GROUP, .group = g } });
}

/* Brings it to the create of the group, with nothing else on its way. */
static struct sent *first_group(struct operator_script *s)
{
	struct sent *t;

	listed(s);
	list_one(s, RES_GROUP);
	put_job(s, "1", "", 0);
	status_written(s);
	t = waiting(s, VERB_CREATE, RES_GROUP);
	assert_non_null(t);
	assert_true(str_eqc(t->r.name, "j"));
	assert_int_equal(count_waiting_creates(s), 1);
	return t;
}

static void test_before_the_pods(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_group(s);
	struct group g = made_of(s, t);

	assert_null(waiting(s, VERB_CREATE, RES_SERVICE));
	group_answer(s, t, &g);
	status_written_if_any(s);
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	t = waiting(s, VERB_CREATE, RES_POD);
	assert_non_null(t);
	assert_non_null(strstr(t->r.body.p, "\"scheduling.x-k8s.io/pod-group\":\"j\""));
	assert_int_equal(operator_stats(s->op).groups, 1);
}

static void test_not_ready_without_the_list(void **state)
{
	struct operator_script *s = *state;

	listed(s);
	assert_false(operator_ready(s->op));
	list_one(s, RES_GROUP);
	assert_true(operator_ready(s->op));
}

static void test_queue(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_group(s);
	struct group g = made_of(s, t);

	group_answer(s, t, &g);
	status_written_if_any(s);
	assert_int_equal(count_waiting_creates(s), 0);
	g.phase = STR("Inqueue");
	g.meta.rv = STR("900");
	group_event(s, EVENT_PUT, &g);
	assert_non_null(waiting(s, VERB_CREATE, RES_SERVICE));
}

/* Volcano's webhook of before refuses pods with 400: the job waits and does not fail. */
static void test_too_early(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_group(s);
	struct group g = made_of(s, t);

	g.phase = STR("Inqueue");
	group_answer(s, t, &g);
	status_written_if_any(s);
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	t = waiting(s, VERB_CREATE, RES_POD);
	answer(s, t,
	       (struct outcome){ .code = 400,
	                         .reason = STR("BadRequest"),
	                         .message = STR("failed to create pod <ns/x> as the podgroup phase is Pending") });
	s->now += SECONDS(2);
	run_step(s);
	status_written_if_any(s);
	assert_non_null(strstr(s->status.p, "\"phase\":\"Pending\""));
	s->now += MINUTES(2);
	run_step(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_POD));
}

static void test_exists(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_group(s);
	struct group g = made_of(s, t);

	refuse(s, t, 409, "AlreadyExists");
	group_answer(s, waiting(s, VERB_GET, RES_GROUP), &g);
	status_written_if_any(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_SERVICE));
}

/* Nobody knows whether it was deleted: the pods of a job that is resumed must not rely on it. */
static void test_lost_delete(void **state)
{
	struct operator_script *s = *state;
	struct group g = made_of(s, NULL);
	struct sent *t;

	listed(s);
	list_one(s, RES_GROUP);
	group_event(s, EVENT_PUT, &g);
	s->policy = "{\"suspend\":true}";
	put_job(s, "50",
	        "{\"dlOperator\":{\"version\":1,\"phase\":\"Suspended\",\"generation\":1,\"suspended\":true,"
	        "\"roles\":{\"master\":{\"count\":1},\"worker\":{\"count\":0}}}}",
	        0);
	status_written_if_any(s);
	t = waiting(s, VERB_DELETE, RES_GROUP);
	assert_non_null(t);
	answer(s, t, (struct outcome){ 0 });
	s->policy = NULL;
	put_job(s, "60", s->status.p, 0);
	s->now += MINUTES(1);
	run_step(s);
	t = waiting(s, VERB_GET, RES_GROUP);
	assert_non_null(t);
	refuse(s, t, 404, "NotFound");
	status_written_if_any(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_GROUP));
	assert_null(waiting(s, VERB_CREATE, RES_POD));
}

/* That it is still there is no success: whoever cannot delete it does not ask again and again at once. */
static void test_failing_delete_slows_down(void **state)
{
	struct operator_script *s = *state;
	struct group g = made_of(s, NULL);

	listed(s);
	list_one(s, RES_GROUP);
	group_event(s, EVENT_PUT, &g);
	s->policy = "{\"suspend\":true}";
	put_job(s, "50",
	        "{\"dlOperator\":{\"version\":1,\"phase\":\"Suspended\",\"generation\":1,\"suspended\":true,"
	        "\"roles\":{\"master\":{\"count\":1},\"worker\":{\"count\":0}}}}",
	        0);
	status_written_if_any(s);
	for (int i = 0; i < 6; i++) {
		refuse(s, waiting(s, VERB_DELETE, RES_GROUP), 500, "InternalError");
		group_answer(s, waiting(s, VERB_GET, RES_GROUP), &g);
		status_written_if_any(s);
		assert_null(waiting(s, VERB_DELETE, RES_GROUP));
		s->now += SECONDS(60);
		run_step(s);
		status_written_if_any(s);
	}
	/* A second, doubled six times, and at most a minute. */
	refuse(s, waiting(s, VERB_DELETE, RES_GROUP), 500, "InternalError");
	group_answer(s, waiting(s, VERB_GET, RES_GROUP), &g);
	status_written_if_any(s);
	s->now += SECONDS(58);
	run_step(s);
	assert_null(waiting(s, VERB_DELETE, RES_GROUP));
	s->now += SECONDS(2);
	run_step(s);
	assert_non_null(waiting(s, VERB_DELETE, RES_GROUP));
}

static void test_adopted(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_group(s), *patch;
	struct group g = made_of(s, t);

	answer(s, t, (struct outcome){ .code = 0 });
	g.job_uid = STR_NONE;
	group_answer(s, waiting(s, VERB_GET, RES_GROUP), &g);
	patch = waiting(s, VERB_PATCH, RES_GROUP);
	assert_non_null(patch);
	assert_non_null(strstr(patch->r.body.p, "\"" LABEL_UID "\":\"" UID "\""));
	assert_null(strstr(patch->r.body.p, LABEL_INDEX));
	g.job_uid = STR(UID);
	g.meta.rv = STR("500");
	group_answer(s, patch, &g);
	status_written_if_any(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_SERVICE));
}

static void test_foreign(void **state)
{
	struct operator_script *s = *state;
	struct sent *t = first_group(s);
	struct group g = made_of(s, t);

	s->op->config.plan.status_interval = 0;
	refuse(s, t, 409, "AlreadyExists");
	g.meta.owner_uid = STR("somebody");
	g.meta.owner = STR("MXJob/j");
	group_answer(s, waiting(s, VERB_GET, RES_GROUP), &g);
	status_written_if_any(s);
	assert_non_null(strstr(s->status.p, "waiting for a name that is taken: PodGroup j belongs to MXJob/j"));
	assert_int_equal(count_waiting(s), 0);
	s->now += MINUTES(2);
	run_step(s);
	assert_null(waiting(s, VERB_CREATE, RES_GROUP));
	refuse(s, waiting(s, VERB_GET, RES_GROUP), 404, "NotFound");
	assert_non_null(waiting(s, VERB_CREATE, RES_GROUP));
}

/* A queue that is closed today is open tomorrow. */
static void test_refused(void **state)
{
	static const int codes[] = { 400, 403, 404, 422 };
	struct operator_script *s = *state;
	struct sent *t = first_group(s);

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		answer(s, t, (struct outcome){ .code = codes[i], .message = STR("queue is closed") });
		s->now += SECONDS(1);
		run_step(s);
		status_written_if_any(s);
		assert_non_null(strstr(s->status.p, codes[i] == 404
		                                            ? "waiting for the API server: the cluster has no PodGroups"
		                                            : "waiting for the API server: queue is closed"));
		s->now += MINUTES(3);
		run_step(s);
		status_written_if_any(s);
		t = waiting(s, VERB_CREATE, RES_GROUP);
		assert_non_null(t);
	}
}

static void start(struct operator_script *s, struct group *g)
{
	struct sent *t = first_group(s);

	*g = made_of(s, t);
	group_answer(s, t, g);
	settle_all(s);
}

static void test_patched_once(void **state)
{
	struct operator_script *s = *state;
	struct group g;
	struct sent *t;

	start(s, &g);
	/* Somebody edits it: it is put right. */
	g.min_member = 4;
	g.meta.rv = STR("300");
	group_event(s, EVENT_PUT, &g);
	t = waiting(s, VERB_PATCH, RES_GROUP);
	assert_non_null(t);
	assert_non_null(strstr(t->r.body.p, "\"minMember\":1"));
	/* A webhook insists: it has its way, and nobody is asked again, whatever else changes. */
	g.meta.rv = STR("301");
	group_answer(s, t, &g);
	settle_all(s);
	g.phase = STR("Running");
	g.meta.rv = STR("302");
	group_event(s, EVENT_PUT, &g);
	settle_all(s);
	assert_null(waiting(s, VERB_PATCH, RES_GROUP));
	/* Another edit is another matter. */
	g.min_member = 5;
	g.meta.rv = STR("303");
	group_event(s, EVENT_PUT, &g);
	assert_non_null(waiting(s, VERB_PATCH, RES_GROUP));
}

static void test_patch_meets_another(void **state)
{
	static const int codes[] = { 404, 409, 0, 500 };

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct operator_script *s = *state;
		struct group g;
		struct sent *t;

		start(s, &g);
		g.min_member = 4;
		g.meta.rv = STR("300");
		group_event(s, EVENT_PUT, &g);
		refuse(s, waiting(s, VERB_PATCH, RES_GROUP), codes[i], "Conflict");
		t = waiting(s, VERB_GET, RES_GROUP);
		/* It is gone, and needed by nobody: all pods are there. */
		assert_int_equal(t != NULL, codes[i] != 404);
		if (t)
			refuse(s, t, 404, "NotFound");
		s->now += MINUTES(3);
		run_step(s);
		settle_all(s);
		assert_int_equal(operator_stats(s->op).groups, 0);
		script_teardown(state);
		plugins(state);
	}
}

static void test_lost_label(void **state)
{
	struct operator_script *s = *state;
	struct group g;

	start(s, &g);
	group_event(s, EVENT_GONE, &g);
	group_answer(s, waiting(s, VERB_GET, RES_GROUP), &g);
	settle_all(s);
	assert_int_equal(operator_stats(s->op).groups, 1);
}

static void test_unknown_to_the_cluster(void **state)
{
	struct operator_script *s = *state;
	struct buf line = BUF_INIT(1024);

	listed(s);
	put_job(s, "1", "", 0);
	assert_int_equal(count_waiting(s), 0);
	assert_int_equal(operator_trouble(s->op, RES_POD, STR_NONE, 404, STR("x"), &line), TROUBLE_OTHER);
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 500, STR("x"), &line), TROUBLE_OTHER);
	assert_false(operator_ready(s->op));
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 404, STR("404 page not found"), &line),
	                 TROUBLE_NEWS);
	assert_string_equal(line.p,
	                    "the cluster has no PodGroups of scheduling.volcano.sh/v1beta1: install Volcano, or "
	                    "start dl-operator without --gang-scheduler-name");
	/* Once. */
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 404, STR("404 page not found"), &line),
	                 TROUBLE_KNOWN);
	assert_true(operator_ready(s->op));
	run_step(s);
	status_written(s);
	assert_non_null(strstr(s->status.p, "waiting: the cluster has no PodGroups of scheduling.volcano.sh/v1beta1"));
	assert_int_equal(count_waiting(s), 0);
	buf_clear(&line);
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 403, STR("podgroups is forbidden"), &line),
	                 TROUBLE_NEWS);
	assert_non_null(strstr(line.p, "may not use"));
	s->now += SECONDS(2);
	run_step(s);
	status_written(s);
	assert_non_null(strstr(s->status.p, "waiting: dl-operator may not use the PodGroups of"));
	/* Somebody has installed it. */
	list_one(s, RES_GROUP);
	status_written_if_any(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_GROUP));
	buf_release(&line);
}

/* A server that cannot list them is not waited for either; one that stumbles once they are known holds nobody up. */
static void test_server_fails(void **state)
{
	struct operator_script *s = *state;
	struct buf line = BUF_INIT(1024);

	listed(s);
	put_job(s, "1", "", 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 500, STR("webhook"), &line),
		                 TROUBLE_OTHER);
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 500, STR("webhook"), &line), TROUBLE_NEWS);
	assert_string_equal(line.p, "the PodGroups of scheduling.volcano.sh/v1beta1 cannot be listed: webhook");
	run_step(s);
	status_written(s);
	assert_non_null(strstr(s->status.p, "cannot be listed: webhook"));
	list_one(s, RES_GROUP);
	status_written_if_any(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_GROUP));
	for (int i = 0; i < 9; i++)
		assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 500, STR("webhook"), &line),
		                 TROUBLE_OTHER);
	buf_release(&line);
}

/* A right that is lost after the first list: what Volcano does with a group is not seen any more. */
static void test_right_is_lost(void **state)
{
	struct operator_script *s = *state;
	struct buf line = BUF_INIT(1024);
	struct sent *t = first_group(s);
	struct group g = made_of(s, t);

	s->op->config.plan.status_interval = 0;
	group_answer(s, t, &g);
	status_written_if_any(s);
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 403, STR("podgroups is forbidden"), &line),
	                 TROUBLE_NEWS);
	assert_non_null(strstr(line.p, "may not use"));
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 403, STR("podgroups is forbidden"), &line),
	                 TROUBLE_KNOWN);
	assert_true(operator_ready(s->op));
	run_step(s);
	status_written(s);
	assert_non_null(strstr(s->status.p, "waiting: dl-operator may not use the PodGroups of"));
	/* It is given back. */
	g.phase = STR("Inqueue");
	g.meta.rv = STR("900");
	deliver(s, (struct cluster_event){ .type = EVENT_SYNC, .resource = RES_GROUP });
	group_event(s, EVENT_PUT, &g);
	deliver(s, (struct cluster_event){ .type = EVENT_SYNCED, .resource = RES_GROUP });
	status_written_if_any(s);
	assert_non_null(waiting(s, VERB_CREATE, RES_SERVICE));
	buf_release(&line);
}

/* One who does not lead hears of it every few seconds for as long as it lasts. */
static void test_trouble_leaves_nothing(void **state)
{
	struct operator_script *s = *state;
	size_t used = s->op->arena.used;
	struct buf line = BUF_INIT(1024);

	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 404, STR("404 page not found"), &line),
	                 TROUBLE_NEWS);
	assert_int_equal(operator_trouble(s->op, RES_GROUP, STR_NONE, 404, STR("404 page not found"), &line),
	                 TROUBLE_KNOWN);
	assert_int_equal(s->op->arena.used, used);
	buf_release(&line);
}

static void test_other_scheduler(void **state)
{
	struct operator_script *s = *state;
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct job_object o;
	yyjson_mut_val *root, *spec;
	yyjson_doc *read;

	listed(s);
	list_one(s, RES_GROUP);
	put_job(s, "1", "", 0);
	assert_int_equal(odd.n, 0);
	o = job_object(s, "2", "", 0);
	root = yyjson_val_mut_copy(doc, o.root);
	spec = yyjson_mut_ptr_get(root, "/spec/replicaSpecs/0/template/spec");
	json_mut_put(doc, spec, STR("schedulerName"), json_mut_str(doc, STR("mine")));
	read = yyjson_mut_val_imut_copy(root, NULL);
	o.root = yyjson_doc_get_root(read);
	o.meta.uid = STR("another");
	o.meta.name = STR("k");
	deliver(s, (struct cluster_event){ .type = EVENT_PUT, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
	assert_string_equal(str_text(odd),
	                    "spec.replicaSpecs[0].template.spec.schedulerName is kept, although the operator's "
	                    "gang scheduler is volcano");
	yyjson_doc_free(read);
	yyjson_mut_doc_free(doc);
}

#define GROUP_TEST(name, with) cmocka_unit_test_setup_teardown(name, with, script_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GROUP_TEST(test_before_the_pods, plugins), GROUP_TEST(test_not_ready_without_the_list, plugins),
		GROUP_TEST(test_queue, volcano),           GROUP_TEST(test_too_early, volcano),
		GROUP_TEST(test_exists, plugins),          GROUP_TEST(test_adopted, plugins),
		GROUP_TEST(test_lost_delete, plugins),     GROUP_TEST(test_failing_delete_slows_down, plugins),
		GROUP_TEST(test_foreign, plugins),         GROUP_TEST(test_refused, plugins),
		GROUP_TEST(test_patched_once, plugins),    GROUP_TEST(test_patch_meets_another, plugins),
		GROUP_TEST(test_lost_label, plugins),      GROUP_TEST(test_unknown_to_the_cluster, volcano),
		GROUP_TEST(test_right_is_lost, volcano),   GROUP_TEST(test_trouble_leaves_nothing, volcano),
		GROUP_TEST(test_other_scheduler, volcano), GROUP_TEST(test_server_fails, volcano),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
