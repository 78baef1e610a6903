/* The simulated API server: what Kubernetes promises of the objects that we use. */
#include "base/http_code.h"
#include "sim/admission.h"
#include "sim/check.h"
#include "sim/groups.h"
#include "sim/server.h"
#include "sim/sim.h"

/* Kubernetes' times are whole seconds. */
msec server_whole(msec t)
{
	return t - t % 1000;
}

struct str server_next_rv(struct sim *s)
{
	return arena_printf(s->arena, "%llu", (unsigned long long)++s->rv);
}

struct str server_next_uid(struct sim *s)
{
	return arena_printf(s->arena, "%08llx-0000-4000-8000-%012llx", (unsigned long long)(s->opt.seed & 0xffffffff),
	                    (unsigned long long)++s->uid);
}

struct meta server_new_meta(struct sim *s, struct str name, struct str owner_uid)
{
	return (struct meta){ .ns = STR("ml"),
		              .name = name,
		              .uid = server_next_uid(s),
		              .rv = server_next_rv(s),
		              .owner_uid = owner_uid,
		              .created = server_whole(s->now) };
}

/* Nodes */

void server_node_changed(struct sim *s, struct sim_node *n)
{
	struct sim_version *v = arena_new(s->arena, struct sim_version);
	struct node *copy = arena_raw(s->arena, sizeof(*copy));

	s->rv++;
	*copy = n->now;
	v->object = (struct object){ .resource = RES_NODE, .node = copy };
	v->seq = s->rv;
	n->version = v;
	n->exists = true;
	stream_push(s, RES_NODE, v, false);
}

void server_node_gone(struct sim *s, struct sim_node *n)
{
	n->exists = false;
	stream_push(s, RES_NODE, n->version, true);
}

/* Requests */

static int delete (struct sim *s, struct sim_request *r)
{
	struct sim_pod *p = r->r.resource == RES_POD ? map_get(&s->pods, r->r.name) : NULL;
	struct sim_service *v = r->r.resource == RES_SERVICE ? map_get(&s->services, r->r.name) : NULL;
	struct sim_job *job =
		r->r.resource == RES_JOB ? map_get(&s->jobs_by_name, server_name_key(s, r->r.kind, r->r.name)) : NULL;
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
		return !p ? HTTP_NOT_FOUND : p->size == SIZE_VAST ? 0 : HTTP_OK;
	case RES_SERVICE:
		v = map_get(&s->services, r->r.name);
		if (v)
			r->answered = v->version;
		return !v ? HTTP_NOT_FOUND : v->size == SIZE_VAST ? 0 : HTTP_OK;
	case RES_JOB:
		job = map_get(&s->jobs_by_name, server_name_key(s, r->r.kind, r->r.name));
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
	if (!str_eq(json_str(json_get(meta, "uid")), p->now.meta.uid) ||
	    !str_eq(json_str(json_get(meta, "resourceVersion")), p->now.meta.rv))
		return HTTP_CONFLICT;
	check_touch(s, r, p->foreign);
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

static int create(struct sim *s, struct sim_request *r, struct outcome *o)
{
	if (r->r.resource == RES_GROUP)
		return groups_create(s, r, o);
	return r->r.resource == RES_POD ? server_create_pod(s, r, o) : server_create_service(s, r, o);
}

void server_answer(struct sim *s, struct sim_request *r, struct outcome *o)
{
	o->code = 0;
	switch (r->r.verb) {
	case VERB_GET:
		o->code = get(s, r);
		return;
	case VERB_CREATE:
		o->code = admission_refuses(s, r, o);
		if (!o->code)
			o->code = create(s, r, o);
		break;
	case VERB_DELETE:
		o->code = admission_keeps(s, r, o);
		if (!o->code)
			o->code = delete (s, r);
		break;
	case VERB_PATCH:
		o->code = patch(s, r);
		break;
	case VERB_PATCH_STATUS:
		o->code = server_patch_status(s, r, o);
		break;
	}
	if (!r->in_vain)
		s->last_write = s->now;
	s->tally->writes++;
	if (!r->link)
		s->tally->hits[HIT_LATE_WRITE]++;
}
