/* The simulated API server: what Kubernetes promises of the objects that we use. */
#include "sim/sim.h"

enum {
	HTTP_OK = 200,
	HTTP_CREATED = 201,
	HTTP_FORBIDDEN = 403,
	HTTP_NOT_FOUND = 404,
	HTTP_CONFLICT = 409,
	HTTP_INVALID = 422,
	HTTP_ERROR = 500
};

/* Kubernetes' times are whole seconds. */
static msec whole(msec t)
{
	return t - t % 1000;
}

static struct str next_rv(struct sim *s)
{
	return arena_printf(s->arena, "%llu", (unsigned long long)++s->rv);
}

static struct str next_uid(struct sim *s)
{
	return arena_printf(s->arena, "%08llx-0000-4000-8000-%012llx", (unsigned long long)(s->opt.seed & 0xffffffff),
	                    (unsigned long long)++s->uid);
}

static struct meta new_meta(struct sim *s, struct str name, struct str owner_uid)
{
	return (struct meta){ .ns = STR("ml"),
		              .name = name,
		              .uid = next_uid(s),
		              .rv = next_rv(s),
		              .owner_uid = owner_uid,
		              .created = whole(s->now) };
}

/* Pods */

static void show_pod(struct sim *s, struct sim_pod *p, bool gone)
{
	struct version *v = arena_new(s->arena, struct version);
	struct pod *copy = arena_raw(s->arena, sizeof(*copy));
	struct container *containers = arena_raw(s->arena, sizeof(p->containers));

	*copy = p->now;
	memcpy(containers, p->containers, sizeof(p->containers));
	copy->containers = containers;
	v->object = (struct object){ .resource = RES_POD, .pod = copy };
	v->seq = s->rv;
	p->version = v;
	if (p->labelled)
		link_push(s, RES_POD, v, gone);
}

void server_pod_changed(struct sim *s, struct sim_pod *p)
{
	p->now.meta.rv = next_rv(s);
	show_pod(s, p, false);
}

static void link_to_job(struct sim_pod *p)
{
	if (!p->job)
		return;
	p->next = p->job->pods;
	if (p->next)
		p->next->prev = p;
	p->job->pods = p;
}

void server_remove_pod(struct sim *s, struct sim_pod *p)
{
	if (p->stage == STAGE_GONE)
		return;
	TRACE(s, "pod %.*s is gone", STR_F(p->now.meta.name));
	/* To an operator that was not told yet it is still there, and can be lost with its node. */
	if (p->on && p->stage < STAGE_ENDED)
		kubelet_failure(s, p);
	sim_cancel(s, p->timer);
	p->stage = STAGE_GONE;
	map_del(&s->pods, p->now.meta.name);
	if (p->job) {
		if (p->prev)
			p->prev->next = p->next;
		else
			p->job->pods = p->next;
		if (p->next)
			p->next->prev = p->prev;
	}
	p->now.meta.rv = next_rv(s);
	show_pod(s, p, true);
	/* The last child lets a job go that was deleted in the foreground. */
	if (p->job && p->job->deleting)
		server_collect(s, p->job);
}

void server_delete_pod(struct sim *s, struct sim_pod *p, int32_t grace)
{
	bool ended = p->now.phase == POD_SUCCEEDED || p->now.phase == POD_FAILED;

	if (p->stage == STAGE_GONE)
		return;
	if (grace < 0)
		grace = SIM_GRACE;
	if (grace == 0 || !p->on || ended) {
		/* Whether the last event shows a deletionTimestamp is up to the server. */
		if (rng_one_in(&s->rng, 2)) {
			p->now.meta.deleted = whole(s->now);
			p->now.meta.grace = 0;
		}
		server_remove_pod(s, p);
		return;
	}
	if (p->now.meta.deleted)
		return;
	p->now.meta.deleted = whole(s->now) + SECONDS(grace);
	p->now.meta.grace = grace;
	p->now.ready = false;
	kubelet_stop(s, p);
	server_pod_changed(s, p);
}

void server_pod_unlabel(struct sim *s, struct sim_pod *p)
{
	/* The watch selects on the label: to it the pod is gone, in its last state that it saw. */
	p->labelled = false;
	p->hidden = true;
	link_push(s, RES_POD, p->version, true);
	p->now.job_uid = STR_NONE;
	server_pod_changed(s, p);
}

static struct sim_pod *add_pod(struct sim *s, const struct pod *like, struct sim_job *job)
{
	struct sim_pod *p = arena_new(s->arena, struct sim_pod);

	p->now = *like;
	p->now.containers = p->containers;
	p->now.phase = POD_PENDING;
	p->labelled = like->job_uid.n > 0;
	p->job = job;
	p->role = SIM_ROLES;
	map_put(&s->pods, p->now.meta.name, p);
	link_to_job(p);
	return p;
}

struct sim_pod *server_foreign_pod(struct sim *s, struct str name, struct sim_job *impostor_of)
{
	struct pod like = { .index = -1 };
	struct sim_pod *p;

	if (map_get(&s->pods, name))
		return NULL;
	like.meta = new_meta(s, name, STR("somebody-else"));
	if (impostor_of) {
		like.job_uid = impostor_of->uid;
		like.role = str_c(manifest_role_name(impostor_of->wish.kind, 1));
		like.index = (int32_t)rng_below(&s->rng, 3);
	}
	p = add_pod(s, &like, NULL);
	p->foreign = true;
	p->stage = STAGE_RUNNING;
	p->now.phase = POD_RUNNING;
	s->n_foreign++;
	show_pod(s, p, false);
	TRACE(s, "somebody else makes pod %.*s", STR_F(name));
	return p;
}

static int create_pod(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);
	struct pod like = r->pod;
	struct sim_pod *p;

	if (map_get(&s->pods, r->r.name)) {
		o->reason = STR("AlreadyExists");
		s->tally->hits[HIT_EXISTS]++;
		return HTTP_CONFLICT;
	}
	like.meta = new_meta(s, r->r.name, r->owner_uid);
	p = add_pod(s, &like, job);
	p->now.n_containers = r->n_containers;
	memcpy(p->containers, r->pod.containers, r->n_containers * sizeof(struct container));
	p->late = r->link != s->link;
	if (job)
		p->role = manifest_role(job->wish.kind, p->now.role);
	s->tally->pods++;
	show_pod(s, p, false);
	kubelet_new(s, p);
	check_pod_made(s, p);
	/* Its owner may be gone already. */
	if (!job || !job->exists)
		sim_at(s, s->now + sim_between(s, 100, 3000), EV_COLLECT, job);
	r->answered = p->version;
	return HTTP_CREATED;
}

/* Services */

static void show_service(struct sim *s, struct sim_service *v, bool gone)
{
	struct version *ver = arena_new(s->arena, struct version);
	struct service *copy = arena_raw(s->arena, sizeof(*copy));

	*copy = v->now;
	ver->object = (struct object){ .resource = RES_SERVICE, .service = copy };
	ver->seq = s->rv;
	v->version = ver;
	if (v->labelled)
		link_push(s, RES_SERVICE, ver, gone);
}

void server_remove_service(struct sim *s, struct sim_service *v)
{
	map_del(&s->services, v->now.meta.name);
	if (v->job) {
		if (v->prev)
			v->prev->next = v->next;
		else
			v->job->services = v->next;
		if (v->next)
			v->next->prev = v->prev;
	}
	v->now.meta.rv = next_rv(s);
	show_service(s, v, true);
	if (v->job && v->job->deleting)
		server_collect(s, v->job);
}

static int create_service(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);
	struct sim_service *v;

	if (map_get(&s->services, r->r.name)) {
		o->reason = STR("AlreadyExists");
		s->tally->hits[HIT_EXISTS]++;
		return HTTP_CONFLICT;
	}
	v = arena_new(s->arena, struct sim_service);
	v->now = r->service;
	v->now.meta = new_meta(s, r->r.name, r->owner_uid);
	v->labelled = v->now.job_uid.n > 0;
	v->job = job;
	map_put(&s->services, v->now.meta.name, v);
	if (job) {
		v->next = job->services;
		if (v->next)
			v->next->prev = v;
		job->services = v;
	}
	show_service(s, v, false);
	if (!job || !job->exists)
		sim_at(s, s->now + sim_between(s, 100, 3000), EV_COLLECT, job);
	r->answered = v->version;
	return HTTP_CREATED;
}

/* Nodes */

void server_node_changed(struct sim *s, struct sim_node *n)
{
	struct version *v = arena_new(s->arena, struct version);
	struct node *copy = arena_raw(s->arena, sizeof(*copy));

	s->rv++;
	*copy = n->now;
	v->object = (struct object){ .resource = RES_NODE, .node = copy };
	v->seq = s->rv;
	n->version = v;
	n->exists = true;
	link_push(s, RES_NODE, v, false);
}

void server_node_gone(struct sim *s, struct sim_node *n)
{
	n->exists = false;
	link_push(s, RES_NODE, n->version, true);
}

/* Jobs */

static void show_job(struct sim *s, struct sim_job *job, yyjson_mut_val *root, msec deleted, bool gone)
{
	struct version *v = arena_new(s->arena, struct version);
	struct job_object *o = arena_new(s->arena, struct job_object);
	yyjson_doc *doc = yyjson_mut_val_imut_copy(root, sim_alc(s));

	ASSERT(doc);
	o->root = yyjson_doc_get_root(doc);
	o->kind = job->kind;
	o->meta = (struct meta){ .ns = STR("ml"),
		                 .name = job->name,
		                 .uid = job->uid,
		                 .rv = json_str(json_at(o->root, "metadata", "resourceVersion", NULL)),
		                 .created = job->now ? job->now->object.job->meta.created : whole(s->now),
		                 .deleted = deleted };
	v->object = (struct object){ .resource = RES_JOB, .job = o };
	v->job = job;
	v->spec = job->spec;
	v->seq = s->rv;
	v->record = record_read(json_at(o->root, "status", "dlOperator", NULL), s->arena, NULL);
	job->now = v;
	link_push(s, RES_JOB, v, gone);
}

static bool same_wish(const struct wish *a, const struct wish *b)
{
	return a->serial == b->serial && a->suspend == b->suspend && a->invalid == b->invalid &&
	       a->annotation == b->annotation && memcmp(a->counts, b->counts, sizeof(a->counts)) == 0;
}

static struct kind_job *read_spec(struct sim *s, const struct sim_job *job, yyjson_mut_val *root)
{
	struct kind_job *spec;
	struct err e = ERR_INIT;

	for (size_t i = s->specs.n; i-- > 0;)
		if (s->specs.v[i].deleting == job->deleting && same_wish(&s->specs.v[i].wish, &job->wish))
			return s->specs.v[i].read;
	spec = kind_read(s->kinds, kinds_by_id(s->kinds, job->kind),
	                 yyjson_doc_get_root(yyjson_mut_val_imut_copy(root, sim_alc(s))), STR_NONE, &e);
	if (!spec)
		BUG("%s", err_msg(&e));
	*vec_push(s->arena, &s->specs) = (struct spec){ job->wish, job->deleting, spec };
	return spec;
}

/* The job's wish was changed: a new generation of its spec. */
static void render(struct sim *s, struct sim_job *job, bool gone)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(sim_alc(s));
	yyjson_val *status = job->now ? json_get(job->now->object.job->root, "status") : NULL;
	msec deleted = job->deleting ? whole(s->now) : 0;
	yyjson_mut_val *root = manifest_render(s, job, next_rv(s), deleted, doc);
	const struct problems *p;

	if (!gone) {
		job->spec = read_spec(s, job, root);
		p = &kind_job(job->spec)->problems;
		if (p->errors)
			TRACE(s, "job %.*s is invalid: %.*s", STR_F(job->name), STR_F(problems_line(p, s->arena)));
		/* What the users meant to be wrong is, and what has a known end is not. */
		ASSERT(p->errors || !job->wish.invalid);
		ASSERT(!p->errors || job->wish.script == SCRIPT_WILD);
	}
	if (status)
		yyjson_mut_obj_add_val(doc, root, "status", yyjson_val_mut_copy(doc, status));
	show_job(s, job, root, deleted, gone);
}

static struct str name_key(struct sim *s, struct str kind, struct str name)
{
	return arena_printf(s->arena, "%.*s/%.*s", STR_F(kind), STR_F(name));
}

struct sim_job *server_create_job(struct sim *s, const struct wish *wish, struct str name)
{
	struct sim_job *job = arena_new(s->arena, struct sim_job);
	struct str kind = str_c(manifest_kind_id(wish->kind)), key = name_key(s, kind, name);

	if (map_get(&s->jobs_by_name, key))
		return NULL;
	job->name = arena_str(s->arena, name);
	job->kind = kind;
	job->uid = next_uid(s);
	job->wish = *wish;
	job->exists = true;
	job->generation = 1;
	job->key = key;
	map_put(&s->jobs_by_name, key, job);
	map_put(&s->jobs_by_uid, job->uid, job);
	job->next = s->all_jobs;
	s->all_jobs = job;
	s->n_jobs++;
	s->tally->jobs++;
	s->tally->scripts[wish->script]++;
	render(s, job, false);
	return job;
}

void server_edit_job(struct sim *s, struct sim_job *job)
{
	job->generation++;
	render(s, job, false);
}

static void remove_job(struct sim *s, struct sim_job *job)
{
	TRACE(s, "job %.*s is gone", STR_F(job->name));
	job->exists = job->deleting = false;
	s->n_jobs--;
	map_del(&s->jobs_by_name, job->key);
	render(s, job, true);
	sim_at(s, s->now + sim_between(s, 100, 3000), EV_COLLECT, job);
}

void server_delete_job(struct sim *s, struct sim_job *job, bool foreground)
{
	if (!job->exists || job->deleting)
		return;
	if (!foreground) {
		remove_job(s, job);
		return;
	}
	job->deleting = true;
	server_edit_job(s, job);
	sim_at(s, s->now + sim_between(s, 10, 2000), EV_COLLECT, job);
}

/* The garbage collector: children of an owner that is gone, or is going in the foreground. */
void server_collect(struct sim *s, struct sim_job *job)
{
	struct sim_pod *p, *next;

	if (!job || (job->exists && !job->deleting) || job->collecting)
		return;
	job->collecting = true;
	while (job->services)
		server_remove_service(s, job->services);
	if (job->group)
		groups_remove(s, job->group);
	for (p = job->pods; p; p = next) {
		next = p->next;
		server_delete_pod(s, p, -1);
	}
	job->collecting = false;
	if (job->deleting && !job->pods && !job->services && !job->group)
		remove_job(s, job);
}

static int patch_status(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_name, name_key(s, r->r.kind, r->r.name));
	yyjson_doc *patch = yyjson_read_opts((char *)(uintptr_t)r->r.body.p, r->r.body.n, 0, sim_alc(s), NULL);
	yyjson_val *root, *rv;
	struct str now;
	yyjson_mut_doc *doc;
	yyjson_mut_val *out;
	struct version *before;

	ASSERT(patch);
	if (!job)
		return HTTP_NOT_FOUND;
	root = job->now->object.job->root;
	rv = json_at(yyjson_doc_get_root(patch), "metadata", "resourceVersion", NULL);
	if (!rv)
		sim_broken(s, INV_BODY, "a status patch of %.*s carries no resourceVersion", STR_F(job->name));
	if (!str_eq(json_str(rv), job->now->object.job->meta.rv)) {
		o->reason = STR("Conflict");
		s->tally->hits[HIT_CONFLICT]++;
		return HTTP_CONFLICT;
	}
	if (s->now < job->status_refused) {
		o->reason = STR("Invalid");
		s->tally->hits[HIT_INVALID_STATUS]++;
		return HTTP_INVALID;
	}
	/* What is patched is the status and, with it, the resourceVersion. */
	doc = yyjson_mut_doc_new(sim_alc(s));
	now = next_rv(s);
	yyjson_set_strn(rv, now.p, now.n);
	out = yyjson_merge_patch(doc, root, yyjson_doc_get_root(patch));
	before = job->now;
	show_job(s, job, out, before->object.job->meta.deleted, false);
	check_status(s, job, before, job->now);
	r->answered = job->now;
	return HTTP_OK;
}

/* Requests */

static int delete (struct sim *s, struct sim_request *r)
{
	struct sim_pod *p = r->r.resource == RES_POD ? map_get(&s->pods, r->r.name) : NULL;
	struct sim_service *v = r->r.resource == RES_SERVICE ? map_get(&s->services, r->r.name) : NULL;
	struct sim_job *job =
		r->r.resource == RES_JOB ? map_get(&s->jobs_by_name, name_key(s, r->r.kind, r->r.name)) : NULL;
	struct str uid = p ? p->now.meta.uid : v ? v->now.meta.uid : job ? job->uid : STR_NONE;

	if (r->r.resource == RES_GROUP)
		return groups_delete(s, r);
	if (!p && !v && !job)
		return HTTP_NOT_FOUND;
	if (r->r.uid.n && !str_eq(r->r.uid, uid))
		return HTTP_CONFLICT;
	check_touch(s, r, p ? p->foreign : v ? v->foreign : false);
	if (p)
		server_delete_pod(s, p, r->r.grace);
	if (v)
		server_remove_service(s, v);
	if (job) {
		if (job->now->record == NULL || !phase_final(job->now->record->outcome))
			sim_broken(s, INV_FINAL, "job %.*s is deleted before its end", STR_F(job->name));
		server_delete_job(s, job, false);
	}
	return HTTP_OK;
}

static int get(struct sim *s, struct sim_request *r)
{
	struct sim_pod *p;
	struct sim_service *v;
	struct sim_job *job;

	switch (r->r.resource) {
	case RES_POD:
		p = map_get(&s->pods, r->r.name);
		if (p)
			r->answered = p->version;
		return p ? HTTP_OK : HTTP_NOT_FOUND;
	case RES_SERVICE:
		v = map_get(&s->services, r->r.name);
		if (v)
			r->answered = v->version;
		return v ? HTTP_OK : HTTP_NOT_FOUND;
	case RES_JOB:
		job = map_get(&s->jobs_by_name, name_key(s, r->r.kind, r->r.name));
		if (job)
			r->answered = job->now;
		return job ? HTTP_OK : HTTP_NOT_FOUND;
	case RES_NODE:
		for (size_t i = 0; i < SIM_NODES; i++)
			if (str_eq(s->nodes[i].now.name, r->r.name) && s->nodes[i].exists) {
				r->answered = s->nodes[i].version;
				return HTTP_OK;
			}
		return HTTP_NOT_FOUND;
	case RES_GROUP:
		return groups_get(s, r);
	case RES_COUNT:
		break;
	}
	BUG("no resource");
}

/* Labels on a child that lost them, and PodGroups. */
static int patch(struct sim *s, struct sim_request *r)
{
	struct sim_pod *p = r->r.resource == RES_POD ? map_get(&s->pods, r->r.name) : NULL;
	yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)r->r.body.p, r->r.body.n, 0, sim_alc(s), NULL);
	yyjson_val *meta = json_get(yyjson_doc_get_root(doc), "metadata"), *labels = json_get(meta, "labels");
	int64_t n;

	if (r->r.resource == RES_GROUP)
		return groups_patch(s, r);
	if (!p)
		return HTTP_NOT_FOUND;
	check_touch(s, r, p->foreign);
	if (!str_eq(json_str(json_get(meta, "uid")), p->now.meta.uid) ||
	    !str_eq(json_str(json_get(meta, "resourceVersion")), p->now.meta.rv))
		return HTTP_CONFLICT;
	p->now.job_uid = arena_str(s->arena, json_str(json_get(labels, LABEL_UID)));
	p->now.role = arena_str(s->arena, json_str(json_get(labels, LABEL_ROLE)));
	if (str_int(json_str(json_get(labels, LABEL_INDEX)), &n))
		p->now.index = (int32_t)n;
	if (str_int(json_str(json_get(labels, LABEL_GENERATION)), &n))
		p->now.generation = n;
	p->labelled = true;
	server_pod_changed(s, p);
	r->answered = p->version;
	return HTTP_OK;
}

static int refuse_create(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);

	if (s->now < s->quota_until && r->r.resource == RES_POD) {
		s->tally->hits[HIT_QUOTA]++;
		o->reason = STR("Forbidden");
		o->message = STR("exceeded quota: pods");
		return HTTP_FORBIDDEN;
	}
	if (s->now < s->webhook_until) {
		s->tally->hits[HIT_WEBHOOK]++;
		o->reason = STR("InternalError");
		o->message = STR("failed calling webhook");
		return HTTP_ERROR;
	}
	if (job && job->refuse && r->r.resource == RES_POD) {
		s->tally->hits[HIT_INVALID_CHILD]++;
		o->reason = STR("Invalid");
		o->message = STR("spec.containers[0].image: Required value");
		return HTTP_INVALID;
	}
	return groups_refuse(s, job, r, o);
}

static int create(struct sim *s, struct sim_request *r, struct outcome *o)
{
	if (r->r.resource == RES_GROUP)
		return groups_create(s, r, o);
	return r->r.resource == RES_POD ? create_pod(s, r, o) : create_service(s, r, o);
}

void server_answer(struct sim *s, struct sim_request *r, struct outcome *o)
{
	o->code = 0;
	switch (r->r.verb) {
	case VERB_GET:
		o->code = get(s, r);
		return;
	case VERB_CREATE:
		o->code = refuse_create(s, r, o);
		if (!o->code)
			o->code = create(s, r, o);
		break;
	case VERB_DELETE:
		o->code = delete (s, r);
		break;
	case VERB_PATCH:
		o->code = patch(s, r);
		break;
	case VERB_PATCH_STATUS:
		o->code = patch_status(s, r, o);
		break;
	}
	s->last_write = s->now;
	s->tally->writes++;
	if (!r->link)
		s->tally->hits[HIT_LATE_WRITE]++;
}
