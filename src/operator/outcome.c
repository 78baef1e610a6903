/* What the answers to our requests mean: for the cache, for refusals, and for when to try again. */
#include "base/log.h"
#include "operator/internal.h"
#include "operator/send.h"

enum { HTTP_OK = 200, HTTP_NOT_FOUND = 404, HTTP_CONFLICT = 409, HTTP_INVALID = 422, HTTP_SERVER_ERROR = 500 };

/* A status that the server will never take is not tried again before this. */
static const msec status_refused_wait = MINUTES(10);

static bool good(const struct outcome *o)
{
	return o->code >= 200 && o->code < 300;
}

void outcome_failed(struct cached_job *job, const struct outcome *o)
{
	job->failed = true;
	job->retry_after = MAX(job->retry_after, o->retry_after);
}

/* Is that child one which does not count? The job goes on without it. */
static bool is_aux(const struct cached_job *job, struct str role_name)
{
	const struct role *role = job->parsed ? job_role(kind_job(job->parsed), role_name) : NULL;

	return role && role->aux;
}

static void refuse(struct op *op, struct refusal *r, char **text, bool *already, enum refusal_kind kind,
                   struct str message)
{
	/* A batch is refused once, however many of it were. */
	if (!*already)
		r->times++;
	*already = true;
	free(*text);
	*text = xstrndup(message.p ? message.p : "", message.n);
	r->kind = kind;
	r->message = (struct str){ *text, message.n };
	r->at = op->now;
}

void outcome_refused(struct op *op, const struct pending *p, enum refusal_kind kind, struct str message)
{
	struct cached_job *job = p->job;

	if (is_aux(job, p->role))
		refuse(op, &job->aux_refusal, &job->aux_refusal_text, &job->aux_refused, kind, message);
	else
		refuse(op, &job->refusal, &job->refusal_text, &job->refused, kind, message);
}

static void status_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	struct cached_job *job = p->job;

	/* Where nobody knows, it is likely. */
	job->wrote = good(o) || o->code == 0 || o->code >= HTTP_SERVER_ERROR;
	if (good(o)) {
		job->status_written = op->now;
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	} else if (o->code == HTTP_CONFLICT || o->code == 0) {
		if (!job->gone)
			send_get_job(op, job);
	} else if (o->code == HTTP_NOT_FOUND) {
		cache_missing(&op->cache, RES_JOB, p->ns, p->name, p->uid);
	} else if (o->code == HTTP_INVALID) {
		log_warn(FIELDS(JOB_FIELDS(job->kind, &job->meta)), "its status is refused: %.*s", STR_F(o->message));
		job->failed = true;
		job->retry_after = status_refused_wait;
	} else {
		outcome_failed(job, o);
	}
}

static void create_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	enum refusal_kind kind = plan_refusal(o->code, o->reason);

	creates_answered(op, p->job, good(o));
	if (good(o)) {
		if (is_aux(p->job, p->role))
			p->job->aux_refusal = (struct refusal){ 0 };
		else
			p->job->created = true;
		op->created = true;
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
		op->created = false;
		return;
	}
	if (o->code == 0 || (o->code == HTTP_CONFLICT && str_eqc(o->reason, "AlreadyExists"))) {
		struct pending ask = *p;

		/* Whatever stands there was not made by this request. */
		ask.generation = -1;
		send_get_child(op, &ask);
		return;
	}
	if (p->resource == RES_POD && plan_too_early(op->config.plan.gang, o->code, o->message))
		kind = REFUSED_SERVER;
	if (kind == REFUSED_NOT || o->retry_after)
		outcome_failed(p->job, o);
	if (kind != REFUSED_NOT)
		outcome_refused(op, p, kind, o->message);
	/* A gateway that gave up does not know whether the server did it. */
	if (o->code >= HTTP_SERVER_ERROR)
		send_get_child(op, p);
}

static void delete_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	if (good(o))
		cache_deleting(&op->cache, p->resource, p->ns, p->name, p->uid, op->now, p->force);
	else if (o->code == HTTP_NOT_FOUND || o->code == HTTP_CONFLICT)
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
	else
		outcome_failed(p->job, o);
}

static void end_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	if (good(o))
		p->job->delete_sent = true;
	else if (o->code == HTTP_NOT_FOUND || o->code == HTTP_CONFLICT)
		cache_missing(&op->cache, RES_JOB, p->ns, p->name, p->uid);
	else
		outcome_failed(p->job, o);
}

static void node_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	if (good(o))
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	else if (o->code == HTTP_NOT_FOUND)
		cache_node_missing(&op->cache, p->name);
	else
		outcome_failed(p->job, o);
}

static void job_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	if (good(o))
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	else if (o->code == HTTP_NOT_FOUND)
		cache_missing(&op->cache, RES_JOB, p->ns, p->name, p->uid);
	else
		outcome_failed(p->job, o);
}

/* A state that is older than what we know tells nothing: ask again, but not at once. */
static bool in_cache(const struct op *op, const struct pending *p, const struct meta *found)
{
	const struct cached_pod *pod = p->resource == RES_POD ? cache_pod(&op->cache, p->ns, p->name) : NULL;
	const struct cached_child *other =
		p->resource == RES_POD ? NULL : cache_child(&op->cache, p->resource, p->ns, p->name);

	return (pod && !pod->pod->gone && str_eq(pod->pod->meta.uid, found->uid)) ||
	       (other && str_eq(cached_child_meta(other)->uid, found->uid));
}

/* Ours, without our labels. Its generation is what we last saw on it; what we never saw is old. */
static void adopt(struct op *op, const struct pending *p, const struct meta *found)
{
	const struct cached_pod *known = p->resource == RES_POD ? cache_pod(&op->cache, p->ns, p->name) : NULL;
	struct pending patch = *p;

	if (p->job->gone)
		return;
	if (known && str_eq(known->pod->meta.uid, found->uid))
		patch.generation = known->pod->generation;
	patch.generation = MAX(patch.generation, 0);
	apply_adopt(op, &patch, found);
}

/* What stands under the name of a child? */
static void child_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	const struct meta *found;
	struct str found_uid, whose;

	if (o->code == HTTP_NOT_FOUND) {
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
		return;
	}
	if (!good(o)) {
		outcome_failed(p->job, o);
		return;
	}
	found = child_meta(&o->object);
	found_uid = child_job_uid(&o->object);
	if (p->uid.n && !str_eq(p->uid, found->uid))
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
	switch (plan_conflict(p->job->meta.uid, found, found_uid)) {
	case CONFLICT_OURS:
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
		if (!in_cache(op, p, found))
			outcome_failed(p->job, o);
		break;
	case CONFLICT_ADOPT:
		adopt(op, p, found);
		break;
	case CONFLICT_FOREIGN:
		whose = plan_taken(resource_noun(p->resource), found, &op->arena);
		outcome_refused(op, p, REFUSED_FOREIGN, whose);
		observe_taken(op, p->job, whose);
		break;
	}
}

static void labels_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	if (good(o))
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	else
		outcome_failed(p->job, o);
}

/* All requests of a pass are answered: was it a good one? */
static void all_answered(struct op *op, struct cached_job *job)
{
	if (job->refused || job->aux_refused || job->failed)
		job->creates.window = 1;
	if (job->created && !job->refused)
		job->refusal = (struct refusal){ 0 };
	/* A question that was not answered is asked again. */
	if (job->failed) {
		job->asked = false;
		queue_retry(&op->queue, &job->item, op->now, job->retry_after);
	} else {
		queue_forget(&job->item);
	}
	observe_pass(op, job, job->failed, false);
	job->created = job->refused = job->aux_refused = job->failed = false;
	job->retry_after = 0;
	operator_look(op, job, QUEUE_FRESH);
}

void outcome_take(struct op *op, const struct outcome *o)
{
	struct pending p;

	if (!requests_take(&op->requests, o->id, &p))
		return;
	observe_answer(op, &p, o);
	/* It is not as the plan thought. */
	if (!good(o))
		creates_drop(op, p.job);
	switch (p.purpose) {
	case FOR_STATUS:
		status_answered(op, &p, o);
		break;
	case FOR_CREATE:
		create_answered(op, &p, o);
		break;
	case FOR_DELETE:
		delete_answered(op, &p, o);
		break;
	case FOR_END:
		end_answered(op, &p, o);
		break;
	case FOR_NODE:
		node_answered(op, &p, o);
		break;
	case FOR_JOB:
		job_answered(op, &p, o);
		break;
	case FOR_CHILD:
		child_answered(op, &p, o);
		break;
	case FOR_LABELS:
		labels_answered(op, &p, o);
		break;
	case FOR_GROUP:
		groups_answered(op, &p, o);
		break;
	}
	requests_done(&p);
	if (--p.job->in_flight)
		return;
	/* What waited for its turn is planned anew with the rest. */
	creates_drop(op, p.job);
	if (p.job->gone)
		cached_job_free(p.job);
	else
		all_answered(op, p.job);
}
