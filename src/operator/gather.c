/* The cache → what the plan wants to know. Manifests and records are read once for each state of a job. */
#include "base/log.h"
#include "operator/internal.h"

/* What the kind reads of the object, beside its spec. */
static const char *const fields[] = { "generation", "deletionTimestamp", "annotations", "labels" };

static uint64_t read_hash(yyjson_val *root)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	uint64_t hash;

	for (size_t i = 0; i <= ARRAY_LEN(fields); i++) {
		yyjson_val *val =
			i < ARRAY_LEN(fields) ? json_at(root, "metadata", fields[i], NULL) : json_get(root, "spec");

		if (val)
			json_write_val(val, &b);
		buf_putc(&b, '\n');
	}
	hash = str_hash(buf_str(&b));
	buf_release(&b);
	return hash;
}

static bool same_job(const struct cached_job *job)
{
	yyjson_val *was = yyjson_doc_get_root(job->source), *is = yyjson_doc_get_root(job->doc);

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!json_eq(json_at(was, "metadata", fields[i], NULL), json_at(is, "metadata", fields[i], NULL)))
			return false;
	return json_eq(json_get(was, "spec"), json_get(is, "spec"));
}

static void forget_parsed(struct cached_job *job)
{
	kind_job_free(job->parsed);
	job->parsed = NULL;
	if (job->source != job->doc)
		yyjson_doc_free(job->source);
	job->source = NULL;
}

/* Where the kind's code fails, or the object is not whole, there is still a job: one that says what is wrong, and
   so has no children. */
static struct job *bare_job(struct cached_job *job, const char *why)
{
	struct job *j = arena_new(&job->arena, struct job);
	int64_t generation = 0;

	json_int(json_at(yyjson_doc_get_root(job->doc), "metadata", "generation", NULL), &generation);
	j->kind = job->kind;
	j->ns = job->meta.ns;
	j->name = job->meta.name;
	j->uid = job->meta.uid;
	j->created = job->meta.created;
	j->generation = generation;
	j->deleting = job->meta.deleted != 0;
	j->time_limit = j->active_deadline = j->running_deadline = j->ttl = -1;
	j->clean = CLEAN_RUNNING;
	j->problems.arena = &job->arena;
	problem_error(&j->problems, STR_NONE, "%s", why);
	return j;
}

static void read_job(struct operator_loop *op, struct cached_job *job)
{
	const struct kind *kind = kinds_by_id(op->kinds, job->kind);
	struct err e = ERR_INIT;
	uint64_t hash;

	forget_parsed(job);
	job->source = job->doc;
	if (kind && job->problem)
		err_set(&e, ERR_LIMIT, "%s", job->problem);
	else if (kind)
		job->parsed = kind_read(op->kinds, kind, yyjson_doc_get_root(job->doc), STR_NONE, &e);
	else
		err_set(&e, ERR_INVALID, "no such kind: %.*s", STR_F(job->kind));
	job->bare = job->parsed ? NULL : bare_job(job, err_msg(&e));
	err_release(&e);
	/* What was refused before may be mended, if it is not just read again. */
	hash = read_hash(yyjson_doc_get_root(job->doc));
	if (hash != job->read_hash) {
		refused_forget(job);
		job->status_form = STATUS_WHOLE;
		job->status_held = job->status_failed = 0;
		observe_warnings(op, job);
	}
	job->read_hash = hash;
}

static struct record *read_record(struct operator_loop *op, struct cached_job *job)
{
	yyjson_val *status = json_get(yyjson_doc_get_root(job->doc), "status"), *val = json_get(status, "dlOperator");
	struct err e = ERR_INIT;
	struct record *r = NULL;

	if (val)
		r = record_read(val, &job->arena, &e);
	else if (job->parsed && status)
		r = kind_adopt(job->parsed, status, &job->arena, &e);
	if (e.code) {
		if (!job->leave_alone) {
			log_warn(FIELDS(JOB_FIELDS(job->kind, &job->meta)), "left alone: %s", err_msg(&e));
			observe_left(op, job, err_msg(&e));
		}
		job->leave_alone = true;
	} else {
		job->leave_alone = false;
	}
	err_release(&e);
	return r;
}

static void refresh(struct operator_loop *op, struct cached_job *job)
{
	bool same;

	if (job->source && str_eq(job->parsed_rv, job->meta.rv))
		return;
	/* The bare job lives in the same arena as the record: it is made anew with it. */
	same = job->parsed && same_job(job);
	arena_reset(&job->arena);
	if (!same)
		read_job(op, job);
	job->record = read_record(op, job);
	observe_record(op, job);
	str_free(job->parsed_rv);
	job->parsed_rv = str_dup(job->meta.rv);
}

/* Anybody can write our labels on a pod; what the job owns, only its owner reference says. */
static bool owns(const struct cached_job *job, const struct meta *child)
{
	return str_eq(child->owner_uid, job->meta.uid);
}

static void fill(struct operator_loop *op, struct cached_job *job, const struct children *ch, struct plan_input *ret)
{
	const struct pod **pods;
	const struct service **services;

	*ret = (struct plan_input){
		.job = job->parsed ? kind_job(job->parsed) : job->bare,
		.record = job->record,
		.fleet = op->config.nodes ? cache_fleet(&op->cache) : NULL,
		.config = &op->config.plan,
		.undeleted = str_c(job->undeleted ? job->undeleted : ""),
		.losses = job->losses,
		.now = op->now,
		.status_written = job->status_written,
		.status_held = job->status_held,
	};
	for (enum resource r = 0; r < RES_COUNT; r++)
		if (sole_writer(r))
			ret->sole[r] = (struct plan_sole){ NULL, job->kept[r], trouble_of(op, r, STR_NONE) };
	ret->n_refusals = refused_list(job, &op->arena, &ret->refusals);
	if (!ch)
		return;
	pods = arena_raw(&op->arena, ch->n[RES_POD] * sizeof(*pods));
	services = arena_raw(&op->arena, ch->n[RES_SERVICE] * sizeof(*services));
	for (const struct cached_child *p = ch->first[RES_POD]; p; p = p->next)
		if (owns(job, &p->pod->meta))
			pods[ret->n_pods++] = p->pod;
	for (const struct cached_child *s = ch->first[RES_SERVICE]; s; s = s->next)
		if (owns(job, &s->service->meta))
			services[ret->n_services++] = s->service;
	for (enum resource r = 0; r < RES_COUNT; r++)
		for (const struct cached_child *c = ch->first[r]; c && sole_writer(r); c = c->next)
			if (owns(job, &c->child->meta))
				ret->sole[r].have = c->child;
	ret->pods = pods;
	ret->services = services;
}

enum gather_result gather(struct operator_loop *op, struct cached_job *job, struct plan_input *ret)
{
	struct children *ch = cache_children(&op->cache, job->meta.uid);
	enum gather_result missing;

	if (ask_doubted(op, job, ch))
		return GATHER_ASK;
	open_job(op, job);
	refresh(op, job);
	if (job->leave_alone)
		return GATHER_LEAVE;
	missing = ask_missing(op, job, ch);
	if (missing != GATHER_DONE)
		return missing;
	if (taken_ask(op, job))
		return GATHER_ASK;
	fill(op, job, ch, ret);
	return GATHER_DONE;
}

bool gather_known(struct operator_loop *op, struct cached_job *job, struct plan_input *ret)
{
	open_job(op, job);
	refresh(op, job);
	if (!job->leave_alone)
		fill(op, job, cache_children(&op->cache, job->meta.uid), ret);
	return !job->leave_alone;
}
