/* Tells the observer what happens. */
#include "operator/internal.h"

static void see(struct operator_loop *op, const struct observer_sight *s)
{
	if (op->config.observer.see)
		op->config.observer.see(op->config.observer.cookie, s);
}

void observe_pass(struct operator_loop *op, struct cached_job *job, bool failed, bool later)
{
	see(op, &(struct observer_sight){ .type = SIGHT_PASS,
	                                  .kind = job->kind,
	                                  .job = &job->meta,
	                                  .failed = failed,
	                                  .later = later,
	                                  .took = MAX(op->now - job->pass_began, 0) });
}

/* Whoever asks for a deletion knows the name only. */
static void find_child(struct operator_loop *op, const struct request_sent *p, struct observer_sight *s)
{
	const struct cached_child *ch = cache_child(&op->cache, s->resource, p->ns, p->name);

	if (!ch || !resource_traits(s->resource)->of_replica)
		return;
	s->role = cached_child_replica(ch).role;
	s->index = cached_child_replica(ch).index;
	if (s->resource == RES_POD)
		s->generation = ch->pod->generation;
}

void observe_answer(struct operator_loop *op, const struct request_sent *p, const struct outcome *o)
{
	struct observer_sight s = { .type = SIGHT_ANSWER,
		                    .kind = p->job->kind,
		                    .job = &p->job->meta,
		                    .verb = p->verb,
		                    .resource = p->resource,
		                    .object = p->name,
		                    .role = p->role,
		                    .index = p->index,
		                    .generation = p->resource == RES_POD ? p->generation : -1,
		                    .code = o->code,
		                    .message = o->message };

	s.took = MAX(op->now - p->sent, 0);
	if (!s.role.n) {
		s.generation = -1;
		find_child(op, p, &s);
	}
	see(op, &s);
}

size_t sight_fields(const struct observer_sight *s, struct log_field to[static SIGHT_FIELDS])
{
	const struct log_field job[] = { JOB_FIELDS(s->kind, s->job) };
	size_t n = 0;

	for (; n < ARRAY_LEN(job); n++)
		to[n] = job[n];
	if (s->role.n) {
		to[n++] = F_STR("role", s->role);
		to[n++] = F_INT("index", s->index);
	}
	if (s->role.n && s->generation >= 0)
		to[n++] = F_INT("generation", s->generation);
	if (s->type == SIGHT_ANSWER) {
		to[n++] = F_STR("object", s->object);
		to[n++] = F_INT("code", s->code);
		to[n++] = F_INT("ms", s->took);
	}
	if (s->type == SIGHT_RECORD)
		to[n++] = F_STR("phase", str_c(phase_name(s->after->phase)));
	return n;
}

void observe_left(struct operator_loop *op, struct cached_job *job, const char *why)
{
	see(op, &(struct observer_sight){
			.type = SIGHT_LEFT, .kind = job->kind, .job = &job->meta, .message = str_c(why) });
}

void observe_taken(struct operator_loop *op, struct cached_job *job, struct str whose)
{
	see(op,
	    &(struct observer_sight){ .type = SIGHT_TAKEN, .kind = job->kind, .job = &job->meta, .message = whose });
}

void observe_status_refused(struct operator_loop *op, struct cached_job *job, struct str message)
{
	see(op,
	    &(struct observer_sight){ .type = SIGHT_STATUS, .kind = job->kind, .job = &job->meta, .message = message });
}

void observe_unread(struct operator_loop *op, struct cached_job *job, enum resource r, struct str name, bool large)
{
	struct str text = arena_printf(&op->arena, "%s %.*s is %s: read by name instead of watched", resource_noun(r),
	                               STR_F(name), skipped_why(large));

	see(op,
	    &(struct observer_sight){ .type = SIGHT_UNREAD, .kind = job->kind, .job = &job->meta, .message = text });
}

static void see_problem(struct operator_loop *op, struct cached_job *job, enum observer_sight_type type,
                        const struct problem *p)
{
	const char *between = type == SIGHT_ODD ? " " : ": ";
	struct str text = arena_printf(&op->arena, "%.*s%s%.*s", STR_F(p->path), between, STR_F(p->message));

	see(op, &(struct observer_sight){ .type = type, .kind = job->kind, .job = &job->meta, .message = text });
}

void observe_warnings(struct operator_loop *op, struct cached_job *job)
{
	yyjson_val *record = json_at(yyjson_doc_get_root(job->doc), "status", "dlOperator", NULL);
	const struct problems *p = job->parsed ? &kind_job(job->parsed)->problems : NULL;
	bool gangs = op->config.plan.gang != GANG_NONE && !record;

	for (size_t i = 0; p && i < p->list.n; i++) {
		const struct problem *one = &p->list.v[i];

		if (one->severity == PROBLEM_SPARED)
			see_problem(op, job, SIGHT_SPARED, one);
		else if (gangs && one->severity == PROBLEM_WARNING && str_has_suffix(one->path, STR("schedulerName")))
			see_problem(op, job, SIGHT_ODD, one);
	}
}

static struct record_digest digest_of(const struct record *r)
{
	struct record_digest d = { 0 };

	if (!r)
		return d;
	d.phase = r->phase;
	d.outcome = r->outcome;
	d.running = r->running;
	d.restarted = r->last.at;
	d.raised = r->restarts;
	for (size_t i = 0; i < r->n_roles; i++)
		for (int c = 0; c < CAUSE_COUNT; c++)
			d.restarts[c] += r->roles[i].restarts[c];
	return d;
}

static bool same(const struct record_digest *a, const struct record_digest *b)
{
	return a->phase == b->phase && a->outcome == b->outcome && a->running == b->running &&
	       !memcmp(a->restarts, b->restarts, sizeof(a->restarts));
}

/* Whoever writes a record tells of it: another leader's is no news, be it that we come after it or stand by. */
void observe_record(struct operator_loop *op, struct cached_job *job)
{
	struct record_digest after = digest_of(job->record);

	if (job->wrote && job->record && !same(&job->digest, &after))
		see(op, &(struct observer_sight){ .type = SIGHT_RECORD,
		                                  .kind = job->kind,
		                                  .job = &job->meta,
		                                  .before = &job->digest,
		                                  .after = &after,
		                                  .record = job->record });
	job->digest = after;
	job->wrote = false;
}
