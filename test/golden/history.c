/* The steps of a history: what happens, and what must be seen after it. */
#include "stage.h"

/* --- what happens --- */

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
		p->containers[i] = (struct container){ .name = p->containers[i].name, .state = CONTAINER_RUNNING };
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
}

static void do_evict(struct stage *s, yyjson_val *value)
{
	each_replica(s, value, evict);
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

static const struct {
	const char *name;
	void (*fn)(struct stage *s, yyjson_val *value);
} events[] = {
	{ "lost", do_lost },         { "disrupt", do_disrupt },
	{ "schedule", do_schedule }, { "run", do_run },
	{ "exit", do_exit },         { "oom", do_oom },
	{ "evict", do_evict },       { "vanish", do_vanish },
	{ "leave", do_leave },       { "nodeFail", do_node_fail },
	{ "wait", do_wait },         { "pass", do_pass },
	{ "edit", do_edit },         { "annotate", do_annotate },
	{ "suspend", do_suspend },
};

/* --- what must be seen --- */

static bool path_there(yyjson_val *root, struct str path)
{
	struct str key;

	while (root && str_next(&path, '.', &key))
		root = json_get_str(root, key);
	return root && !yyjson_is_null(root);
}

static void see_absent(struct stage *s, struct str path, yyjson_val *list)
{
	for (size_t i = 0; i < yyjson_arr_size(list); i++) {
		struct str field = json_str(yyjson_arr_get(list, i));

		if (path_there(yyjson_doc_get_root(s->status), field))
			differ(s->g, item_path(s->g, path, i), "status.%.*s is there", STR_F(field));
	}
}

static void see_says(struct stage *s, struct str path, yyjson_val *text)
{
	struct str said = json_str(json_at(yyjson_doc_get_root(s->status), "dlOperator", "reason", NULL));
	struct str want = json_str(text);

	if (!want.n || !said.n || !memmem(said.p, said.n, want.p, want.n))
		differ(s->g, path, "\n    expected …%.*s…\n    got      %.*s", STR_F(want), STR_F(said));
}

static const struct pod *leaving(const struct stage_pod *p, bool want)
{
	return !p->pod.gone && (p->pod.meta.deleted != 0) == want ? &p->pod : NULL;
}

/* Replica → generation, of all that are not asked to go. */
static void see_pods(struct stage *s, struct str path, yyjson_val *want)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *obj = yyjson_mut_obj(doc);
	yyjson_doc *got;

	for (size_t i = 0; i < s->pods.n; i++) {
		const struct pod *p = leaving(s->pods.v[i], false);

		if (p)
			json_mut_put(doc, obj, arena_printf(&s->a, "%.*s-%d", STR_F(p->role), p->index),
			             yyjson_mut_sint(doc, p->generation));
	}
	got = yyjson_mut_val_imut_copy(obj, NULL);
	compare(s->g, path, want, yyjson_doc_get_root(got), COMPARE_EXACT);
	yyjson_doc_free(got);
	yyjson_mut_doc_free(doc);
}

static void see_leaving(struct stage *s, struct str path, yyjson_val *want)
{
	size_t n = 0;

	for (size_t i = 0; i < s->pods.n; i++) {
		const struct pod *p = leaving(s->pods.v[i], true);
		bool found = false;
		struct str name;

		if (!p)
			continue;
		n++;
		name = arena_printf(&s->a, "%.*s-%d", STR_F(p->role), p->index);
		for (size_t k = 0; k < yyjson_arr_size(want); k++)
			found = found || str_eq(json_str(yyjson_arr_get(want, k)), name);
		if (!found)
			differ(s->g, path, "%.*s is asked to go", STR_F(name));
	}
	if (n < yyjson_arr_size(want))
		differ(s->g, path, "only %zu are asked to go", n);
}

static void see_services(struct stage *s, struct str path, yyjson_val *want)
{
	int64_t n = -1;

	if (!json_int(want, &n) || (size_t)n != s->services.n)
		differ(s->g, path, "there are %zu services", s->services.n);
}

static void see_deleted(struct stage *s, struct str path, yyjson_val *want)
{
	if (yyjson_get_bool(want) != s->job_deleted)
		differ(s->g, path, "the job is %sdeleted", s->job_deleted ? "" : "not ");
}

static void see_status(struct stage *s, struct str path, yyjson_val *want)
{
	compare(s->g, path, want, yyjson_doc_get_root(s->status), COMPARE_SUBSET);
}

/* {trainer-0: {labels: {…}, env: {…}, image: …}}: what a pod that exists was told; env and image are those of
   its first container. */
static void see_env(struct stage *s, struct str path, yyjson_val *want, yyjson_val *container)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(want);
	yyjson_val *name;

	while ((name = yyjson_obj_iter_next(&it))) {
		yyjson_arr_iter env = yyjson_arr_iter_with(json_get(container, "env"));
		yyjson_val *v, *got = NULL;

		while ((v = yyjson_arr_iter_next(&env)))
			if (str_eq(json_str(json_get(v, "name")), json_str(name)))
				got = json_get(v, "value");
		compare(s->g, key_path(s->g, path, json_str(name)), yyjson_obj_iter_get_val(name), got, COMPARE_EXACT);
	}
}

static void see_told(struct stage *s, struct str path, yyjson_val *want)
{
	static const char *const known[] = { "labels", "env", "image", NULL };
	yyjson_obj_iter it = yyjson_obj_iter_with(want);
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it))) {
		struct stage_pod *p = stage_pod(s, json_str(k));
		struct str at = key_path(s->g, path, json_str(k));
		yyjson_val *said = yyjson_obj_iter_get_val(k), *pod = p ? yyjson_doc_get_root(p->doc) : NULL;
		yyjson_val *first = yyjson_arr_get(json_at(pod, "spec", "containers", NULL), 0);

		if (!keys_known(s->g, at, said, known))
			continue;
		if (!pod)
			differ(s->g, at, "there is no such pod");
		if (json_get(said, "labels"))
			compare(s->g, key_path(s->g, at, STR("labels")), json_get(said, "labels"),
			        json_at(pod, "metadata", "labels", NULL), COMPARE_SUBSET);
		if (json_get(said, "image"))
			compare(s->g, key_path(s->g, at, STR("image")), json_get(said, "image"),
			        json_get(first, "image"), COMPARE_EXACT);
		see_env(s, key_path(s->g, at, STR("env")), json_get(said, "env"), first);
	}
}

static const struct {
	const char *name;
	void (*fn)(struct stage *s, struct str path, yyjson_val *want);
} sights[] = {
	{ "status", see_status },   { "absent", see_absent },     { "says", see_says },       { "pods", see_pods },
	{ "leaving", see_leaving }, { "services", see_services }, { "deleted", see_deleted }, { "told", see_told },
};

/* --- one step --- */

static bool step_keys_known(struct stage *s, yyjson_val *step, size_t *n_events, size_t *n_sights)
{
	const char *known[ARRAY_LEN(events) + ARRAY_LEN(sights) + 2] = { "about" };
	size_t n = 1;

	*n_events = *n_sights = 0;
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		*n_events += json_get(step, events[i].name) != NULL;
		known[n++] = events[i].name;
	}
	for (size_t i = 0; i < ARRAY_LEN(sights); i++) {
		*n_sights += json_get(step, sights[i].name) != NULL;
		known[n++] = sights[i].name;
	}
	return keys_known(s->g, s->path, step, known);
}

static void play(struct stage *s, yyjson_val *step)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (json_get(step, events[i].name))
			events[i].fn(s, json_get(step, events[i].name));
	/* Time alone wakes nobody: the plan must have asked for it. */
	if (!json_get(step, "pass"))
		stage_settle(s);
	for (size_t i = 0; i < ARRAY_LEN(sights) && !s->broken; i++) {
		yyjson_val *want = json_get(step, sights[i].name);

		if (want || (sights[i].fn == see_leaving && json_get(step, "pods")))
			sights[i].fn(s, key_path(s->g, s->path, str_c(sights[i].name)), want);
	}
}

void expect_history(struct golden *g, const struct kind *kind, yyjson_mut_doc *object, yyjson_val *old_status,
                    yyjson_val *history)
{
	size_t n_events, n_sights = 0;
	struct stage s;

	stage_open(&s, g, kind, object, old_status);
	stage_settle(&s);
	for (size_t i = 0; i < yyjson_arr_size(history) && !s.broken; i++) {
		yyjson_val *step = yyjson_arr_get(history, i);

		s.path = item_path(g, STR("history"), i);
		if (!step_keys_known(&s, step, &n_events, &n_sights))
			break;
		if (n_events > 1)
			differ(g, s.path, "one thing happens at a step, here are %zu", n_events);
		if (n_events + n_sights == 0)
			differ(g, s.path, "nothing happens, nothing is looked at");
		play(&s, step);
	}
	if (!n_sights)
		differ(g, s.path, "the last step looks at nothing");
	stage_close(&s);
}
