/* The plan → requests: the status as a patch, and the actions, one stage at a time. */
#include "base/json.h"
#include "base/log.h"
#include "operator/internal.h"
#include "operator/send.h"

/* Fields of the record that a later version wrote stay, and so do causes and conditions that only it knows; entries of
   its other maps (roles by name, what is known by index) are ours to remove. */
static bool keep_unknown(struct str path)
{
	struct str roles = STR("dlOperator.roles."), causes = STR(".restarts");

	if (str_eq(path, STR("dlOperator")) || str_eq(path, STR("dlOperator.conditions")))
		return true;
	if (!str_has_prefix(path, roles))
		return false;
	path = str_sub(path, roles.n, path.n);
	if (str_has_suffix(path, causes))
		path = str_sub(path, 0, path.n - causes.n);
	return !path.n || !memchr(path.p, '.', path.n);
}

/* Where a kind's code fails the record is written all the same, and its own fields stay as they are. */
static yyjson_mut_val *bare_status(yyjson_val *before, const struct record *r, yyjson_mut_doc *doc)
{
	yyjson_mut_val *status = before ? yyjson_val_mut_copy(doc, before) : yyjson_mut_obj(doc);

	yyjson_mut_obj_remove_key(status, "dlOperator");
	yyjson_mut_obj_add_val(doc, status, "dlOperator", record_write(r, doc));
	return status;
}

/* The kind's own words; NULL where there are none: the server does not take them, its code fails, or the job has ended
   in a way that only a later version knows. */
static yyjson_mut_val *whole_status(struct cached_job *job, const struct record *r, yyjson_mut_doc *doc)
{
	yyjson_mut_val *status;
	struct err e = ERR_INIT;

	if (!job->parsed || job->status_form != STATUS_WHOLE || r->outcome == PHASE_OTHER)
		return NULL;
	status = kind_status(job->parsed, r, doc, &e);
	if (!status)
		log_warn(FIELDS(JOB_FIELDS(job->kind, &job->meta)), "status: %s", err_msg(&e));
	err_release(&e);
	return status;
}

static yyjson_mut_val *status_patch(struct operator_loop *op, struct cached_job *job, const struct record *r,
                                    yyjson_mut_doc *doc)
{
	yyjson_val *before = json_get(yyjson_doc_get_root(job->doc), "status");
	yyjson_mut_val *status = whole_status(job, r, doc), *patch;
	struct record *shorter;
	yyjson_doc *after;

	if (job->status_form == STATUS_SHORT) {
		shorter = record_copy(r, &op->arena);
		record_shorten(shorter);
		r = shorter;
	}
	if (!status)
		status = bare_status(before, r, doc);
	after = yyjson_mut_val_imut_copy(status, NULL);
	ASSERT(after);
	patch = json_merge_diff(doc, before, yyjson_doc_get_root(after), keep_unknown);
	yyjson_doc_free(after);
	return patch;
}

/* Builds the body. False: there is nothing to write. */
static bool build_status(struct operator_loop *op, struct cached_job *job, const struct record *r)
{
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *patch = status_patch(op, job, r, doc), *body, *meta;

	if (!patch)
		return false;
	body = yyjson_mut_obj(doc);
	meta = yyjson_mut_obj_add_obj(doc, body, "metadata");
	json_mut_put(doc, meta, STR("resourceVersion"), json_mut_str(doc, job->meta.rv));
	yyjson_mut_obj_add_val(doc, body, "status", patch);
	buf_clear(&op->body);
	json_write(body, &op->body);
	return true;
}

static bool write_status(struct operator_loop *op, struct cached_job *job, const struct record *r, bool durable)
{
	struct request_sent p = { .purpose = FOR_STATUS,
		                  .job = job,
		                  .resource = RES_JOB,
		                  .ns = job->meta.ns,
		                  .name = job->meta.name,
		                  .uid = job->meta.uid,
		                  .durable = durable };

	if (op->now >= job->status_whole)
		job->status_form = STATUS_WHOLE;
	if (!build_status(op, job, r))
		return false;
	while (op->body.overflow && job->status_form < STATUS_SHORT) {
		outcome_status_refused(op, job, 0, durable, STR("it is too large to be sent"));
		build_status(op, job, r);
	}
	if (op->body.overflow) {
		/* Nothing was sent: whoever needs it written tries again himself. */
		outcome_status_refused(op, job, 0, false, STR("it is too large to be sent"));
		return false;
	}
	send_request(op, &p, VERB_PATCH_STATUS, buf_str(&op->body));
	return true;
}

static void ask_or_delete(struct operator_loop *op, struct cached_job *job, const struct action *a)
{
	struct request_sent p = { .purpose = FOR_DELETE, .job = job, .resource = a->resource };
	const struct meta *target = a->target;

	if (a->type == ACT_GET) {
		p.purpose = FOR_NODE;
		p.name = a->node;
		send_request(op, &p, VERB_GET, STR_NONE);
		return;
	}
	if (a->resource == RES_JOB) {
		p.purpose = FOR_END;
		target = &job->meta;
	}
	p.ns = target->ns;
	p.name = target->name;
	p.uid = target->uid;
	p.force = a->force;
	send_request(op, &p, VERB_DELETE, STR_NONE);
}

/* Only the actions of the first stage go out: the answers decide whether the next one still holds. */
static bool act(struct operator_loop *op, struct cached_job *job, const struct plan *plan)
{
	const struct action *first = plan->actions;
	size_t sent = 0;

	if (!plan->n_actions || (first->resource == RES_JOB && job->delete_sent) || !send_may(op, job))
		return false;
	if (first->type == ACT_CREATE && resource_traits(first->resource)->of_replica)
		return creates_begin(op, job, plan, first->resource);
	if (first->type == ACT_CREATE || first->type == ACT_PATCH)
		return sole_write(op, job, first);
	for (; sent < plan->n_actions && send_may(op, job); sent++) {
		const struct action *a = &plan->actions[sent];

		if (a->type != first->type || a->resource != first->resource)
			break;
		ask_or_delete(op, job, a);
	}
	return sent > 0;
}

bool apply_plan(struct operator_loop *op, struct cached_job *job, const struct plan_input *in, const struct plan *plan)
{
	bool sent = false;

	(void)in;
	if (plan->write != CHANGE_NONE) {
		sent = write_status(op, job, plan->record, plan->write == CHANGE_DURABLE);
		if (plan->write == CHANGE_DURABLE) {
			/* Nothing may follow before it is written; if it cannot be written, look again later. */
			if (!sent)
				operator_retry(op, job, 0);
			return sent;
		}
	}
	sent |= act(op, job, plan);
	return sent;
}

void apply_adopt(struct operator_loop *op, const struct request_sent *p, const struct meta *found)
{
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *body = yyjson_mut_obj(doc), *meta, *labels;
	struct request_sent patch = *p;
	char number[24];

	meta = yyjson_mut_obj_add_obj(doc, body, "metadata");
	json_mut_put(doc, meta, STR("uid"), json_mut_str(doc, found->uid));
	json_mut_put(doc, meta, STR("resourceVersion"), json_mut_str(doc, found->rv));
	labels = yyjson_mut_obj_add_obj(doc, meta, "labels");
	json_mut_put(doc, labels, STR(LABEL_UID), json_mut_str(doc, p->job->meta.uid));
	json_mut_put(doc, labels, STR(LABEL_KIND), json_mut_str(doc, p->job->kind));
	json_mut_put(doc, labels, STR(LABEL_JOB), json_mut_str(doc, p->job->meta.name));
	if (resource_traits(p->resource)->of_replica) {
		json_mut_put(doc, labels, STR(LABEL_ROLE), json_mut_str(doc, p->role));
		snprintf(number, sizeof(number), "%d", p->index);
		json_mut_put(doc, labels, STR(LABEL_INDEX), json_mut_str(doc, str_c(number)));
	}
	if (p->resource == RES_POD) {
		snprintf(number, sizeof(number), "%lld", (long long)p->generation);
		json_mut_put(doc, labels, STR(LABEL_GENERATION), json_mut_str(doc, str_c(number)));
	}
	buf_clear(&op->body);
	json_write(body, &op->body);
	patch.purpose = FOR_LABELS;
	patch.uid = found->uid;
	send_request(op, &patch, VERB_PATCH, buf_str(&op->body));
}
