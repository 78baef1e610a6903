/* The simulated API server's jobs, and the garbage collector. */
#include "base/http_code.h"
#include "sim/check.h"
#include "sim/groups.h"
#include "sim/manifest.h"
#include "sim/server.h"
#include "sim/sim.h"

static void show_job(struct sim *s, struct sim_job *job, yyjson_mut_val *root, msec deleted, bool gone)
{
	struct sim_version *v = arena_new(s->arena, struct sim_version);
	struct job_object *o = arena_new(s->arena, struct job_object);
	yyjson_doc *doc = yyjson_mut_val_imut_copy(root, sim_alc(s));

	ASSERT(doc);
	o->root = yyjson_doc_get_root(doc);
	o->kind = job->kind;
	o->meta = (struct meta){ .ns = STR("ml"),
		                 .name = job->name,
		                 .uid = job->uid,
		                 .rv = json_str(json_at(o->root, "metadata", "resourceVersion", NULL)),
		                 .created = job->now ? job->now->object.job->meta.created : server_whole(s->now),
		                 .deleted = deleted };
	v->object = (struct object){ .resource = RES_JOB, .job = o };
	v->job = job;
	v->spec = job->spec;
	v->seq = s->rv;
	v->record = record_read(json_at(o->root, "status", "dlOperator", NULL), s->arena, NULL);
	job->now = v;
	stream_push(s, RES_JOB, v, gone);
}

static bool same_wish(const struct sim_wish *a, const struct sim_wish *b)
{
	return a->serial == b->serial && a->suspend == b->suspend && a->invalid == b->invalid &&
	       a->annotation == b->annotation && a->elastic == b->elastic &&
	       memcmp(a->counts, b->counts, sizeof(a->counts)) == 0;
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
	*vec_push(s->arena, &s->specs) = (struct sim_spec){ job->wish, job->deleting, spec };
	return spec;
}

/* The job's wish was changed: a new generation of its spec. */
static void render(struct sim *s, struct sim_job *job, bool gone)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(sim_alc(s));
	yyjson_val *status = job->now ? json_get(job->now->object.job->root, "status") : NULL;
	msec deleted = job->deleting ? server_whole(s->now) : 0;
	yyjson_mut_val *root = manifest_render(s, job, server_next_rv(s), deleted, doc);
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

struct str server_name_key(struct sim *s, struct str kind, struct str name)
{
	return arena_printf(s->arena, "%.*s/%.*s", STR_F(kind), STR_F(name));
}

struct sim_job *server_create_job(struct sim *s, const struct sim_wish *wish, struct str name)
{
	struct sim_job *job = arena_new(s->arena, struct sim_job);
	struct str kind = str_c(manifest_kind_id(wish->kind)), key = server_name_key(s, kind, name);

	if (map_get(&s->jobs_by_name, key))
		return NULL;
	job->name = arena_str(s->arena, name);
	job->kind = kind;
	job->uid = server_next_uid(s);
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
	job->edited = s->now;
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

static struct str refused_reason(const struct sim_job *job)
{
	return job->status_code == HTTP_INVALID     ? STR("Invalid")
	       : job->status_code == HTTP_FORBIDDEN ? STR("Forbidden")
	                                            : STR("BadRequest");
}

int server_patch_status(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_name, server_name_key(s, r->r.kind, r->r.name));
	yyjson_doc *patch = yyjson_read_opts((char *)(uintptr_t)r->r.body.p, r->r.body.n, 0, sim_alc(s), NULL);
	yyjson_val *root, *rv;
	struct str now;
	yyjson_mut_doc *doc;
	yyjson_mut_val *out;
	struct sim_version *before;

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
	if (s->now < job->own_refused &&
	    yyjson_obj_size(json_get(yyjson_doc_get_root(patch), "status")) >
	            (json_at(yyjson_doc_get_root(patch), "status", "dlOperator", NULL) != NULL)) {
		o->reason = refused_reason(job);
		s->tally->hits[HIT_INVALID_OWN]++;
		return job->status_code;
	}
	if (s->now < job->status_refused) {
		o->reason = refused_reason(job);
		s->tally->hits[HIT_INVALID_STATUS]++;
		return job->status_code;
	}
	/* What is patched is the status and, with it, the resourceVersion. */
	doc = yyjson_mut_doc_new(sim_alc(s));
	now = server_next_rv(s);
	yyjson_set_strn(rv, now.p, now.n);
	out = yyjson_merge_patch(doc, root, yyjson_doc_get_root(patch));
	before = job->now;
	show_job(s, job, out, before->object.job->meta.deleted, false);
	check_status(s, r, job, before, job->now);
	r->answered = job->now;
	return HTTP_OK;
}

void server_later_version(struct sim *s, struct sim_job *job)
{
	static const char text[] =
		"{\"status\":{\"dlOperator\":{\"outcome\":\"Halted\",\"phase\":\"Halted\",\"why\":\"Later\","
		"\"endTime\":\"2027-01-15T08:00:00Z\",\"roles\":{\"worker\":{\"restarts\":{\"Meteor\":2}}}}}}";
	yyjson_doc *patch = yyjson_read_opts((char *)(uintptr_t)text, strlen(text), 0, sim_alc(s), NULL);
	yyjson_mut_doc *doc = yyjson_mut_doc_new(sim_alc(s));
	const struct sim_version *before = job->now;
	struct str rv = server_next_rv(s);
	yyjson_mut_val *out;

	/* Only what the record knows already: a role more would be another job. */
	if (!before->record || before->record->outcome || !record_role_of(before->record, STR("worker")))
		return;
	s->tally->hits[HIT_LATER_VERSION]++;
	TRACE(s, "a later version ends %.*s", STR_F(job->name));
	out = yyjson_merge_patch(doc, before->object.job->root, yyjson_doc_get_root(patch));
	yyjson_mut_set_strn(yyjson_mut_obj_get(yyjson_mut_obj_get(out, "metadata"), "resourceVersion"), rv.p, rv.n);
	show_job(s, job, out, before->object.job->meta.deleted, false);
}
