/* What the API server's refusal of a create means. */
#include "plan/world.h"

enum refusal_kind plan_refusal(int code, struct str reason)
{
	if (code == 422 || code == 400)
		return REFUSED_INVALID;
	if (code == 403)
		return REFUSED_QUOTA;
	if (code == 404) /* the namespace is going */
		return REFUSED_SERVER;
	if (code == 409)
		return str_eqc(reason, "AlreadyExists") ? REFUSED_FOREIGN : REFUSED_SERVER;
	if (code == 429 || code >= 500)
		return REFUSED_SERVER;
	return REFUSED_NOT;
}

static bool says(struct str message, const char *what)
{
	return message.n && memmem(message.p, message.n, what, strlen(what));
}

bool plan_too_early(enum gang_kind gang, int code, struct str message)
{
	return gang == GANG_VOLCANO && code == 400 && says(message, "podgroup");
}

enum refusal_kind plan_group_refusal(int code, struct str reason, struct str message)
{
	if (plan_refusal(code, reason) == REFUSED_NOT)
		return REFUSED_NOT;
	return code == 403 && says(message, "quota") ? REFUSED_QUOTA : REFUSED_SERVER;
}

struct str plan_group_refused(enum gang_kind gang, int code, struct str message, struct arena *a)
{
	/* The list will say so for everybody, if it stays so. */
	return code == 404 && !says(message, "namespace") ? plan_groups_trouble(gang, code, message, a) : message;
}

enum conflict plan_conflict(struct str job_uid, const struct meta *found, struct str found_job_uid)
{
	if (!str_eq(found->owner_uid, job_uid))
		return CONFLICT_FOREIGN;
	return str_eq(found_job_uid, job_uid) ? CONFLICT_OURS : CONFLICT_ADOPT;
}

struct str plan_taken(const char *noun, const struct meta *found, struct arena *a)
{
	struct str owner = found->owner.n ? found->owner : found->owner_uid;

	return arena_printf(a, "%s %.*s %s%.*s%s", noun, STR_F(found->name),
	                    owner.n ? "belongs to " : "belongs to nobody", STR_F(owner),
	                    found->deleted ? " and is being deleted" : "");
}

msec refusal_until(const struct refusal *r)
{
	static const struct restart pace = { .backoff_initial = 1, .backoff_max = 60 };

	return r->kind == REFUSED_NOT ? 0 : r->at + backoff_delay(&pace, MIN(r->times, 30) + 1);
}

bool refusal_check(struct world *w)
{
	const struct refusal *r = &w->in->refusal;

	if (r->kind != REFUSED_INVALID)
		return false;
	ending_set(w, PHASE_FAILED, STR("Refused"),
	           arena_printf(w->a, "the API server refuses the pods or services: %.*s",
	                        STR_F(reason_clip(r->message))));
	return true;
}
