/* The PodGroups of jobs: written, and what it means where the cluster knows none. */
#include "base/log.h"
#include "operator/internal.h"
#include "operator/send.h"

enum { HTTP_FORBIDDEN = 403, HTTP_NOT_FOUND = 404, HTTP_CONFLICT = 409, HTTP_ERROR = 500 };

bool groups_write(struct op *op, struct cached_job *job, const struct action *a)
{
	bool make = a->type == ACT_CREATE_GROUP;
	struct pending p = {
		.purpose = FOR_GROUP, .job = job, .resource = RES_GROUP, .ns = job->meta.ns, .wish = a->wish
	};
	struct err e = ERR_INIT;

	buf_clear(&op->body);
	if (!(make ? kind_group(job->parsed, a->gang, &op->body, &e)
	           : kind_group_patch(job->parsed, a->group, a->gang, &op->body, &e))) {
		creates_unbuildable(op, job, false, &e);
		return false;
	}
	p.name = make ? kind_group_name(job->parsed) : a->group->meta.name;
	p.uid = make ? STR_NONE : a->group->meta.uid;
	send_request(op, &p, make ? VERB_CREATE : VERB_PATCH, buf_str(&op->body));
	return true;
}

static void look_at_all(struct op *op)
{
	void *value;

	for (size_t at = 0; map_next(&op->cache.jobs, &at, NULL, &value);)
		operator_look(op, value, QUEUE_RESYNC);
}

/* True: it is news. */
static bool set_trouble(struct op *op, int code, struct str message)
{
	/* Not op's: one who does not lead never resets it. */
	struct arena a = ARENA_INIT;
	struct str text = plan_groups_trouble(op->config.plan.gang, code, message, &a);
	bool news = !op->groups_trouble || !str_eqc(text, op->groups_trouble);

	if (news) {
		free(op->groups_trouble);
		op->groups_trouble = xstrndup(text.p, text.n);
		look_at_all(op);
	}
	arena_release(&a);
	return news;
}

bool operator_trouble(struct op *op, enum resource resource, int code, struct str message, struct buf *line)
{
	bool counts = code == HTTP_NOT_FOUND || code == HTTP_FORBIDDEN;

	if (resource != RES_GROUP || op->config.plan.gang == GANG_NONE || !counts || !set_trouble(op, code, message))
		return false;
	buf_put(line, str_c(op->groups_trouble));
	return true;
}

void groups_listed(struct op *op)
{
	if (!op->groups_trouble)
		return;
	free(op->groups_trouble);
	op->groups_trouble = NULL;
	log_info(NO_FIELDS, "PodGroups can be listed: jobs that waited for them go on");
	look_at_all(op);
}

static void made(struct op *op, const struct pending *p, const struct outcome *o)
{
	struct cached_job *job = p->job;

	job->created = true;
	cache_answer(&op->cache, &o->object, requests_serial(o->id));
	if (p->verb == VERB_PATCH)
		job->group_kept = plan_group_kept(p->wish, o->object.group);
}

static void refused(struct op *op, const struct pending *p, const struct outcome *o)
{
	enum refusal_kind kind = plan_group_refusal(o->code, o->reason, o->message);

	if (kind == REFUSED_NOT || o->retry_after)
		outcome_failed(p->job, o);
	else
		outcome_refused(op, p, kind, plan_group_refused(op->config.plan.gang, o->code, o->message, &op->arena));
}

void groups_answered(struct op *op, const struct pending *p, const struct outcome *o)
{
	bool exists = o->code == HTTP_CONFLICT && str_eqc(o->reason, "AlreadyExists");

	if (o->code >= 200 && o->code < 300) {
		made(op, p, o);
	} else if (o->code == HTTP_NOT_FOUND && p->verb == VERB_PATCH) {
		cache_missing(&op->cache, RES_GROUP, p->ns, p->name, p->uid);
	} else if (o->code == 0 || exists || (o->code == HTTP_CONFLICT && p->verb == VERB_PATCH)) {
		send_get_child(op, p);
	} else {
		refused(op, p, o);
		if (o->code >= HTTP_ERROR)
			send_get_child(op, p);
	}
}
