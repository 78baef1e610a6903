/* Names of children that somebody else has. People delete a job and make it again under its name: the new one waits for
   the pods of the old one to go. If they carry our label, the watch shows when they do; whatever else stands there
   is asked for by name, at the plan's pace. Either way the job goes on at once. */
#include "base/list.h"
#include "operator/internal.h"
#include "operator/send.h"

static struct child_refused *refused_of(struct name_taken *t)
{
	return (struct child_refused *)(void *)((char *)t - offsetof(struct child_refused, taken));
}

static void unlink_taken(struct operator_loop *op, struct name_taken *t)
{
	if (!t->job)
		return;
	list_drop(&op->taken, t);
	str_free(t->name);
	*t = (struct name_taken){ 0 };
}

void taken_forget(struct operator_loop *op, struct cached_job *job)
{
	for (struct child_refused *r = job->refused; r; r = r->next)
		unlink_taken(op, &r->taken);
}

void taken_note(struct operator_loop *op, const struct request_sent *p, struct child_refused *r,
                const struct meta *found, bool watched)
{
	struct name_taken *t = &r->taken;
	char *text = xmalloc(p->name.n + p->role.n + 1);

	unlink_taken(op, t);
	memcpy(text, p->name.p, p->name.n);
	if (p->role.n)
		memcpy(text + p->name.n, p->role.p, p->role.n);
	*t = (struct name_taken){ .job = p->job,
		                  .resource = p->resource,
		                  .name = { text, p->name.n },
		                  .role = { text + p->name.n, p->role.n },
		                  .index = p->index };
	list_push(&op->taken, t);
	r->refusal.watched = watched;
	r->refusal.going = found->deleted != 0;
}

static bool is_about(const struct name_taken *t, enum resource resource, struct str ns, struct str name)
{
	return t->resource == resource && str_eq(t->name, name) && str_eq(t->job->meta.ns, ns);
}

static void go_on(struct operator_loop *op, struct name_taken *t)
{
	struct cached_job *job = t->job;

	refused_free_name(refused_of(t));
	unlink_taken(op, t);
	operator_look(op, job, QUEUE_FRESH);
}

void taken_left(struct operator_loop *op, enum resource resource, struct str ns, struct str name)
{
	struct name_taken *next;

	for (struct name_taken *t = op->taken; t; t = next) {
		next = t->next;
		if (is_about(t, resource, ns, name))
			go_on(op, t);
	}
}

void taken_not(struct operator_loop *op, const struct request_sent *p)
{
	struct child_refused *r = refused_find(p->job, p->resource, p->role);

	if (r && r->taken.job && is_about(&r->taken, p->resource, p->ns, p->name))
		go_on(op, &r->taken);
}

static bool ask_for_child(struct operator_loop *op, const struct child_refused *r)
{
	const struct name_taken *t = &r->taken;
	struct request_sent p = { .generation = -1 };

	if (!t->job || r->refusal.kind != REFUSED_FOREIGN || op->now < plan_refused_until(&r->refusal) ||
	    !send_may(op, t->job))
		return false;
	p.job = t->job;
	p.resource = t->resource;
	p.ns = t->job->meta.ns;
	p.name = t->name;
	p.role = t->role;
	p.index = t->index;
	send_get_child(op, &p);
	return true;
}

bool taken_ask(struct operator_loop *op, struct cached_job *job)
{
	bool ended = job->record && job->record->outcome, asked = false;

	/* Who has ended makes nothing but what does not count. */
	for (const struct child_refused *r = job->refused; r && !job->meta.deleted; r = r->next)
		if (!ended || refused_is_aux(job, r->refusal.role))
			asked |= ask_for_child(op, r);
	return asked;
}
