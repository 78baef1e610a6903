#include "operator/testing.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static msec now(void *cookie)
{
	return ((struct operator_script *)cookie)->now;
}

struct seen {
	struct clock clock;
	size_t passes, failures, creates, records, spared, refused;
	enum phase first_phase, last_phase;
	msec took;
	char taken[128];
	char fields[VERB_PATCH_STATUS + 2][512]; /* of the last answer to each verb, and of the last record */
};

static void keep_fields(const struct observer_sight *s, char to[static 512])
{
	struct log_field fields[SIGHT_FIELDS];
	struct buf text = BUF_INIT(511);

	for (size_t i = 0, n = sight_fields(s, fields); i < n; i++) {
		buf_printf(&text, "%s%s=%.*s", i ? " " : "", fields[i].key, STR_F(fields[i].text));
		if (fields[i].is_number)
			buf_printf(&text, "%lld", (long long)fields[i].number);
	}
	snprintf(to, 512, "%.*s", STR_F(buf_str(&text)));
	buf_release(&text);
}

static void see(void *cookie, const struct observer_sight *s)
{
	struct seen *seen = cookie;

	assert_true(s->kind.n > 0 && s->job->name.n > 0);
	switch (s->type) {
	case SIGHT_PASS:
		seen->passes++;
		seen->failures += s->failed;
		break;
	case SIGHT_ANSWER:
		if (s->resource == RES_POD || s->verb == VERB_PATCH_STATUS)
			keep_fields(s, seen->fields[s->verb]);
		if (s->verb == VERB_CREATE && s->code < 300) {
			seen->creates++;
			seen->took = s->took;
			assert_true(s->object.n > 0 && s->role.n > 0);
		}
		break;
	case SIGHT_RECORD:
		keep_fields(s, seen->fields[VERB_PATCH_STATUS + 1]);
		if (!seen->records++)
			seen->first_phase = s->after->phase;
		assert_true(s->before->phase != s->after->phase || s->before->running != s->after->running);
		assert_ptr_not_equal(s->record, NULL);
		seen->last_phase = s->after->phase;
		break;
	case SIGHT_TAKEN:
		snprintf(seen->taken, sizeof(seen->taken), "%.*s", STR_F(s->message));
		break;
	case SIGHT_STATUS:
		seen->refused++;
		snprintf(seen->taken, sizeof(seen->taken), "%.*s", STR_F(s->message));
		break;
	case SIGHT_SPARED:
		seen->spared++;
		snprintf(seen->taken, sizeof(seen->taken), "%.*s", STR_F(s->message));
		break;
	case SIGHT_ODD:
	case SIGHT_UNREAD:
	case SIGHT_LEFT:
		fail();
	}
}

/* The script's operator, with somebody who looks. */
static void watched(struct operator_script *s, struct seen *seen)
{
	struct operator_config config = operator_config_default;

	seen->clock = (struct clock){ now, s };
	config.plan = plan_config_default;
	config.observer = (struct observer){ see, seen };
	operator_free(s->op);
	s->op = operator_new(&s->cluster, s->kinds, &seen->clock, &config);
}

static void test_tells_of_creates_and_phases(void **state)
{
	struct operator_script *s = *state;
	struct seen seen = { 0 };

	watched(s, &seen);
	assert_false(operator_ready(s->op));
	listed(s);
	assert_true(operator_ready(s->op));
	put_job(s, "10", "", 1);
	settle_all(s);
	assert_true(seen.creates >= 2);
	assert_true(seen.records >= 1);
	assert_true(seen.passes >= seen.records);
	assert_int_equal(seen.failures, 0);
	assert_true(operator_stats(s->op).adds > 0);
	assert_int_equal(operator_stats(s->op).jobs, 1);
	/* What has no replica names none. */
	assert_non_null(
		strstr(seen.fields[VERB_PATCH_STATUS], "kind=TfJob.mlkube.io namespace=ns job=j object=j code="));
	assert_non_null(strstr(seen.fields[VERB_PATCH_STATUS + 1], "kind=TfJob.mlkube.io namespace=ns job=j phase="));
}

/* A job that has started is not refused for its size; people learn of it all the same, and once. */
static void test_tells_of_what_is_spared(void **state)
{
	static const struct kind_sizes small = { .pod = 100, .job = 1 << 20 };
	static const char running[] =
		"{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"startTime\":\"2026-11-15T12:00:00Z\"}}";
	struct operator_script *s = *state;
	struct seen seen = { 0 };

	kinds_set_sizes(s->kinds, &small);
	watched(s, &seen);
	listed(s);
	put_job(s, "10", running, 0);
	assert_int_equal(seen.spared, 1);
	assert_non_null(strstr(seen.taken, "spec.replicaSpecs[0]: each of its pods has "));
	settle_all(s);
	assert_int_equal(seen.spared, 1);
	assert_true(seen.creates >= 2);
}

static void test_a_record_of_before_was_told_before(void **state)
{
	struct operator_script *s = *state;
	struct seen seen = { 0 };
	size_t phases[PHASE_COUNT];

	watched(s, &seen);
	listed(s);
	put_job(s, "10", "{\"dlOperator\":{\"version\":1,\"phase\":\"Succeeded\",\"outcome\":\"Succeeded\"}}", 1);
	run_step(s);
	assert_int_equal(seen.records, 0);
	operator_phases(s->op, STR("TfJob.mlkube.io"), phases);
	assert_int_equal(phases[PHASE_SUCCEEDED], 1);
	operator_phases(s->op, STR("MXJob.mpba.fbk.eu"), phases);
	assert_int_equal(phases[PHASE_SUCCEEDED], 0);
}

/* Lines of the log name a replica as its pod's labels do. */
static void test_lines_of_the_log_have_the_names_of_labels(void **state)
{
	static const char status[] =
		"{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"generation\":3,\"restarts\":3,"
		"\"roles\":{\"master\":{\"count\":1},\"worker\":{\"count\":0}}}}";
	struct operator_script *s = *state;
	struct pod old = { .meta = { .ns = STR("ns"),
		                     .name = STR("old"),
		                     .uid = STR("found"),
		                     .rv = STR("8"),
		                     .owner_uid = STR(UID) },
		           .job_uid = STR(UID),
		           .role = STR("master"),
		           .generation = 2 };
	struct seen seen = { 0 };

	watched(s, &seen);
	listed(s);
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &old } });
	put_job(s, "1", status, 0);
	status_written_if_any(s);
	answer(s, waiting(s, VERB_DELETE, RES_POD), (struct outcome){ .code = 200 });
	assert_string_equal(seen.fields[VERB_DELETE],
	                    "kind=TfJob.mlkube.io namespace=ns job=j role=master index=0 generation=2 object=old "
	                    "code=200 ms=0");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_GONE, .resource = RES_POD, .object = { RES_POD, .pod = &old } });
	for (int i = 0; i < 50 && !waiting(s, VERB_CREATE, RES_SERVICE); i++) {
		s->now += SECONDS(10);
		run_step(s);
		status_written_if_any(s);
	}
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	status_written_if_any(s);
	server_made(s, waiting(s, VERB_CREATE, RES_POD), "pod");
	assert_non_null(strstr(seen.fields[VERB_CREATE], " role=master index=0 generation=3 object="));
}

static void test_tells_of_failures(void **state)
{
	struct operator_script *s = *state;
	struct seen seen = { 0 };

	watched(s, &seen);
	listed(s);
	put_job(s, "10", "", 1);
	for (int i = 0; i < 50 && !waiting(s, VERB_CREATE, RES_SERVICE); i++)
		status_written(s);
	s->now += 700;
	answer(s, waiting(s, VERB_CREATE, RES_SERVICE), (struct outcome){ .code = 429, .retry_after = 1000 });
	status_written_if_any(s);
	assert_int_equal(seen.creates, 0);
	assert_int_equal(seen.failures, 1);
	assert_int_equal(operator_stats(s->op).retries, 1);
	s->now += SECONDS(10);
	run_step(s);
	s->now += 300;
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	assert_int_equal(seen.creates, 1);
	assert_int_equal(seen.took, 300);
}

static void test_tells_whose_a_name_is(void **state)
{
	struct operator_script *s = *state;
	struct seen seen = { 0 };
	struct sent *t;
	struct service svc = { .meta = { .ns = STR("ns"), .uid = STR("found"), .rv = STR("9") } };
	char told[sizeof(seen.taken)];

	watched(s, &seen);
	listed(s);
	put_job(s, "10", "", 0);
	for (int i = 0; i < 50 && !waiting(s, VERB_CREATE, RES_SERVICE); i++)
		status_written(s);
	t = waiting(s, VERB_CREATE, RES_SERVICE);
	svc.meta.name = t->r.name;
	svc.meta.owner_uid = STR("u");
	svc.meta.owner = STR("Deployment/web");
	refuse(s, t, 409, "AlreadyExists");
	assert_string_equal(seen.taken, "");
	answer(s, waiting(s, VERB_GET, RES_SERVICE),
	       (struct outcome){ .code = 200, .object = { RES_SERVICE, .service = &svc } });
	assert_true(str_has_prefix(str_c(seen.taken), STR("service ")));
	assert_non_null(strstr(seen.taken, " belongs to Deployment/web"));
	/* The job's line says it too. */
	status_written_if_any(s);
	s->now += SECONDS(1);
	run_step(s);
	/* It is still there, which is no news. */
	memcpy(told, seen.taken, sizeof(told));
	seen.taken[0] = 0;
	answer(s, waiting(s, VERB_GET, RES_SERVICE),
	       (struct outcome){ .code = 200, .object = { RES_SERVICE, .service = &svc } });
	assert_string_equal(seen.taken, "");
	assert_non_null(waiting(s, VERB_PATCH_STATUS, RES_JOB));
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, told));
}

/* A status that no form of it can be written in: people learn of each refusal once. */
static void test_tells_of_a_refused_status(void **state)
{
	struct operator_script *s = *state;
	struct seen seen = { 0 };

	watched(s, &seen);
	listed(s);
	put_job(s, "1", "", 1);
	for (size_t form = 1; form <= 3; form++) {
		answer(s, next_status(s),
		       (struct outcome){ .code = 500, .message = STR("etcdserver: request is too large") });
		assert_int_equal(seen.refused, form);
		assert_string_equal(seen.taken, "etcdserver: request is too large");
	}
	settle_all(s);
	assert_int_equal(seen.refused, 3);
}

/* One who does not lead keeps what it knows fresh, and sends nothing. */
static void test_a_standby_listens_only(void **state)
{
	struct operator_script *s = *state;
	struct job_object job = job_object(s, "10", "", 1);

	for (enum resource r = RES_JOB; r < RES_COUNT; r++) {
		s->event = (struct cluster_event){ .type = EVENT_SYNC, .resource = r };
		s->full = true;
		operator_listen(s->op);
		s->event = (struct cluster_event){ .type = EVENT_SYNCED, .resource = r };
		s->full = true;
		operator_listen(s->op);
	}
	s->event = (struct cluster_event){ .type = EVENT_PUT, .resource = RES_JOB };
	s->event.object.resource = RES_JOB;
	s->event.object.job = &job;
	s->full = true;
	operator_listen(s->op);
	assert_true(operator_ready(s->op));
	assert_int_equal(operator_stats(s->op).jobs, 1);
	assert_int_equal(s->n_sent, 0);
	run_step(s);
	assert_true(s->n_sent > 0);
}

static void hear_of_node(struct operator_script *s, const char *name, bool ready)
{
	struct node n = { .name = str_c(name), .ready = ready };

	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_NODE, .object = { RES_NODE, .node = &n } });
}

/* For how long a node has been silent, whoever leads next knows from the time when it stood by. */
static void test_a_standby_keeps_the_clock_of_nodes(void **state)
{
	static const char running[] = "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\","
				      "\"roles\":[{\"name\":\"master\",\"count\":1,\"seen\":\"0\"}]}}";
	struct operator_script *s = *state;
	struct sent pod_named = { .r.name = STR("j-master-0") };
	struct pod pod = found_pod(&pod_named, UID, UID);
	struct sent *write;

	pod.node = STR("n1");
	s->listens = true;
	s->now = 1700000000000;
	listed(s);
	hear_of_node(s, "n1", true);
	hear_of_node(s, "n2", true);
	put_job(s, "1", running, 0);
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	hear_of_node(s, "n1", false);
	s->now += SECONDS(39);
	assert_int_equal(s->n_sent, 0);
	s->listens = false;
	run_step(s);
	settle_all(s);
	for (size_t i = 0; i < s->n_sent; i++)
		assert_null(s->sent[i].r.body.n ? strstr(s->sent[i].r.body.p, "NodeFail") : NULL);
	s->now += SECONDS(1);
	run_step(s);
	write = waiting(s, VERB_PATCH_STATUS, RES_JOB);
	assert_non_null(write);
	assert_non_null(strstr(write->r.body.p, "\"cause\":\"NodeFail\""));
}

/* A job of which another leader writes while we stand by. */
static void listen_to(struct operator_script *s, const char *rv, const char *status)
{
	struct job_object job = job_object(s, rv, status, 1);

	s->event = (struct cluster_event){ .type = EVENT_PUT, .resource = RES_JOB };
	s->event.object.resource = RES_JOB;
	s->event.object.job = &job;
	s->full = true;
	operator_listen(s->op);
}

/* Two leaders after each other tell of each thing once; a standby knows how the jobs are. */
static void test_what_another_leader_told(void **state)
{
	struct operator_script *s = *state;
	struct seen seen = { 0 };
	size_t phases[PHASE_COUNT], told;

	watched(s, &seen);
	listed(s);
	put_job(s, "1000", "", 1);
	settle_all(s);
	told = seen.records;
	assert_true(told >= 1);
	/* The watch shows what was written last. */
	listen_to(s, arena_printf(&s->arena, "w%d", s->rv - 1).p, s->status.p);
	listen_to(s, "w998", "{\"dlOperator\":{\"version\":1,\"phase\":\"Succeeded\",\"outcome\":\"Succeeded\"}}");
	operator_phases(s->op, STR("TfJob.mlkube.io"), phases);
	assert_int_equal(phases[PHASE_SUCCEEDED], 1);
	assert_int_equal(phases[PHASE_NONE], 0);
	/* It leads again, and hears the last of what the other one wrote only then. */
	run_step(s);
	listen_to(s, "w999",
	          "{\"dlOperator\":{\"version\":1,\"phase\":\"Failed\",\"outcome\":\"Failed\","
	          "\"roles\":[{\"name\":\"master\",\"restarts\":{\"Failed\":3}}]}}");
	run_step(s);
	operator_phases(s->op, STR("TfJob.mlkube.io"), phases);
	assert_int_equal(phases[PHASE_FAILED], 1);
	assert_int_equal(seen.records, told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_tells_of_creates_and_phases),
		SCRIPT_TEST(test_tells_of_what_is_spared),
		SCRIPT_TEST(test_a_record_of_before_was_told_before),
		SCRIPT_TEST(test_lines_of_the_log_have_the_names_of_labels),
		SCRIPT_TEST(test_tells_of_failures),
		SCRIPT_TEST(test_tells_whose_a_name_is),
		SCRIPT_TEST(test_tells_of_a_refused_status),
		SCRIPT_TEST(test_a_standby_listens_only),
		SCRIPT_TEST(test_a_standby_keeps_the_clock_of_nodes),
		SCRIPT_TEST(test_what_another_leader_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
