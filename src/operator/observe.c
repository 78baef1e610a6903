/* Tells the observer what happens. */
#include "operator/internal.h"

static void see(struct op *op, const struct sight *s)
{
	if (op->config.observer.see)
		op->config.observer.see(op->config.observer.cookie, s);
}

void observe_pass(struct op *op, struct cached_job *job, bool failed, bool later)
{
	see(op, &(struct sight){ .type = SIGHT_PASS,
	                         .kind = job->kind,
	                         .job = &job->meta,
	                         .failed = failed,
	                         .later = later,
	                         .took = MAX(op->now - job->pass_began, 0) });
}

void observe_answer(struct op *op, const struct pending *p, const struct outcome *o)
{
	see(op, &(struct sight){ .type = SIGHT_ANSWER,
	                         .kind = p->job->kind,
	                         .job = &p->job->meta,
	                         .verb = p->verb,
	                         .resource = p->resource,
	                         .object = p->name,
	                         .role = p->role,
	                         .index = p->index,
	                         .code = o->code,
	                         .took = MAX(op->now - p->sent, 0),
	                         .message = o->message });
}

void observe_left(struct op *op, struct cached_job *job, const char *why)
{
	see(op, &(struct sight){ .type = SIGHT_LEFT, .kind = job->kind, .job = &job->meta, .message = str_c(why) });
}

void observe_taken(struct op *op, struct cached_job *job, struct str whose)
{
	see(op, &(struct sight){ .type = SIGHT_TAKEN, .kind = job->kind, .job = &job->meta, .message = whose });
}

static struct digest digest_of(const struct record *r)
{
	struct digest d = { 0 };

	if (!r)
		return d;
	d.phase = r->phase;
	d.outcome = r->outcome;
	d.running = r->running;
	for (size_t i = 0; i < r->n_roles; i++)
		for (int c = 0; c < CAUSE_COUNT; c++)
			d.restarts[c] += r->roles[i].restarts[c];
	return d;
}

static bool same(const struct digest *a, const struct digest *b)
{
	return a->phase == b->phase && a->outcome == b->outcome && a->running == b->running &&
	       !memcmp(a->restarts, b->restarts, sizeof(a->restarts));
}

/* Whoever writes a record tells of it: another leader's is no news, be it that we come after it or stand by. */
void observe_record(struct op *op, struct cached_job *job)
{
	struct digest after = digest_of(job->record);

	if (job->wrote && job->record && !same(&job->digest, &after))
		see(op, &(struct sight){ .type = SIGHT_RECORD,
		                         .kind = job->kind,
		                         .job = &job->meta,
		                         .before = &job->digest,
		                         .after = &after,
		                         .record = job->record });
	job->digest = after;
	job->wrote = false;
}
