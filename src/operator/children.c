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
	if (ch->n_pods || ch->n_services)
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

static void link_service(struct cache *c, struct cached_service *s)
{
	struct children *ch = children_of(c, s->service->job_uid);

	s->children = ch;
	s->prev = NULL;
	s->next = ch->services;
	if (ch->services)
		ch->services->prev = s;
	ch->services = s;
	ch->n_services++;
}

static void unlink_service(struct cache *c, struct cached_service *s)
{
	struct children *ch = s->children;

	if (s->prev)
		s->prev->next = s->next;
	else
		ch->services = s->next;
	if (s->next)
		s->next->prev = s->prev;
	ch->n_services--;
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

/* Services */

struct cached_service *cache_service(const struct cache *c, struct str ns, struct str name)
{
	struct str key;
	char *p CLEANUP(freep) = child_key(ns, name, &key);

	return map_get(&c->services, key);
}

void children_drop_service(struct cache *c, struct cached_service *s)
{
	cache_remember_gone(c, s->service->meta.uid);
	cache_changed_uid(c, s->service->job_uid);
	map_del(&c->services, s->key);
	unlink_service(c, s);
	free(s->service);
	free((char *)(uintptr_t)s->key.p);
	free(s);
}

static struct cached_service *new_service(struct cache *c, const struct service *service, enum origin from)
{
	struct cached_service *s = xcalloc(1, sizeof(*s));

	child_key(service->meta.ns, service->meta.name, &s->key);
	s->service = copy_service(service);
	versions_start(&s->versions, from);
	map_put(&c->services, s->key, s);
	link_service(c, s);
	cache_changed_uid(c, service->job_uid);
	return s;
}

void children_put_service(struct cache *c, const struct service *service, enum origin from)
{
	struct cached_service *s = cache_service(c, service->meta.ns, service->meta.name);
	bool was_unsure = s && s->versions.unsure;

	if (s && !str_eq(s->service->meta.uid, service->meta.uid) &&
	    versions_older(s->service->meta.rv, service->meta.rv))
		cache_remember_gone(c, service->meta.uid);
	if (s && str_eq(s->service->meta.uid, service->meta.uid) && str_eq(s->service->job_uid, service->job_uid)) {
		if (versions_take(&s->versions, s->service->meta.rv, service->meta.rv, from)) {
			unlink_service(c, s);
			free(s->service);
			s->service = copy_service(service);
			link_service(c, s);
			cache_changed_uid(c, service->job_uid);
		} else if (was_unsure && !s->versions.unsure) {
			cache_changed_uid(c, service->job_uid);
		}
	} else if (cache_was_gone(c, service->meta.uid)) {
		return;
	} else {
		/* Another one of that name, or one that now belongs to another job. */
		if (s && !str_eq(s->service->meta.uid, service->meta.uid))
			cache_remember_gone(c, s->service->meta.uid);
		if (s) {
			cache_changed_uid(c, s->service->job_uid);
			map_del(&c->services, s->key);
			unlink_service(c, s);
			free(s->service);
			free((char *)(uintptr_t)s->key.p);
			free(s);
		}
		s = new_service(c, service, from);
	}
	if (from == FROM_LIST)
		s->versions.mark = c->round[RES_SERVICE];
}

void children_service_gone(struct cache *c, const struct service *service)
{
	struct cached_service *s = cache_service(c, service->meta.ns, service->meta.name);

	if (!s || !str_eq(s->service->meta.uid, service->meta.uid)) {
		cache_remember_gone(c, service->meta.uid);
	} else if (!service->meta.deleted && !s->service->meta.deleted) {
		/* As with pods: it may only have lost our label. */
		s->versions.unsure = true;
		cache_changed_uid(c, s->service->job_uid);
	} else {
		children_drop_service(c, s);
	}
}

void children_sweep_services(struct cache *c)
{
	VEC(struct cached_service *) missing = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(&c->services, &at, NULL, &value);) {
		struct cached_service *s = value;

		if (s->versions.mark != c->round[RES_SERVICE])
			*vec_push(&a, &missing) = s;
	}
	for (size_t i = 0; i < missing.n; i++) {
		if (map_get(&c->jobs_by_uid, missing.v[i]->service->job_uid) &&
		    doubted(&missing.v[i]->versions, &missing.v[i]->service->meta))
			cache_changed_uid(c, missing.v[i]->service->job_uid);
		else
			children_drop_service(c, missing.v[i]);
	}
	arena_release(&a);
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
	for (size_t at = 0; map_next(&c->services, &at, NULL, &value);) {
		struct cached_service *s = value;

		free(s->service);
		free((char *)(uintptr_t)s->key.p);
		free(s);
	}
	for (size_t at = 0; map_next(&c->children, &at, NULL, &value);)
		free(value);
	map_release(&c->pods);
	map_release(&c->services);
	map_release(&c->children);
}
