/* What must hold at every step. Creates are judged by what the operator had been shown when it sent
   them, status writes by what stood there before. */
#include "sim/check.h"
#include "sim/groups.h"
#include "sim/load.h"
#include "sim/nodes.h"
#include "sim/sim.h"
#include "sim/truth.h"

static const struct record nothing = { .version = RECORD_VERSION };

/* So long after it was planned a create may be sent. */
static const msec list_lasts = SECONDS(2);

/* Children */

/* A restart of the whole job, or of a role, lets the old members go before the first new one is made. */
static void check_drained(struct sim *s, const struct sim_request *r, const struct sim_job *job,
                          const struct sim_version *v, const struct record *rec)
{
	const struct record_role *mine = record_role_of(rec, r->pod.role);
	const struct job *spec = kind_job(v->spec);

	for (const struct sim_pod *p = job->pods; p; p = p->next) {
		const struct role *role = job_role(spec, p->now.role);
		const struct record_role *rr = record_role_of(rec, p->now.role);

		if (!role || !rr || role->aux || p->late || p->hidden || p->now.index >= role->count)
			continue;
		if (p->now.generation < record_generation(rec, role, rr, p->now.index) &&
		    !ranges_has(&rr->completed, p->now.index) && (rec->drain || (mine == rr && rr->drain)))
			sim_broken(s, INV_SIBLING, "%.*s is made while %.*s of generation %lld is still there",
			           STR_F(r->r.name), STR_F(p->now.meta.name), (long long)p->now.generation);
	}
}

static void check_pod(struct sim *s, const struct sim_request *r, const struct sim_job *job,
                      const struct sim_version *v, const struct role *role)
{
	const struct record *rec = v->record ? v->record : &nothing;
	const struct record_role *rr = record_role_of(rec, role->name);
	int64_t expected = rr ? record_generation(rec, role, rr, r->pod.index) : rec->level.generation;

	if (rr && ranges_has(&rr->completed, r->pod.index))
		sim_broken(s, INV_COMPLETED, "%.*s %d of %.*s is made again though its completion is recorded",
		           STR_F(role->name), r->pod.index, STR_F(job->name));
	if (r->pod.generation != expected)
		sim_broken(s, INV_RECORD_FIRST, "%.*s %d of %.*s is made with generation %lld, the record says %lld",
		           STR_F(role->name), r->pod.index, STR_F(job->name), (long long)r->pod.generation,
		           (long long)expected);
	/* A former leader cannot know what the new one has made: the names are all that holds it back. */
	if (!role->aux && r->link == s->link)
		check_drained(s, r, job, v, rec);
	if (s->gang && !role->aux && !job->group_known[r->slot])
		sim_broken(s, INV_GANG, "%.*s %d of %.*s is made before its PodGroup", STR_F(role->name), r->pod.index,
		           STR_F(job->name));
	if (rec->suspended && !role->aux)
		sim_broken(s, INV_CLEANED, "%.*s %d of %.*s is made while the job is suspended", STR_F(role->name),
		           r->pod.index, STR_F(job->name));
}

static void check_group(struct sim *s, const struct sim_request *r, const struct sim_job *job,
                        const struct sim_version *v)
{
	if (v->record && (v->record->outcome || v->record->suspended))
		sim_broken(s, INV_CLEANED, "PodGroup %.*s is made though %.*s does not run", STR_F(r->r.name),
		           STR_F(job->name));
}

/* It is written because something of it is wrong, as far as the operator could know. */
void check_patch(struct sim *s, const struct sim_request *r)
{
	const struct sim_group *g = r->r.resource == RES_GROUP ? map_get(&s->groups, r->r.name) : NULL;
	struct sim_job *job = g ? g->job : NULL;
	const struct sim_version *v = job ? job->known[r->slot] : NULL, *known = job ? job->group_known[r->slot] : NULL;

	/* A patch of labels alone is no write of what it says. */
	if (!v || !known || !memmem(r->r.body.p, r->r.body.n, "\"spec\"", 6))
		return;
	if (groups_says_nothing(s, r, known->object.group))
		sim_broken(s, INV_GANG, "PodGroup %.*s is written though it is as %.*s wants it", STR_F(r->r.name),
		           STR_F(job->name));
}

/* A pod that the operator knew to be there, though not how it is, when it planned to make it. */
static void check_unknown(struct sim *s, const struct sim_request *r, const struct sim_job *job)
{
	const struct sim_pod *p = map_get(&s->pods, r->r.name);

	if (r->link && p && p->job == job && !p->hidden && p->told[r->slot] == r->link &&
	    s->now > p->told_at[r->slot] + list_lasts)
		sim_broken(s, INV_UNKNOWN, "%.*s is made again though it is there, and too large", STR_F(r->r.name));
}

/* Did it fail with nobody to blame but itself? What a kubelet rejects has no containers here. */
static bool failed_by_itself(const struct pod *p)
{
	bool began = false;

	for (size_t i = 0; i < p->n_containers; i++)
		began |= p->containers[i].state != CONTAINER_WAITING || p->containers[i].ran;
	return p->phase == POD_FAILED && !p->disrupted && (!p->reason.n || str_eqc(p->reason, "Evicted")) && began;
}

/* A failure is counted, and not taken for a disruption, which is not. */
static void check_excused(struct sim *s, const struct sim_job *job, const struct record *before,
                          const struct record *after)
{
	const struct restart_note *last = &after->last;
	const struct record_role *rr = record_role_of(before, last->role);

	if (last->at == before->last.at || last->cause != CAUSE_DISRUPTED || !rr)
		return;
	for (const struct sim_pod *p = job->pods; p; p = p->next) {
		const struct role *role = job_role(kind_job(job->spec), p->now.role);

		if (role && str_eq(p->now.role, last->role) && p->now.index == last->index &&
		    failed_by_itself(&p->now) && p->now.generation == record_generation(before, role, rr, last->index))
			sim_broken(s, INV_COUNT, "%.*s: %.*s has failed by itself, and its restart does not count",
			           STR_F(job->name), STR_F(p->now.meta.name));
	}
}

/* A node that is not ready for less than the grace time loses nothing. */
static void check_lost(struct sim *s, const struct sim_job *job, const struct record *before,
                       const struct record *after)
{
	const struct restart_note *last = &after->last;
	const struct record_role *rr = record_role_of(before, last->role);

	if (last->at == before->last.at || last->cause != CAUSE_NODE_FAIL || !rr)
		return;
	for (const struct sim_pod *p = job->pods; p; p = p->next) {
		const struct role *role = job_role(kind_job(job->spec), p->now.role);

		if (role && str_eq(p->now.role, last->role) && p->now.index == last->index && !p->counted &&
		    p->now.generation == record_generation(before, role, rr, last->index))
			sim_broken(s, INV_COUNT, "%.*s: %.*s is taken for lost with its node, too early",
			           STR_F(job->name), STR_F(p->now.meta.name));
	}
}

/* Nobody has deleted a pod that is there and was not asked to go. What a former leader asked was true when it was
   answered: its successor may have made the pod since. */
static void check_deleted(struct sim *s, const struct sim_link *writer, const struct sim_job *job,
                          const struct record *before, const struct record *after)
{
	bool former = writer && writer != s->link;
	const struct restart_note *last = &after->last;
	const struct record_role *rr = record_role_of(before, last->role);

	if (last->at == before->last.at || last->cause != CAUSE_DELETED || !rr)
		return;
	for (const struct sim_pod *p = job->pods; p; p = p->next) {
		const struct role *role = job_role(kind_job(job->spec), p->now.role);

		if (role && str_eq(p->now.role, last->role) && p->now.index == last->index && !p->hidden && !p->late &&
		    !(former && p->by == s->link) && !p->now.meta.deleted &&
		    p->now.generation == record_generation(before, role, rr, last->index))
			sim_broken(s, INV_UNKNOWN, "%.*s starts again since %.*s was deleted, and it is there",
			           STR_F(job->name), STR_F(p->now.meta.name));
	}
}

void check_create(struct sim *s, const struct sim_request *r)
{
	bool pod = r->r.resource == RES_POD;
	int32_t index = pod ? r->pod.index : r->service.index;
	struct str role_name = pod ? r->pod.role : r->service.role;
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);
	const struct sim_version *v = job ? job->known[r->slot] : NULL;
	const struct role *role;

	if (r->fault || !job) {
		sim_broken(s, INV_BODY, "%.*s: %s", STR_F(r->r.name), r->fault ? r->fault : "its owner never was");
		return;
	}
	if (!v) {
		sim_broken(s, INV_RECORD_FIRST, "%.*s is made for a job that was not listed yet", STR_F(r->r.name));
		return;
	}
	if (v->object.job->meta.deleted) {
		sim_broken(s, INV_DELETING, "%.*s is made though %.*s is being deleted", STR_F(r->r.name),
		           STR_F(job->name));
		return;
	}
	if (kind_job(v->spec)->problems.errors) {
		sim_broken(s, INV_INVALID, "%.*s is made though %.*s is invalid", STR_F(r->r.name), STR_F(job->name));
		return;
	}
	if (r->r.resource == RES_GROUP) {
		check_group(s, r, job, v);
		return;
	}
	role = job_role(kind_job(v->spec), role_name);
	if (!role || index < 0 || index >= role->count) {
		sim_broken(s, INV_BODY, "%.*s is no replica of %.*s", STR_F(r->r.name), STR_F(job->name));
		return;
	}
	if (v->record && v->record->outcome && !role->aux)
		sim_broken(s, INV_CLEANED, "%.*s is made though %.*s has ended: %s", STR_F(r->r.name), STR_F(job->name),
		           phase_name(v->record->outcome));
	if (v->record && v->record->outcome && role->companion && role->companion->ttl >= 0 && v->record->end &&
	    s->now > v->record->end + SECONDS(role->companion->ttl) + list_lasts)
		sim_broken(s, INV_CLEANED, "%.*s is made though its time is over", STR_F(r->r.name));
	if (pod) {
		check_pod(s, r, job, v, role);
		check_unknown(s, r, job);
	}
}

void check_delete(struct sim *s, const struct sim_request *r)
{
	if (!r->r.uid.n)
		sim_broken(s, INV_UID, "%.*s is deleted whoever it is", STR_F(r->r.name));
}

void check_touch(struct sim *s, const struct sim_request *r, bool foreign)
{
	if (foreign)
		sim_broken(s, INV_FOREIGN, "%.*s belongs to somebody else", STR_F(r->r.name));
}

void check_pod_made(struct sim *s, const struct sim_pod *pod)
{
	for (const struct sim_pod *p = pod->job ? pod->job->pods : NULL; p; p = p->next)
		if (p != pod && p->now.index == pod->now.index && str_eq(p->now.role, pod->now.role))
			sim_broken(s, INV_TWO_PODS, "%.*s and %.*s are both %.*s %d of %.*s", STR_F(p->now.meta.name),
			           STR_F(pod->now.meta.name), STR_F(pod->now.role), pod->now.index,
			           STR_F(pod->job->name));
}

/* The record */

struct change_of_role {
	const struct role *role;
	const struct record_role *was, *is;
	int64_t restarts, counted, generations; /* how many more */
	bool same_size;
};

static int64_t index_generations(const struct record_role *r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < r->n_indexes; i++)
		sum += r->indexes[i].level.generation;
	return sum;
}

static void check_generations(struct sim *s, const struct sim_job *job, const struct change_of_role *c,
                              const struct record *before, const struct record *after)
{
	for (int32_t i = 0; i < MIN(c->was->count, c->is->count); i++) {
		int64_t was = record_generation(before, c->role, c->was, i),
			is = record_generation(after, c->role, c->is, i);

		if (is < was || c->is->level.generation < c->was->level.generation)
			sim_broken(s, INV_GENERATION, "%.*s %d of %.*s falls from generation %lld to %lld",
			           STR_F(c->role->name), i, STR_F(job->name), (long long)was, (long long)is);
	}
}

static void check_completed(struct sim *s, const struct sim_job *job, const struct change_of_role *c,
                            const struct record *before, const struct record *after)
{
	/* A restart of the whole job or role clears it. */
	if (after->level.generation != before->level.generation || c->is->level.generation != c->was->level.generation)
		return;
	for (int32_t i = 0; i < MIN(c->was->count, c->is->count); i++)
		if (ranges_has(&c->was->completed, i) && !ranges_has(&c->is->completed, i))
			sim_broken(s, INV_COMPLETED, "%.*s %d of %.*s is no longer completed", STR_F(c->role->name), i,
			           STR_F(job->name));
}

static void check_counts(struct sim *s, const struct sim_job *job, const struct change_of_role *c)
{
	int64_t counted = 0;

	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (c->is->restarts[i] < c->was->restarts[i])
			sim_broken(s, INV_COUNT, "%.*s of %.*s: restarts for %s fall", STR_F(c->role->name),
			           STR_F(job->name), cause_name((enum cause)i));
		if (cause_counted((enum cause)i))
			counted += c->is->restarts[i] - c->was->restarts[i];
	}
	if (c->counted != counted)
		sim_broken(s, INV_COUNT, "%.*s of %.*s: %lld counted, its causes say %lld", STR_F(c->role->name),
		           STR_F(job->name), (long long)c->counted, (long long)counted);
	if (c->same_size && c->restarts != c->generations)
		sim_broken(s, INV_COUNT, "%.*s of %.*s: %lld generations more, %lld restarts more",
		           STR_F(c->role->name), STR_F(job->name), (long long)c->generations, (long long)c->restarts);
	if (c->is->counted_ever > job->failures)
		sim_broken(s, INV_COUNT, "%.*s of %.*s: %d restarts counted, but only %d pods failed",
		           STR_F(c->role->name), STR_F(job->name), c->is->counted_ever, job->failures);
}

/* What the limit sees: of the role, of the job, or the highest of a replica. */
static int32_t counted_for(const struct record *r, const struct record_role *rr, const struct role *role)
{
	int32_t most = 0;

	if (role->restart.limit_by_role || role->restart.scope == SCOPE_ROLE)
		return rr->level.counted;
	if (role->restart.scope == SCOPE_JOB)
		return r->level.counted;
	for (size_t i = 0; i < rr->n_indexes; i++)
		most = MAX(most, rr->indexes[i].level.counted);
	return most;
}

/* A window alone lets the count begin anew; whoever leaves is forgotten. */
static void check_window(struct sim *s, const struct sim_job *job, const struct change_of_role *c, int32_t was,
                         int32_t is)
{
	if (is < was && c->same_size && c->role->restart.window == 0)
		sim_broken(s, INV_LIMIT, "%.*s of %.*s: the limit saw %d restarts, now %d", STR_F(c->role->name),
		           STR_F(job->name), was, is);
}

/* An index of an elastic role that leaves is a generation further when it comes back, and nobody else notices. */
static void check_left(struct sim *s, const struct sim_job *job, const struct change_of_role *c,
                       const struct record *before, const struct record *after)
{
	if (!c->role->elastic || c->was->count < 0)
		return;
	if (c->is->restarts[CAUSE_RESIZED] != c->was->restarts[CAUSE_RESIZED])
		sim_broken(s, INV_LEFT, "%.*s of %.*s is elastic, and starts again for %d replicas instead of %d",
		           STR_F(c->role->name), STR_F(job->name), c->is->count, c->was->count);
	for (int32_t i = MAX(c->is->count, 0); i < c->was->count; i++)
		if (record_generation(after, c->role, c->is, i) <= record_generation(before, c->role, c->was, i))
			sim_broken(s, INV_LEFT, "%.*s %d of %.*s leaves, and could come back as what it was",
			           STR_F(c->role->name), i, STR_F(job->name));
}

/* Restarts of the whole job are laid at the door of the role that made them. */
static void check_limit(struct sim *s, const struct sim_job *job, const struct change_of_role *c,
                        const struct record *before, const struct record *after)
{
	int32_t limit = c->role->restart.limit, was = counted_for(before, c->was, c->role),
		is = counted_for(after, c->is, c->role);

	check_window(s, job, c, was, is);
	if (is <= was || limit < 0 || !str_eq(after->last.role, c->role->name) || c->role->aux)
		return;
	if (is > limit)
		sim_broken(s, INV_LIMIT, "%.*s of %.*s: restart %d, the limit is %d", STR_F(c->role->name),
		           STR_F(job->name), is, limit);
	/* One failure is one restart, however many replicas start again. */
	if (is > was + 1 && !c->role->restart.limit_by_role)
		sim_broken(s, INV_LIMIT, "%.*s of %.*s: the limit sees %d restarts, then %d", STR_F(c->role->name),
		           STR_F(job->name), was, is);
}

static void check_role(struct sim *s, const struct sim_job *job, const struct record *before,
                       const struct record *after, const struct role *role)
{
	static const struct record_role none = { .count = -1 };
	struct change_of_role c = { .role = role,
		                    .was = record_role_of(before, role->name),
		                    .is = record_role_of(after, role->name) };
	int64_t whole_job = role->aux ? 0 : after->level.generation - before->level.generation;

	if (!c.is)
		return;
	if (!c.was)
		c.was = &none;
	c.same_size = c.was->count == c.is->count || c.was == &none;
	c.counted = c.is->counted_ever - c.was->counted_ever;
	c.generations = whole_job + c.is->level.generation - c.was->level.generation + index_generations(c.is) -
	                index_generations(c.was);
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		int32_t more = c.is->restarts[i] - c.was->restarts[i];

		c.restarts += more;
		if (more > 0)
			s->tally->causes[i] += (uint64_t)more;
	}
	check_generations(s, job, &c, before, after);
	check_counts(s, job, &c);
	check_limit(s, job, &c, before, after);
	check_left(s, job, &c, before, after);
	check_completed(s, job, &c, before, after);
}

/* The end */

static void check_script(struct sim *s, const struct sim_job *job, const struct record *r)
{
	const struct sim_wish *w = &job->wish;
	enum phase end = PHASE_SUCCEEDED;
	int32_t restarts = 0, counted = 0;

	switch (w->script) {
	case SCRIPT_WILD:
		return;
	case SCRIPT_GOOD:
		break;
	case SCRIPT_FLAKY:
		end = w->flaky <= w->limit ? PHASE_SUCCEEDED : PHASE_FAILED;
		restarts = MIN(w->flaky, w->limit);
		break;
	case SCRIPT_PERMANENT:
		end = PHASE_FAILED;
		break;
	}
	for (size_t i = 0; i < r->n_roles; i++)
		counted = MAX(counted, r->roles[i].counted_ever);
	if (r->outcome != end || counted != restarts)
		sim_broken(s, INV_ORACLE, "%.*s ends as %s with %d restarts (%.*s); expected: %s with %d",
		           STR_F(job->name), phase_name(r->outcome), counted, STR_F(r->reason), phase_name(end),
		           restarts);
}

/* The kubelet tries again for as long as it takes: what has run once does not end so. */
static void check_uncreated(struct sim *s, const struct sim_job *job, const struct record *r)
{
	bool tried = str_eqc(r->why, cause_name(CAUSE_CREATE_FAILED)),
	     uncreated = tried || str_eqc(r->why, "CannotBeCreated");

	if (tried && (!job->uncreated || s->now - job->uncreated < SIM_CREATING))
		sim_broken(s, INV_HASTENED,
		           "%.*s ends because a pod cannot be created, and that is no %lld s ago: %.*s",
		           STR_F(job->name), (long long)SIM_CREATING / 1000, STR_F(r->reason));
	if (uncreated && job->has_run)
		sim_broken(s, INV_UNCREATED, "%.*s has run, and ends because a pod cannot be created: %.*s",
		           STR_F(job->name), STR_F(r->reason));
}

static void check_final(struct sim *s, const struct sim_job *job, const struct record *before,
                        const struct record *after)
{
	if (!before->outcome) {
		if (!after->outcome)
			return;
		s->tally->endings[after->outcome]++;
		TRACE(s, "job %.*s ends: %s, %.*s", STR_F(job->name), phase_name(after->outcome), STR_F(after->reason));
		if (str_eqc(after->why, "Refused") && !job->was_refused)
			sim_broken(s, INV_REFUSED, "%.*s ends because it was refused for a while: %.*s",
			           STR_F(job->name), STR_F(after->reason));
		check_uncreated(s, job, after);
		check_script(s, job, after);
		load_check_end(s, job, before);
		return;
	}
	if (after->outcome != before->outcome || !str_eq(after->outcome_text, before->outcome_text) ||
	    !str_eq(after->why, before->why) || after->end != before->end)
		sim_broken(s, INV_FINAL, "%.*s had ended: %s (%.*s), now: %s (%.*s)", STR_F(job->name),
		           phase_name(before->outcome), STR_F(before->why), phase_name(after->outcome),
		           STR_F(after->why));
	if (phase_final(before->phase) && after->phase != before->phase)
		sim_broken(s, INV_FINAL, "%.*s goes from %s to %s", STR_F(job->name), phase_name(before->phase),
		           phase_name(after->phase));
}

/* Would clean-up, or suspending, take this pod away; and should whoever wrote the status know? */
static bool must_go(const struct sim *s, const struct sim_link *by, const struct sim_pod *p, const struct job *spec,
                    const struct record *r)
{
	const struct role *role = job_role(spec, p->now.role);
	const struct record_role *rr = record_role_of(r, p->now.role);
	bool over = p->now.phase == POD_SUCCEEDED || p->now.phase == POD_FAILED;
	enum clean clean = spec->clean;

	if (p->late || p->hidden || !p->labelled || !role || role->aux)
		return false;
	/* Two operators at once: what the other one makes is shown a little later. */
	if (p->by != by && p->made >= by->began)
		return false;
	if (!r->outcome)
		return !rr || !ranges_has(&rr->completed, p->now.index);
	/* A finalizer does not hold the end for ever, nor does a pod that could not be read, and so not be deleted. */
	if (p->now.meta.deleted ? s->now >= p->now.meta.deleted + MINUTES(1) : s->now >= r->end + MINUTES(5))
		return false;
	if (clean == CLEAN_NONE && r->outcome != PHASE_SUCCEEDED && r->outcome != PHASE_FAILED)
		clean = CLEAN_RUNNING;
	return clean == CLEAN_ALL || (clean == CLEAN_RUNNING && !over);
}

/* Suspended, Complete and Failed are true. */
static void check_early(struct sim *s, const struct sim_link *by, const struct sim_job *job, const struct job *spec,
                        const struct record *was, const struct record *is)
{
	bool stops = is->phase == PHASE_SUSPENDED || phase_final(is->phase);

	if (!by || !stops || was->phase == is->phase || spec->problems.errors)
		return;
	for (const struct sim_pod *p = job->pods; p; p = p->next)
		if (must_go(s, by, p, spec, is))
			sim_broken(s, INV_EARLY, "%.*s is %s, and pod %.*s is still there", STR_F(job->name),
			           phase_name(is->phase), STR_F(p->now.meta.name));
}

/* What a later version counted stays. */
static void check_later_version(struct sim *s, const struct sim_job *job, const struct sim_version *before,
                                const struct sim_version *after)
{
	yyjson_val *was = json_at(before->object.job->root, "status", "dlOperator", "roles", "worker", "restarts",
	                          NULL),
		   *is = json_at(after->object.job->root, "status", "dlOperator", "roles", "worker", "restarts", NULL);

	if (json_get(was, "Meteor") && !json_get(is, "Meteor"))
		sim_broken(s, INV_FINAL, "%.*s forgets what a later version counted", STR_F(job->name));
}

void check_status(struct sim *s, const struct sim_request *r, struct sim_job *job, const struct sim_version *before,
                  const struct sim_version *after)
{
	const struct record *was = before->record ? before->record : &nothing, *is = after->record;
	const struct job *spec = kind_job(after->spec);

	if (!is) {
		sim_broken(s, INV_BODY, "the record of %.*s cannot be read any more", STR_F(job->name));
		return;
	}
	job->has_run |= was->begun;
	check_final(s, job, was, is);
	truth_check(s, job, before, after);
	check_early(s, r->link, job, spec, was, is);
	check_later_version(s, job, before, after);
	nodes_excuse(s);
	check_deleted(s, r->link, job, was, is);
	check_lost(s, job, was, is);
	check_excused(s, job, was, is);
	if (is->level.generation < was->level.generation)
		sim_broken(s, INV_GENERATION, "%.*s falls from generation %lld to %lld", STR_F(job->name),
		           (long long)was->level.generation, (long long)is->level.generation);
	if (is->restarts < was->restarts)
		sim_broken(s, INV_COUNT, "%.*s: restarts fall from %d to %d", STR_F(job->name), was->restarts,
		           is->restarts);
	for (size_t i = 0; i < spec->n_roles; i++)
		check_role(s, job, was, is, &spec->roles[i]);
	/* Whoever mends what it waits for does not wait for another write. */
	job->has_run |= is->begun;
}
