/* The PodGroups of jobs are written. */
#include "base/http_code.h"
#include "operator/internal.h"
#include "operator/send.h"

bool groups_write(struct operator_loop *op, struct cached_job *job, const struct action *a)
{
	bool make = a->type == ACT_CREATE;
	struct request_sent p = {
		.purpose = FOR_GROUP, .job = job, .resource = RES_GROUP, .ns = job->meta.ns, .wish = a->wish
	};
	struct err e = ERR_INIT;

	buf_clear(&op->body);
	if (!(make ? kind_group(job->parsed, a->gang, &op->body, &e)
	           : kind_group_patch(job->parsed, a->group, a->gang, &op->body, &e))) {
		creates_unbuildable(op, job, RES_GROUP, STR_NONE, &e);
		return false;
	}
	p.name = make ? kind_group_name(job->parsed) : a->group->meta.name;
	p.uid = make ? STR_NONE : a->group->meta.uid;
	send_request(op, &p, make ? VERB_CREATE : VERB_PATCH, buf_str(&op->body));
	return true;
}

static void made(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	struct cached_job *job = p->job;

	refused_made(job, RES_GROUP, p->role);
	cache_answer(&op->cache, &o->object, requests_serial(o->id));
	if (p->verb == VERB_PATCH)
		job->group_kept = plan_group_kept(p->wish, o->object.group);
}

static void refused(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	enum refusal_kind kind = plan_group_refusal(o->code, o->reason, o->message);

	if (kind == REFUSED_NOT || o->retry_after)
		outcome_failed(p->job, o);
	else
		refused_take(op, p->job, RES_GROUP, p->role, kind,
		             plan_group_refused(op->config.plan.gang, o->code, o->message, &op->arena));
}

void groups_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	bool exists = o->code == HTTP_CONFLICT && str_eqc(o->reason, "AlreadyExists");

	if (http_is_good(o->code)) {
		made(op, p, o);
	} else if (o->code == HTTP_NOT_FOUND && p->verb == VERB_PATCH) {
		cache_missing(&op->cache, RES_GROUP, p->ns, p->name, p->uid);
	} else if (o->code == 0 || exists || (o->code == HTTP_CONFLICT && p->verb == VERB_PATCH)) {
		send_get_child(op, p);
	} else {
		refused(op, p, o);
		if (o->code >= HTTP_SERVER_ERROR)
			send_get_child(op, p);
	}
}
