/* Before something is taken for gone it is read by name: when a list or a watch denies it without having
   shown its end, and when the record knows of a pod that the cache never saw.

   That can be thousands at once. They are asked for in pages, as many as there is room for; when a page is answered the
   job goes to the end of the queue, and other jobs have their turn. */
#include "operator/internal.h"
#include "operator/send.h"

static void ask_child(struct operator_loop *op, struct cached_job *job, const struct cached_child *ch)
{
	const struct meta *m = cached_child_meta(ch);
	struct replica_labels replica = cached_child_replica(ch);

	send_get_child(op, &(struct request_sent){ .job = job,
	                                           .resource = ch->resource,
	                                           .ns = m->ns,
	                                           .name = m->name,
	                                           .uid = m->uid,
	                                           .role = replica.role,
	                                           .index = replica.index,
	                                           .generation = ch->resource == RES_POD ? ch->pod->generation : 0 });
}

/* Has somebody shown it meanwhile? Then it is asked for as the others are, if need be. */
static bool has_child(const struct children *ch, enum resource r, struct str name)
{
	for (const struct cached_child *c = ch ? ch->first[r] : NULL; c; c = c->next)
		if (str_eq(cached_child_meta(c)->name, name))
			return true;
	return false;
}

bool ask_doubted(struct operator_loop *op, struct cached_job *job, const struct children *ch)
{
	bool asked = job->versions.unsure;

	if (asked)
		send_get_job(op, job);
	while (job->n_doubts && send_may(op, job)) {
		struct request_sent p = job->doubts[--job->n_doubts];

		if (!has_child(ch, p.resource, p.name)) {
			send_get_child(op, &p);
			asked = true;
		}
		requests_done(&p);
	}
	for (int r = 0; r < RES_COUNT; r++)
		for (const struct cached_child *c = ch ? ch->first[r] : NULL; c && send_may(op, job); c = c->next) {
			if (!c->versions.unsure)
				continue;
			ask_child(op, job, c);
			asked = true;
		}
	return asked;
}

void ask_again(struct cached_job *job, struct request_sent *p)
{
	job->doubts = xrealloc(job->doubts, (job->n_doubts + 1) * sizeof(*job->doubts));
	job->doubts[job->n_doubts++] = *p;
	p->ns = STR_NONE;
}

/* What was answered: for each replica the generation that was asked for, plus one; 0: nobody asked; negative: the
   question failed. An answer holds for that generation only, and needs no end of its own: a pod of it that turns up
   later is in the cache, and then nobody looks here. */

static int64_t *answers_of(struct cached_job *job, const struct role *role)
{
	struct pods_asked *a = &job->asked;
	struct pods_asked_of_role *r = a->v;

	while (r < a->v + a->n && !str_eq(r->name, role->name))
		r++;
	if (r == a->v + a->n) {
		a->v = xrealloc(a->v, (a->n + 1) * sizeof(*a->v));
		r = &a->v[a->n++];
		*r = (struct pods_asked_of_role){ .name = str_dup(role->name) };
	}
	if (r->n < role->count) {
		r->answers = xrealloc(r->answers, (size_t)role->count * sizeof(*r->answers));
		memset(r->answers + r->n, 0, (size_t)(role->count - r->n) * sizeof(*r->answers));
		r->n = role->count;
	}
	return r->answers;
}

void ask_forget(struct cached_job *job)
{
	for (size_t i = 0; i < job->asked.n; i++) {
		str_free(job->asked.v[i].name);
		free(job->asked.v[i].answers);
	}
	free(job->asked.v);
	job->asked = (struct pods_asked){ 0 };
}

static void keep_answer(struct cached_job *job, const struct request_sent *p, int64_t answer)
{
	for (struct pods_asked_of_role *r = job->asked.v; r < job->asked.v + job->asked.n; r++)
		if (str_eq(r->name, p->role) && p->index < r->n)
			r->answers[p->index] = answer;
}

void ask_answered(struct cached_job *job, const struct request_sent *p)
{
	job->asked.good = true;
	keep_answer(job, p, p->generation + 1);
}

void ask_failed(struct cached_job *job, const struct request_sent *p)
{
	job->asked.bad = true;
	keep_answer(job, p, -(p->generation + 1));
}

bool ask_page_failed(struct cached_job *job)
{
	bool failed = job->asked.bad && !job->asked.good;

	job->asked.again |= failed;
	job->asked.bad = job->asked.good = false;
	return failed;
}

/* Which replicas of the role have a pod of their present generation, as far as we know? */
static bool *known_replicas(struct operator_loop *op, struct cached_job *job, const struct children *ch,
                            const struct role *role, const struct record_role *rr)
{
	bool *known = arena_array(&op->arena, bool, role->count);

	for (const struct cached_child *p = ch ? ch->first[RES_POD] : NULL; p; p = p->next) {
		const struct pod *pod = p->pod;

		/* A stranger's with our labels on it tells nothing of ours. */
		if (!str_eq(pod->meta.owner_uid, job->meta.uid))
			continue;
		if (pod->index >= 0 && pod->index < role->count && str_eq(pod->role, role->name))
			known[pod->index] |= pod->generation >= record_generation(job->record, role, rr, pod->index);
	}
	return known;
}

struct page {
	size_t sent, failed, missing;
};

static bool ask_seen(struct operator_loop *op, struct cached_job *job, size_t r, int32_t index, int64_t generation)
{
	struct request_sent ask = { .purpose = FOR_SEEN,
		                    .job = job,
		                    .resource = RES_POD,
		                    .ns = job->meta.ns,
		                    .role = kind_job(job->parsed)->roles[r].name,
		                    .index = index,
		                    .generation = generation };
	struct kind_names names;

	if (!kind_names(job->parsed, r, index, &names, NULL))
		return false;
	ask.name = names.pod;
	send_request(op, &ask, VERB_GET, STR_NONE);
	return true;
}

/* With AGAIN those of which the question failed are asked for once more. */
static void ask_role(struct operator_loop *op, struct cached_job *job, const struct children *ch, size_t r, bool again,
                     struct page *page)
{
	const struct role *role = &kind_job(job->parsed)->roles[r];
	const struct record_role *rr = record_role_of(job->record, role->name);
	int64_t *answers = NULL, generation;
	bool *known;

	if (!rr || !rr->seen.n)
		return;
	known = known_replicas(op, job, ch, role, rr);
	for (int32_t i = 0; i < role->count; i++) {
		if (known[i] || !ranges_has(&rr->seen, i) || ranges_has(&rr->completed, i) ||
		    ranges_has(&rr->failed, i))
			continue;
		page->missing++;
		if (!answers)
			answers = answers_of(job, role);
		generation = record_generation(job->record, role, rr, i);
		if (answers[i] == -(generation + 1) && !again)
			page->failed++;
		else if (answers[i] != generation + 1 && send_may(op, job))
			page->sent += ask_seen(op, job, r, i, generation);
	}
}

static struct page ask_page(struct operator_loop *op, struct cached_job *job, const struct children *ch, bool again)
{
	struct page page = { 0 };

	for (size_t r = 0; r < kind_job(job->parsed)->n_roles; r++)
		ask_role(op, job, ch, r, again, &page);
	return page;
}

enum gather_result ask_missing(struct operator_loop *op, struct cached_job *job, const struct children *ch)
{
	struct page page;

	if (!job->parsed || !job->record || job->record->outcome || kind_job(job->parsed)->problems.errors) {
		ask_forget(job);
		return GATHER_DONE;
	}
	page = ask_page(op, job, ch, job->asked.again);
	job->asked.again = false;
	if (page.sent)
		return GATHER_ASK;
	if (page.failed) {
		/* All others are answered. These are asked for again, but not at once. */
		job->asked.again = true;
		operator_retry(op, job, 0);
		return GATHER_LATER;
	}
	if (!page.missing)
		ask_forget(job);
	return GATHER_DONE;
}
