/* The scripted cluster of testing.h. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

#include "base/log.h"

static void submit(struct cluster *c, const struct request *r)
{
	struct operator_script *s = (struct operator_script *)(void *)c;
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
	struct operator_script *s = (struct operator_script *)(void *)c;

	*ret = s->event;
	if (!s->full)
		return false;
	s->full = false;
	return true;
}

static msec now(void *cookie)
{
	return ((struct operator_script *)cookie)->now;
}

static const struct cluster_ops ops = { submit, next };

void run_step(struct operator_script *s)
{
	if (s->listens)
		operator_listen(s->op);
	else
		s->wake = operator_step(s->op);
}

void deliver(struct operator_script *s, struct cluster_event ev)
{
	s->event = ev;
	s->full = true;
	run_step(s);
	assert_false(s->full);
}

void list_one(struct operator_script *s, enum resource r)
{
	deliver(s, (struct cluster_event){ .type = EVENT_SYNC, .resource = r });
	deliver(s, (struct cluster_event){ .type = EVENT_SYNCED, .resource = r });
}

static const struct clock *clock_of(struct operator_script *s)
{
	struct clock *c = arena_new(&s->arena, struct clock);

	*c = (struct clock){ now, s };
	return c;
}

void script_limit(struct operator_script *s, size_t requests_max)
{
	struct operator_config config = operator_config_default;

	config.plan = plan_config_default;
	config.requests_max = config.creates_max = requests_max;
	operator_free(s->op);
	s->op = operator_new(&s->cluster, s->kinds, clock_of(s), &config);
}

void script_kind(struct operator_script *s, const char *lua)
{
	struct err e = ERR_INIT;

	operator_free(s->op);
	s->op = NULL;
	kinds_free(s->kinds);
	s->kinds = kinds_new(&kind_limits_default);
	if (!kinds_load_text(s->kinds, STR("test.lua"), str_c(lua), &e))
		fail_msg("%s", err_msg(&e));
	script_limit(s, operator_config_default.requests_max);
}

int script_setup(void **state)
{
	struct operator_script *s = xcalloc(1, sizeof(*s));
	struct operator_config config = operator_config_default;
	struct err e = ERR_INIT;

	log_setup(LOG_TEXT, LOG_ERROR, &clock_wall);
	config.plan = plan_config_default;
	s->cluster.ops = &ops;
	s->now = SECONDS(1800000000);
	s->name = "j";
	s->uid = UID;
	s->kinds = kinds_new(&kind_limits_default);
	if (!kinds_load_builtin(s->kinds, &e))
		fail_msg("%s", err_msg(&e));
	s->op = operator_new(&s->cluster, s->kinds, clock_of(s), &config);
	*state = s;
	return 0;
}

int script_teardown(void **state)
{
	struct operator_script *s = *state;

	operator_free(s->op);
	kinds_free(s->kinds);
	yyjson_doc_free(s->doc);
	arena_release(&s->arena);
	free(s);
	return 0;
}

/* What is sent and not answered yet: "create pod", … */
struct sent *waiting(struct operator_script *s, enum verb verb, enum resource r)
{
	for (size_t i = 0; i < s->n_sent; i++)
		if (!s->sent[i].answered && s->sent[i].r.verb == verb && s->sent[i].r.resource == r)
			return &s->sent[i];
	return NULL;
}

size_t count_waiting(struct operator_script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += !s->sent[i].answered;
	return n;
}

size_t count_waiting_creates(struct operator_script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += !s->sent[i].answered && s->sent[i].r.verb == VERB_CREATE;
	return n;
}

size_t count_its_creates(struct operator_script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += !s->sent[i].answered && s->sent[i].r.verb == VERB_CREATE && strstr(s->sent[i].r.body.p, s->uid);
	return n;
}

void answer(struct operator_script *s, struct sent *t, struct outcome o)
{
	assert_non_null(t);
	t->answered = true;
	o.id = t->r.id;
	deliver(s, (struct cluster_event){ .type = EVENT_OUTCOME, .outcome = o });
}

void refuse(struct operator_script *s, struct sent *t, int code, const char *reason)
{
	answer(s, t, (struct outcome){ .code = code, .reason = str_c(reason), .message = STR("no") });
}

struct job_object job_object(struct operator_script *s, const char *rv, const char *status, int workers)
{
	const char *template =
		arena_printf(&s->arena,
	                     "\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"x\"%s}]}}",
	                     s->fields ? s->fields : "")
			.p;
	struct str text =
		arena_printf(&s->arena,
	                     "{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"metadata\":{\"name\":\"%s\","
	                     "\"namespace\":\"ns\",\"uid\":\"%s\",\"resourceVersion\":\"%s\",\"generation\":%d},"
	                     "\"spec\":{\"replicaSpecs\":[{\"tfReplicaType\":\"MASTER\",\"replicas\":1,%s},"
	                     "{\"tfReplicaType\":\"WORKER\",\"replicas\":%d,%s}],\"policy\":%s}%s%s}",
	                     s->name, s->uid, rv, workers + 1, template, workers, template,
	                     s->tensorboard ? "{\"tensorboard\":{\"logDir\":\"/l\"}}"
	                     : s->policy    ? s->policy
	                                    : "{}",
	                     status[0] ? ",\"status\":" : "", status);
	struct err e = ERR_INIT;

	yyjson_doc_free(s->doc);
	s->doc = json_parse(text, &e);
	if (!s->doc)
		fail_msg("%s", err_msg(&e));
	return (struct job_object){
		.kind = STR("TfJob.mlkube.io"),
		.root = yyjson_doc_get_root(s->doc),
		.meta = { .ns = STR("ns"), .name = str_c(s->name), .uid = str_c(s->uid), .rv = str_c(rv) }
	};
}

void put_job(struct operator_script *s, const char *rv, const char *status, int workers)
{
	struct job_object o = job_object(s, rv, status, workers);

	s->workers = workers;
	s->status = str_c(status);
	deliver(s, (struct cluster_event){ .type = EVENT_PUT, .resource = RES_JOB, .object = { RES_JOB, .job = &o } });
}

void speak_of(struct operator_script *s, const char *name)
{
	s->name = s->uid = name;
	s->status = STR_NONE;
}

/* The server takes the status write that waits. */
void status_written(struct operator_script *s)
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

void status_written_if_any(struct operator_script *s)
{
	if (waiting(s, VERB_PATCH_STATUS, RES_JOB))
		status_written(s);
}

void listed(struct operator_script *s)
{
	list_one(s, RES_JOB);
	list_one(s, RES_POD);
	list_one(s, RES_SERVICE);
	list_one(s, RES_NODE);
}

/* The server takes the create and answers with what it made. */
void server_made(struct operator_script *s, struct sent *t, const char *uid)
{
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(t->r.body, NULL);
	yyjson_val *m = json_get(yyjson_doc_get_root(doc), "metadata"), *labels = json_get(m, "labels");
	struct str owner = json_str(json_get(labels, LABEL_UID));
	struct meta meta = {
		.ns = t->r.ns, .name = t->r.name, .uid = str_c(uid), .rv = str_c(uid), .owner_uid = owner
	};
	struct pod pod = { .meta = meta, .job_uid = owner, .role = json_str(json_get(labels, LABEL_ROLE)) };
	struct service service = { .meta = meta, .job_uid = owner, .role = pod.role };
	int64_t index = 0;

	assert_true(str_int(json_str(json_get(labels, LABEL_INDEX)), &index));
	pod.index = service.index = (int32_t)index;
	answer(s, t,
	       (struct outcome){
		       .code = 201,
		       .object = { t->r.resource, .child = t->r.resource == RES_POD ? &pod.child : &service.child } });
}

/* Answers everything that is sent until nothing more is: creates and status writes succeed. */
void settle_all(struct operator_script *s)
{
	static int serial;
	char uid[32];
	struct sent *t;

	for (int i = 0; i < 40 && count_waiting(s); i++) {
		snprintf(uid, sizeof(uid), "made-%d", serial++);
		if ((t = waiting(s, VERB_CREATE, RES_SERVICE)) || (t = waiting(s, VERB_CREATE, RES_POD)))
			server_made(s, t, uid);
		else if (waiting(s, VERB_PATCH_STATUS, RES_JOB))
			status_written(s);
		else
			fail_msg("something else was sent");
	}
}

/* Brings it to the first create of a pod. */
struct sent *first_pod(struct operator_script *s)
{
	struct sent *t;

	listed(s);
	put_job(s, "1", "", 0);
	status_written(s);
	server_made(s, waiting(s, VERB_CREATE, RES_SERVICE), "svc");
	t = waiting(s, VERB_CREATE, RES_POD);
	assert_non_null(t);
	return t;
}

struct pod found_pod(const struct sent *t, const char *owner, const char *label)
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

bool next_made(struct operator_script *s)
{
	static int n;
	char uid[16];
	struct sent *t = waiting(s, VERB_CREATE, RES_SERVICE);

	snprintf(uid, sizeof(uid), "made-%d", n++);
	if (!t)
		t = waiting(s, VERB_CREATE, RES_POD);
	if (t)
		server_made(s, t, uid);
	else
		status_written_if_any(s);
	return t;
}

struct sent *next_status(struct operator_script *s)
{
	for (int i = 0; i < 20 && !waiting(s, VERB_PATCH_STATUS, RES_JOB) && next_made(s); i++)
		;
	return waiting(s, VERB_PATCH_STATUS, RES_JOB);
}

bool debug_has(struct operator_script *s, const char *text)
{
	struct buf out = BUF_INIT(1 << 20);
	bool has;

	assert_true(operator_debug(s->op, STR("ns"), str_c(s->name), &out));
	has = strstr(buf_str(&out).p, text);
	buf_release(&out);
	return has;
}
