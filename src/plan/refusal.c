/* What the API server's refusal of a create means. */
#include "base/http_code.h"
#include "plan/world.h"

enum refusal_kind plan_refusal(int code, struct str reason)
{
	if (code == HTTP_INVALID || code == HTTP_BAD_REQUEST)
		return REFUSED_INVALID;
	if (code == HTTP_FORBIDDEN)
		return REFUSED_QUOTA;
	if (code == HTTP_NOT_FOUND) /* the namespace is going */
		return REFUSED_SERVER;
	if (code == HTTP_CONFLICT)
		return str_eqc(reason, "AlreadyExists") ? REFUSED_FOREIGN : REFUSED_SERVER;
	/* Nobody has answered, or does not know us just now: that is not about this child. */
	if (code == 0 || code == HTTP_UNAUTHORIZED || http_is_good(code))
		return REFUSED_NOT;
	/* A server that has too much to do, or fails; and whatever else somebody on the way to it may say. */
	return REFUSED_SERVER;
}

static bool says(struct str message, const char *what)
{
	return message.n && memmem(message.p, message.n, what, strlen(what));
}

bool plan_too_early(enum gang_kind gang, int code, struct str message)
{
	return gang == GANG_VOLCANO && code == HTTP_BAD_REQUEST && says(message, "podgroup");
}

enum refusal_kind plan_group_refusal(int code, struct str reason, struct str message)
{
	if (plan_refusal(code, reason) == REFUSED_NOT)
		return REFUSED_NOT;
	return code == HTTP_FORBIDDEN && says(message, "quota") ? REFUSED_QUOTA : REFUSED_SERVER;
}

struct str plan_group_refused(enum gang_kind gang, int code, struct str message, struct arena *a)
{
	/* The list will say so for everybody, if it stays so. */
	return code == HTTP_NOT_FOUND && !says(message, "namespace") ? plan_groups_trouble(gang, code, message, a)
	                                                             : message;
}

enum conflict plan_conflict(struct str job_uid, const struct replica_labels *wanted, const struct meta *found,
                            struct str found_job_uid, const struct replica_labels *found_replica)
{
	if (!str_eq(found->owner_uid, job_uid))
		return CONFLICT_FOREIGN;
	if (!str_eq(found_job_uid, job_uid) || (wanted->role.n && !found_replica->role.n))
		return CONFLICT_ADOPT;
	if (!str_eq(wanted->role, found_replica->role) || (wanted->role.n && wanted->index != found_replica->index))
		return CONFLICT_OTHER;
	return CONFLICT_OURS;
}

struct str plan_taken(const char *noun, const struct meta *found, struct arena *a)
{
	struct str owner = found->owner.n ? found->owner : found->owner_uid;

	return arena_printf(a, "%s %.*s %s%.*s%s", noun, STR_F(found->name), owner.n ? "belongs to " : "has no owner",
	                    STR_F(owner), found->deleted ? " and is being deleted" : "");
}

struct str plan_taken_by(const char *noun, const struct meta *found, const struct replica_labels *by,
                         const struct replica_labels *wanted, struct arena *a)
{
	return arena_printf(a, "%s %.*s is %.*s-%d's by its labels, and %.*s-%d would have the same name", noun,
	                    STR_F(found->name), STR_F(by->role), by->index, STR_F(wanted->role), wanted->index);
}

/* Nobody shows the end of what is not watched: it is asked for, every second while it is being deleted, otherwise after
   an eighth of the time that it has been in the way. So the wait is short by comparison and the questions stay few:
   some fifty until there is one a minute. */
static msec taken_pace(const struct refusal *r)
{
	msec waited = MAX(r->at - r->since, (msec)0);

	if (r->going && waited < MINUTES(5))
		return SECONDS(1);
	return MIN(MAX(waited / 8, SECONDS(1)), MINUTES(1));
}

msec refusal_until(const struct refusal *r)
{
	static const struct restart pace = { .backoff_initial = 1, .backoff_max = 60 };

	if (r->kind == REFUSED_FOREIGN && !r->watched)
		return r->at + taken_pace(r);
	return r->kind == REFUSED_NOT ? 0 : r->at + backoff_delay(&pace, MIN(r->times, 30) + 1);
}

enum { LOSSES_FREE = 2 };
static const msec losses_forgotten = MINUTES(2);

void plan_lost(struct losses *l, msec now)
{
	l->times = now - l->at > losses_forgotten ? 1 : MIN(l->times, INT32_MAX - 1) + 1;
	l->at = now;
}

/* Somebody deletes what we make, again and again: a garbage collector that knows more than we do, or a person who does
   not want it. Nobody is helped by a race. */
msec losses_until(const struct world *w)
{
	static const struct restart pace = { .backoff_initial = 1, .backoff_max = 60 };
	const struct losses *l = &w->in->losses;

	return l->times > LOSSES_FREE ? l->at + backoff_delay(&pace, MIN(l->times - LOSSES_FREE, 30) + 1) : 0;
}

msec plan_refused_until(const struct refusal *r)
{
	return refusal_until(r);
}

void plan_refused(struct refusal *r, enum refusal_kind kind, struct str message, msec now)
{
	if (r->kind != kind || !r->tries) {
		r->since = now;
		r->tries = 0;
	}
	r->tries = MIN(r->tries, INT32_MAX - 1) + 1;
	r->kind = kind;
	r->message = message;
	r->times = MIN(r->times, INT32_MAX - 1) + 1;
	r->at = now;
}

void plan_undeleted(struct undeleted *u, msec now)
{
	u->times = MIN(u->times, INT32_MAX - 1) + 1;
	u->at = now;
}

msec plan_status_held(int32_t times, msec now)
{
	static const struct restart pace = { .backoff_initial = 1, .backoff_max = 60 };

	return now + backoff_delay(&pace, MIN(times, 30) + 1);
}

bool undeleted_holds(struct world *w, enum resource resource, const struct child *c)
{
	static const struct restart pace = { .backoff_initial = 1, .backoff_max = 60 };
	msec until = c->undeleted.at + backoff_delay(&pace, MIN(c->undeleted.times, 30) + 1);

	if (!c->undeleted.times)
		return false;
	if (!w->undeleted) {
		w->undeleted = c;
		w->undeleted_sort = resource;
	}
	if (w->now >= until)
		return false;
	world_wake(w, until);
	return true;
}

const struct refusal *refusal_of(const struct world *w, enum resource resource, struct str role)
{
	for (size_t i = 0; i < w->in->n_refusals; i++) {
		const struct refusal *r = &w->in->refusals[i];

		if (r->resource == resource && r->kind != REFUSED_NOT && str_eq(r->role, role))
			return r;
	}
	return NULL;
}

msec refused_until(const struct world *w, enum resource resource, struct str role)
{
	const struct refusal *r = refusal_of(w, resource, role);

	return r ? refusal_until(r) : 0;
}

static bool counts(const struct world *w, const struct refusal *r)
{
	const struct role *role = job_role(w->job, r->role);

	return r->kind != REFUSED_NOT && !(role && role->aux);
}

bool refusal_holds(const struct world *w, size_t i)
{
	return counts(w, &w->in->refusals[i]) && !w->passed[i];
}

enum { FINAL_TRIES = 5 };
static const msec final_after = MINUTES(1);

/* "Not as it is" and "not now" look the same. It is taken for the first only if it stands for a while, and of a role
   whose pods were never accepted: what has run before will be taken again some day. */
static bool is_final(const struct world *w, const struct refusal *r)
{
	const struct record_role *rec = record_role_of(w->next, r->role);

	if (r->kind != REFUSED_INVALID || r->tries < FINAL_TRIES || r->at - r->since < final_after)
		return false;
	return !rec || !rec->accepted;
}

static bool is_missing(const struct role_view *v, int32_t index, enum resource resource)
{
	const struct replica *rep = &v->replicas[index];

	return resource == RES_POD ? rep->verdict == V_ABSENT
	                           : v->role->service && !rep->service && rep->verdict < V_COMPLETED;
}

/* All children of that sort and role are there, however they came: what was once said of them does not count any
   more. */
static bool has_passed(const struct world *w, const struct refusal *r)
{
	const struct role_view *v = world_role(w, r->role);

	for (int32_t i = 0; v && i < v->role->count; i++)
		if (is_missing(v, i, r->resource))
			return false;
	return v;
}

bool refusal_check(struct world *w)
{
	const struct refusal *final = NULL;

	for (size_t i = 0; i < w->in->n_refusals; i++) {
		const struct refusal *r = &w->in->refusals[i];

		if (!resource_traits(r->resource)->of_replica)
			continue;
		w->passed[i] = has_passed(w, r);
		if (!final && refusal_holds(w, i) && is_final(w, r))
			final = r;
	}
	if (!final)
		return false;
	ending_set(w, PHASE_FAILED, STR("Refused"),
	           arena_printf(w->a, "the API server refuses the pods or services: %.*s",
	                        STR_F(reason_clip(final->message))));
	return true;
}

void refusal_group_passed(struct world *w)
{
	for (size_t i = 0; i < w->in->n_refusals; i++)
		w->passed[i] |= w->in->refusals[i].resource == RES_GROUP;
}
