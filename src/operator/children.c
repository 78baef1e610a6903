#include "operator/children.h"
#include "operator/copy.h"

/* Which job */

struct children *cache_children(const struct cache *c, struct str uid)
{
	return map_get(&c->children, uid);
}

static struct children *children_of(struct cache *c, struct str uid)
{
	struct children *ch = cache_children(c, uid);

	if (!ch) {
		ch = xcalloc(1, sizeof(*ch) + uid.n + 1);
		if (uid.n)
			memcpy(ch + 1, uid.p, uid.n);
		ch->uid = (struct str){ (char *)(ch + 1), uid.n };
		map_put(&c->children, ch->uid, ch);
	}
	return ch;
}

static void free_if_empty(struct cache *c, struct children *ch)
{
	if (ch->n_pods || ch->n_others)
		return;
	map_del(&c->children, ch->uid);
	free(ch);
}

static char *child_key(struct str ns, struct str name, struct str *ret)
{
	char *p = xmalloc(ns.n + name.n + 1);

	if (ns.n)
		memcpy(p, ns.p, ns.n);
	p[ns.n] = '/';
	memcpy(p + ns.n + 1, name.p, name.n);
	*ret = (struct str){ p, ns.n + name.n + 1 };
	return p;
}

static void link_pod(struct cache *c, struct cached_pod *p)
{
	struct children *ch = children_of(c, p->pod->job_uid);

	p->children = ch;
	p->prev = NULL;
	p->next = ch->pods;
	if (ch->pods)
		ch->pods->prev = p;
	ch->pods = p;
	ch->n_pods++;
}

static void unlink_pod(struct cache *c, struct cached_pod *p)
{
	struct children *ch = p->children;

	if (p->prev)
		p->prev->next = p->next;
	else
		ch->pods = p->next;
	if (p->next)
		p->next->prev = p->prev;
	ch->n_pods--;
	free_if_empty(c, ch);
}

static void link_other(struct cache *c, struct cached_child *s, struct str job_uid)
{
	struct children *ch = children_of(c, job_uid);

	s->prev = NULL;
	s->next = ch->others;
	if (ch->others)
		ch->others->prev = s;
	ch->others = s;
	ch->n_others++;
}

static void unlink_other(struct cache *c, struct cached_child *s, struct str job_uid)
{
	struct children *ch = cache_children(c, job_uid);

	if (s->prev)
		s->prev->next = s->next;
	else
		ch->others = s->next;
	if (s->next)
		s->next->prev = s->prev;
	ch->n_others--;
	free_if_empty(c, ch);
}

/* Pods */

struct cached_pod *cache_pod(const struct cache *c, struct str ns, struct str name)
{
	struct str key;
	char *p CLEANUP(freep) = child_key(ns, name, &key);

	return map_get(&c->pods, key);
}

static void drop_pod(struct cache *c, struct cached_pod *p)
{
	map_del(&c->pods, p->key);
	unlink_pod(c, p);
	free(p->pod);
	free((char *)(uintptr_t)p->key.p);
	free(p);
}

static void replace_pod(struct cache *c, struct cached_pod *p, const struct pod *pod)
{
	struct pod *before = p->pod;

	if (!str_eq(before->job_uid, pod->job_uid)) {
		cache_changed_uid(c, before->job_uid);
		unlink_pod(c, p);
		p->pod = copy_pod(pod);
		link_pod(c, p);
	} else {
		p->pod = copy_pod(pod);
	}
	free(before);
	cache_changed_uid(c, pod->job_uid);
}

static struct cached_pod *new_pod(struct cache *c, const struct pod *pod, enum origin from)
{
	struct cached_pod *p = xcalloc(1, sizeof(*p));

	child_key(pod->meta.ns, pod->meta.name, &p->key);
	p->pod = copy_pod(pod);
	versions_start(&p->versions, from);
	map_put(&c->pods, p->key, p);
	link_pod(c, p);
	cache_changed_uid(c, pod->job_uid);
	return p;
}

void children_put_pod(struct cache *c, const struct pod *pod, enum origin from)
{
	struct cached_pod *p = cache_pod(c, pod->meta.ns, pod->meta.name);
	bool was_unsure = p && p->versions.unsure;

	/* A late event of an earlier pod of that name. */
	if (p && !str_eq(p->pod->meta.uid, pod->meta.uid) && versions_older(p->pod->meta.rv, pod->meta.rv))
		cache_remember_gone(c, pod->meta.uid);
	if ((!p || !str_eq(p->pod->meta.uid, pod->meta.uid) || p->pod->gone) && cache_was_gone(c, pod->meta.uid))
		return;
	if (!p) {
		p = new_pod(c, pod, from);
	} else if (!str_eq(p->pod->meta.uid, pod->meta.uid) || p->pod->gone) {
		if (!str_eq(p->pod->meta.uid, pod->meta.uid))
			cache_remember_gone(c, p->pod->meta.uid);
		versions_start(&p->versions, from);
		replace_pod(c, p, pod);
	} else if (versions_take(&p->versions, p->pod->meta.rv, pod->meta.rv, from)) {
		replace_pod(c, p, pod);
	} else if (was_unsure && !p->versions.unsure) {
		cache_changed_uid(c, pod->job_uid);
	}
	if (from == FROM_LIST)
		p->versions.mark = c->round[RES_POD];
}

void children_bury_pod(struct cache *c, struct cached_pod *p)
{
	cache_remember_gone(c, p->pod->meta.uid);
	cache_changed_uid(c, p->pod->job_uid);
	p->versions.unsure = false;
	p->pod->gone = true;
	if (!map_get(&c->jobs_by_uid, p->pod->job_uid))
		drop_pod(c, p);
}

void children_pod_gone(struct cache *c, const struct pod *pod)
{
	struct cached_pod *p = cache_pod(c, pod->meta.ns, pod->meta.name);

	if (!p || !str_eq(p->pod->meta.uid, pod->meta.uid)) {
		cache_remember_gone(c, pod->meta.uid);
		return;
	}
	if (p->pod->gone)
		return;
	/* Without a deletionTimestamp it may only have lost our label. */
	if (!pod->meta.deleted && !p->pod->meta.deleted) {
		p->versions.unsure = true;
		cache_changed_uid(c, p->pod->job_uid);
		return;
	}
	if (str_eq(pod->job_uid, p->pod->job_uid))
		replace_pod(c, p, pod);
	children_bury_pod(c, p);
}

/* What a list does not hold is gone if we knew that it was going. Otherwise ours is perhaps newer than
   the list, or it lost our label: a GET must tell. */
static bool doubted(struct versions *v, const struct meta *m)
{
	if (v->ahead || !m->deleted)
		v->unsure = true;
	return v->unsure;
}

void children_sweep_pods(struct cache *c)
{
	VEC(struct cached_pod *) missing = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(&c->pods, &at, NULL, &value);) {
		struct cached_pod *p = value;

		if (p->versions.mark != c->round[RES_POD] && !p->pod->gone)
			*vec_push(&a, &missing) = p;
	}
	for (size_t i = 0; i < missing.n; i++) {
		if (map_get(&c->jobs_by_uid, missing.v[i]->pod->job_uid) &&
		    doubted(&missing.v[i]->versions, &missing.v[i]->pod->meta))
			cache_changed_uid(c, missing.v[i]->pod->job_uid);
		else
			children_bury_pod(c, missing.v[i]);
	}
	arena_release(&a);
}

void children_forget_gone(struct cache *c, struct str job_uid)
{
	struct children *ch = cache_children(c, job_uid);

	for (struct cached_pod *p = ch ? ch->pods : NULL, *next; p; p = next) {
		next = p->next;
		if (p->pod->gone)
			drop_pod(c, p);
	}
}

/* Services and PodGroups */

static struct map *others(const struct cache *c, enum resource r)
{
	ASSERT(r == RES_SERVICE || r == RES_GROUP);
	return (struct map *)(uintptr_t)(r == RES_SERVICE ? &c->services : &c->groups);
}

struct cached_child *cache_child(const struct cache *c, enum resource r, struct str ns, struct str name)
{
	struct str key;
	char *p CLEANUP(freep) = child_key(ns, name, &key);

	return map_get(others(c, r), key);
}

struct meta *cached_child_meta(const struct cached_child *ch)
{
	return ch->resource == RES_SERVICE ? &ch->service->meta : &ch->group->meta;
}

static struct str job_of(const struct cached_child *ch)
{
	return ch->resource == RES_SERVICE ? ch->service->job_uid : ch->group->job_uid;
}

static void set(struct cache *c, struct cached_child *s, const struct object *o)
{
	if (o->resource == RES_SERVICE)
		s->service = copy_service(o->service);
	else
		s->group = copy_group(o->group);
	link_other(c, s, job_of(s));
	cache_changed_uid(c, job_of(s));
}

static void clear(struct cache *c, struct cached_child *s)
{
	cache_changed_uid(c, job_of(s));
	unlink_other(c, s, job_of(s));
	if (s->resource == RES_SERVICE)
		free(s->service);
	else
		free(s->group);
}

static void forget(struct cache *c, struct cached_child *s)
{
	map_del(others(c, s->resource), s->key);
	clear(c, s);
	free((char *)(uintptr_t)s->key.p);
	free(s);
}

void children_drop_other(struct cache *c, struct cached_child *s)
{
	cache_remember_gone(c, cached_child_meta(s)->uid);
	forget(c, s);
}

static struct cached_child *new_other(struct cache *c, const struct object *o, enum origin from)
{
	struct cached_child *s = xcalloc(1, sizeof(*s));

	s->resource = o->resource;
	child_key(child_meta(o)->ns, child_meta(o)->name, &s->key);
	versions_start(&s->versions, from);
	map_put(others(c, o->resource), s->key, s);
	set(c, s, o);
	return s;
}

void children_put_other(struct cache *c, const struct object *o, enum origin from)
{
	const struct meta *m = child_meta(o);
	struct cached_child *s = cache_child(c, o->resource, m->ns, m->name);
	const struct meta *had = s ? cached_child_meta(s) : NULL;
	bool was_unsure = s && s->versions.unsure;

	if (s && !str_eq(had->uid, m->uid) && versions_older(had->rv, m->rv))
		cache_remember_gone(c, m->uid);
	if (s && str_eq(had->uid, m->uid) && str_eq(job_of(s), child_job_uid(o))) {
		if (versions_take(&s->versions, had->rv, m->rv, from)) {
			clear(c, s);
			set(c, s, o);
		} else if (was_unsure && !s->versions.unsure) {
			cache_changed_uid(c, job_of(s));
		}
	} else if (cache_was_gone(c, m->uid)) {
		return;
	} else {
		/* Another one of that name, or one that now belongs to another job. */
		if (s && !str_eq(had->uid, m->uid))
			cache_remember_gone(c, had->uid);
		if (s)
			forget(c, s);
		s = new_other(c, o, from);
	}
	if (from == FROM_LIST)
		s->versions.mark = c->round[o->resource];
}

void children_other_gone(struct cache *c, const struct object *o)
{
	const struct meta *m = child_meta(o);
	struct cached_child *s = cache_child(c, o->resource, m->ns, m->name);

	if (!s || !str_eq(cached_child_meta(s)->uid, m->uid)) {
		cache_remember_gone(c, m->uid);
	} else if (!m->deleted && !cached_child_meta(s)->deleted) {
		/* As with pods: it may only have lost our label. */
		s->versions.unsure = true;
		cache_changed_uid(c, job_of(s));
	} else {
		children_drop_other(c, s);
	}
}

void children_sweep_others(struct cache *c, enum resource r)
{
	VEC(struct cached_child *) missing = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(others(c, r), &at, NULL, &value);) {
		struct cached_child *s = value;

		if (s->versions.mark != c->round[r])
			*vec_push(&a, &missing) = s;
	}
	for (size_t i = 0; i < missing.n; i++) {
		if (map_get(&c->jobs_by_uid, job_of(missing.v[i])) &&
		    doubted(&missing.v[i]->versions, cached_child_meta(missing.v[i])))
			cache_changed_uid(c, job_of(missing.v[i]));
		else
			children_drop_other(c, missing.v[i]);
	}
	arena_release(&a);
}

static void release_others(struct map *m)
{
	void *value;

	for (size_t at = 0; map_next(m, &at, NULL, &value);) {
		struct cached_child *s = value;

		if (s->resource == RES_SERVICE)
			free(s->service);
		else
			free(s->group);
		free((char *)(uintptr_t)s->key.p);
		free(s);
	}
	map_release(m);
}

void children_release(struct cache *c)
{
	void *value;

	for (size_t at = 0; map_next(&c->pods, &at, NULL, &value);) {
		struct cached_pod *p = value;

		free(p->pod);
		free((char *)(uintptr_t)p->key.p);
		free(p);
	}
	release_others(&c->services);
	release_others(&c->groups);
	for (size_t at = 0; map_next(&c->children, &at, NULL, &value);)
		free(value);
	map_release(&c->pods);
	map_release(&c->children);
}
