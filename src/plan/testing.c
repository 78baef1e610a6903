/* The fixture of the plan's tests. */
#include "plan/testing.h"

#include "job/policy.h"

static const msec start_time = 1700000000000;

struct t *t_new(void)
{
	struct t *t = xcalloc(1, sizeof(*t));

	t->now = start_time;
	t->config = plan_config_default;
	t->job = (struct job){
		.kind = STR("Test.example.org"),
		.ns = STR("ns"),
		.name = STR("job"),
		.uid = STR("uid-1"),
		.created = start_time,
		.generation = 1,
		.roles = t->roles,
		.complete = JOB_END_ALL,
		.fail = JOB_END_ANY,
		.clean = CLEAN_RUNNING,
		.time_limit = -1,
		.active_deadline = -1,
		.running_deadline = -1,
		.ttl = -1,
		.scheduling = { .min_available = -1, .timeout = -1 },
	};
	t->job.problems.arena = &t->a;
	t->fleet.nodes = &t->nodes;
	return t;
}

void t_free(struct t *t)
{
	map_release(&t->nodes);
	arena_release(&t->a);
	free(t);
}

struct role *t_role(struct t *t, const char *name, int32_t count)
{
	struct role *r = &t->roles[t->job.n_roles++];
	struct template_container *c = arena_new(&t->a, struct template_container);

	c->name = STR("main");
	c->counts = true;
	*r = (struct role){
		.name = str_c(name),
		.title = str_c(name),
		.count = count,
		.min = -1,
		.max = -1,
		.service = true,
		.match = MATCH_NAME,
		.match_text = STR("main"),
		.containers = c,
		.n_containers = 1,
		.tolerations = { -1, -1 },
		.restart = { .policy = RESTART_NEVER, .limit = -1, .backoff_initial = 10, .backoff_max = 300 },
		.complete = END_ALL,
		.fail = END_ANY,
	};
	return r;
}

void t_codes(struct role *role, const char *text)
{
	struct arena a = ARENA_INIT;
	struct problems p = { .arena = &a };
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_doc *read;

	yyjson_mut_doc_set_root(doc, yyjson_mut_str(doc, text));
	read = yyjson_mut_doc_imut_copy(doc, NULL);
	assert_true(code_set_read(&role->restart.codes, yyjson_doc_get_root(read), STR("codes"), &p));
	yyjson_doc_free(read);
	yyjson_mut_doc_free(doc);
	arena_release(&a);
}

/* The record as the API server would give it back. */
static struct record *through_json(struct t *t, const struct record *r)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct err e = ERR_INIT;
	yyjson_doc *read;
	struct record *back;

	yyjson_mut_doc_set_root(doc, record_write(r, doc));
	read = yyjson_mut_doc_imut_copy(doc, NULL);
	back = record_read(yyjson_doc_get_root(read), &t->a, &e);
	if (!back)
		fail_msg("%s", err_msg(&e));
	yyjson_doc_free(read);
	yyjson_mut_doc_free(doc);
	return back;
}

const struct plan *t_plan(struct t *t)
{
	const struct pod **pods = arena_array(&t->a, const struct pod *, T_MAX_PODS);
	const struct service **services = arena_array(&t->a, const struct service *, T_MAX_PODS);
	const struct refusal refusals[] = { t->refusal, t->service_refusal, t->aux_refusal };
	struct plan_input in = {
		.job = &t->job,
		.record = t->record,
		.pods = pods,
		.n_pods = t->n_pods,
		.services = services,
		.n_services = t->n_services,
		.sole[RES_GROUP] = { t->has_group ? &t->group.child : NULL, t->group_kept, t->groups_trouble },
		.fleet = t->nodes.n ? &t->fleet : NULL,
		.config = &t->config,
		.refusals = refusals,
		.n_refusals = ARRAY_LEN(refusals),
		.undeleted = t->undeleted,
		.losses = t->losses,
		.now = t->now,
		.status_written = t->status_written,
	};

	for (size_t i = 0; i < t->n_pods; i++) {
		plan_pod_seen(&t->pods[i].pod, &t->pods[i].pod, t->now);
		pods[i] = &t->pods[i].pod;
	}
	for (size_t i = 0; i < t->n_services; i++)
		services[i] = &t->services[i];
	t->plan = plan_job(&in, &t->a);
	if (t->plan.write == CHANGE_DURABLE)
		assert_int_equal(t->plan.n_actions, 0);
	if (t->plan.write != CHANGE_NONE) {
		t->record = through_json(t, t->plan.record);
		t->status_written = t->now;
		t->writes++;
	}
	return &t->plan;
}

struct t_pod *t_pod_add(struct t *t, const char *role, int32_t index, int64_t generation)
{
	struct t_pod *p = &t->pods[t->n_pods++];
	static int serial;

	assert_true(t->n_pods <= T_MAX_PODS);
	*p = (struct t_pod){ 0 };
	snprintf(p->name, sizeof(p->name), "job-%s-%d", role, index);
	snprintf(p->uid, sizeof(p->uid), "pod-%d", ++serial);
	p->containers[0].name = STR("main");
	p->pod = (struct pod){
		.meta = { .ns = t->job.ns,
		          .name = str_c(p->name),
		          .uid = str_c(p->uid),
		          .owner_uid = t->job.uid,
		          .created = t->now },
		.job_uid = t->job.uid,
		.role = str_c(role),
		.index = index,
		.generation = generation,
		.containers = p->containers,
		.n_containers = 1,
		.tolerations = { -1, -1 },
	};
	return p;
}

/* Slots are compacted, so the pointers inside must follow. */
static void remove_pod(struct t *t, size_t i)
{
	for (; i + 1 < t->n_pods; i++) {
		t->pods[i] = t->pods[i + 1];
		t->pods[i].pod.meta.name = str_c(t->pods[i].name);
		t->pods[i].pod.meta.uid = str_c(t->pods[i].uid);
		t->pods[i].pod.containers = t->pods[i].containers;
	}
	t->n_pods--;
}

static void delete_pod(struct t *t, const struct action *act)
{
	for (size_t i = 0; i < t->n_pods; i++) {
		if (!str_eq(t->pods[i].pod.meta.uid, act->target->uid))
			continue;
		assert_false(t->pods[i].pod.gone);
		remove_pod(t, i);
		t->deleted++;
		t->forced += act->force;
		return;
	}
	fail_msg("a pod was deleted that is not there");
}

static void delete_service(struct t *t, const struct action *act)
{
	for (size_t i = 0; i < t->n_services; i++) {
		if (&t->services[i].meta != act->target)
			continue;
		/* The slots of the others must not move: later actions point at them. */
		t->services[i].index = -2;
		t->services_deleted++;
		return;
	}
	fail_msg("a service was deleted that is not there");
}

static void sweep_services(struct t *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_services; i++)
		if (t->services[i].index != -2)
			t->services[n++] = t->services[i];
	t->n_services = n;
}

static void write_group(struct t *t, const struct action *act)
{
	const struct gang *gang = act->want;

	if (act->type == ACT_CREATE) {
		assert_false(t->has_group);
		t->has_group = true;
		t->group = (struct group){ .meta = { .name = t->job.name, .uid = STR("group") }, .timeout = -1 };
		t->group.queue = STR("default");
		t->groups_created++;
	} else {
		assert_ptr_equal(act->have, &t->group.child);
		t->groups_patched++;
	}
	t->group.min_member = gang->members;
	t->group.needs = gang->needs;
	if (t->job.scheduling.queue.n)
		t->group.queue = t->job.scheduling.queue;
	if (t->job.scheduling.timeout >= 0)
		t->group.timeout = t->job.scheduling.timeout;
}

static void create(struct t *t, const struct action *act)
{
	const struct role *role = &t->job.roles[act->role];
	char *name = arena_array(&t->a, char, role->name.n + 1);

	memcpy(name, role->name.p, role->name.n);
	if (act->resource == RES_POD) {
		if (t_pod(t, name, act->index))
			fail_msg("two pods for %s-%d", name, act->index);
		t_pod_add(t, name, act->index, act->generation);
		t->created++;
		return;
	}
	t->services[t->n_services++] =
		(struct service){ .meta = { .ns = t->job.ns,
		                            .name = arena_printf(&t->a, "job-%s-%d", name, act->index),
		                            .uid = STR("s") },
		                  .job_uid = t->job.uid,
		                  .role = role->name,
		                  .index = act->index };
	t->services_created++;
}

static void drop(struct t *t, const struct action *act)
{
	switch (act->resource) {
	case RES_POD:
		delete_pod(t, act);
		return;
	case RES_SERVICE:
		delete_service(t, act);
		return;
	case RES_GROUP:
		assert_true(t->has_group);
		t->has_group = false;
		t->groups_deleted++;
		return;
	case RES_JOB:
		t->jobs_deleted++;
		return;
	case RES_NODE:
	case RES_COUNT:
		fail();
	}
}

static void carry_out(struct t *t, const struct action *act)
{
	switch (act->type) {
	case ACT_GET:
		t->nodes_asked++;
		return;
	case ACT_DELETE:
		drop(t, act);
		return;
	case ACT_CREATE:
	case ACT_PATCH:
		if (act->resource == RES_GROUP)
			write_group(t, act);
		else
			create(t, act);
	}
}

void t_apply(struct t *t)
{
	/* Deletes shift the pods that later actions point at: copy who is meant first. */
	struct action *acts = arena_array(&t->a, struct action, t->plan.n_actions);

	for (size_t i = 0; i < t->plan.n_actions; i++) {
		acts[i] = t->plan.actions[i];
		if (acts[i].type == ACT_DELETE && acts[i].resource == RES_POD) {
			struct meta *m = arena_new(&t->a, struct meta);

			m->uid = arena_str(&t->a, acts[i].target->uid);
			acts[i].target = m;
		}
	}
	for (size_t i = 0; i < t->plan.n_actions; i++)
		carry_out(t, &acts[i]);
	sweep_services(t);
}

void t_settle(struct t *t)
{
	for (int i = 0; i < 20; i++) {
		const struct plan *p;

		/* So that what can be observed may be written. */
		t->now += SECONDS(1);
		p = t_plan(t);
		if (p->write == CHANGE_NONE && p->n_actions == 0)
			return;
		if (t->jobs_deleted)
			return;
		t_apply(t);
	}
	fail_msg("it does not settle: phase %s, %zu actions", t_phase(t), t->plan.n_actions);
}

void t_pass(struct t *t, msec d)
{
	t->now += d;
}

struct t_pod *t_pod(struct t *t, const char *role, int32_t index)
{
	for (size_t i = 0; i < t->n_pods; i++) {
		struct pod *p = &t->pods[i].pod;

		if (!p->gone && p->index == index && str_eqc(p->role, role))
			return &t->pods[i];
	}
	return NULL;
}

void t_run(struct t *t)
{
	for (size_t i = 0; i < t->n_pods; i++) {
		struct t_pod *p = &t->pods[i];

		if (p->pod.phase != POD_PENDING || p->pod.gone)
			continue;
		p->pod.phase = POD_RUNNING;
		p->pod.ready = true;
		p->pod.started = t->now;
		if (!p->pod.node.n)
			p->pod.node = STR("node-1");
		p->containers[0].state = CONTAINER_RUNNING;
		p->containers[0].started = t->now;
	}
	if (t->nodes.n && !map_get(&t->nodes, STR("node-1")))
		t_node(t, "node-1", true);
}

void t_exit(struct t *t, const char *role, int32_t index, int32_t code)
{
	struct t_pod *p = t_pod(t, role, index);

	assert_non_null(p);
	p->pod.phase = code ? POD_FAILED : POD_SUCCEEDED;
	p->pod.ready = false;
	p->containers[0].state = CONTAINER_TERMINATED;
	p->containers[0].exit_code = code;
	p->containers[0].finished = t->now;
}

void t_vanish(struct t *t, const char *role, int32_t index)
{
	struct t_pod *p = t_pod(t, role, index);

	assert_non_null(p);
	p->pod.gone = true;
}

struct node *t_node(struct t *t, const char *name, bool ready)
{
	struct node *n = map_get(&t->nodes, str_c(name));

	if (!n) {
		n = arena_new(&t->a, struct node);
		n->name = arena_str(&t->a, str_c(name));
		map_put(&t->nodes, n->name, n);
		n->ready = true;
		t->fleet.total++;
	}
	if (n->ready != ready)
		t->fleet.not_ready += n->ready ? 1 : (size_t)-1;
	n->ready = ready;
	n->since = t->now;
	return n;
}

void t_on_node(struct t *t, const char *role, int32_t index, const char *node)
{
	struct t_pod *p = t_pod(t, role, index);

	assert_non_null(p);
	p->pod.node = str_c(node);
}

const char *t_phase(const struct t *t)
{
	return t->record ? phase_name(t->record->phase) : "";
}

const struct record_role *t_rec(const struct t *t, const char *role)
{
	const struct record_role *r = record_role_of(t->record, str_c(role));

	assert_non_null(r);
	return r;
}

const char *t_reason(const struct t *t)
{
	return t->record->reason.p;
}

size_t t_actions(const struct t *t, enum action_type type, enum resource resource)
{
	size_t n = 0;

	for (size_t i = 0; i < t->plan.n_actions; i++)
		n += t->plan.actions[i].type == type && t->plan.actions[i].resource == resource;
	return n;
}
