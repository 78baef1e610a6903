/* The loop against a cluster that does what the test says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/log.h"
#include "operator/operator.h"

enum { MOST = 64 };

struct sent {
	struct request r;
	bool answered;
};

/* Keeps what was sent, and delivers one event at a time. */
struct script {
	struct cluster cluster; /* first */
	struct arena arena;
	struct sent sent[MOST];
	size_t n_sent;
	struct cluster_event event;
	bool full;
	msec now;
	msec wake;
	struct kinds *kinds;
	struct op *op;
	yyjson_doc *doc;
	struct str status; /* of the job, as the server has it */
	int workers, rv;
};

static void submit(struct cluster *c, const struct request *r)
{
	struct script *s = (struct script *)(void *)c;
	struct sent *t = &s->sent[s->n_sent++];

	assert_true(s->n_sent <= MOST);
	t->r = *r;
	t->r.kind = arena_str(&s->arena, r->kind);
	t->r.ns = arena_str(&s->arena, r->ns);
	t->r.name = arena_str(&s->arena, r->name);
	t->r.body = arena_str(&s->arena, r->body);
	t->r.uid = arena_str(&s->arena, r->uid);
}

static bool next(struct cluster *c, struct cluster_event *ret)
{
	struct script *s = (struct script *)(void *)c;

	*ret = s->event;
	if (!s->full)
		return false;
	s->full = false;
	return true;
}

static msec now(void *cookie)
{
	return ((struct script *)cookie)->now;
}

static const struct cluster_ops ops = { submit, next };

static void step(struct script *s)
{
	s->wake = operator_step(s->op);
}

static void deliver(struct script *s, struct cluster_event ev)
{
	s->event = ev;
	s->full = true;
	step(s);
	assert_false(s->full);
}

static void list(struct script *s, enum resource r)
{
	deliver(s, (struct cluster_event){ .type = EVENT_SYNC, .resource = r });
	deliver(s, (struct cluster_event){ .type = EVENT_SYNCED, .resource = r });
}

static const struct clock *clock_of(struct script *s)
{
	struct clock *c = arena_new(&s->arena, struct clock);

	*c = (struct clock){ now, s };
	return c;
}

static int setup(void **state)
{
	struct script *s = xcalloc(1, sizeof(*s));
	struct operator_config config = operator_config_default;
	struct err e = ERR_INIT;

	log_setup(LOG_TEXT, LOG_ERROR, &clock_wall);
	config.plan = plan_config_default;
	s->cluster.ops = &ops;
	s->now = SECONDS(1800000000);
	s->kinds = kinds_new(&kind_limits_default);
	if (!kinds_load_builtin(s->kinds, &e))
		fail_msg("%s", err_msg(&e));
	s->op = operator_new(&s->cluster, s->kinds, clock_of(s), &config);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct script *s = *state;

	operator_free(s->op);
	kinds_free(s->kinds);
	yyjson_doc_free(s->doc);
	arena_release(&s->arena);
	free(s);
	return 0;
}

/* What is sent and not answered yet: "create pod", … */
static struct sent *waiting(struct script *s, enum verb verb, enum resource r)
{
	for (size_t i = 0; i < s->n_sent; i++)
		if (!s->sent[i].answered && s->sent[i].r.verb == verb && s->sent[i].r.resource == r)
			return &s->sent[i];
	return NULL;
}

static size_t count_waiting(struct script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += !s->sent[i].answered;
	return n;
}

static size_t count_waiting_creates(struct script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += !s->sent[i].answered && s->sent[i].r.verb == VERB_CREATE;
	return n;
}

static void answer(struct script *s, struct sent *t, struct outcome o)
{
	assert_non_null(t);
	t->answered = true;
	o.id = t->r.id;
	deliver(s, (struct cluster_event){ .type = EVENT_OUTCOME, .outcome = o });
}

static void refuse(struct script *s, struct sent *t, int code, const char *reason)
{
	answer(s, t, (struct outcome){ .code = code, .reason = str_c(reason), .message = STR("no") });
}

#define UID "11111111-2222-3333-4444-555555555555"

static const char template[] = "\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"x\"}]}}";

static struct job_object job_object(struct script *s, const char *rv, const char *status, int workers)
{
	struct str text =
		arena_printf(&s->arena,
	                     "{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"metadata\":{\"name\":\"j\","
	                     "\"namespace\":\"ns\",\"uid\":\"" UID "\",\"resourceVersion\":\"%s\",\"generation\":1},"
	                     "\"spec\":{\"replicaSpecs\":[{\"tfReplicaType\":\"MASTER\",\"replicas\":1,%s},"
	                     "{\"tfReplicaType\":\"WORKER\",\"replicas\":%d,%s}]}%s%s}",
	                     rv, template, workers, template, status[0] ? ",\"status\":" : "", status);
	struct err e = ERR_INIT;

	yyjson_doc_free(s->doc);
	s->doc = json_parse(text, &e);
	if (!s->doc)
		fail_msg("%s", err_msg(&e));
	return (struct job_object){ .kind = STR("TfJob.mlkube.io"),
		                    .root = yyjson_doc_get_root(s->doc),
		                    .meta = { .ns = STR("ns"), .name = STR("j"), .uid = STR(UID), .rv = str_c(rv) } };
}

static void put_job(struct script *s, const char *rv, const char *status, int workers)
{
	struct job_object o = job_object(s, rv, status, workers);

	s->workers = workers;
	s->status = str_c(status);
	deliver(s, (struct cluster_event){ .type = EVENT_PUT, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
}

/* The server takes the status write that waits. */
static void written(struct script *s)
{
	struct sent *t = waiting(s, VERB_PATCH_STATUS, RES_JOB);
	yyjson_doc *patch CLEANUP(json_docp) = t ? json_parse(t->r.body, NULL) : NULL;
	yyjson_doc *before CLEANUP(json_docp) = s->status.n ? json_parse(s->status, NULL) : NULL;
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
	struct buf out = BUF_INIT(1 << 20);
	struct job_object o;

	assert_non_null(t);
	json_write(yyjson_merge_patch(doc, yyjson_doc_get_root(before), json_get(yyjson_doc_get_root(patch), "status")),
	           &out);
	s->status = arena_str(&s->arena, buf_str(&out));
	buf_release(&out);
	o = job_object(s, arena_printf(&s->arena, "w%d", s->rv++).p, s->status.p, s->workers);
	answer(s, t, (struct outcome){ .code = 200, .object = { RES_JOB, .job = &o } });
}

static void written_if_any(struct script *s)
{
	if (waiting(s, VERB_PATCH_STATUS, RES_JOB))
		written(s);
}

static void listed(struct script *s)
{
	list(s, RES_JOB);
	list(s, RES_POD);
	list(s, RES_SERVICE);
	list(s, RES_NODE);
}

/* The server takes the create and answers with what it made. */
static void made(struct script *s, struct sent *t, const char *uid)
{
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(t->r.body, NULL);
	yyjson_val *m = json_get(yyjson_doc_get_root(doc), "metadata"), *labels = json_get(m, "labels");
	struct meta meta = {
		.ns = t->r.ns, .name = t->r.name, .uid = str_c(uid), .rv = str_c(uid), .owner_uid = STR(UID)
	};
	struct pod pod = { .meta = meta, .job_uid = STR(UID), .role = json_str(json_get(labels, LABEL_ROLE)) };
	struct service service = { .meta = meta, .job_uid = STR(UID), .role = pod.role };
	int64_t index = 0;

	assert_true(str_int(json_str(json_get(labels, LABEL_INDEX)), &index));
	pod.index = service.index = (int32_t)index;
	answer(s, t,
	       (struct outcome){ .code = 201,
	                         .object = { t->r.resource, .pod = t->r.resource == RES_POD ? &pod : NULL,
	                                     .service = t->r.resource == RES_SERVICE ? &service : NULL } });
}

/* Answers everything that is sent until nothing more is: creates and status writes go well. */
static void settle(struct script *s)
{
	static int serial;
	char uid[32];
	struct sent *t;

	for (int i = 0; i < 40 && count_waiting(s); i++) {
		snprintf(uid, sizeof(uid), "made-%d", serial++);
		if ((t = waiting(s, VERB_CREATE, RES_SERVICE)) || (t = waiting(s, VERB_CREATE, RES_POD)))
			made(s, t, uid);
		else if (waiting(s, VERB_PATCH_STATUS, RES_JOB))
			written(s);
		else
			fail_msg("something else was sent");
	}
}

static void test_no_plan_before_the_lists(void **state)
{
	struct script *s = *state;

	put_job(s, "1", "", 2);
	list(s, RES_POD);
	list(s, RES_SERVICE);
	list(s, RES_NODE);
	assert_int_equal(s->n_sent, 0);
	assert_true(s->wake == NEVER);
	deliver(s, (struct cluster_event){ .type = EVENT_SYNC, .resource = RES_JOB });
	put_job(s, "1", "", 2);
	assert_int_equal(s->n_sent, 0);
	deliver(s, (struct cluster_event){ .type = EVENT_SYNCED, .resource = RES_JOB });
	assert_true(s->n_sent > 0);
}

static void test_creates_grow_in_batches(void **state)
{
	struct script *s = *state;
	static const size_t sizes[] = { 1, 2, 4, 1, 8 }; /* 8 services, then 8 pods */
	struct sent *t;

	listed(s);
	put_job(s, "1", "", 7);
	written(s);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char uid[32];

		assert_int_equal(count_waiting_creates(s), sizes[i]);
		assert_int_equal(waiting(s, VERB_CREATE, RES_POD) != NULL, i == 4);
		for (size_t k = 0; k < sizes[i]; k++) {
			t = waiting(s, VERB_CREATE, i == 4 ? RES_POD : RES_SERVICE);
			snprintf(uid, sizeof(uid), "u-%zu-%zu", i, k);
			made(s, t, uid);
		}
	}
	assert_int_equal(count_waiting_creates(s), 0);
}

static void test_refusal_stops(void **state)
{
	struct script *s = *state;
	size_t sent;

	listed(s);
	put_job(s, "1", "", 7);
	written(s);
	made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u1");
	refuse(s, waiting(s, VERB_CREATE, RES_SERVICE), 403, "Forbidden");
	sent = s->n_sent;
	made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u2");
	assert_int_equal(count_waiting_creates(s), 0);
	assert_true(s->wake > s->now && s->wake != NEVER);
	/* After the wait: one at a time again. */
	s->now = s->wake;
	step(s);
	if (!count_waiting_creates(s)) {
		settle(s);
		s->now += MINUTES(2);
		step(s);
	}
	assert_true(s->n_sent > sent);
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_no_second_pass_in_flight(void **state)
{
	struct script *s = *state;
	size_t sent;

	listed(s);
	put_job(s, "1", "", 1);
	sent = s->n_sent;
	assert_true(sent > 0);
	put_job(s, "2", "", 3);
	step(s);
	assert_int_equal(s->n_sent, sent);
}

static void test_status_carries_its_version(void **state)
{
	struct script *s = *state;
	struct sent *t;
	yyjson_doc *doc;

	listed(s);
	put_job(s, "77", "", 1);
	t = waiting(s, VERB_PATCH_STATUS, RES_JOB);
	assert_non_null(t);
	doc = json_parse(t->r.body, NULL);
	assert_true(str_eqc(json_str(json_at(yyjson_doc_get_root(doc), "metadata", "resourceVersion", NULL)), "77"));
	assert_non_null(json_at(yyjson_doc_get_root(doc), "status", "dlOperator", NULL));
	yyjson_doc_free(doc);
	assert_true(str_eqc(t->r.kind, "TfJob.mlkube.io"));
}

static void test_conflict_on_status_reads_anew(void **state)
{
	struct script *s = *state;
	struct job_object o;

	listed(s);
	put_job(s, "1", "", 1);
	made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u1");
	refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), 409, "Conflict");
	assert_int_equal(count_waiting(s), 1);
	assert_non_null(waiting(s, VERB_GET, RES_JOB));
	o = job_object(s, "5", "", 1);
	answer(s, waiting(s, VERB_GET, RES_JOB), (struct outcome){ .code = 200, .object = { RES_JOB, .job = &o } });
	assert_non_null(strstr(waiting(s, VERB_PATCH_STATUS, RES_JOB)->r.body.p, "\"resourceVersion\":\"5\""));
}

static void test_status_refused_is_no_loop(void **state)
{
	struct script *s = *state;
	size_t sent;

	listed(s);
	put_job(s, "1", "", 1);
	made(s, waiting(s, VERB_CREATE, RES_SERVICE), "u1");
	refuse(s, waiting(s, VERB_PATCH_STATUS, RES_JOB), 422, "Invalid");
	sent = s->n_sent;
	s->now += MINUTES(9);
	step(s);
	assert_int_equal(s->n_sent, sent);
	s->now += MINUTES(2);
	step(s);
	assert_true(s->n_sent > sent);
}

/* Brings it to the first create of a pod. */
static struct sent *first_pod(struct script *s)
{
	struct sent *t;

	listed(s);
	put_job(s, "1", "", 0);
	written(s);
	made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	t = waiting(s, VERB_CREATE, RES_POD);
	assert_non_null(t);
	return t;
}

static struct pod found(const struct sent *t, const char *owner, const char *label)
{
	return (struct pod){ .meta = { .ns = STR("ns"),
		                       .name = t->r.name,
		                       .uid = STR("found"),
		                       .rv = STR("9"),
		                       .owner_uid = str_c(owner) },
		             .job_uid = str_c(label),
		             .role = STR("master"),
		             .phase = POD_RUNNING };
}

static void test_exists_and_is_ours(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s), *get;
	struct pod pod = found(t, UID, UID);

	refuse(s, t, 409, "AlreadyExists");
	get = waiting(s, VERB_GET, RES_POD);
	assert_true(str_eq(get->r.name, t->r.name));
	answer(s, get, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(count_waiting_creates(s), 0);
}

static void test_exists_without_labels(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s), *patch;
	struct pod pod = found(t, UID, "");

	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	patch = waiting(s, VERB_PATCH, RES_POD);
	assert_non_null(patch);
	assert_non_null(strstr(patch->r.body.p, "\"" LABEL_UID "\":\"" UID "\""));
	assert_non_null(strstr(patch->r.body.p, "\"" LABEL_GENERATION "\":\"0\""));
	assert_non_null(strstr(patch->r.body.p, "\"uid\":\"found\""));
	pod.job_uid = STR(UID);
	answer(s, patch, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(count_waiting_creates(s), 0);
}

static void test_exists_and_is_foreign(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found(t, "somebody", "");

	refuse(s, t, 409, "AlreadyExists");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	/* Nothing is touched, and it is tried again later. */
	assert_null(waiting(s, VERB_PATCH, RES_POD));
	assert_null(waiting(s, VERB_DELETE, RES_POD));
	assert_int_equal(count_waiting_creates(s), 0);
	assert_true(s->wake > s->now && s->wake != NEVER);
}

static void test_lost_reply_is_found_by_name(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found(t, UID, UID);

	answer(s, t, (struct outcome){ 0 });
	assert_int_equal(count_waiting_creates(s), 0);
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(count_waiting_creates(s), 0);
}

static void test_lost_reply_not_done(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s);

	answer(s, t, (struct outcome){ 0 });
	refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_server_asks_to_wait(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s);

	answer(s, t, (struct outcome){ .code = 429, .retry_after = SECONDS(100) });
	s->now += SECONDS(99);
	step(s);
	assert_int_equal(count_waiting_creates(s), 0);
	s->now += SECONDS(1);
	step(s);
	/* A status write may come first. */
	written_if_any(s);
	assert_int_equal(count_waiting_creates(s), 1);
}

static void test_delete_of_what_is_gone(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s), *del;
	struct pod stray = found(t, UID, UID);

	made(s, t, "p1");
	settle(s);
	stray.meta.name = STR("stray");
	stray.index = 5;
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &stray } });
	written_if_any(s);
	del = waiting(s, VERB_DELETE, RES_POD);
	assert_non_null(del);
	assert_true(str_eqc(del->r.uid, "found"));
	assert_int_equal(del->r.grace, -1);
	refuse(s, del, 404, "NotFound");
	assert_null(waiting(s, VERB_DELETE, RES_POD));
}

static void test_delete_is_not_repeated(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s), *del;
	struct pod stray = found(t, UID, UID), foreign = found(t, "somebody", UID);

	made(s, t, "p1");
	settle(s);
	stray.meta.name = STR("stray");
	stray.index = 5;
	foreign.meta.name = STR("foreign");
	foreign.index = 6;
	/* Whoever copies our labels does not make it ours. */
	deliver(s, (struct cluster_event){
			   .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &foreign } });
	settle(s);
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &stray } });
	written_if_any(s);
	del = waiting(s, VERB_DELETE, RES_POD);
	assert_non_null(del);
	assert_true(str_eqc(del->r.name, "stray"));
	answer(s, del, (struct outcome){ .code = 200 });
	s->now += SECONDS(5);
	step(s);
	assert_null(waiting(s, VERB_DELETE, RES_POD));
}

static void test_lost_label_is_put_back(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s);
	struct pod pod = found(t, UID, UID);

	made(s, t, "p1");
	settle(s);
	pod.meta.uid = pod.meta.rv = STR("p1");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_GONE, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	pod.job_uid = STR_NONE;
	pod.meta.rv = STR("p2");
	answer(s, waiting(s, VERB_GET, RES_POD), (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	assert_non_null(waiting(s, VERB_PATCH, RES_POD));
}

static void test_unreadable_record_is_left_alone(void **state)
{
	struct script *s = *state;

	listed(s);
	put_job(s, "1", "{\"dlOperator\":{\"version\":99}}", 1);
	put_job(s, "2", "{\"dlOperator\":\"what\"}", 1);
	assert_int_equal(s->n_sent, 0);
	put_job(s, "3", "", 1);
	assert_true(s->n_sent > 0);
}

/* A leader whose watch of pods is behind must not take for deleted what it has not seen yet. */
static void test_pod_that_only_the_record_saw(void **state)
{
	struct script *s = *state;
	struct sent *get;
	struct pod pod;

	listed(s);
	put_job(s, "1",
	        "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"roles\":{\"master\":{\"count\":1,\"seen\":"
	        "\"0\"},"
	        "\"worker\":{\"count\":0}}}}",
	        0);
	assert_int_equal(s->n_sent, 1);
	get = waiting(s, VERB_GET, RES_POD);
	assert_non_null(get);
	pod = found(get, UID, UID);
	answer(s, get, (struct outcome){ .code = 200, .object = { RES_POD, .pod = &pod } });
	/* It is there: no restart. */
	for (size_t i = 0; i < s->n_sent; i++)
		assert_null(s->sent[i].r.body.n ? strstr(s->sent[i].r.body.p, "Deleted") : NULL);
}

static void test_pod_that_the_record_saw_is_gone(void **state)
{
	struct script *s = *state;
	struct sent *t;

	listed(s);
	put_job(s, "1",
	        "{\"dlOperator\":{\"version\":1,\"phase\":\"Running\",\"roles\":{\"master\":{\"count\":1,\"seen\":"
	        "\"0\"},"
	        "\"worker\":{\"count\":0}}}}",
	        0);
	refuse(s, waiting(s, VERB_GET, RES_POD), 404, "NotFound");
	t = waiting(s, VERB_PATCH_STATUS, RES_JOB);
	assert_non_null(t);
	assert_non_null(strstr(t->r.body.p, "\"Deleted\":1"));
}

static void test_job_that_goes_while_in_flight(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s);
	struct job_object o = job_object(s, "2", "", 0);
	struct pod pod = found(t, UID, UID);
	size_t sent = s->n_sent;

	deliver(s, (struct cluster_event){ .type = EVENT_GONE, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
	answer(s, t, (struct outcome){ .code = 201, .object = { RES_POD, .pod = &pod } });
	assert_int_equal(s->n_sent, sent);
	/* Even an operator that ends meanwhile leaves nothing behind (the sanitizers look). */
}

static void test_end_with_requests_in_flight(void **state)
{
	struct script *s = *state;
	struct job_object o;

	first_pod(s);
	o = job_object(s, "2", "", 0);
	deliver(s, (struct cluster_event){ .type = EVENT_GONE, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
}

static void test_node_that_is_not_known_is_asked_for(void **state)
{
	struct script *s = *state;
	struct sent *t = first_pod(s), *get;
	struct pod pod = found(t, UID, UID);

	made(s, t, "p1");
	settle(s);
	pod.meta.uid = STR("p1");
	pod.meta.rv = STR("p1");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	pod.meta.rv = STR("p2");
	pod.node = STR("n1");
	deliver(s,
	        (struct cluster_event){ .type = EVENT_PUT, .resource = RES_POD, .object = { RES_POD, .pod = &pod } });
	get = waiting(s, VERB_GET, RES_NODE);
	assert_non_null(get);
	assert_true(str_eqc(get->r.name, "n1"));
	refuse(s, get, 404, "NotFound");
	/* It is gone, and asked for no more. */
	assert_null(waiting(s, VERB_GET, RES_NODE));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_no_plan_before_the_lists),
		TEST(test_creates_grow_in_batches),
		TEST(test_refusal_stops),
		TEST(test_no_second_pass_in_flight),
		TEST(test_status_carries_its_version),
		TEST(test_conflict_on_status_reads_anew),
		TEST(test_status_refused_is_no_loop),
		TEST(test_exists_and_is_ours),
		TEST(test_exists_without_labels),
		TEST(test_exists_and_is_foreign),
		TEST(test_lost_reply_is_found_by_name),
		TEST(test_lost_reply_not_done),
		TEST(test_server_asks_to_wait),
		TEST(test_delete_of_what_is_gone),
		TEST(test_delete_is_not_repeated),
		TEST(test_lost_label_is_put_back),
		TEST(test_unreadable_record_is_left_alone),
		TEST(test_pod_that_only_the_record_saw),
		TEST(test_pod_that_the_record_saw_is_gone),
		TEST(test_job_that_goes_while_in_flight),
		TEST(test_end_with_requests_in_flight),
		TEST(test_node_that_is_not_known_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
