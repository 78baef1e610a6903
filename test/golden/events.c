/* What can happen at a step. */
#include "stage.h"

/* Calls FN for every replica that VALUE names: "all", "worker-1", or a list of such. */
typedef void replica_fn(struct stage *s, struct stage_pod *p);

static void each_replica(struct stage *s, yyjson_val *value, replica_fn *fn)
{
	if (str_eqc(json_str(value), "all")) {
		for (size_t i = 0; i < s->pods.n; i++)
			if (!s->pods.v[i]->pod.gone)
				fn(s, s->pods.v[i]);
		return;
	}
	for (size_t i = 0; i < (yyjson_is_arr(value) ? yyjson_arr_size(value) : 1); i++) {
		struct str name = json_str(yyjson_is_arr(value) ? yyjson_arr_get(value, i) : value);
		struct stage_pod *p = stage_pod(s, name);

		if (p)
			fn(s, p);
		else
			differ(s->g, s->path, "there is no pod of \"%.*s\"", STR_F(name));
	}
}

static void place(struct stage *s, struct stage_pod *p)
{
	struct node *n;

	if (p->pod.phase != POD_PENDING || p->pod.node.n)
		return;
	n = stage_node(s, arena_printf(&s->a, "node-of-%.*s", STR_F(p->pod.meta.name)));
	if (!n->ready || n->gone)
		n = stage_node(s, STR("spare-0"));
	p->pod.node = n->name;
	p->pod.started = s->now;
	for (size_t i = 0; i < p->pod.n_containers; i++)
		p->containers[i].reason = STR("ContainerCreating");
}

static void do_schedule(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, place);
}

static void start(struct stage *s, struct stage_pod *p)
{
	if (p->pod.phase != POD_PENDING || p->pod.meta.deleted)
		return;
	place(s, p);
	p->pod.phase = POD_RUNNING;
	p->pod.ready = true;
	for (size_t i = 0; i < p->pod.n_containers; i++)
		p->containers[i] = (struct container){ .name = p->containers[i].name,
			                               .state = CONTAINER_RUNNING,
			                               .started = s->now };
}

static void do_run(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, start);
}

/* The pod's phase follows its containers'. */
static void end_container(struct stage *s, struct stage_pod *p, struct container *c, int32_t code, struct str reason)
{
	bool failed = false;

	c->state = CONTAINER_TERMINATED;
	c->exit_code = code;
	c->reason = reason.n ? reason : code ? STR("Error") : STR("Completed");
	c->finished = s->now;
	p->pod.ready = false;
	for (size_t i = 0; i < p->pod.n_containers; i++) {
		if (p->containers[i].state != CONTAINER_TERMINATED)
			return;
		failed = failed || p->containers[i].exit_code != 0;
	}
	p->pod.phase = failed ? POD_FAILED : POD_SUCCEEDED;
}

static bool counts(struct stage *s, const struct stage_pod *p, struct str container)
{
	const struct role *role = job_role(kind_job(s->kj), p->pod.role);

	for (size_t i = 0; role && i < role->n_containers; i++)
		if (!role->containers[i].init && str_eq(role->containers[i].name, container))
			return role->containers[i].counts;
	return true;
}

/* A number: the containers that count end so, the others with 0. An object: those that it names. */
static void end_pod(struct stage *s, struct stage_pod *p, yyjson_val *value, struct str reason)
{
	for (size_t i = 0; i < p->pod.n_containers; i++) {
		struct container *c = &p->containers[i];
		yyjson_val *code = yyjson_is_obj(value) ? json_get_str(value, c->name) : value;
		int64_t n = 0;

		if (!code)
			continue;
		if (!json_int(code, &n))
			differ(s->g, s->path, "an exit code is a number");
		end_container(s, p, c, yyjson_is_obj(value) || counts(s, p, c->name) ? (int32_t)n : 0, reason);
	}
}

static void each_end(struct stage *s, yyjson_val *value, struct str reason)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(value);
	yyjson_val *k;

	if (!yyjson_is_obj(value))
		differ(s->g, s->path, "must say which replica ends how");
	while ((k = yyjson_obj_iter_next(&it))) {
		struct stage_pod *p = stage_pod(s, json_str(k));

		if (p)
			end_pod(s, p, yyjson_obj_iter_get_val(k), reason);
		else
			differ(s->g, s->path, "there is no pod of \"%.*s\"", STR_F(json_str(k)));
	}
}

static void do_exit(struct stage *s, yyjson_val *value)
{
	each_end(s, value, STR_NONE);
}

static void do_oom(struct stage *s, yyjson_val *value)
{
	each_end(s, value, STR("OOMKilled"));
}

static void evict(struct stage *s, struct stage_pod *p)
{
	for (size_t i = 0; i < p->pod.n_containers; i++)
		end_container(s, p, &p->containers[i], 137, STR_NONE);
	p->pod.phase = POD_FAILED;
	p->pod.reason = STR("Evicted");
	p->pod.disrupted = true;
}

static void do_evict(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, evict);
}

/* The kubelet evicts a pod that uses more storage than it said, too, and sets no condition. */
static void overuse(struct stage *s, struct stage_pod *p)
{
	evict(s, p);
	p->pod.disrupted = false;
	p->pod.message = STR("Usage of EmptyDir volume \"scratch\" exceeds the limit \"1Gi\".");
}

static void do_overuse(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, overuse);
}

static void vanish(struct stage *s, struct stage_pod *p)
{
	(void)s;
	p->pod.gone = true;
}

static void do_vanish(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, vanish);
}

/* Ended so, and deleted before anybody looked. */
static void do_lost(struct stage *s, yyjson_val *value)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(value);
	yyjson_val *k;

	do_exit(s, value);
	while ((k = yyjson_obj_iter_next(&it)))
		each_replica(s, k, vanish);
}

/* What the control plane wants to go ends by a signal. */
static void disrupt(struct stage *s, struct stage_pod *p)
{
	p->pod.disrupted = true;
	for (size_t i = 0; i < p->pod.n_containers; i++)
		end_container(s, p, &p->containers[i], 143, STR_NONE);
}

static void do_disrupt(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, disrupt);
}

static void leave(struct stage *s, struct stage_pod *p)
{
	(void)s;
	p->pod.gone = p->pod.gone || p->pod.meta.deleted;
}

static void do_leave(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, leave);
}

static void fail_node(struct stage *s, struct stage_pod *p)
{
	struct node *n = stage_node(s, p->pod.node);

	if (n->ready)
		s->fleet.not_ready++;
	n->ready = false;
	n->since = s->now;
}

static void do_node_fail(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, fail_node);
}

/* {worker-0: ImagePullBackOff}: its containers wait with that reason. */
static void do_wait(struct stage *s, yyjson_val *value)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(value);
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it))) {
		struct stage_pod *p = stage_pod(s, json_str(k));

		if (!p) {
			differ(s->g, s->path, "there is no pod of \"%.*s\"", STR_F(json_str(k)));
			continue;
		}
		place(s, p);
		for (size_t i = 0; i < p->pod.n_containers; i++)
			p->containers[i].reason = json_str(yyjson_obj_iter_get_val(k));
	}
}

static void do_pass(struct stage *s, yyjson_val *value)
{
	static const struct {
		char unit;
		msec length;
	} units[] = { { 's', SECONDS(1) }, { 'm', MINUTES(1) }, { 'h', MINUTES(60) }, { 'd', MINUTES(1440) } };
	struct str text = json_str(value);
	int64_t n;

	for (size_t i = 0; text.n && i < ARRAY_LEN(units); i++) {
		if (text.p[text.n - 1] != units[i].unit || !str_int(str_sub(text, 0, text.n - 1), &n))
			continue;
		stage_pass(s, n * units[i].length);
		return;
	}
	differ(s->g, s->path, "pass: a time such as 60s, 5m, 2h, 1d");
}

static void do_edit(struct stage *s, yyjson_val *value)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(value);
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it)))
		if (!store_set(s->object, json_str(k), yyjson_obj_iter_get_val(k)))
			differ(s->g, s->path, "there is no %.*s", STR_F(json_str(k)));
	store_bump_generation(s->object);
	stage_reload(s);
}

static void do_annotate(struct stage *s, yyjson_val *value)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(value);
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it)))
		store_annotate(s->object, json_str(k), yyjson_obj_iter_get_val(k));
	stage_reload(s);
}

static void do_suspend(struct stage *s, yyjson_val *value)
{
	if (s->kind->spec_is_array)
		differ(s->g, s->path, "this kind's policy is an annotation: use annotate");
	else if (!store_set(s->object, STR("spec.policy.suspend"), value))
		differ(s->g, s->path, "cannot be suspended");
	store_bump_generation(s->object);
	stage_reload(s);
}

const struct event events[] = {
	{ "lost", do_lost },
	{ "disrupt", do_disrupt },
	{ "schedule", do_schedule },
	{ "run", do_run },
	{ "exit", do_exit },
	{ "oom", do_oom },
	{ "evict", do_evict },
	{ "vanish", do_vanish },
	{ "leave", do_leave },
	{ "nodeFail", do_node_fail },
	{ "wait", do_wait },
	{ "pass", do_pass },
	{ "edit", do_edit },
	{ "annotate", do_annotate },
	{ "suspend", do_suspend },
	{ "overuse", do_overuse },
	{ NULL, NULL },
};
