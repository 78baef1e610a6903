/* Objects that grow over what the operator reads, and shrink again: pods and services, anybody's. */
#include "sim/mutant.h"
#include "sim/server.h"
#include "sim/sim.h"
#include "sim/sizes.h"

static const char *const names[] = { "as it was", "too large", "too large to be read by name" };

static enum sim_size other_size(struct sim *s, enum sim_size now)
{
	if (now) {
		s->tally->hits[HIT_SHRUNK]++;
		return SIZE_USUAL;
	}
	s->tally->hits[HIT_LARGE]++;
	return rng_one_in(&s->rng, 4) ? SIZE_VAST : SIZE_LARGE;
}

static void resize_pod(struct sim *s, struct sim_pod *p, enum sim_size size)
{
	TRACE(s, "pod %.*s is %s", STR_F(p->now.meta.name), names[size]);
	p->size = size;
	s->tally->hits[HIT_VAST] += size == SIZE_VAST;
	server_pod_changed(s, p);
}

static void resize_service(struct sim *s, struct sim_service *v, enum sim_size size)
{
	TRACE(s, "service %.*s is %s", STR_F(v->now.meta.name), names[size]);
	v->size = size;
	s->tally->hits[HIT_VAST] += size == SIZE_VAST;
	server_service_changed(s, v);
}

static void *any(struct sim *s, const struct map *m)
{
	size_t skip = m->n ? rng_below(&s->rng, m->n) : 0;
	void *value = NULL;

	for (size_t at = 0; map_next(m, &at, NULL, &value) && skip--;)
		;
	return m->n ? value : NULL;
}

void sizes_fault(struct sim *s)
{
	struct sim_pod *p;
	struct sim_service *v;

	if (rng_one_in(&s->rng, 4)) {
		v = any(s, &s->services);
		if (v)
			resize_service(s, v, other_size(s, v->size));
	} else {
		p = any(s, &s->pods);
		if (p)
			resize_pod(s, p, other_size(s, p->size));
	}
}

void sizes_leave(struct sim *s)
{
	void *value;

	for (size_t at = 0; map_next(&s->pods, &at, NULL, &value);)
		if (((struct sim_pod *)value)->size)
			resize_pod(s, value, SIZE_USUAL);
	for (size_t at = 0; map_next(&s->services, &at, NULL, &value);)
		if (((struct sim_service *)value)->size)
			resize_service(s, value, SIZE_USUAL);
}

void sizes_skip(struct sim *s, const struct sim_link *l, struct sim_version *v, bool gone, bool named,
                struct cluster_event *ret)
{
	const struct meta *m = &object_child(&v->object)->meta;

	ret->type = EVENT_SKIPPED;
	ret->skipped = (struct skipped){ .gone = gone, .large = true };
	if (!named) {
		s->tally->hits[HIT_NAMELESS]++;
		/* One that starts now cannot know of it. */
		if (v->pod)
			v->pod->hidden = true;
		return;
	}
	ret->skipped.meta =
		(struct meta){ .ns = m->ns, .name = m->name, .uid = m->uid, .rv = m->rv, .owner_uid = m->owner_uid };
	ret->skipped.job_uid = object_child(&v->object)->job_uid;
	if (v->pod && !gone && v->pod->told[l->slot] != l) {
		v->pod->told[l->slot] = l;
		v->pod->told_at[l->slot] = s->now;
	}
	if (s->opt.mutant)
		mutant_skipped(s, v, ret);
}
