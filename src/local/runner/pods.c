#include "local/runner/pods.h"

#include "base/list.h"
#include "local/runner/companion.h"
#include "local/runner/process.h"
#include "local/runner/requests.h"
#include "local/runner/units.h"

#include <unistd.h>

static char *copy(struct str s)
{
	return xstrndup(str_text(s), s.n);
}

struct runner_pod *pods_add(struct runner *r, struct str uid, struct str ns, struct str name)
{
	struct runner_pod *p = xcalloc(1, sizeof(*p));
	struct str folder = arena_printf(&r->round, "%.*s/pods/%.*s", STR_F(r->folder), STR_F(uid));

	p->runner = r;
	p->uid = copy(uid);
	p->ns = copy(ns);
	p->name = copy(name);
	p->folder = copy(folder);
	p->pidfd = p->wd = p->netns = p->own_name = -1;
	map_put(&r->pods, str_c(p->uid), p);
	p->prev = r->last_pod;
	*(r->last_pod ? &r->last_pod->next : &r->first_pod) = p;
	r->last_pod = p;
	return p;
}

yyjson_doc *doc_of_part(const char *key, yyjson_val *part)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_doc *ret;

	yyjson_mut_obj_add_val(doc, root, key, yyjson_val_mut_copy(doc, part));
	ret = yyjson_mut_val_imut_copy(root, NULL);
	ASSERT(ret);
	yyjson_mut_doc_free(doc);
	return ret;
}

void pods_slim(struct runner_pod *p)
{
	yyjson_doc *whole = p->object;

	if (p->slim || !whole)
		return;
	p->slim = true;
	p->object = doc_of_part("metadata", json_get(pod_object(p), "metadata"));
	yyjson_doc_free(whole);
	free(p->told);
	p->told = NULL;
	p->n_told = 0;
}

void pods_drop(struct runner *r, struct runner_pod *p)
{
	ASSERT(p->stage != RUN_LIVES);
	process_forget(r, p);
	companion_release(p);
	map_del(&r->pods, str_c(p->uid));
	if (r->look_next == p)
		r->look_next = p->next;
	deque_drop(&r->first_pod, &r->last_pod, p);
	r->fit_due = true;
	yyjson_doc_free(p->object);
	free(p->told);
	free(p->uid);
	free(p->ns);
	free(p->name);
	free(p->folder);
	free(p);
}

void pods_set_stage(struct runner *r, struct runner_pod *p, enum runner_stage s)
{
	if (p->stage == s)
		return;
	r->living += s == RUN_LIVES;
	r->living -= p->stage == RUN_LIVES;
	p->stage = s;
	r->fit_due = true;
	if (s == RUN_ENDED)
		companion_release(p);
}

bool pods_is_deleting(const struct runner_pod *p)
{
	return !str_empty(json_str(json_at(pod_object(p), "metadata", "deletionTimestamp", NULL)));
}

static bool is_over(yyjson_val *object)
{
	struct str phase = json_str(json_at(object, "status", "phase", NULL));

	return str_eqc(phase, "Succeeded") || str_eqc(phase, "Failed");
}

static enum runner_stage first_stage(const struct runner *r, yyjson_val *object)
{
	struct str node = json_str(json_at(object, "spec", "nodeName", NULL));

	if (node.n && !str_eq(node, r->node))
		return RUN_FOREIGN;
	if (is_over(object))
		return RUN_ENDED;
	return node.n ? RUN_BOUND : RUN_WAITS;
}

/* Only what we have written ourselves, when we bound it, is believed. */
static void read_gpus(struct runner_pod *p, yyjson_val *object)
{
	struct str text = json_str(json_at(object, "metadata", "annotations", ANNOTATION_GPUS, NULL));

	if (p->wants.gpus <= 0 || !gpus_parse(&p->gpus, text) || (int64_t)p->gpus.n != p->wants.gpus)
		p->gpus.n = 0;
}

static void take_new(struct runner *r, struct runner_pod *p)
{
	yyjson_val *object = pod_object(p);

	pods_set_stage(r, p, first_stage(r, object));
	r->fit_due = true;
	if (p->stage == RUN_FOREIGN)
		return;
	p->wants = requests_of_pod(json_get(object, "spec"));
	p->gpus_missed = r->c.without_gpus ? p->wants.gpus : 0;
	p->wants.gpus -= p->gpus_missed;
	if (p->stage == RUN_BOUND)
		read_gpus(p, object);
	p->unit = units_of(r, object);
	p->unit->pods++;
	if (!companion_is(p))
		p->unit->came = r->now;
	/* It had its place before we came, or somebody else gave it one; a companion needs none. */
	if (p->stage == RUN_BOUND && !companion_is(p))
		p->unit->admitted = true;
}

/* Somebody else may bind it, or end it. */
static void take_change(struct runner *r, struct runner_pod *p, yyjson_val *before)
{
	yyjson_val *object = pod_object(p);
	enum runner_stage s = first_stage(r, object);

	if (p->has_ip &&
	    !json_eq(json_at(before, "metadata", "labels", NULL), json_at(object, "metadata", "labels", NULL)))
		r->hosts_due = true;
	if (p->stage == RUN_WAITS && s != RUN_WAITS) {
		pods_set_stage(r, p, s);
		p->unit->admitted |= s == RUN_BOUND && !companion_is(p);
	}
	if (p->stage == RUN_BOUND && s == RUN_ENDED)
		pods_set_stage(r, p, s);
}

void pods_take(struct runner *r, yyjson_doc *object, enum store_change change)
{
	yyjson_val *meta = json_get(yyjson_doc_get_root(object), "metadata");
	struct str uid = json_str(json_get(meta, "uid"));
	struct runner_pod *p = map_get(&r->pods, uid);
	yyjson_doc *before;

	if (!p && change == STORE_DELETED) {
		yyjson_doc_free(object);
		return;
	}
	if (!p) {
		p = pods_add(r, uid, json_str(json_get(meta, "namespace")), json_str(json_get(meta, "name")));
		p->object = object;
		take_new(r, p);
		return;
	}
	before = p->object;
	p->object = object;
	p->slim = false;
	p->gone = change == STORE_DELETED;
	if (!p->gone)
		take_change(r, p, yyjson_doc_get_root(before));
	yyjson_doc_free(before);
}
