/* Who may refuse a create: quotas, admission policies, webhooks, and the server itself. */
#include "base/http_code.h"
#include "sim/admission.h"
#include "sim/groups.h"
#include "sim/server.h"
#include "sim/sim.h"

int admission_refuses(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);

	if (s->now < s->quota_until && r->r.resource == RES_POD) {
		s->tally->hits[HIT_QUOTA]++;
		o->reason = STR("Forbidden");
		o->message = STR("exceeded quota: pods");
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
