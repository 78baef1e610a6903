#include "operator/cache.h"
#include "operator/children.h"
#include "operator/copy.h"
#include "operator/versions.h"

enum { USUAL_GRACE = 30 };

/* UIDs that were deleted: no late event or answer brings them back. */

static struct gone_uid *find_gone(struct cache *c, struct str uid)
{
	uint64_t hash = str_hash(uid);

	for (size_t i = 0; i < MIN(c->n_gone, (size_t)GONE_KEPT); i++)
		if (c->gone[i].hash == hash)
			return &c->gone[i];
	return NULL;
}

bool cache_was_gone(struct cache *c, struct str uid)
{
	return find_gone(c, uid) != NULL;
}

void cache_remember_gone(struct cache *c, struct str uid)
{
	if (!find_gone(c, uid))
		c->gone[c->n_gone++ % GONE_KEPT] = (struct gone_uid){ str_hash(uid), c->sent };
}

/* Somebody who asked after we believed it gone found it: it had only lost our label. */
static void found_again(struct cache *c, struct str uid, uint64_t sent)
{
	struct gone_uid *g = find_gone(c, uid);

	if (g && sent > g->sent)
		*g = (struct gone_uid){ 0 };
}

void cache_changed_uid(struct cache *c, struct str uid)
{
	struct cached_job *job = str_empty(uid) ? NULL : map_get(&c->jobs_by_uid, uid);

	if (job)
		c->changed(c->cookie, job);
}

/* Jobs */

static char *job_key(struct str kind, struct str ns, struct str name, struct str *ret)
{
	char *p = xmalloc(kind.n + ns.n + name.n + 2);

	memcpy(p, kind.p, kind.n);
	p[kind.n] = ' ';
	if (ns.n)
		memcpy(p + kind.n + 1, ns.p, ns.n);
	p[kind.n + 1 + ns.n] = '/';
	memcpy(p + kind.n + ns.n + 2, name.p, name.n);
	*ret = (struct str){ p, kind.n + ns.n + name.n + 2 };
	return p;
}

struct cached_job *cache_job(const struct cache *c, struct str kind, struct str ns, struct str name)
{
	struct str key;
	char *p CLEANUP(freep) = job_key(kind, ns, name, &key);

	return map_get(&c->jobs, key);
}

void cached_job_free(struct cached_job *job)
{
	kind_job_free(job->parsed);
	if (job->source != job->doc)
		yyjson_doc_free(job->source);
	yyjson_doc_free(job->doc);
	free((char *)(uintptr_t)job->text.p);
	free(job->problem);
	arena_release(&job->arena);
	free((char *)(uintptr_t)job->parsed_rv.p);
	free(job->refusal_text);
	free(job->aux_refusal_text);
	free(job->creates.v);
	free((char *)(uintptr_t)job->meta.ns.p);
	free((char *)(uintptr_t)job->key.p);
	free(job);
}

static void forget_job(struct cache *c, struct cached_job *job)
{
	cache_remember_gone(c, job->meta.uid);
	map_del(&c->jobs, job->key);
	map_del(&c->jobs_by_uid, job->meta.uid);
	children_forget_gone(c, job->meta.uid);
	job->gone = true;
	c->drop_job(c->cookie, job);
}

static void fill_job(struct cached_job *job, const struct job_object *o)
{
	char *block;

	free((char *)(uintptr_t)job->meta.ns.p);
	copy_meta(&job->meta, &o->meta, &block);
	if (job->doc) {
		if (job->doc != job->source)
			yyjson_doc_free(job->doc);
		job->doc = copy_json(o->root);
	} else {
		free((char *)(uintptr_t)job->text.p);
		job->text = copy_text(o->root);
	}
	free(job->problem);
	job->problem = o->problem.n ? xstrndup(o->problem.p, o->problem.n) : NULL;
	job->phase = phase_parse(json_str(json_at(o->root, "status", "dlOperator", "phase", NULL)));
	job->delete_sent = job->delete_sent && !job->meta.deleted;
}

static struct job_list *job_list(struct cache *c, struct str kind)
{
	struct job_list *list = map_get(&c->job_lists, kind);

	if (!list) {
		list = xcalloc(1, sizeof(*list) + kind.n + 1);
		if (kind.n)
			memcpy(list->kind, kind.p, kind.n);
		map_put(&c->job_lists, (struct str){ list->kind, kind.n }, list);
	}
	return list;
}

/* The round that a job of this kind was last seen in: of its own lists and of those of all kinds. */
static uint64_t job_round(struct cache *c, struct str kind)
{
	return job_list(c, kind)->round + job_list(c, STR(""))->round;
}

static void put_job(struct cache *c, const struct job_object *o, enum origin from)
{
	struct str key;
	char *key_mem = job_key(o->kind, o->meta.ns, o->meta.name, &key);
	struct cached_job *job = map_get(&c->jobs, key);

	/* A late event of an earlier job of that name. */
	if (job && !str_eq(job->meta.uid, o->meta.uid) && versions_older(job->meta.rv, o->meta.rv))
		cache_remember_gone(c, o->meta.uid);
	if (job && !str_eq(job->meta.uid, o->meta.uid)) {
		if (cache_was_gone(c, o->meta.uid)) {
			free(key_mem);
			return;
		}
		forget_job(c, job);
		job = NULL;
	}
	if (!job) {
		if (cache_was_gone(c, o->meta.uid)) {
			free(key_mem);
			return;
		}
		job = xcalloc(1, sizeof(*job));
		job->key = key;
		job->kind = str_sub(key, 0, o->kind.n);
		job->creates.window = 1;
		versions_start(&job->versions, from);
		fill_job(job, o);
		map_put(&c->jobs, job->key, job);
		map_put(&c->jobs_by_uid, job->meta.uid, job);
		c->changed(c->cookie, job);
	} else {
		free(key_mem);
		if (versions_take(&job->versions, job->meta.rv, o->meta.rv, from)) {
			map_del(&c->jobs_by_uid, job->meta.uid);
			fill_job(job, o);
			map_put(&c->jobs_by_uid, job->meta.uid, job);
			c->changed(c->cookie, job);
		}
	}
	if (from == FROM_LIST)
		job->versions.mark = job_round(c, job->kind);
}

static void sweep_jobs(struct cache *c, struct str kind)
{
	VEC(struct cached_job *) missing = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(&c->jobs, &at, NULL, &value);) {
		struct cached_job *job = value;

		if (job->versions.mark != job_round(c, job->kind) && (str_empty(kind) || str_eq(kind, job->kind)))
			*vec_push(&a, &missing) = job;
	}
	for (size_t i = 0; i < missing.n; i++) {
		if (missing.v[i]->versions.ahead) {
			missing.v[i]->versions.unsure = true;
			c->changed(c->cookie, missing.v[i]);
		} else {
			forget_job(c, missing.v[i]);
		}
	}
	arena_release(&a);
}

/* Nodes */

static void nodes_changed(struct cache *c)
{
	void *value;

	c->fleet_stale = true;
	for (size_t at = 0; map_next(&c->jobs, &at, NULL, &value);) {
		struct cached_job *job = value;
		struct children *ch = cache_children(c, job->meta.uid);

		if (ch && ch->n_pods)
			c->changed(c->cookie, job);
	}
}

static void drop_node(struct cache *c, struct cached_node *n)
{
	c->nodes_missed -= n->node.gone;
	map_del(&c->nodes, n->node.name);
	free(n);
	nodes_changed(c);
}

static struct cached_node *add_node(struct cache *c, const struct node *node)
{
	struct cached_node *n = xcalloc(1, sizeof(*n) + node->name.n + 1);

	memcpy(n->name, node->name.p, node->name.n);
	n->node = *node;
	n->node.name = (struct str){ n->name, node->name.n };
	map_put(&c->nodes, n->node.name, n);
	return n;
}

static void put_node(struct cache *c, const struct node *node)
{
	struct cached_node *n = map_get(&c->nodes, node->name);
	struct str name;

	if (!n) {
		n = add_node(c, node);
		nodes_changed(c);
	} else if (n->node.ready != node->ready || n->node.since != node->since || n->node.gone ||
	           n->node.out_of_service != node->out_of_service) {
		c->nodes_missed -= n->node.gone;
		name = n->node.name;
		n->node = *node;
		n->node.name = name;
		nodes_changed(c);
	}
	n->mark = c->round[RES_NODE];
}

static void sweep_nodes(struct cache *c, bool missed_only)
{
	VEC(struct cached_node *) missing = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(&c->nodes, &at, NULL, &value);) {
		struct cached_node *n = value;

		if (missed_only ? n->node.gone : n->mark != c->round[RES_NODE] && !n->node.gone)
			*vec_push(&a, &missing) = n;
	}
	for (size_t i = 0; i < missing.n; i++)
		drop_node(c, missing.v[i]);
	arena_release(&a);
}

void cache_node_missing(struct cache *c, struct str name)
{
	struct cached_node *n = map_get(&c->nodes, name);

	if (n && n->node.gone)
		return;
	if (n)
		drop_node(c, n);
	if (c->nodes_missed >= NODES_MISSED_MAX)
		sweep_nodes(c, true);
	add_node(c, &(struct node){ .name = name, .gone = true });
	c->nodes_missed++;
	nodes_changed(c);
}

const struct fleet *cache_fleet(struct cache *c)
{
	void *value;

	c->fleet.nodes = &c->nodes;
	if (!c->fleet_stale)
		return &c->fleet;
	c->fleet.total = c->fleet.not_ready = 0;
	for (size_t at = 0; map_next(&c->nodes, &at, NULL, &value);) {
		const struct node *n = value;

		if (n->gone || n->out_of_service)
			continue;
		c->fleet.total++;
		c->fleet.not_ready += !n->ready;
	}
	c->fleet_stale = false;
	return &c->fleet;
}

/* Events and answers */

static void put(struct cache *c, const struct object *o, enum origin from)
{
	switch (o->resource) {
	case RES_JOB:
		put_job(c, o->job, from);
		break;
	case RES_POD:
		children_put_pod(c, o->pod, from);
		break;
	case RES_SERVICE:
	case RES_GROUP:
		children_put_other(c, o, from);
		break;
	case RES_NODE:
		put_node(c, o->node);
		break;
	case RES_COUNT:
		BUG("no resource");
	}
}

static void gone(struct cache *c, const struct object *o)
{
	struct cached_job *job;
	struct cached_node *node;

	switch (o->resource) {
	case RES_JOB:
		job = map_get(&c->jobs_by_uid, o->job->meta.uid);
		if (job)
			forget_job(c, job);
		else
			cache_remember_gone(c, o->job->meta.uid);
		break;
	case RES_POD:
		children_pod_gone(c, o->pod);
		break;
	case RES_SERVICE:
	case RES_GROUP:
		children_other_gone(c, o);
		break;
	case RES_NODE:
		/* Whether it is really gone the plan wants to hear from a GET. */
		node = map_get(&c->nodes, o->node->name);
		if (node && !node->node.gone)
			drop_node(c, node);
		break;
	case RES_COUNT:
		BUG("no resource");
	}
}

static void listed(struct cache *c, enum resource r, struct str kind)
{
	if (r == RES_JOB) {
		job_list(c, kind)->in_list = false;
		job_list(c, kind)->synced = true;
	} else {
		c->in_list[r] = false;
		c->synced[r] = true;
	}
	switch (r) {
	case RES_JOB:
		sweep_jobs(c, kind);
		break;
	case RES_POD:
		children_sweep_pods(c);
		break;
	case RES_SERVICE:
	case RES_GROUP:
		children_sweep_others(c, r);
		break;
	case RES_NODE:
		sweep_nodes(c, false);
		break;
	case RES_COUNT:
		BUG("no resource");
	}
}

static bool in_list(struct cache *c, const struct object *o)
{
	if (o->resource != RES_JOB)
		return c->in_list[o->resource];
	return job_list(c, o->job->kind)->in_list || job_list(c, STR(""))->in_list;
}

void cache_event(struct cache *c, const struct cluster_event *ev)
{
	switch (ev->type) {
	case EVENT_SYNC:
		if (ev->resource == RES_JOB) {
			job_list(c, ev->kind)->round++;
			job_list(c, ev->kind)->in_list = true;
			break;
		}
		c->round[ev->resource]++;
		c->in_list[ev->resource] = true;
		break;
	case EVENT_PUT:
		put(c, &ev->object, in_list(c, &ev->object) ? FROM_LIST : FROM_WATCH);
		break;
	case EVENT_GONE:
		gone(c, &ev->object);
		break;
	case EVENT_SYNCED:
		listed(c, ev->resource, ev->kind);
		break;
	case EVENT_OUTCOME:
		BUG("an outcome is no event of a watch");
	}
}

void cache_answer(struct cache *c, const struct object *o, uint64_t sent)
{
	if (o->pod || o->service || o->group)
		found_again(c, child_meta(o)->uid, sent);
	put(c, o, FROM_ANSWER);
}

void cache_missing(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid)
{
	struct cached_pod *pod;
	struct cached_child *child;
	struct cached_job *job;

	switch (resource) {
	case RES_JOB:
		job = map_get(&c->jobs_by_uid, uid);
		if (job)
			forget_job(c, job);
		break;
	case RES_POD:
		pod = cache_pod(c, ns, name);
		if (pod && str_eq(pod->pod->meta.uid, uid))
			children_bury_pod(c, pod);
		break;
	case RES_SERVICE:
	case RES_GROUP:
		child = cache_child(c, resource, ns, name);
		if (child && str_eq(cached_child_meta(child)->uid, uid))
			children_drop_other(c, child);
		break;
	case RES_NODE:
	case RES_COUNT:
		BUG("not for nodes");
	}
}

void cache_deleting(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid, msec now,
                    bool force)
{
	struct cached_pod *pod = resource == RES_POD ? cache_pod(c, ns, name) : NULL;
	struct cached_child *child = resource == RES_POD ? NULL : cache_child(c, resource, ns, name);
	struct meta *m = pod ? &pod->pod->meta : child ? cached_child_meta(child) : NULL;

	/* What the server says of it comes with the next event; this is about what it will be. */
	if (m && str_eq(m->uid, uid) && (force || !m->deleted)) {
		m->grace = force ? 0 : USUAL_GRACE;
		m->deleted = now + SECONDS(m->grace);
	}
}

static bool all_listed(const struct cache *c)
{
	const struct job_list *all = map_get(&c->job_lists, STR(""));

	return all && all->synced;
}

bool cache_ready(const struct cache *c, size_t kinds, bool nodes, bool groups)
{
	size_t listed = 0;
	bool jobs;
	void *value;

	for (size_t at = 0; map_next(&c->job_lists, &at, NULL, &value);)
		listed += ((const struct job_list *)value)->synced && ((const struct job_list *)value)->kind[0];
	jobs = (kinds && listed >= kinds) || all_listed(c);
	return jobs && c->synced[RES_POD] && c->synced[RES_SERVICE] && (!nodes || c->synced[RES_NODE]) &&
	       (!groups || c->synced[RES_GROUP]);
}

void cache_release(struct cache *c)
{
	void *value;

	for (size_t at = 0; map_next(&c->job_lists, &at, NULL, &value);)
		free(value);
	map_release(&c->job_lists);
	for (size_t at = 0; map_next(&c->jobs, &at, NULL, &value);)
		cached_job_free(value);
	for (size_t at = 0; map_next(&c->nodes, &at, NULL, &value);)
		free(value);
	children_release(c);
	map_release(&c->jobs);
	map_release(&c->jobs_by_uid);
	map_release(&c->nodes);
}
