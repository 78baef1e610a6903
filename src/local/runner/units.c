#include "local/runner/units.h"

#include "base/list.h"
#include "local/runner/companion.h"
#include "local/runner/call.h"
#include "local/runner/requests.h"

static char *copy(struct str s)
{
	return xstrndup(str_text(s), s.n);
}

/* By creation; of one second: as they came. */
static void link_unit(struct runner *r, struct runner_unit *u)
{
	struct runner_unit *after = r->last_unit;

	while (after && after->created > u->created)
		after = after->prev;
	u->prev = after;
	u->next = after ? after->next : r->first_unit;
	*(u->prev ? &u->prev->next : &r->first_unit) = u;
	*(u->next ? &u->next->prev : &r->last_unit) = u;
}

void units_free(struct runner *r, struct runner_unit *u)
{
	map_del(&r->units, str_c(u->uid));
	deque_drop(&r->first_unit, &r->last_unit, u);
	yyjson_doc_free(u->job);
	free(u->uid);
	free(u->ns);
	free(u->name);
	free(u->reason);
	free(u);
}

static yyjson_val *controller_of(yyjson_val *pod)
{
	yyjson_val *owner;
	size_t i, max;

	yyjson_arr_foreach(json_at(pod, "metadata", "ownerReferences", NULL), i, max, owner)
	{
		if (yyjson_is_true(json_get(owner, "controller")))
			return owner;
	}
	return NULL;
}

static msec created_of(yyjson_val *object)
{
	msec t = 0;

	time_parse(json_str(json_at(object, "metadata", "creationTimestamp", NULL)), &t);
	return t;
}

static struct runner_unit *make(struct runner *r, struct str uid, struct str ns, struct str name, yyjson_val *dated)
{
	struct runner_unit *u = xcalloc(1, sizeof(*u));

	u->uid = copy(uid);
	u->ns = copy(ns);
	u->name = copy(name);
	u->generation = -1;
	u->created = created_of(dated);
	map_put(&r->units, str_c(u->uid), u);
	link_unit(r, u);
	return u;
}

static yyjson_doc *read_owner(struct runner *r, const struct kind *k, struct str ns, yyjson_val *owner)
{
	const struct store_type *t = k ? store_type(r->c.store, k->group, k->version, k->plural) : NULL;
	yyjson_doc *doc = runner_read(r, t, ns, json_str(json_get(owner, "name")));

	if (doc && !str_eq(json_str(json_at(yyjson_doc_get_root(doc), "metadata", "uid", NULL)),
	                   json_str(json_get(owner, "uid")))) {
		yyjson_doc_free(doc);
		return NULL;
	}
	return doc;
}

struct runner_unit *units_of(struct runner *r, yyjson_val *pod)
{
	yyjson_val *owner = controller_of(pod), *meta = json_get(pod, "metadata");
	struct str uid = json_str(json_get(owner ? owner : meta, "uid")), ns = json_str(json_get(meta, "namespace"));
	struct runner_unit *u = map_get(&r->units, uid);
	const struct kind *k;
	yyjson_doc *job;

	if (u)
		return u;
	k = owner ? kinds_find(r->c.kinds, json_str(json_get(owner, "apiVersion")), json_str(json_get(owner, "kind")))
	          : NULL;
	job = read_owner(r, k, ns, owner);
	u = make(r, uid, ns, json_str(json_get(owner ? owner : meta, "name")), job ? yyjson_doc_get_root(job) : pod);
	u->kind = k;
	u->job = job;
	u->stale = job;
	return u;
}

static enum phase phase_of(const struct runner_unit *u)
{
	return phase_parse(json_str(json_at(yyjson_doc_get_root(u->job), "status", "dlOperator", "phase", NULL)));
}

/* Nothing more of it is to run, as far as the operator knows now. */
static bool is_idle(const struct runner_unit *u)
{
	enum phase p = phase_of(u);

	return !u->job || phase_final(p) || p == PHASE_SUSPENDED || p == PHASE_INVALID;
}

void units_take_job(struct runner *r, yyjson_doc *job, enum store_change change)
{
	yyjson_val *root = yyjson_doc_get_root(job), *meta = json_get(root, "metadata");
	struct runner_unit *u = map_get(&r->units, json_str(json_get(meta, "uid")));
	enum phase phase = phase_parse(json_str(json_at(root, "status", "dlOperator", "phase", NULL)));

	/* Between two of its generations there may be no pod that tells. */
	if (!u && r->adopting && (phase == PHASE_RUNNING || phase == PHASE_RESTARTING)) {
		u = make(r, json_str(json_get(meta, "uid")), json_str(json_get(meta, "namespace")),
		         json_str(json_get(meta, "name")), root);
		u->kind = kinds_find(r->c.kinds, json_str(json_get(root, "apiVersion")),
		                     json_str(json_get(root, "kind")));
		u->admitted = true;
	}
	if (!u) {
		yyjson_doc_free(job);
		return;
	}
	yyjson_doc_free(u->job);
	u->job = change == STORE_DELETED ? NULL : job;
	u->stale = u->job;
	r->fit_due = true;
	if (!u->job)
		yyjson_doc_free(job);
}

/* Reading a job runs its kind's code: only when its spec is another. */
static void read_job(struct runner *r, struct runner_unit *u)
{
	yyjson_val *root = yyjson_doc_get_root(u->job);
	int64_t generation = 0;
	struct kind_job *kj;
	const struct job *job;
	struct err e = ERR_INIT;

	u->stale = false;
	json_int(json_at(root, "metadata", "generation", NULL), &generation);
	if (!u->kind || generation == u->generation)
		return;
	u->generation = generation;
	u->job_counts = false;
	kj = kind_read(r->c.kinds, u->kind, root, STR_NONE, &e);
	err_release(&e);
	if (!kj)
		return;
	job = kind_job(kj);
	u->replicas = 0;
	for (size_t i = 0; i < job->n_roles; i++)
		if (!job->roles[i].companion)
			u->replicas += job->roles[i].count;
	u->job_wants = requests_of_job(job, r->c.without_gpus);
	u->job_counts = job->problems.errors == 0;
	kind_job_free(kj);
}

void units_set_kinds(struct runner *r, const struct kinds *kinds)
{
	for (struct runner_unit *u = r->first_unit; u; u = u->next) {
		u->kind = u->kind ? kinds_by_id(kinds, u->kind->id) : NULL;
		u->generation = -1;
		u->stale = u->job;
	}
}

void units_count(struct runner *r)
{
	struct runner_unit *next;

	for (struct runner_unit *u = r->first_unit; u; u = u->next) {
		u->pods = u->unended = 0;
		u->pods_want = (struct amount){ 0 };
	}
	for (struct runner_pod *p = r->first_pod; p; p = p->next) {
		if (!p->unit)
			continue;
		p->unit->pods++;
		if (p->stage == RUN_ENDED || p->stage == RUN_FOREIGN || (p->gone && p->stage != RUN_LIVES))
			continue;
		/* A companion outlives the job, and holds no place for it. */
		p->unit->unended += !companion_is(p);
		amount_add(&p->unit->pods_want, p->wants);
	}
	for (struct runner_unit *u = r->first_unit; u; u = next) {
		next = u->next;
		if (u->stale)
			read_job(r, u);
		if (u->unended == 0 && is_idle(u))
			u->admitted = false;
		if (u->pods == 0 && !u->admitted)
			units_free(r, u);
	}
}

struct amount units_want(const struct runner_unit *u)
{
	return is_idle(u) || !u->job_counts ? u->pods_want : amount_max(u->job_wants, u->pods_want);
}
