/* A look inside, for people: one job, what is known of it, and what the plan is. */
#include "base/json.h"
#include "operator/internal.h"

enum { SHOWN_MAX = 200 }; /* of pods, services and actions each */

static yyjson_mut_val *obj(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key)
{
	yyjson_mut_val *o = yyjson_mut_obj(doc);

	json_mut_put(doc, to, str_c(key), o);
	return o;
}

static yyjson_mut_val *list(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key)
{
	yyjson_mut_val *l = yyjson_mut_arr(doc);

	json_mut_put(doc, to, str_c(key), l);
	return l;
}

static void text(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, struct str s)
{
	json_mut_put(doc, to, str_c(key), json_mut_str(doc, s));
}

static void put_number(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, int64_t n)
{
	json_mut_put(doc, to, str_c(key), yyjson_mut_sint(doc, n));
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, msec t)
{
	char buf[TIME_TEXT];

	if (t && t != NEVER)
		text(doc, to, key, str_c(time_format(t, buf)));
}

static void put_pods(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct plan_input *in)
{
	static const char *const phases[] = {
		[POD_PENDING] = "Pending", [POD_RUNNING] = "Running", [POD_SUCCEEDED] = "Succeeded",
		[POD_FAILED] = "Failed",   [POD_UNKNOWN] = "Unknown",
	};
	yyjson_mut_val *l = list(doc, to, "pods");

	put_number(doc, to, "podsKnown", (int64_t)in->n_pods);
	for (size_t i = 0; i < MIN(in->n_pods, (size_t)SHOWN_MAX); i++) {
		const struct pod *p = in->pods[i];
		yyjson_mut_val *o = yyjson_mut_arr_add_obj(doc, l);

		text(doc, o, "name", p->meta.name);
		text(doc, o, "role", p->role);
		put_number(doc, o, "index", p->index);
		put_number(doc, o, "generation", p->generation);
		text(doc, o, "phase", str_c(phases[p->phase]));
		if (p->node.n)
			text(doc, o, "node", p->node);
		put_time(doc, o, "deleted", p->meta.deleted);
		if (p->gone)
			json_mut_put(doc, o, STR("gone"), yyjson_mut_true(doc));
	}
}

static void put_action(yyjson_mut_doc *doc, yyjson_mut_val *o, const struct job *job, const struct action *a)
{
	static const char *const types[] = {
		[ACT_GET] = "get", [ACT_DELETE] = "delete", [ACT_CREATE] = "create", [ACT_PATCH] = "patch"
	};
	char type[32];

	snprintf(type, sizeof(type), "%s %s", types[a->type], resource_noun(a->resource));
	text(doc, o, "type", str_c(type));
	if (a->type == ACT_CREATE && resource_traits(a->resource)->of_replica) {
		text(doc, o, "role", job->roles[a->role].name);
		put_number(doc, o, "index", a->index);
		put_number(doc, o, "generation", a->generation);
	} else if (a->type == ACT_GET) {
		text(doc, o, "node", a->node);
	} else if (a->target) {
		text(doc, o, "name", a->target->name);
	}
}

static void put_plan(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct plan_input *in, const struct plan *plan)
{
	static const char *const writes[] = { [CHANGE_NONE] = "nothing",
		                              [CHANGE_OBSERVED] = "what is observed",
		                              [CHANGE_DURABLE] = "the record, first" };
	yyjson_mut_val *o = obj(doc, to, "plan"), *l = list(doc, o, "actions");

	text(doc, o, "write", str_c(writes[plan->write]));
	put_time(doc, o, "wake", plan->wake);
	put_number(doc, o, "actionsPlanned", (int64_t)plan->n_actions);
	for (size_t i = 0; i < MIN(plan->n_actions, (size_t)SHOWN_MAX); i++)
		put_action(doc, yyjson_mut_arr_add_obj(doc, l), in->job, &plan->actions[i]);
	if (plan->record)
		json_mut_put(doc, o, STR("record"), record_write(plan->record, doc));
}

/* {"pods of worker": "exceeded quota"} */
static void put_refused(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct cached_job *job)
{
	yyjson_mut_val *all = NULL;

	for (const struct child_refused *r = job->refused; r; r = r->next) {
		struct arena a = ARENA_INIT;
		struct str what = arena_printf(&a, "%ss of %.*s", resource_noun(r->refusal.resource),
		                               STR_F(r->refusal.role.n ? r->refusal.role : STR("the job")));

		if (r->refusal.kind != REFUSED_NOT && !all)
			all = yyjson_mut_obj_add_obj(doc, to, "refused");
		if (r->refusal.kind != REFUSED_NOT)
			yyjson_mut_obj_add(all, json_mut_str(doc, what), json_mut_str(doc, r->refusal.message));
		arena_release(&a);
	}
}

static void put_job(struct operator_loop *op, struct cached_job *job, yyjson_mut_doc *doc, yyjson_mut_val *to)
{
	const struct group *group;
	struct plan_input in;
	struct plan plan;

	text(doc, to, "kind", job->kind);
	text(doc, to, "namespace", job->meta.ns);
	text(doc, to, "name", job->meta.name);
	text(doc, to, "uid", job->meta.uid);
	text(doc, to, "resourceVersion", job->meta.rv);
	put_number(doc, to, "requestsInFlight", (int64_t)job->in_flight);
	put_number(doc, to, "failuresInARow", job->item.failures);
	put_time(doc, to, "notBefore", job->item.not_before);
	put_refused(doc, to, job);
	if (!gather_known(op, job, &in)) {
		json_mut_put(doc, to, STR("leftAlone"), yyjson_mut_true(doc));
		return;
	}
	put_pods(doc, to, &in);
	put_number(doc, to, "servicesKnown", (int64_t)in.n_services);
	group = (const struct group *)in.sole[RES_GROUP].have;
	if (group) {
		yyjson_mut_val *known = obj(doc, to, "podGroup");

		text(doc, known, "name", group->meta.name);
		put_number(doc, known, "minMember", group->min_member);
		text(doc, known, "phase", group->phase);
	}
	plan = plan_job(&in, &op->arena);
	put_plan(doc, to, &in, &plan);
}

bool operator_debug(struct operator_loop *op, struct str ns, struct str name, struct buf *out)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *all = yyjson_mut_arr(doc);

	op->now = clock_now(op->clock);
	for (size_t i = 0; i < kinds_count(op->kinds); i++) {
		struct cached_job *job = cache_job(&op->cache, kinds_at(op->kinds, i)->id, ns, name);

		if (job)
			put_job(op, job, doc, yyjson_mut_arr_add_obj(doc, all));
	}
	json_write(all, out);
	arena_reset(&op->arena);
	return yyjson_mut_arr_size(all) > 0;
}
