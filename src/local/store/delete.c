#include "local/store/delete.h"

#include "local/store/answer.h"
#include "local/store/gc.h"
#include "local/store/meta.h"
#include "local/store/object.h"
#include "local/store/types.h"

enum { POD_GRACE = 30 };

static bool refuse_options(struct store_call *c, const char *field, const char *why)
{
	return answer_refusal(c, HTTP_INVALID, "Invalid", "DeleteOptions.meta.k8s.io \"\" is invalid: %s: %s", field,
	                      why);
}

static bool read_policy(struct store_call *c, yyjson_val *root, struct delete_wish *ret)
{
	yyjson_val *policy = json_get(root, "propagationPolicy");
	struct str text = json_str(policy);

	ret->orphan = yyjson_is_true(json_get(root, "orphanDependents")) || str_eqc(text, "Orphan");
	if (policy && !yyjson_is_null(policy) && !str_eqc(text, "Orphan") && !str_eqc(text, "Background") &&
	    !str_eqc(text, "Foreground"))
		return refuse_options(c, "propagationPolicy", "must be one of Foreground, Background, Orphan");
	return true;
}

static bool check_preconditions(struct store_call *c, yyjson_val *root, const struct db_row *row)
{
	yyjson_val *conditions = json_get(root, "preconditions");
	struct str uid = json_str(json_get(conditions, "uid")), rv = json_str(json_get(conditions, "resourceVersion"));
	char now[24];

	snprintf(now, sizeof(now), "%llu", (unsigned long long)row->rv);
	if (uid.n && !str_eq(uid, row->uid))
		return answer_conflict(
			c, row->name,
			"the UID in the precondition (%.*s) does not match the UID in record (%.*s). The object "
			"might have been deleted and then recreated",
			STR_F(str_sub(uid, 0, 256)), STR_F(row->uid));
	if (rv.n && !str_eqc(rv, now))
		return answer_conflict(
			c, row->name,
			"the ResourceVersion in the precondition (%.*s) does not match the ResourceVersion in "
			"record (%s). The object might have been modified",
			STR_F(str_sub(rv, 0, 256)), now);
	return true;
}

bool delete_read_options(struct store_call *c, struct delete_wish *ret, const struct db_row *row)
{
	struct err e = ERR_INIT;
	yyjson_val *root, *grace;
	yyjson_doc *doc;

	*ret = (struct delete_wish){ .grace = -1 };
	if (str_empty(c->r->body))
		return true;
	doc = store_parse(c->s, c->r->body, &e);
	root = yyjson_doc_get_root(doc);
	if (!doc || !yyjson_is_obj(root)) {
		answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "the options are no JSON object%s%s", doc ? "" : ": ",
		               doc ? "" : err_msg(&e));
		err_release(&e);
		return false;
	}
	grace = json_get(root, "gracePeriodSeconds");
	if (grace && !yyjson_is_null(grace)) {
		if (!json_int(grace, &ret->grace))
			return refuse_options(c, "gracePeriodSeconds", "must be a whole number");
		/* As Kubernetes: less than nothing is a second. */
		if (ret->grace < 0)
			ret->grace = 1;
	}
	ret->grace = MIN(ret->grace, (int64_t)INT32_MAX);
	if (yyjson_arr_size(json_get(root, "dryRun")))
		c->dry_run = true;
	return read_policy(c, root, ret) && (!row || check_preconditions(c, root, row));
}

bool delete_allowed(struct store_call *c, const struct db_row *row)
{
	if (str_eq(c->type->resource, RES_NAMESPACES) && str_eqc(row->name, "default"))
		return answer_refusal(c, HTTP_FORBIDDEN, "Forbidden",
		                      "namespaces \"default\" is forbidden: this namespace may not be deleted");
	return true;
}

/* How long whoever runs the pod may take; 0: nobody runs it. */
static int64_t pod_grace(yyjson_val *pod, const struct delete_wish *o)
{
	struct str phase = json_str(json_at(pod, "status", "phase", NULL));
	int64_t grace = o->grace;

	if (str_empty(json_str(json_at(pod, "spec", "nodeName", NULL))) || str_eqc(phase, "Succeeded") ||
	    str_eqc(phase, "Failed"))
		return 0;
	if (grace < 0 && !json_int(json_at(pod, "spec", "terminationGracePeriodSeconds", NULL), &grace))
		grace = POD_GRACE;
	return MAX(grace, (int64_t)0);
}

/* Says on the object that it is being deleted, and until when. */
static void put_deletion(yyjson_mut_doc *doc, const struct db_row *row, yyjson_val *before, msec at, int64_t grace)
{
	yyjson_mut_val *meta = meta_of(doc);
	int64_t generation;

	meta_put_time(doc, meta, "deletionTimestamp", at);
	meta_put_int(doc, meta, "deletionGracePeriodSeconds", grace);
	if (!row->deleting && json_int(json_at(before, "metadata", "generation", NULL), &generation))
		meta_put_int(doc, meta, "generation", generation + 1);
}

/* It is marked already, and stays for its finalizers. */
static bool keep_marked(struct store_call *c, const struct db_row *row, yyjson_val *before, yyjson_mut_doc *doc,
                        struct delete_done *ret)
{
	ret->text = object_put(c, row, before, doc);
	ret->rv = c->s->version;
	return ret->text.n;
}

static bool mark(struct store_call *c, const struct db_row *row, yyjson_val *before, yyjson_mut_doc *doc, msec at,
                 int64_t grace, struct delete_done *ret)
{
	put_deletion(doc, row, before, at, grace);
	if (c->type->rules->drained) {
		if (str_eq(c->type->resource, RES_NAMESPACES))
			meta_put_str(doc, meta_put_obj(doc, yyjson_mut_doc_get_root(doc), "status"), "phase",
			             STR("Terminating"));
		c->s->draining = true;
		store_untidy(c->s);
	}
	return keep_marked(c, row, before, doc, ret);
}

static bool stays_as_it_is(const struct db_row *row, struct delete_done *ret)
{
	ret->text = row->text;
	ret->rv = row->rv;
	return true;
}

/* A pod that runs. It is marked, or its grace becomes shorter; *ENDS if there is none left. */
static bool delete_gracefully(struct store_call *c, const struct db_row *row, yyjson_val *before, yyjson_mut_doc *doc,
                              const struct delete_wish *o, struct delete_done *ret, bool *ends)
{
	int64_t had = 0, grace = pod_grace(before, o);
	msec at = store_now(c->s) + SECONDS(grace), was;

	*ends = false;
	if (row->deleting) {
		json_int(json_at(before, "metadata", "deletionGracePeriodSeconds", NULL), &had);
		if (had > 0 && (o->grace < 0 || o->grace >= had))
			return stays_as_it_is(row, ret);
		if (had > 0 && time_parse(json_str(json_at(before, "metadata", "deletionTimestamp", NULL)), &was))
			at = was - SECONDS(had) + SECONDS(o->grace);
		grace = had > 0 ? o->grace : 0;
	}
	if (grace > 0)
		return mark(c, row, before, doc, at, grace, ret);
	/* Whoever sees it go sees when that was asked for. */
	if (!row->deleting || had > 0)
		put_deletion(doc, row, before, at, 0);
	*ends = true;
	return true;
}

bool store_delete_object(struct store_call *c, const struct db_row *row, const struct delete_wish *o,
                         struct delete_done *ret)
{
	yyjson_val *before = store_tree(c->s, row->text);
	yyjson_mut_doc *doc = store_mut(c->s);
	bool ends = true;

	*ret = (struct delete_done){ 0 };
	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, before));
	if (o->orphan)
		gc_orphan(c, row->uid);
	if (c->type->rules->graceful && !delete_gracefully(c, row, before, doc, o, ret, &ends))
		return false;
	if (!ends)
		return true;
	if (object_has_finalizers(before) || c->type->rules->drained) {
		int64_t grace = 0;

		json_int(json_at(before, "metadata", "deletionGracePeriodSeconds", NULL), &grace);
		if (row->deleting && grace == 0)
			return stays_as_it_is(row, ret);
		return c->type->rules->graceful ? keep_marked(c, row, before, doc, ret)
		                                : mark(c, row, before, doc, store_now(c->s), 0, ret);
	}
	ret->text = object_remove(c->s, c->type, row, before, doc);
	ret->rv = c->s->version;
	ret->removed = true;
	return true;
}

bool store_verb_delete(struct store_call *c)
{
	struct delete_wish o;
	struct delete_done done;
	struct db_row row;

	if (!db_get(c->s->db, c->type->resource, c->type->pub.namespaced ? c->r->ns : STR_NONE, c->r->name, &row,
	            &c->s->arena))
		return answer_not_found(c, c->r->name);
	if (!delete_read_options(c, &o, &row) || !delete_allowed(c, &row) || !store_delete_object(c, &row, &o, &done))
		return false;
	if (done.removed && !c->type->rules->answers_object)
		return answer_deleted(c, &row);
	return answer_object(c, HTTP_OK, done.text, done.rv);
}
