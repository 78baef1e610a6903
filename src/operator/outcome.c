/* What the answers to our requests mean: for the cache, for refusals, and for when to try again. */
#include "base/http_code.h"
#include "base/log.h"
#include "operator/internal.h"
#include "operator/send.h"

/* A status that the server will never take is not tried again before this; what it may take soon, before that. */
static const msec status_refused_wait = MINUTES(10), status_denied_wait = MINUTES(1);

static bool good(const struct outcome *o)
{
	return http_is_good(o->code);
}

void outcome_failed(struct cached_job *job, const struct outcome *o)
{
	job->failed = true;
	job->retry_after = MAX(job->retry_after, o->retry_after);
}

/* "Not now": a right that is missing, a webhook, a policy. The same status may be taken soon. */
static bool is_denied(int code)
{
	return code == HTTP_FORBIDDEN || code == HTTP_BAD_REQUEST;
}

/* First the kind's own fields are left out, then all that is not needed. If it is still refused, what must be
   remembered is tried again, later each time, and what can only be observed waits, and nothing waits for it; both until
   the job is edited. */
void outcome_status_refused(struct operator_loop *op, struct cached_job *job, int code, bool durable,
                            struct str message)
{
	msec until = op->now + (is_denied(code) ? status_denied_wait : status_refused_wait);
	enum status_form form = job->status_form;

	if (is_denied(code) && !durable) {
		log_warn(FIELDS(JOB_FIELDS(job->kind, &job->meta)), "the API server denied its status: %.*s",
		         STR_F(message));
		observe_status_refused(op, job, message);
		job->status_held = until;
		/* Twice is perhaps for ever, and not about the record. */
		if (form == STATUS_WHOLE && job->status_denied) {
			job->status_form = STATUS_BARE;
			job->status_whole = op->now + status_refused_wait;
		}
		job->status_denied |= form == STATUS_WHOLE;
		return;
	}
	log_warn(FIELDS(JOB_FIELDS(job->kind, &job->meta)), "its status was refused%s: %.*s",
	         form == STATUS_WHOLE ? ", retrying with the record alone" : "", STR_F(message));
	observe_status_refused(op, job, message);
	job->status_whole = until;
	if (form < STATUS_SHORT) {
		job->status_form = form + 1;
		job->unproven = true;
		return;
	}
	job->status_held = until;
	job->failed |= durable;
}

/* A server says so by its code; etcd, and the server's own way to it, in words. */
static bool is_too_large(const struct outcome *o)
{
	static const char *const words[] = { "request is too large", "trying to send message larger than max" };

	if (o->code == HTTP_SERVER_ERROR && o->message.n)
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (memmem(o->message.p, o->message.n, words[i], strlen(words[i])))
				return true;
	return o->code == HTTP_TOO_LARGE;
}

/* The name of a child belongs to somebody else, or to another replica. It is told once, however often it is found. */
static void name_taken(struct operator_loop *op, const struct request_sent *p, const struct outcome *o,
                       struct str whose)
{
	struct cached_job *job = p->job;
	const struct meta *found = &object_child(&o->object)->meta;
	struct child_refused *r;

	/* The watch has shown its end while this answer was on its way. */
	if (job->gone || cache_gone_since(&op->cache, found->uid, requests_serial(o->id))) {
		taken_not(op, p);
		return;
	}
	r = refused_find(job, p->resource, p->role);
	if (!r || r->refusal.kind != REFUSED_FOREIGN || !str_eq(r->refusal.message, whose))
		observe_taken(op, job, whose);
	r = refused_take(op, job, p->resource, p->role, REFUSED_FOREIGN, whose);
	taken_note(op, p, r, found, object_child(&o->object)->job_uid.n > 0);
}

static void status_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	struct cached_job *job = p->job;

	/* Where nobody knows, it is likely. */
	job->wrote = good(o) || o->code == 0 || o->code >= HTTP_SERVER_ERROR;
	if (good(o)) {
		job->status_written = op->now;
		job->status_held = job->status_failed = 0;
		job->status_denied = job->status_denied && job->status_form != STATUS_WHOLE;
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	} else if (o->code == HTTP_CONFLICT || o->code == 0) {
		if (!job->gone)
			send_get_job(op, job);
	} else if (o->code == HTTP_NOT_FOUND) {
		cache_missing(&op->cache, RES_JOB, p->ns, p->name, p->uid);
	} else if (o->code == HTTP_INVALID || is_denied(o->code) || is_too_large(o)) {
		outcome_status_refused(op, job, o->code, p->durable, o->message);
	} else if (!p->durable) {
		job->status_failed = MIN(job->status_failed, INT32_MAX - 1) + 1;
		job->status_held = MAX(plan_status_held(job->status_failed, op->now), op->now + o->retry_after);
	} else {
		outcome_failed(job, o);
	}
}

static void create_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	enum refusal_kind kind = plan_refusal(o->code, o->reason);
	struct request_sent ask = *p;

	/* What this request has made has its labels; of what stands there without them nobody knows how old it is. */
	ask.generation = -1;
	creates_answered(op, p->job, good(o));
	if (good(o)) {
		refused_made(p->job, p->resource, p->role);
		op->created = true;
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
		op->created = false;
		return;
	}
	if (o->code == 0 || (o->code == HTTP_CONFLICT && str_eqc(o->reason, "AlreadyExists"))) {
		send_get_child(op, &ask);
		return;
	}
	if (p->resource == RES_POD && plan_too_early(op->config.plan.gang, o->code, o->message))
		kind = REFUSED_SERVER;
	if (kind == REFUSED_NOT || o->retry_after)
		outcome_failed(p->job, o);
	if (kind != REFUSED_NOT)
		refused_take(op, p->job, p->resource, p->role, kind,
		             o->message.n ? o->message : arena_printf(&op->arena, "it answers %d", o->code));
	/* A gateway that gave up does not know whether the server did it. */
	if (o->code >= HTTP_SERVER_ERROR)
		send_get_child(op, &ask);
}

/* A policy, a webhook: that is about this child alone, and the rest of the plan goes on. */
static void undeleted_take(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	struct str why = o->message.n ? o->message : arena_printf(&op->arena, "the API server answers %d", o->code);

	free(p->job->undeleted);
	p->job->undeleted = xstrndup(why.p, why.n);
	cache_undeleted(&op->cache, p->resource, p->ns, p->name, p->uid);
}

static void delete_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	if (good(o))
		cache_deleting(&op->cache, p->resource, p->ns, p->name, p->uid, op->now, p->force);
	else if (o->code == HTTP_NOT_FOUND || o->code == HTTP_CONFLICT)
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
	else if (plan_refusal(o->code, o->reason) != REFUSED_NOT && !o->retry_after)
		undeleted_take(op, p, o);
	else
		outcome_failed(p->job, o);
	/* Perhaps it was done: pods of a job that is resumed meanwhile must not rely on a PodGroup that is gone. */
	if (o->code == 0 || o->code >= HTTP_SERVER_ERROR)
		cache_doubt(&op->cache, p->resource, p->ns, p->name, p->uid);
}

static void end_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	if (good(o))
		p->job->delete_sent = true;
	else if (o->code == HTTP_NOT_FOUND || o->code == HTTP_CONFLICT)
		cache_missing(&op->cache, RES_JOB, p->ns, p->name, p->uid);
	else
		outcome_failed(p->job, o);
}

static void node_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	if (good(o))
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	else if (o->code == HTTP_NOT_FOUND)
		cache_node_missing(&op->cache, p->name);
	else
		outcome_failed(p->job, o);
}

static void job_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	if (good(o))
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	else if (o->code == HTTP_NOT_FOUND)
		cache_missing(&op->cache, RES_JOB, p->ns, p->name, p->uid);
	else
		outcome_failed(p->job, o);
}

/* A state that is older than what we know tells nothing: ask again, but not at once. */
static bool in_cache(const struct operator_loop *op, const struct request_sent *p, const struct meta *found)
{
	const struct cached_child *ch = cache_child_of(&op->cache, p->resource, p->ns, p->name, found->uid);

	return ch && !cached_child_gone(ch);
}

/* Ours, without our labels. Its generation is what we last saw on it; what we never saw is old. */
static void adopt(struct operator_loop *op, const struct request_sent *p, const struct meta *found)
{
	const struct cached_child *known =
		p->resource == RES_POD ? cache_child_of(&op->cache, RES_POD, p->ns, p->name, found->uid) : NULL;
	struct request_sent patch = *p;

	if (p->job->gone)
		return;
	/* One that was never read: which replica's it is nobody knows. */
	if (resource_traits(p->resource)->of_replica && !p->role.n) {
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
		return;
	}
	if (known)
		patch.generation = known->pod->generation;
	patch.generation = MAX(patch.generation, 0);
	apply_adopt(op, &patch, found);
}

static struct replica_labels replica_of(const struct object *o)
{
	const struct child *c = object_child(o);

	return resource_traits(o->resource)->of_replica ? (struct replica_labels){ c->role, c->index }
	                                                : (struct replica_labels){ 0 };
}

/* What stands under the name of a child? True: it is known now. */
static bool child_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	struct replica_labels wanted = { p->role, p->index }, has;
	const struct meta *found;
	struct str whose;

	if (o->code == HTTP_NOT_FOUND) {
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
		taken_left(op, p->resource, p->ns, p->name);
		return true;
	}
	if (!good(o)) {
		outcome_failed(p->job, o);
		return false;
	}
	found = &object_child(&o->object)->meta;
	has = replica_of(&o->object);
	if (p->uid.n && !str_eq(p->uid, found->uid))
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
	switch (plan_conflict(p->job->meta.uid, &wanted, found, object_child(&o->object)->job_uid, &has)) {
	case CONFLICT_OTHER:
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
		/* With a UID we only asked how that pod is. */
		whose = plan_taken_by(resource_noun(p->resource), found, &has, &wanted, &op->arena);
		if (!p->uid.n)
			name_taken(op, p, o, whose);
		return true;
	case CONFLICT_OURS:
		taken_not(op, p);
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
		if (p->purpose == FOR_CHILD && !p->uid.n && !found->deleted)
			refused_made(p->job, p->resource, p->role);
		if (in_cache(op, p, found))
			return true;
		outcome_failed(p->job, o);
		return false;
	case CONFLICT_ADOPT:
		taken_not(op, p);
		adopt(op, p, found);
		return false;
	case CONFLICT_FOREIGN:
		/* Another job's of ours: what was found is news of it, too. Otherwise it is not asked for again. */
		if (object_child(&o->object)->job_uid.n)
			cache_answer(&op->cache, &o->object, requests_serial(o->id));
		else
			cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
		name_taken(op, p, o, plan_taken(resource_noun(p->resource), found, &op->arena));
		return true;
	}
	BUG("no conflict");
}

/* What became of a pod that the record saw? One question that fails holds up no other. */
static void seen_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	if (!good(o) && o->code != HTTP_NOT_FOUND) {
		ask_failed(p->job, p);
		if (o->retry_after)
			outcome_failed(p->job, o);
	} else if (child_answered(op, p, o)) {
		ask_answered(p->job, p);
	}
}

static void labels_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	if (good(o))
		cache_answer(&op->cache, &o->object, requests_serial(o->id));
	else
		outcome_failed(p->job, o);
}

/* All requests of a pass are answered: was it a good one? */
static void all_answered(struct operator_loop *op, struct cached_job *job)
{
	job->failed |= ask_page_failed(job);
	if (refused_any(job) || job->failed)
		job->creates.window = 1;
	refused_settle(job);
	if (job->failed)
		operator_retry(op, job, job->retry_after);
	else if (!job->unproven)
		queue_forget(&job->item);
	observe_pass(op, job, job->failed, false);
	job->failed = job->unproven = false;
	job->retry_after = 0;
	operator_look(op, job, QUEUE_FRESH);
}

/* A write of what can only be observed, which the server does not take: that is about no child. Who is told that the
   job is another one, or nothing, looks at it anew. */
static bool is_unwritten(const struct request_sent *p, const struct outcome *o)
{
	return p->purpose == FOR_STATUS && !p->durable && o->code != 0 && o->code != HTTP_CONFLICT &&
	       o->code != HTTP_NOT_FOUND;
}

/* Is it about children of that sort and role, and not about the server or the job? */
static bool is_refused(const struct request_sent *p, const struct outcome *o)
{
	return p->purpose == FOR_CREATE && plan_refusal(o->code, o->reason) != REFUSED_NOT && !o->retry_after &&
	       o->code != HTTP_NOT_FOUND;
}

void outcome_take(struct operator_loop *op, const struct outcome *o)
{
	struct request_sent p;

	if (!requests_take(&op->requests, o->id, &p))
		return;
	observe_answer(op, &p, o);
	/* It is not as the plan thought; or only a part of it is not. */
	if (is_refused(&p, o))
		creates_skip(op, p.job, p.resource, p.role);
	else if (!good(o) && !is_unwritten(&p, o))
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
		if (!p.uid.n && (o->code == 0 || o->code >= HTTP_SERVER_ERROR))
			ask_again(p.job, &p);
		break;
	case FOR_SEEN:
		seen_answered(op, &p, o);
		break;
	case FOR_LABELS:
		labels_answered(op, &p, o);
		break;
	case FOR_SOLE:
		sole_answered(op, &p, o);
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
