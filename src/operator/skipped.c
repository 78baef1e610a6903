/* Tells people of objects that were skipped: each once, for as long as it stays so. */
#include "operator/internal.h"

enum {
	KEY_MAX = 1024,
	REMEMBERED_MAX = 256, /* anybody can make as many as he likes */
};

struct skipped_one {
	struct str key; /* resource, kind, namespace and name; in TEXT */
	enum resource resource;
	struct str kind, name, uid, job_uid; /* in TEXT */
	bool large;
	bool listed; /* it was in the list that is coming */
	bool told;   /* its job's people know */
	char text[];
};

/* Valid until the next call. */
static struct str key_of(enum resource r, struct str kind, struct str ns, struct str name, char to[static KEY_MAX])
{
	snprintf(to, KEY_MAX, "%d %.*s %.*s/%.*s", (int)r, STR_F(kind), STR_F(ns), STR_F(name));
	return str_c(to);
}

static void forget(struct operator_loop *op, struct skipped_one *one)
{
	map_del(&op->skipped, one->key);
	op->n_skipped[one->resource]--;
	free(one);
}

static struct str put_copy(char **at, struct str s)
{
	struct str out = { *at, s.n };

	if (s.n)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return out;
}

static struct skipped_one *remember(struct operator_loop *op, struct str key, const struct cluster_event *ev)
{
	const struct skipped *s = &ev->skipped;
	struct skipped_one *one =
		xcalloc(1, sizeof(*one) + key.n + ev->kind.n + s->meta.name.n + s->meta.uid.n + s->job_uid.n + 1);
	char *at = one->text;

	one->resource = ev->resource;
	one->large = s->large;
	one->key = put_copy(&at, key);
	one->kind = put_copy(&at, ev->kind);
	one->name = put_copy(&at, s->meta.name);
	one->uid = put_copy(&at, s->meta.uid);
	one->job_uid = put_copy(&at, s->job_uid);
	map_put(&op->skipped, one->key, one);
	op->n_skipped[one->resource]++;
	return one;
}

static void log_skipped(const struct cluster_event *ev)
{
	const struct meta *m = &ev->skipped.meta;

	if (!m->name.n)
		log_warn(FIELDS(F_STR("resource", str_c(resource_noun(ev->resource))), F_STR("kind", ev->kind)),
		         "an object without a name was skipped: nothing is taken for deleted because this list lacks "
		         "it");
	else
		log_warn(FIELDS(F_STR("resource", str_c(resource_noun(ev->resource))), F_STR("kind", ev->kind),
		                F_STR("namespace", m->ns), F_STR("name", m->name), F_STR("uid", m->uid)),
		         "%s: it was skipped, and its state is unknown", skipped_why(ev->skipped.large));
}

const char *skipped_why(bool large)
{
	return large ? "larger than 8 MiB" : "not an object that can be read";
}

static void skipped(struct operator_loop *op, struct str key, const struct cluster_event *ev)
{
	struct skipped_one *one = map_get(&op->skipped, key);

	if (one && !str_eq(one->uid, ev->skipped.meta.uid)) {
		forget(op, one);
		one = NULL;
	}
	if (!one && op->skipped.n >= REMEMBERED_MAX) {
		if (!op->skipped_more)
			log_warn(NO_FIELDS, "more than %d objects are too large to be read", REMEMBERED_MAX);
		op->skipped_more = true;
		return;
	}
	if (!one) {
		log_skipped(ev);
		one = remember(op, key, ev);
	}
	one->listed = true;
}

static void no_longer(struct operator_loop *op, struct skipped_one *one, bool gone)
{
	if (!gone)
		log_info(FIELDS(F_STR("resource", str_c(resource_noun(one->resource))), F_STR("kind", one->kind),
		                F_STR("name", one->name)),
		         "it can be read again");
	forget(op, one);
	op->skipped_more = false;
}

/* A list begins: those that it does not hold are gone at its end. */
static void list(struct operator_loop *op, const struct cluster_event *ev)
{
	VEC(struct skipped_one *) left = { 0 };
	struct arena a = ARENA_INIT;
	void *value;

	for (size_t at = 0; map_next(&op->skipped, &at, NULL, &value);) {
		struct skipped_one *one = value;

		if (one->resource != ev->resource || (ev->kind.n && !str_eq(ev->kind, one->kind)))
			continue;
		if (ev->type == EVENT_SYNC)
			one->listed = false;
		else if (!one->listed)
			*vec_push(&a, &left) = one;
	}
	for (size_t i = 0; i < left.n; i++)
		no_longer(op, left.v[i], true);
	arena_release(&a);
}

static const struct meta *skipped_meta(const struct object *o)
{
	return o->resource == RES_JOB ? &o->job->meta : &object_child(o)->meta;
}

/* It was read, or is gone. */
static void object(struct operator_loop *op, const struct cluster_event *ev)
{
	const struct object *o = &ev->object;
	struct skipped_one *one;
	char text[KEY_MAX];

	if (o->resource == RES_NODE)
		one = map_get(&op->skipped, key_of(RES_NODE, STR_NONE, STR_NONE, o->node->name, text));
	else
		one = map_get(&op->skipped,
		              key_of(o->resource, object_kind(o), skipped_meta(o)->ns, skipped_meta(o)->name, text));
	if (one)
		no_longer(op, one, ev->type == EVENT_GONE);
}

void skipped_event(struct operator_loop *op, const struct cluster_event *ev)
{
	const struct skipped *s = &ev->skipped;
	struct skipped_one *one;
	char text[KEY_MAX];
	struct str key;

	if (ev->type != EVENT_SKIPPED && !op->skipped.n)
		return;
	switch (ev->type) {
	case EVENT_SYNC:
	case EVENT_SYNCED:
		list(op, ev);
		break;
	case EVENT_PUT:
	case EVENT_GONE:
		object(op, ev);
		break;
	case EVENT_SKIPPED:
		key = key_of(ev->resource, ev->kind, s->meta.ns, s->meta.name, text);
		one = map_get(&op->skipped, key);
		if (!s->gone)
			skipped(op, key, ev);
		else if (one)
			no_longer(op, one, true);
		break;
	case EVENT_OUTCOME:
		break;
	}
}

void skipped_tell(struct operator_loop *op, struct cached_job *job)
{
	void *value;

	for (size_t at = 0; map_next(&op->skipped, &at, NULL, &value);) {
		struct skipped_one *one = value;
		bool its = one->resource == RES_JOB ? str_eq(one->uid, job->meta.uid)
		                                    : str_eq(one->job_uid, job->meta.uid);

		if (its && !one->told)
			observe_unread(op, job, one->resource, one->name, one->large);
		one->told |= its;
	}
}

void skipped_release(struct operator_loop *op)
{
	void *value;

	for (size_t at = 0; map_next(&op->skipped, &at, NULL, &value);)
		free(value);
	map_release(&op->skipped);
}
