/*
 * The creates of a plan's first stage, many in flight at once: one at first, and one more with each good
 * answer, so that a server which refuses them is asked once and not a thousand times: what is refused for one role
 * takes those of that role out of the list, and the rest begins with one again. Each is built when it is its turn: a
 * body can have 40 KB.
 *
 * The list is what the plan said a moment ago. It is dropped when an answer shows that it does not hold, when the job
 * has changed, at its deadline, and after a second if its children have changed (so that what happened to them is seen
 * and the status shows how far it is); once the last answer is there, the job is planned anew.
 *
 * Where there is no room for all, the lists and the jobs in the queue take turns (operator.c), and among the lists it
 * is the turn of the one that has the fewest in flight.
 */
#include "base/list.h"
#include "base/log.h"
#include "operator/internal.h"
#include "operator/send.h"

/* How long a list is believed. */
static const msec list_lasts = SECONDS(1);

void creates_unbuildable(struct operator_loop *op, struct cached_job *job, enum resource r, struct str role,
                         struct err *e)
{
	refused_take(op, job, r, role, REFUSED_UNBUILT, str_c(err_msg(e)));
	err_release(e);
	/* What was sent before it is part of the same pass. */
	if (!job->in_flight)
		refused_settle(job);
	operator_look(op, job, QUEUE_FRESH);
}

static bool create(struct operator_loop *op, struct cached_job *job, const struct child_wish *c)
{
	const struct role *role = &kind_job(job->parsed)->roles[c->role];
	bool pod = job->creates.pods;
	struct request_sent p = { .purpose = FOR_CREATE,
		                  .job = job,
		                  .resource = pod ? RES_POD : RES_SERVICE,
		                  .ns = job->meta.ns,
		                  .role = role->name,
		                  .index = c->index,
		                  .generation = c->generation };
	/* What the plan would add to the record is only what can be observed: it counts no restarts. */
	const struct record_role *recorded = job->record ? record_role_of(job->record, role->name) : NULL;
	int32_t restarts = recorded ? record_role_restarts(recorded) : 0;
	struct kind_names names;
	struct err e = ERR_INIT;

	buf_clear(&op->body);
	if (!(pod ? kind_pod(job->parsed, c->role, c->index, c->generation, restarts, &op->body, &e)
	          : kind_service(job->parsed, c->role, c->index, &op->body, &e)) ||
	    !kind_names(job->parsed, c->role, c->index, &names, &e)) {
		creates_unbuildable(op, job, p.resource, role->name, &e);
		return false;
	}
	p.name = pod ? names.pod : names.service;
	send_request(op, &p, VERB_CREATE, buf_str(&op->body));
	job->creates.in_flight++;
	return true;
}

void creates_drop(struct operator_loop *op, struct cached_job *job)
{
	struct child_wishes *l = &job->creates;

	if (!l->v)
		return;
	list_drop(&op->creating, l);
	free(l->v);
	l->v = NULL;
	l->n = l->at = 0;
}

void creates_skip(struct operator_loop *op, struct cached_job *job, enum resource r, struct str role)
{
	struct child_wishes *l = &job->creates;
	size_t n = l->at;

	l->window = 1;
	if (!l->v || l->pods != (r == RES_POD))
		return;
	for (size_t i = l->at; i < l->n; i++)
		if (!str_eq(kind_job(job->parsed)->roles[l->v[i].role].name, role))
			l->v[n++] = l->v[i];
	l->n = n;
	if (l->at == l->n)
		creates_drop(op, job);
}

static bool may_go(const struct operator_loop *op, const struct cached_job *job)
{
	const struct child_wishes *l = &job->creates;

	return l->v && l->in_flight < l->window && send_may(op, job);
}

static void send_one(struct operator_loop *op, struct cached_job *job)
{
	struct child_wishes *l = &job->creates;
	struct str role = kind_job(job->parsed)->roles[l->v[l->at].role].name;

	if (!create(op, job, &l->v[l->at]))
		creates_skip(op, job, l->pods ? RES_POD : RES_SERVICE, role);
	else if (++l->at == l->n)
		creates_drop(op, job);
}

static bool is_one(const struct action *a, enum resource resource)
{
	return a->type == ACT_CREATE && a->resource == resource;
}

bool creates_begin(struct operator_loop *op, struct cached_job *job, const struct plan *plan, enum resource resource)
{
	struct child_wishes *l = &job->creates;
	size_t n = 0;

	ASSERT(!l->v && !l->in_flight);
	for (size_t i = 0; i < plan->n_actions; i++)
		n += is_one(&plan->actions[i], resource);
	l->v = xmalloc(n * sizeof(*l->v));
	for (size_t i = 0; i < plan->n_actions; i++) {
		const struct action *a = &plan->actions[i];

		if (is_one(a, resource))
			l->v[l->n++] = (struct child_wish){ (uint32_t)a->role, a->index, a->generation };
	}
	l->pods = resource == RES_POD;
	l->until = op->now + list_lasts;
	l->deadline = plan->deadline;
	l->stale = false;
	l->rv = str_hash(job->meta.rv);
	l->job = job;
	list_push(&op->creating, l);
	while (may_go(op, job))
		send_one(op, job);
	/* Nobody's answer would end a list of a job that waits for none. */
	if (!job->in_flight)
		creates_drop(op, job);
	return l->in_flight > 0;
}

void creates_answered(struct operator_loop *op, struct cached_job *job, bool good)
{
	struct child_wishes *l = &job->creates;

	l->in_flight--;
	if (good)
		l->window = MIN(l->window + 1, op->config.creates_max);
}

void creates_prune(struct operator_loop *op)
{
	struct child_wishes *next;

	for (const struct child_wishes *l = op->creating; l; l = next) {
		next = l->next;
		if (l->rv != str_hash(l->job->meta.rv) || op->now >= l->deadline || (op->now >= l->until && l->stale))
			creates_drop(op, l->job);
	}
}

bool creates_next(struct operator_loop *op)
{
	const struct child_wishes *first = NULL;

	for (const struct child_wishes *l = op->creating; l; l = l->next)
		if (may_go(op, l->job) && (!first || l->in_flight < first->in_flight))
			first = l;
	if (first)
		send_one(op, first->job);
	return first != NULL;
}
