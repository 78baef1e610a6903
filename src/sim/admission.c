/* Who may refuse a create: quotas, admission policies, webhooks, and the server itself. */
#include "base/http_code.h"
#include "sim/admission.h"
#include "sim/groups.h"
#include "sim/mutant.h"
#include "sim/server.h"
#include "sim/sim.h"

static bool is_barred(const struct sim *s, const struct sim_request *r, const struct sim_job *job)
{
	struct str role = r->r.resource == RES_POD ? r->pod.role : r->service.role;

	if (!job || s->now >= job->barred)
		return false;
	return s->opt.mutant == MUTANT_JEALOUS || (r->r.resource == job->barred_sort && str_eq(role, job->barred_role));
}

int admission_refuses(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);

	if (s->now < s->quota_until && r->r.resource == RES_POD) {
		s->tally->hits[HIT_QUOTA]++;
		o->reason = STR("Forbidden");
		o->message = STR("exceeded quota: pods");
		return HTTP_FORBIDDEN;
	}
	if (is_barred(s, r, job)) {
		s->tally->hits[HIT_BARRED]++;
		r->in_vain = job->barred == NEVER;
		o->reason = STR("Forbidden");
		o->message = STR("exceeded quota: gpus");
		return HTTP_FORBIDDEN;
	}
	if (s->now < s->denied || (job && s->now < job->denied)) {
		s->tally->hits[HIT_DENIED]++;
		o->reason = s->deny_code == HTTP_INVALID ? STR("Invalid") : STR("BadRequest");
		o->message = STR("ValidatingAdmissionPolicy 'frozen' denied request");
		return s->deny_code;
	}
	if (s->now < s->webhook_until) {
		s->tally->hits[HIT_WEBHOOK]++;
		o->reason = STR("InternalError");
		o->message = STR("failed calling webhook");
		return HTTP_SERVER_ERROR;
	}
	if (job && job->refuse && r->r.resource == RES_POD &&
	    (!job->refused_role.n || str_eq(job->refused_role, r->pod.role))) {
		s->tally->hits[HIT_INVALID_CHILD]++;
		o->reason = STR("Invalid");
		o->message = STR("spec.containers[0].image: Required value");
		return HTTP_INVALID;
	}
	return groups_refuse(s, job, r, o);
}

int admission_keeps(struct sim *s, struct sim_request *r, struct outcome *o)
{
	static const int codes[] = { HTTP_FORBIDDEN, HTTP_INVALID, HTTP_SERVER_ERROR };
	const struct sim_pod *p = r->r.resource == RES_POD ? map_get(&s->pods, r->r.name) : NULL;

	if (!p || s->now >= p->kept || !str_eq(r->r.uid, p->now.meta.uid))
		return 0;
	s->tally->hits[HIT_UNDELETED]++;
	r->in_vain = p->kept == NEVER;
	o->message = STR("nobody deletes pods today");
	return codes[s->opt.seed % ARRAY_LEN(codes)];
}
