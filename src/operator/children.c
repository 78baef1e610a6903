/* Pods, services and PodGroups are kept alike. A pod has one thing more: its last state stays after its end, as long as
   its job is there, since it may tell how it ended. */
#include "operator/children.h"
#include "base/list.h"
#include "operator/copy.h"

/* What they have in common */

struct meta *cached_child_meta(const struct cached_child *ch)
{
	return &ch->child->meta;
}

struct replica_labels cached_child_replica(const struct cached_child *ch)
{
	return (struct replica_labels){ ch->child->role, ch->child->index };
}

bool cached_child_gone(const struct cached_child *ch)
{
	return ch->resource == RES_POD && ch->pod->gone;
}

/* Which job */

struct children *cache_children(const struct cache *c, struct str uid)
{
	return map_get(&c->children, uid);
}

static struct children *children_of(struct cache *c, struct str uid)
{
	struct children *of = cache_children(c, uid);

	if (!of) {
		of = xcalloc(1, sizeof(*of) + uid.n + 1);
		if (uid.n)
			memcpy(of + 1, uid.p, uid.n);
		of->uid = (struct str){ (char *)(of + 1), uid.n };
		map_put(&c->children, of->uid, of);
	}
	return of;
}

static void link_child(struct cache *c, struct cached_child *ch)
{
	struct children *of = children_of(c, ch->child->job_uid);

	ch->of = of;
	list_push(&of->first[ch->resource], ch);
	of->n[ch->resource]++;
	of->n_all++;
}

static void unlink_child(struct cache *c, struct cached_child *ch)
{
	struct children *of = ch->of;

	list_drop(&of->first[ch->resource], ch);
	of->n[ch->resource]--;
	if (--of->n_all)
		return;
	map_del(&c->children, of->uid);
	free(of);
}

/* By name */

static struct str child_key(struct str ns, struct str name)
{
	char *p = xmalloc(ns.n + name.n + 1);

	if (ns.n)
		memcpy(p, ns.p, ns.n);
	p[ns.n] = '/';
	memcpy(p + ns.n + 1, name.p, name.n);
	return (struct str){ p, ns.n + name.n + 1 };
}

struct cached_child *cache_child(const struct cache *c, enum resource r, struct str ns, struct str name)
{
	struct str key = child_key(ns, name);
	struct cached_child *ch = map_get(&c->by_name[r], key);

	str_free(key);
	return ch;
}

struct cached_child *cache_child_of(const struct cache *c, enum resource r, struct str ns, struct str name,
                                    struct str uid)
{
	struct cached_child *ch = cache_child(c, r, ns, name);

	return ch && str_eq(cached_child_meta(ch)->uid, uid) ? ch : NULL;
}

static void free_child(struct cached_child *ch)
{
	free(ch->child);
	str_free(ch->key);
	free(ch);
}

static void drop(struct cache *c, struct cached_child *ch)
{
	map_del(&c->by_name[ch->resource], ch->key);
	unlink_child(c, ch);
	free_child(ch);
}

/* What they are now */

/* A result counts if it was there before anybody asked for the pod's deletion, or stopped it in its place. The clocks
   of nodes are not the server's: what we have seen in that order is sure. */
static void keep_end(struct pod *pod, const struct pod *before)
{
	if (before) {
		pod->ended = before->ended;
		pod->ended_seen = before->ended_seen;
	}
	if (pod->meta.deleted || pod->disrupted)
		return;
	pod->ended |= pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
	for (size_t i = 0; i < pod->n_containers; i++) {
		const struct container *c = &pod->containers[i];

		if (!c->init && c->state == CONTAINER_TERMINATED && !c->comes_back)
			pod->ended_seen = MAX(pod->ended_seen, c->finished);
	}
}

static void keep_seen(const struct cache *c, struct pod *pod, const struct pod *before)
{
	if (before && !str_eq(before->meta.uid, pod->meta.uid))
		before = NULL;
	keep_end(pod, before);
	plan_pod_seen(pod, before, c->now);
}

/* FROM: a pod, a service, a PodGroup, as CH is. */
static void replace(struct cache *c, struct cached_child *ch, const struct child *from)
{
	struct cached_child before = *ch;
	bool moves = !str_eq(ch->child->job_uid, from->job_uid);

	if (moves) {
		cache_changed_uid(c, ch->child->job_uid);
		unlink_child(c, ch);
	}
	ch->child = copy_child(ch->resource, from);
	if (str_eq(before.child->meta.uid, from->meta.uid))
		ch->child->undeleted = before.child->undeleted;
	if (ch->resource == RES_POD)
		keep_seen(c, ch->pod, before.pod);
	free(before.child);
	if (moves)
		link_child(c, ch);
	cache_changed_uid(c, ch->child->job_uid);
}

static struct cached_child *add(struct cache *c, enum resource r, const struct child *from, enum version_origin origin)
{
	struct cached_child *ch = xcalloc(1, sizeof(*ch));

	ch->resource = r;
	ch->key = child_key(from->meta.ns, from->meta.name);
	ch->child = copy_child(ch->resource, from);
	if (ch->resource == RES_POD)
		keep_seen(c, ch->pod, NULL);
	versions_start(&ch->versions, origin);
	map_put(&c->by_name[ch->resource], ch->key, ch);
	link_child(c, ch);
	cache_changed_uid(c, ch->child->job_uid);
	return ch;
}

void children_put(struct cache *c, const struct object *o, enum version_origin from)
{
	const struct child *child = object_child(o);
	const struct meta *m = &child->meta;
	struct cached_child *ch = cache_child(c, o->resource, m->ns, m->name);
	const struct meta *had = ch ? cached_child_meta(ch) : NULL;
	bool one = ch && str_eq(had->uid, m->uid), was_unsure = ch && ch->versions.unsure;

	/* A late event of an earlier one of that name. */
	if (ch && !one && versions_older(had->rv, m->rv))
		cache_remember_gone(c, m->uid);
	if ((!one || cached_child_gone(ch)) && cache_was_gone(c, m->uid))
		return;
	if (!ch) {
		ch = add(c, o->resource, child, from);
	} else if (!one || cached_child_gone(ch)) {
		if (!one)
			cache_remember_gone(c, had->uid);
		versions_start(&ch->versions, from);
		replace(c, ch, child);
	} else if (versions_take(&ch->versions, had->rv, m->rv, from)) {
		replace(c, ch, child);
	} else if (was_unsure && !ch->versions.unsure) {
		cache_changed_uid(c, ch->child->job_uid);
	}
	if (from == VERSION_FROM_LIST)
		ch->versions.mark = c->round[o->resource];
}

struct versions *children_put_unread(struct cache *c, enum resource r, const struct skipped *s)
{
	/* As large as the largest of them; of what is not known all is zero. */
	union {
		struct child child;
		struct pod pod;
		struct service service;
		struct group group;
	} blank;
	struct cached_child *ch = cache_child(c, r, s->meta.ns, s->meta.name);

	memset(&blank, 0, sizeof(blank));
	blank.child.meta = (struct meta){ .ns = s->meta.ns, .name = s->meta.name, .uid = s->meta.uid };
	blank.child.job_uid = s->job_uid;
	blank.child.index = -1;
	if (!ch) {
		ch = add(c, r, &blank.child, VERSION_FROM_WATCH);
	} else {
		cache_remember_gone(c, cached_child_meta(ch)->uid);
		versions_start(&ch->versions, VERSION_FROM_WATCH);
		replace(c, ch, &blank.child);
	}
	versions_doubt(&ch->versions, c->sent);
	return &ch->versions;
}

/* Their end */

void children_bury(struct cache *c, struct cached_child *ch)
{
	const struct meta *m = cached_child_meta(ch);
	struct cached_job *job = map_get(&c->jobs_by_uid, ch->child->job_uid);

	cache_remember_gone(c, m->uid);
	cache_changed_uid(c, ch->child->job_uid);
	cache_left(c, ch->resource, m);
	if (ch->resource == RES_POD && job) {
		ch->versions.unsure = false;
		ch->pod->gone = true;
		return;
	}
	/* What we have asked for is no loss. */
	if (job && !m->deleted)
		plan_lost(&job->losses, c->now);
	drop(c, ch);
}

void children_gone(struct cache *c, const struct object *o)
{
	const struct child *child = object_child(o);
	const struct meta *m = &child->meta;
	struct cached_child *ch = cache_child_of(c, o->resource, m->ns, m->name, m->uid);

	if (!ch) {
		cache_remember_gone(c, m->uid);
		return;
	}
	if (cached_child_gone(ch))
		return;
	/* Without a deletionTimestamp it may only have lost our label. */
	if (!m->deleted && !cached_child_meta(ch)->deleted) {
		versions_doubt(&ch->versions, c->sent);
		cache_changed_uid(c, ch->child->job_uid);
		return;
	}
	if (ch->resource == RES_POD && str_eq(child->job_uid, ch->child->job_uid))
		replace(c, ch, child);
	children_bury(c, ch);
}

/* What a list does not hold is gone if we knew that it was going. Otherwise ours is perhaps newer than
   the list, or it lost our label: a GET must tell. */
static bool doubted(const struct cache *c, struct cached_child *ch)
{
	if (ch->versions.ahead || !cached_child_meta(ch)->deleted || c->blind[ch->resource])
		versions_doubt(&ch->versions, c->sent);
	return ch->versions.unsure;
}

void children_sweep(struct cache *c, enum resource r)
{
	VEC(struct cached_child *) missing = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(&c->by_name[r], &at, NULL, &value);) {
		struct cached_child *ch = value;

		if (ch->versions.mark != c->round[r] && !cached_child_gone(ch))
			*vec_push(&a, &missing) = ch;
	}
	for (size_t i = 0; i < missing.n; i++) {
		struct cached_child *ch = missing.v[i];

		if (map_get(&c->jobs_by_uid, ch->child->job_uid) && doubted(c, ch))
			cache_changed_uid(c, ch->child->job_uid);
		else if (!c->blind[r])
			children_bury(c, ch);
	}
	arena_release(&a);
}

void children_forget_gone(struct cache *c, struct str job_uid)
{
	struct children *of = cache_children(c, job_uid);

	for (struct cached_child *ch = of ? of->first[RES_POD] : NULL, *next; ch; ch = next) {
		next = ch->next;
		if (cached_child_gone(ch))
			drop(c, ch);
	}
}

void children_release(struct cache *c)
{
	void *value;

	for (int r = 0; r < RES_COUNT; r++) {
		for (size_t at = 0; map_next(&c->by_name[r], &at, NULL, &value);)
			free_child(value);
		map_release(&c->by_name[r]);
	}
	for (size_t at = 0; map_next(&c->children, &at, NULL, &value);)
		free(value);
	map_release(&c->children);
}
