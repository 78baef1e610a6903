/*
 * Defects that are planted on purpose, outside of the operator: what it sends is spoilt on its way to
 * the server, or what it is shown. For each invariant there is at least one that breaks it, so that a
 * checker that sees nothing is found out.
 */
#include "sim/mutant.h"
#include "sim/sim.h"

static const struct {
	const char *name;
	enum invariant breaks;
} mutants[] = {
	[MUTANT_NONE] = { "none", INV_NONE },
	[MUTANT_TWIN] = { "twin", INV_TWO_PODS },            /* a pod is made twice, under another name */
	[MUTANT_LIMITLESS] = { "limitless", INV_LIMIT },     /* the limit is read as a higher one */
	[MUTANT_FORGETFUL] = { "forgetful", INV_COMPLETED }, /* completions are not read back */
	[MUTANT_LAZARUS] = { "lazarus", INV_FINAL },         /* an end is rewritten */
	[MUTANT_REWIND] = { "rewind", INV_GENERATION },      /* generations are set back */
	[MUTANT_UNCOUNTED] = { "uncounted", INV_COUNT },     /* a count is not persisted */
	[MUTANT_DOUBLE] = { "double", INV_COUNT },           /* a failure is counted twice */
	[MUTANT_LOWERED] = { "lowered", INV_COUNT },         /* a count is lowered */
	[MUTANT_LENIENT] = { "lenient", INV_COUNT },         /* a failure is taken for a disruption */
	[MUTANT_MERCIFUL] = { "merciful", INV_LIMIT },       /* what the limit saw is forgotten */
	[MUTANT_KEEPER] = { "keeper", INV_SIBLING },         /* a pod that a sidecar keeps is not deleted */
	[MUTANT_GREEDY] = { "greedy", INV_FOREIGN },         /* somebody else's pod is deleted */
	[MUTANT_CARELESS] = { "careless", INV_UID },         /* a delete without UID */
	[MUTANT_BLIND] = { "blind", INV_INVALID },           /* an invalid job is taken for a valid one */
	[MUTANT_UNDEAD] = { "undead", INV_CLEANED },         /* a pod is made after the end */
	[MUTANT_ORPHANER] = { "orphaner", INV_BODY },        /* children without owner */
	[MUTANT_HOARDER] = { "hoarder", INV_ORPHAN },        /* children that no garbage collector knows */
	[MUTANT_HASTY] = { "hasty", INV_RECORD_FIRST },      /* a generation that is not recorded yet */
	[MUTANT_SIBLING] = { "sibling", INV_SIBLING },       /* one delete is forgotten */
	[MUTANT_DEAF] = { "deaf", INV_STUCK },               /* events are lost, and nobody lists anew */
	[MUTANT_RESTLESS] = { "restless", INV_QUIET },       /* writes that go on for ever */
	[MUTANT_LIAR] = { "liar", INV_TRUTH },               /* failures are taken for successes */
	[MUTANT_EAGER] = { "eager", INV_GANG },              /* pods do not wait for their PodGroup */
	[MUTANT_FUSSY] = { "fussy", INV_GANG },              /* a PodGroup is never as it should be */
	[MUTANT_HOPELESS] = { "hopeless", INV_REFUSED },     /* the first refusal ends the job */
	[MUTANT_AMNESIC] = { "amnesic", INV_UNCREATED },     /* that the job has run is not read back */
	[MUTANT_JEALOUS] = { "jealous", INV_STARVED },       /* what keeps one role out keeps out all */
	[MUTANT_CURT] = { "curt", INV_HASTENED },            /* the kubelet gets little time to try again */
	[MUTANT_IMPATIENT] = { "impatient", INV_EARLY },     /* the end is told while pods still go */
	[MUTANT_STICKY] = { "sticky", INV_LEFT },            /* who leaves keeps its generation */
	[MUTANT_STUTTER] = { "stutter", INV_WORK },          /* a request is sent without end */
	[MUTANT_INSISTENT] = { "insistent", INV_WORK },      /* a create is sent again and again */
	[MUTANT_TARDY] = { "tardy", INV_DEADLINE },          /* deadlines are late */
	[MUTANT_FLOOD] = { "flood", INV_FLIGHT },            /* the limit of requests is read as a higher one */
	[MUTANT_ERASER] = { "eraser", INV_UNKNOWN },         /* what is too large is taken for gone */
	[MUTANT_GENEROUS] = { "generous", INV_TRUTH },       /* a failed job is told to have succeeded */
	[MUTANT_GRUDGER] = { "grudger", INV_ORACLE },        /* a job that succeeded is told to have failed */
	[MUTANT_GULLIBLE] = { "gullible", INV_TRUTH },       /* a kubelet's stop is taken for a success */
	[MUTANT_JUMPY] = { "jumpy", INV_COUNT },             /* a node is lost at its first NotReady */
	[MUTANT_HEIR] = { "heir", INV_DELETING },            /* a child is made while its job is being deleted */
};

const char *mutant_name(enum sim_mutant m)
{
	return mutants[m].name;
}

enum invariant mutant_breaks(enum sim_mutant m)
{
	return mutants[m].breaks;
}

/* What the operator sends */

static void twin(struct sim *s, const struct sim_request *r)
{
	struct sim_request other = *r;

	other.r.name = arena_printf(s->arena, "%.*s-twin", STR_F(r->r.name));
	wire_submit_spoiled(s, &other);
}

static void greedy(struct sim *s, const struct sim_request *r)
{
	struct sim_request other = *r;
	void *value;

	for (size_t at = 0; map_next(&s->pods, &at, NULL, &value);) {
		struct sim_pod *p = value;

		if (!p->foreign)
			continue;
		other.r.name = p->now.meta.name;
		other.r.uid = p->now.meta.uid;
		wire_submit_spoiled(s, &other);
		return;
	}
}

/* Long after the end somebody still writes. */
static void restless(struct sim *s, const struct sim_request *r)
{
	if (!s->quiet || s->mutant_n++)
		return;
	for (int i = 1; i < 24; i++) {
		struct sim_request *again = arena_new(s->arena, struct sim_request);

		*again = *r;
		again->link = NULL;
		again->next = s->in_flight;
		again->prev = NULL;
		if (again->next)
			again->next->prev = again;
		s->in_flight = again;
		again->timer = sim_at(s, s->now + MINUTES(10) * i, EV_ARRIVE, again);
	}
}

/* Is it the pod of a job that goes on? */
static bool is_restarted(const struct sim *s, const struct sim_request *r)
{
	const struct sim_pod *p = map_get(&s->pods, r->r.name);
	const struct record *now = p && p->job ? p->job->now->record : NULL;

	return now && !now->outcome && !now->suspended;
}

static bool has_sidecar_left(const struct sim *s, const struct sim_request *r)
{
	const struct sim_pod *p = map_get(&s->pods, r->r.name);

	return p && p->stage == STAGE_BESIDE;
}

static void repeat_request(struct sim *s, const struct sim_request *r, int times)
{
	for (int i = 0; i < times && !s->broken; i++)
		wire_submit_spoiled(s, r);
}

static void remember_heir(struct sim *s, const struct sim_request *r)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);
	struct sim_request *copy = arena_new(s->arena, struct sim_request);

	*copy = *r;
	if (job)
		job->heir = copy;
}

bool mutant_request(struct sim *s, struct sim_request *r)
{
	bool pod = r->r.resource == RES_POD;

	switch ((enum sim_mutant)s->opt.mutant) {
	case MUTANT_TWIN:
		if (pod && r->r.verb == VERB_CREATE)
			twin(s, r);
		break;
	case MUTANT_HEIR:
		if (r->r.verb == VERB_CREATE)
			remember_heir(s, r);
		break;
	case MUTANT_UNDEAD:
		/* A companion may be made then. */
		if (pod && r->r.verb == VERB_CREATE && companion_named(r->pod.role) == COMPANION_COUNT)
			s->mutant_create = *r;
		break;
	case MUTANT_GREEDY:
		if (pod && r->r.verb == VERB_DELETE)
			greedy(s, r);
		break;
	case MUTANT_CARELESS:
		if (r->r.verb == VERB_DELETE)
			r->r.uid = STR_NONE;
		break;
	case MUTANT_ORPHANER:
		if (r->r.verb == VERB_CREATE)
			r->fault = "no owner";
		break;
	case MUTANT_HOARDER:
		r->hoarded = r->r.verb == VERB_CREATE;
		break;
	case MUTANT_HASTY:
		r->pod.generation += s->mutant_n++ % 5 == 0;
		break;
	case MUTANT_KEEPER:
		return !(pod && r->r.verb == VERB_DELETE && has_sidecar_left(s, r));
	case MUTANT_SIBLING:
		return !(pod && r->r.verb == VERB_DELETE && is_restarted(s, r) && s->mutant_n++ % 3 == 0);
	case MUTANT_LAZARUS:
	case MUTANT_REWIND:
	case MUTANT_UNCOUNTED:
	case MUTANT_DOUBLE:
	case MUTANT_LOWERED:
	case MUTANT_MERCIFUL:
	case MUTANT_HOPELESS:
	case MUTANT_IMPATIENT:
	case MUTANT_STICKY:
	case MUTANT_GENEROUS:
	case MUTANT_GRUDGER:
		if (r->r.verb == VERB_PATCH_STATUS)
			mutant_status(s, r);
		break;
	case MUTANT_RESTLESS:
		if (r->r.verb == VERB_PATCH_STATUS)
			restless(s, r);
		break;
	case MUTANT_STUTTER:
		if (r->r.verb == VERB_GET)
			repeat_request(s, r, 1000);
		break;
	case MUTANT_INSISTENT:
		if (r->r.verb == VERB_CREATE)
			repeat_request(s, r, 100);
		break;
	case MUTANT_TARDY:
		if (r->r.verb == VERB_PATCH_STATUS && memmem(r->r.body.p, r->r.body.n, "TimedOut", 8))
			r->slow = SECONDS(5);
		break;
	case MUTANT_NONE:
	case MUTANT_LIMITLESS:
	case MUTANT_FORGETFUL:
	case MUTANT_AMNESIC:
	case MUTANT_CURT:
	case MUTANT_JEALOUS:
	case MUTANT_BLIND:
	case MUTANT_DEAF:
	case MUTANT_LIAR:
	case MUTANT_LENIENT:
	case MUTANT_GULLIBLE:
	case MUTANT_EAGER:
	case MUTANT_FUSSY:
	case MUTANT_FLOOD:
	case MUTANT_JUMPY:
	case MUTANT_ERASER:
	case MUTANT_COUNT:
		break;
	}
	return true;
}

/* What the operator is shown */

static void raise_limit(yyjson_mut_doc *doc, yyjson_mut_val *root)
{
	yyjson_mut_val *restart = yyjson_mut_obj_get(
		yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_obj_get(root, "spec"), "policy"), "restart"), "limit");

	(void)doc;
	if (restart)
		yyjson_mut_set_int(restart, 9);
}

static void forget_completed(yyjson_mut_val *root)
{
	yyjson_mut_val *roles =
		yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_obj_get(root, "status"), "dlOperator"), "roles");
	size_t i, max;
	yyjson_mut_val *key, *role;

	yyjson_mut_obj_foreach(roles, i, max, key, role)
	{
		yyjson_mut_obj_remove_key(role, "completed");
	}
}

/* Only while it does not run: otherwise that would be written again and again. */
static void forget_running(yyjson_mut_val *root)
{
	yyjson_mut_val *rec = yyjson_mut_obj_get(yyjson_mut_obj_get(root, "status"), "dlOperator"), *span;
	yyjson_mut_val *phase = yyjson_mut_obj_get(rec, "phase"), *history = yyjson_mut_obj_get(rec, "history");
	yyjson_mut_val *key, *role;
	yyjson_mut_arr_iter it;
	size_t i, max;

	if (yyjson_mut_equals_str(phase, "Running") || yyjson_mut_obj_get(rec, "outcome"))
		return;
	yyjson_mut_obj_remove_key(rec, "runningTime");
	yyjson_mut_obj_remove_key(rec, "begun");
	yyjson_mut_obj_foreach(yyjson_mut_obj_get(rec, "roles"), i, max, key, role)
	{
		yyjson_mut_obj_remove_key(role, "ran");
	}
	yyjson_mut_arr_iter_init(history, &it);
	while (history && (span = yyjson_mut_arr_iter_next(&it)))
		if (yyjson_mut_equals_str(yyjson_mut_obj_get(span, "phase"), "Running"))
			yyjson_mut_arr_iter_remove(&it);
}

static void mend_counts(yyjson_mut_val *val)
{
	size_t i, max;
	yyjson_mut_val *key, *sub;

	if (yyjson_mut_is_obj(val)) {
		yyjson_mut_obj_foreach(val, i, max, key, sub)
		{
			if (yyjson_mut_equals_str(key, "replicas") && yyjson_mut_get_sint(sub) < 0)
				yyjson_mut_set_int(sub, 1);
			else
				mend_counts(sub);
		}
	} else if (yyjson_mut_is_arr(val)) {
		yyjson_mut_arr_foreach(val, i, max, sub)
		{
			mend_counts(sub);
		}
	}
}

static struct object spoilt_job(struct sim *s, const struct sim_version *v)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(sim_alc(s));
	yyjson_mut_val *root = yyjson_val_mut_copy(doc, v->object.job->root);
	struct job_object *o = arena_new(s->arena, struct job_object);

	*o = *v->object.job;
	if (s->opt.mutant == MUTANT_LIMITLESS)
		raise_limit(doc, root);
	else if (s->opt.mutant == MUTANT_FORGETFUL)
		forget_completed(root);
	else if (s->opt.mutant == MUTANT_AMNESIC)
		forget_running(root);
	else
		mend_counts(yyjson_mut_obj_get(root, "spec"));
	o->root = yyjson_doc_get_root(yyjson_mut_val_imut_copy(root, sim_alc(s)));
	return (struct object){ .resource = RES_JOB, .job = o };
}

/* Is it known how its job must end? */
static bool has_script(const struct sim *s, const struct pod *pod)
{
	const struct sim_job *job = map_get(&s->jobs_by_uid, pod->job_uid);

	return job && job->wish.script != SCRIPT_WILD;
}

static struct object liar(struct sim *s, const struct sim_version *v)
{
	struct pod *p = arena_raw(s->arena, sizeof(*p));
	struct container *c = arena_array(s->arena, struct container, 2);

	*p = *v->object.pod;
	memcpy(c, p->containers, p->n_containers * sizeof(*c));
	for (size_t i = 0; i < p->n_containers; i++)
		c[i].exit_code = 0;
	p->containers = c;
	if (p->phase == POD_FAILED)
		p->phase = POD_SUCCEEDED;
	return (struct object){ .resource = RES_POD, .pod = p };
}

static struct object lenient(struct sim *s, const struct sim_version *v)
{
	struct pod *p = arena_raw(s->arena, sizeof(*p));

	*p = *v->object.pod;
	p->disrupted |= p->phase == POD_FAILED;
	return (struct object){ .resource = RES_POD, .pod = p };
}

static struct object gullible(struct sim *s, const struct sim_version *v)
{
	struct pod *p = arena_raw(s->arena, sizeof(*p));

	*p = *v->object.pod;
	p->disrupted &= p->phase != POD_SUCCEEDED;
	return (struct object){ .resource = RES_POD, .pod = p };
}

static struct object fussy(struct sim *s, const struct sim_version *v)
{
	struct group *g = arena_raw(s->arena, sizeof(*g));

	*g = *v->object.group;
	g->min_member++;
	return (struct object){ .resource = RES_GROUP, .group = g };
}

struct object mutant_object(struct sim *s, const struct sim_version *v)
{
	enum sim_mutant m = (enum sim_mutant)s->opt.mutant;
	bool job = m == MUTANT_LIMITLESS || m == MUTANT_FORGETFUL || m == MUTANT_AMNESIC || m == MUTANT_BLIND;

	if (v->object.resource == RES_JOB && job)
		return spoilt_job(s, v);
	if (v->object.resource == RES_POD && s->opt.mutant == MUTANT_LIAR && has_script(s, v->object.pod))
		return liar(s, v);
	if (v->object.resource == RES_POD && m == MUTANT_LENIENT)
		return lenient(s, v);
	if (v->object.resource == RES_POD && m == MUTANT_GULLIBLE)
		return gullible(s, v);
	if (v->object.resource == RES_GROUP && s->opt.mutant == MUTANT_FUSSY)
		return fussy(s, v);
	return v->object;
}

void mutant_shown(struct sim *s, struct sim_job *job)
{
	bool ended = job->now->record && job->now->record->outcome;

	if (s->opt.mutant == MUTANT_HEIR && job->deleting && job->heir)
		wire_submit_spoiled(s, job->heir);
	if (s->opt.mutant == MUTANT_UNDEAD && ended && s->mutant_create.r.name.n &&
	    str_eq(s->mutant_create.owner_uid, job->uid))
		wire_submit_spoiled(s, &s->mutant_create);
}

bool mutant_drops(struct sim *s, const struct stream_item *it)
{
	return s->opt.mutant == MUTANT_DEAF && !it->list && it->version->object.resource == RES_POD &&
	       it->version->object.pod->phase == POD_SUCCEEDED;
}

void mutant_skipped(struct sim *s, const struct sim_version *v, struct cluster_event *ev)
{
	struct pod *p;

	if (s->opt.mutant != MUTANT_ERASER || v->object.resource != RES_POD)
		return;
	p = arena_raw(s->arena, sizeof(*p));
	*p = *v->object.pod;
	p->meta.deleted = s->now;
	ev->type = EVENT_GONE;
	ev->object = (struct object){ .resource = RES_POD, .pod = p };
}
