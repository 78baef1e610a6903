#include "stage.h"

enum { ROUNDS = 50, GRACE = 30, SPARE_NODES = 9, POD_MAX = 4 << 20 };

static const msec start_time = 1767225600000; /* 2026-01-01T00:00:00Z, when the job was created */

static void broken(struct stage *s, const char *what, struct err *e)
{
	if (!s->broken)
		differ(s->g, s->path, "%s: %s", what, err_msg(e));
	s->broken = true;
	err_release(e);
}

void stage_reload(struct stage *s)
{
	struct err e = ERR_INIT;

	kind_job_free(s->kj);
	yyjson_doc_free(s->read);
	s->read = yyjson_mut_doc_imut_copy(s->object, NULL);
	s->kj = kind_read(s->g->kinds, s->kind, yyjson_doc_get_root(s->read), STR_NONE, &e);
	if (!s->kj)
		broken(s, "cannot be read", &e);
}

static yyjson_doc *copy_value(yyjson_val *val)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_doc *copy = yyjson_mut_val_imut_copy(yyjson_val_mut_copy(doc, val), NULL);

	yyjson_mut_doc_free(doc);
	return copy;
}

void stage_open(struct stage *s, struct golden *g, const struct kind *kind, yyjson_mut_doc *object, yyjson_val *status)
{
	*s = (struct stage){ .g = g, .kind = kind, .object = object, .now = start_time, .wake = NEVER };
	s->path = STR("history");
	s->fleet.nodes = &s->nodes;
	if (status)
		s->status = copy_value(status);
	for (int i = 0; i < SPARE_NODES; i++)
		stage_node(s, arena_printf(&s->a, "spare-%d", i));
	stage_reload(s);
}

void stage_close(struct stage *s)
{
	kind_job_free(s->kj);
	yyjson_doc_free(s->read);
	yyjson_doc_free(s->status);
	for (size_t i = 0; i < s->docs.n; i++)
		yyjson_doc_free(s->docs.v[i]);
	map_release(&s->nodes);
	arena_release(&s->a);
}

struct node *stage_node(struct stage *s, struct str name)
{
	struct node *n = map_get(&s->nodes, name);

	if (n)
		return n;
	n = arena_new(&s->a, struct node);
	n->name = arena_str(&s->a, name);
	n->ready = true;
	n->since = s->now;
	map_put(&s->nodes, n->name, n);
	s->fleet.total++;
	return n;
}

struct stage_pod *stage_pod(struct stage *s, struct str replica)
{
	for (size_t i = 0; i < s->pods.n; i++) {
		struct pod *p = &s->pods.v[i]->pod;

		if (!p->gone && str_eq(arena_printf(&s->a, "%.*s-%d", STR_F(p->role), p->index), replica))
			return s->pods.v[i];
	}
	return NULL;
}

/* --- the stored status --- */

/* As the operator: fields of the record that a later version wrote stay, entries of its maps do not. */
static bool keep(struct str path)
{
	struct str roles = STR("dlOperator.roles.");

	if (str_eqc(path, "dlOperator"))
		return true;
	return str_has_prefix(path, roles) && !memchr(path.p + roles.n, '.', path.n - roles.n);
}

static struct record *stored_record(struct stage *s)
{
	yyjson_val *status = yyjson_doc_get_root(s->status);
	struct err e = ERR_INIT;
	struct record *r = record_read(json_get(status, "dlOperator"), &s->a, &e);

	if (!r && !e.code)
		r = kind_adopt(s->kj, status, &s->a, &e);
	if (e.code)
		broken(s, "the stored status cannot be read", &e);
	return r;
}

/* The status as the kind shows it, sent as a merge patch. */
static void store_status(struct stage *s, const struct record *r)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL), *merged = yyjson_mut_doc_new(NULL);
	struct err e = ERR_INIT;
	yyjson_mut_val *shown = kind_status(s->kj, r, doc, &e), *patch, *before;
	yyjson_doc *after;

	if (!shown) {
		broken(s, "it has no status", &e);
		yyjson_mut_doc_free(doc);
		yyjson_mut_doc_free(merged);
		return;
	}
	after = yyjson_mut_val_imut_copy(shown, NULL);
	patch = json_merge_diff(doc, yyjson_doc_get_root(s->status), yyjson_doc_get_root(after), keep);
	before = s->status ? yyjson_val_mut_copy(merged, yyjson_doc_get_root(s->status)) : yyjson_mut_obj(merged);
	if (patch)
		before = yyjson_mut_merge_patch(merged, before, patch);
	yyjson_doc_free(s->status);
	s->status = yyjson_mut_val_imut_copy(before, NULL);
	yyjson_doc_free(after);
	yyjson_mut_doc_free(doc);
	yyjson_mut_doc_free(merged);
}

/* --- what the plan asks for --- */

static int64_t label_int(yyjson_val *labels, const char *key)
{
	int64_t n = -1;

	str_int(json_str(json_get(labels, key)), &n);
	return n;
}

static void read_containers(struct stage *s, struct stage_pod *p, yyjson_val *spec)
{
	yyjson_val *list = json_get(spec, "containers");

	p->pod.n_containers = yyjson_arr_size(list);
	p->containers = arena_array(&s->a, struct container, p->pod.n_containers);
	p->pod.containers = p->containers;
	for (size_t i = 0; i < p->pod.n_containers; i++)
		p->containers[i].name = json_str(json_get(yyjson_arr_get(list, i), "name"));
}

static void create_pod(struct stage *s, const struct action *act, const struct record *r)
{
	const struct role *role = &kind_job(s->kj)->roles[act->role];
	const struct record_role *rr = r ? record_role_of(r, role->name) : NULL;
	struct stage_pod *p = arena_new(&s->a, struct stage_pod);
	struct buf text = BUF_INIT(POD_MAX);
	struct err e = ERR_INIT;
	yyjson_val *meta, *labels;

	if (stage_pod(s, arena_printf(&s->a, "%.*s-%d", STR_F(role->name), act->index)))
		differ(s->g, s->path, "a second pod is made for %.*s-%d", STR_F(role->name), act->index);
	if (kind_pod(s->kj, act->role, act->index, act->generation, rr ? record_role_restarts(rr) : 0, &text, &e))
		p->doc = json_parse(buf_str(&text), &e);
	buf_release(&text);
	if (!p->doc) {
		broken(s, "no pod", &e);
		return;
	}
	*vec_push(&s->a, &s->docs) = p->doc;
	meta = json_get(yyjson_doc_get_root(p->doc), "metadata");
	labels = json_get(meta, "labels");
	p->pod = (struct pod){
		.meta = { .ns = json_str(json_get(meta, "namespace")),
		          .name = json_str(json_get(meta, "name")),
		          .uid = arena_printf(&s->a, "pod-%d", ++s->serial),
		          .owner_uid = json_str(json_get(yyjson_arr_get(json_get(meta, "ownerReferences"), 0), "uid")),
		          .created = s->now },
		.job_uid = json_str(json_get(labels, LABEL_UID)),
		.role = json_str(json_get(labels, LABEL_ROLE)),
		.index = (int32_t)label_int(labels, LABEL_INDEX),
		.generation = label_int(labels, LABEL_GENERATION),
	};
	read_containers(s, p, json_get(yyjson_doc_get_root(p->doc), "spec"));
	*vec_push(&s->a, &s->pods) = p;
}

static void create_service(struct stage *s, const struct action *act)
{
	struct service *made = arena_new(&s->a, struct service);
	const struct job *job = kind_job(s->kj);
	struct kind_names names = { 0 };

	if (!kind_names(s->kj, act->role, act->index, &names, NULL))
		differ(s->g, s->path, "a service without a name is made");
	made->meta = (struct meta){ .ns = arena_str(&s->a, job->ns),
		                    .name = arena_str(&s->a, names.service),
		                    .uid = arena_printf(&s->a, "service-%d", ++s->serial),
		                    .owner_uid = arena_str(&s->a, job->uid),
		                    .created = s->now };
	made->job_uid = made->meta.owner_uid;
	made->role = arena_str(&s->a, job->roles[act->role].name);
	made->index = act->index;
	*vec_push(&s->a, &s->services) = made;
}

/* As an API server does: what was never placed or has ended is gone at once. */
static void delete_pod(struct stage *s, const struct action *act)
{
	for (size_t i = 0; i < s->pods.n; i++) {
		struct pod *p = &s->pods.v[i]->pod;

		if (p->gone || !str_eq(p->meta.uid, act->target->uid))
			continue;
		if (act->force || !p->node.n || p->phase == POD_SUCCEEDED || p->phase == POD_FAILED) {
			p->gone = true;
		} else if (!p->meta.deleted) {
			p->meta.deleted = s->now + SECONDS(GRACE);
			p->meta.grace = GRACE;
		} else {
			differ(s->g, s->path, "%.*s is deleted twice", STR_F(p->meta.name));
		}
		return;
	}
	differ(s->g, s->path, "a pod is deleted that is not there");
}

static void delete_service(struct stage *s, const struct action *act)
{
	for (size_t i = 0; i < s->services.n; i++) {
		if (&s->services.v[i]->meta != act->target)
			continue;
		for (; i + 1 < s->services.n; i++)
			s->services.v[i] = s->services.v[i + 1];
		s->services.n--;
		return;
	}
	differ(s->g, s->path, "a service is deleted that is not there");
}

static void create_child(struct stage *s, const struct action *act, const struct record *r)
{
	if (act->resource == RES_POD)
		create_pod(s, act, r);
	else if (act->resource == RES_SERVICE)
		create_service(s, act);
	else
		BUG("a %s is made: there are no gangs here", resource_noun(act->resource));
}

static void delete_object(struct stage *s, const struct action *act)
{
	if (act->resource == RES_POD)
		delete_pod(s, act);
	else if (act->resource == RES_SERVICE)
		delete_service(s, act);
	else if (act->resource == RES_JOB)
		s->job_deleted = true;
	else
		BUG("a %s is deleted", resource_noun(act->resource));
}

static void apply(struct stage *s, const struct action *act, const struct record *r)
{
	switch (act->type) {
	case ACT_GET:
		stage_node(s, act->node)->gone = true;
		return;
	case ACT_DELETE:
		delete_object(s, act);
		return;
	case ACT_CREATE:
		create_child(s, act, r);
		return;
	case ACT_PATCH:
		break;
	}
	BUG("a %s is patched: there are no gangs here", resource_noun(act->resource));
}

/* --- looking --- */

/* True if there was something to do. */
static bool look(struct stage *s)
{
	const struct pod **pods = arena_array(&s->a, const struct pod *, s->pods.n + 1);
	const struct service **services = arena_array(&s->a, const struct service *, s->services.n + 1);
	struct plan_input in = {
		.job = kind_job(s->kj),
		.record = stored_record(s),
		.pods = pods,
		.n_pods = s->pods.n,
		.services = services,
		.n_services = s->services.n,
		.fleet = &s->fleet,
		.config = &plan_config_default,
		.now = s->now,
	};
	struct plan plan;

	for (size_t i = 0; i < s->pods.n; i++) {
		plan_pod_seen(&s->pods.v[i]->pod, &s->pods.v[i]->pod, s->now);
		pods[i] = &s->pods.v[i]->pod;
	}
	for (size_t i = 0; i < s->services.n; i++)
		services[i] = s->services.v[i];
	plan = plan_job(&in, &s->a);
	if (plan.write == CHANGE_DURABLE && plan.n_actions)
		differ(s->g, s->path, "it acts before it has recorded");
	if (plan.write != CHANGE_NONE)
		store_status(s, plan.record);
	for (size_t i = 0; i < plan.n_actions && !s->broken; i++)
		apply(s, &plan.actions[i], plan.record);
	s->wake = plan.wake;
	return plan.write != CHANGE_NONE || plan.n_actions;
}

/* What is gone has been seen now. */
static void forget_gone(struct stage *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->pods.n; i++)
		if (!s->pods.v[i]->pod.gone)
			s->pods.v[n++] = s->pods.v[i];
	s->pods.n = n;
}

void stage_settle(struct stage *s)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (s->broken || s->job_deleted)
			return;
		if (look(s))
			continue;
		forget_gone(s);
		return;
	}
	differ(s->g, s->path, "it does not come to rest");
	s->broken = true;
}

void stage_pass(struct stage *s, msec d)
{
	msec end = s->now + d;

	for (int i = 0; i < ROUNDS && s->wake <= end && !s->broken && !s->job_deleted; i++) {
		/* A wake-up in the past is one for now. */
		s->now = MAX(s->now, s->wake);
		s->wake = NEVER;
		stage_settle(s);
	}
	s->now = end;
}
