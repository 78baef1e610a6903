#include "operator/sole.h"

#include "base/http_code.h"
#include "operator/internal.h"
#include "operator/send.h"

const struct sole_writer *sole_writer(enum resource r)
{
	static const struct sole_writer *const writers[RES_COUNT] = { [RES_GROUP] = &group_writer };

	return writers[r];
}

bool sole_is_used(const struct operator_loop *op, enum resource r)
{
	return sole_writer(r) && sole_writer(r)->used(&op->config.plan);
}

bool sole_write(struct operator_loop *op, struct cached_job *job, const struct action *a)
{
	const struct sole_writer *w = sole_writer(a->resource);
	bool make = a->type == ACT_CREATE;
	struct request_sent p = {
		.purpose = FOR_SOLE, .job = job, .resource = a->resource, .ns = job->meta.ns, .wish = a->wish
	};
	struct err e = ERR_INIT;

	ASSERT(w);
	buf_clear(&op->body);
	if (!w->put(job->parsed, make ? NULL : a->have, a->want, &op->body, &e)) {
		creates_unbuildable(op, job, a->resource, STR_NONE, &e);
		return false;
	}
	p.name = make ? w->name(job->parsed) : a->have->meta.name;
	p.uid = make ? STR_NONE : a->have->meta.uid;
	send_request(op, &p, make ? VERB_CREATE : VERB_PATCH, buf_str(&op->body));
	return true;
}

static void sole_made(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	struct cached_job *job = p->job;

	refused_made(job, p->resource, p->role);
	cache_answer(&op->cache, &o->object, requests_serial(o->id));
	if (p->verb == VERB_PATCH)
		job->kept[p->resource] = sole_writer(p->resource)->kept(p->wish, o->object.child);
}

static void sole_refused(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	const struct sole_writer *w = sole_writer(p->resource);
	enum refusal_kind kind = w->refusal(o->code, o->reason, o->message);

	if (kind == REFUSED_NOT || o->retry_after)
		outcome_failed(p->job, o);
	else
		refused_take(op, p->job, p->resource, p->role, kind,
		             w->refused(&op->config.plan, o->code, o->message, &op->arena));
}

void sole_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	bool exists = o->code == HTTP_CONFLICT && str_eqc(o->reason, "AlreadyExists");

	if (http_is_good(o->code)) {
		sole_made(op, p, o);
	} else if (o->code == HTTP_NOT_FOUND && p->verb == VERB_PATCH) {
		cache_missing(&op->cache, p->resource, p->ns, p->name, p->uid);
	} else if (o->code == 0 || exists || (o->code == HTTP_CONFLICT && p->verb == VERB_PATCH)) {
		send_get_child(op, p);
	} else {
		sole_refused(op, p, o);
		if (o->code >= HTTP_SERVER_ERROR)
			send_get_child(op, p);
	}
}
