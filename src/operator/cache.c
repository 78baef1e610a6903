#include "operator/cache.h"
#include "operator/children.h"
#include "operator/copy.h"
#include "operator/requests.h"
#include "operator/unread.h"
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

bool cache_gone_since(struct cache *c, struct str uid, uint64_t sent)
{
	const struct gone_uid *g = find_gone(c, uid);

	return g && sent <= g->sent;
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

void cache_left(struct cache *c, enum resource resource, const struct meta *m)
{
	if (c->left)
		c->left(c->cookie, resource, m->ns, m->name);
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
	str_free(job->text);
	free(job->problem);
	arena_release(&job->arena);
	str_free(job->parsed_rv);
	refused_release(job);
	free(job->creates.v);
	ask_forget(job);
	for (size_t i = 0; i < job->n_doubts; i++)
		requests_done(&job->doubts[i]);
	free(job->doubts);
	str_free(job->meta.ns);
	str_free(job->key);
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

/* An edit raises the generation, unless it is of an annotation. */
static uint64_t edit_hash(yyjson_val *root)
{
	yyjson_val *generation = json_at(root, "metadata", "generation", NULL),
		   *notes = json_at(root, "metadata", "annotations", NULL);
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	uint64_t hash;

	if (generation)
		json_write_val(generation, &b);
	buf_putc(&b, '\n');
	if (notes)
		json_write_val(notes, &b);
	hash = str_hash(buf_str(&b));
	buf_release(&b);
	return hash;
}

static void fill_job(struct cached_job *job, const struct job_object *o)
{
	uint64_t hash = edit_hash(o->root);
	char *block;

	job->edited = job->edited || hash != job->edit_hash;
	job->edit_hash = hash;

	str_free(job->meta.ns);
	copy_meta(&job->meta, &o->meta, &block);
	if (job->doc) {
		if (job->doc != job->source)
			yyjson_doc_free(job->doc);
		job->doc = copy_tree(o);
	} else {
		str_free(job->text);
		job->text = copy_text(o->root);
	}
	free(job->problem);
	job->problem = o->problem.n ? xstrndup(o->problem.p, o->problem.n) : NULL;
	job->phase = phase_parse(json_str(json_at(o->root, "status", "dlOperator", "phase", NULL)));
	job->delete_sent = job->delete_sent && !job->meta.deleted;
}

static struct cache_list *job_list(struct cache *c, struct str kind)
{
	struct cache_list *list = map_get(&c->job_lists, kind);

	if (!list) {
		list = xcalloc(1, sizeof(*list) + kind.n + 1);
		if (kind.n)
			memcpy(list->kind, kind.p, kind.n);
		map_put(&c->job_lists, (struct str){ list->kind, kind.n }, list);
	}
	return list;
}

uint64_t cache_job_round(struct cache *c, struct str kind)
{
	return job_list(c, kind)->round + job_list(c, STR(""))->round;
}

static void put_job(struct cache *c, const struct job_object *o, enum version_origin from)
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
	if (from == VERSION_FROM_LIST)
		job->versions.mark = cache_job_round(c, job->kind);
}

static void sweep_jobs(struct cache *c, struct str kind, bool blind)
{
	VEC(struct cached_job *) missing = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(&c->jobs, &at, NULL, &value);) {
		struct cached_job *job = value;

		if (job->versions.mark != cache_job_round(c, job->kind) && (str_empty(kind) || str_eq(kind, job->kind)))
			*vec_push(&a, &missing) = job;
	}
	for (size_t i = 0; i < missing.n; i++) {
		if (missing.v[i]->versions.ahead || blind) {
			versions_doubt(&missing.v[i]->versions, c->sent);
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

		if (ch && ch->n[RES_POD])
			c->changed(c->cookie, job);
	}
}

void cache_drop_node(struct cache *c, struct cached_node *n)
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
	n->node.since = node->ready ? 0 : c->now;
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
	} else if (n->node.ready != node->ready || n->node.unreachable != node->unreachable || n->node.gone ||
	           n->node.out_of_service != node->out_of_service) {
		/* Two clocks are not compared: it is not ready since we have seen it so. */
		msec since = n->node.ready || n->node.gone ? c->now : n->node.since;

		c->nodes_missed -= n->node.gone;
		name = n->node.name;
		n->node = *node;
		n->node.name = name;
		n->node.since = node->ready ? 0 : since;
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
		cache_drop_node(c, missing.v[i]);
	arena_release(&a);
}

void cache_node_missing(struct cache *c, struct str name)
{
	struct cached_node *n = map_get(&c->nodes, name);

	if (n && n->node.gone)
		return;
	if (n)
		cache_drop_node(c, n);
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

static void put_object(struct cache *c, const struct object *o, enum version_origin from)
{
	if (resource_is_child(o->resource))
		children_put(c, o, from);
	else if (o->resource == RES_JOB)
		put_job(c, o->job, from);
	else
		put_node(c, o->node);
}

static void gone(struct cache *c, const struct object *o)
{
	struct cached_job *job;
	struct cached_node *node;

	if (resource_is_child(o->resource)) {
		children_gone(c, o);
		cache_left(c, o->resource, &object_child(o)->meta);
	} else if (o->resource == RES_JOB) {
		job = map_get(&c->jobs_by_uid, o->job->meta.uid);
		if (job)
			forget_job(c, job);
		else
			cache_remember_gone(c, o->job->meta.uid);
	} else {
		/* Whether it is really gone the plan wants to hear from a GET. */
		node = map_get(&c->nodes, o->node->name);
		if (node && !node->node.gone)
			cache_drop_node(c, node);
	}
}

static void begin_list(struct cache *c, enum resource r, struct str kind)
{
	if (r == RES_JOB) {
		job_list(c, kind)->round++;
		job_list(c, kind)->in_list = true;
		job_list(c, kind)->blind = false;
	} else {
		c->round[r]++;
		c->in_list[r] = true;
		c->blind[r] = false;
	}
}

static void listed(struct cache *c, enum resource r, struct str kind)
{
	if (r == RES_JOB) {
		job_list(c, kind)->in_list = false;
		job_list(c, kind)->synced = true;
		sweep_jobs(c, kind, job_list(c, kind)->blind);
		return;
	}
	c->in_list[r] = false;
	c->synced[r] = true;
	if (resource_is_child(r))
		children_sweep(c, r);
	else if (!c->blind[RES_NODE])
		sweep_nodes(c, false);
}

static bool in_list(struct cache *c, enum resource r, struct str kind)
{
	if (r != RES_JOB)
		return c->in_list[r];
	return job_list(c, kind)->in_list || job_list(c, STR(""))->in_list;
}

static enum version_origin origin_of(struct cache *c, const struct object *o)
{
	return in_list(c, o->resource, object_kind(o)) ? VERSION_FROM_LIST : VERSION_FROM_WATCH;
}

/* Something is there that nobody can name: none of those that are missing in this list is known to be gone. */
static void be_blind(struct cache *c, enum resource r, struct str kind)
{
	if (r != RES_JOB)
		c->blind[r] = true;
	else
		job_list(c, kind)->blind = job_list(c, STR(""))->blind = true;
}

void cache_event(struct cache *c, const struct cluster_event *ev)
{
	switch (ev->type) {
	case EVENT_SYNC:
		begin_list(c, ev->resource, ev->kind);
		break;
	case EVENT_PUT:
		put_object(c, &ev->object, origin_of(c, &ev->object));
		break;
	case EVENT_SKIPPED:
		if (ev->skipped.meta.name.n)
			unread_skipped(c, ev->resource, ev->kind, &ev->skipped, in_list(c, ev->resource, ev->kind));
		else
			be_blind(c, ev->resource, ev->kind);
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

/* Of what is known of that very object; NULL: nothing is. */
static struct versions *versions_of(const struct cache *c, const struct object *o)
{
	struct cached_child *ch;
	struct cached_job *job;
	const struct meta *m;

	if (resource_is_child(o->resource)) {
		m = &object_child(o)->meta;
		ch = cache_child_of(c, o->resource, m->ns, m->name, m->uid);
		return ch ? &ch->versions : NULL;
	}
	if (o->resource != RES_JOB)
		return NULL;
	job = map_get(&c->jobs_by_uid, o->job->meta.uid);
	return job ? &job->versions : NULL;
}

void cache_answer(struct cache *c, const struct object *o, uint64_t sent)
{
	struct versions *v = versions_of(c, o);
	/* What was asked before the doubt does not end it. */
	bool doubted = v && v->unsure && sent <= v->sent;
	uint64_t before = doubted ? v->sent : 0;

	if (object_child(o))
		found_again(c, object_child(o)->meta.uid, sent);
	put_object(c, o, VERSION_FROM_ANSWER);
	v = versions_of(c, o);
	if (v && doubted)
		versions_doubt(v, before);
}

void cache_missing(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid)
{
	struct cached_child *child;
	struct cached_job *job;

	ASSERT(resource == RES_JOB || resource_is_child(resource));
	if (resource == RES_JOB) {
		job = map_get(&c->jobs_by_uid, uid);
		if (job)
			forget_job(c, job);
		return;
	}
	child = cache_child_of(c, resource, ns, name, uid);
	if (child)
		children_bury(c, child);
}

void cache_doubt(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid)
{
	struct cached_child *child = cache_child_of(c, resource, ns, name, uid);

	if (child && !cached_child_gone(child))
		versions_doubt(&child->versions, c->sent);
}

void cache_deleting(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid, msec now,
                    bool force)
{
	struct cached_child *child = cache_child_of(c, resource, ns, name, uid);
	struct meta *m = child ? cached_child_meta(child) : NULL;

	/* What the server says of it comes with the next event; this is about what it will be. */
	if (m && (force || !m->deleted)) {
		m->grace = force ? 0 : USUAL_GRACE;
		m->deleted = now + SECONDS(m->grace);
	}
}

void cache_undeleted(struct cache *c, enum resource resource, struct str ns, struct str name, struct str uid)
{
	struct cached_child *child = cache_child_of(c, resource, ns, name, uid);

	if (child)
		plan_undeleted(&child->child->undeleted, c->now);
}

static bool is_synced(const struct cache *c, struct str kind)
{
	const struct cache_list *list = map_get(&c->job_lists, kind);

	return list && list->synced;
}

bool cache_listed(const struct cache *c, enum resource r, struct str kind)
{
	return r == RES_JOB ? is_synced(c, kind) || is_synced(c, STR("")) : c->synced[r];
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
