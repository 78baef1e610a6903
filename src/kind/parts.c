#include "kind/parts.h"

#include "kind/gang.h"

struct cutter {
	struct kind_job *kj;
	size_t role;
	struct pod_parts *ret;
	struct buf b; /* text since the last hole */
	VEC(struct hole) holes;
	size_t containers; /* of the job's list that are done */
	struct err *e;
};

enum { POD_MAX = 64 << 20 };

static void put_key(struct buf *b, bool *first, const char *key)
{
	buf_printf(b, "%s\"%s\":", *first ? "" : ",", key);
	*first = false;
}

static void put_field(struct buf *b, bool *first, struct str key, yyjson_val *val)
{
	if (!*first)
		buf_putc(b, ',');
	*first = false;
	buf_json_str(b, key);
	buf_putc(b, ':');
	json_write_val(val, b);
}

static struct str take_text(struct cutter *c)
{
	struct str s = arena_str(&c->kj->arena, buf_str(&c->b));

	buf_clear(&c->b);
	return s;
}

/* --- the spec --- */

/* Writes the user's variables, and remembers their names. */
static void put_user_env(struct cutter *c, yyjson_val *env, struct hole *h)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(env);
	VEC(struct str) taken = { 0 };
	yyjson_val *v;

	while ((v = yyjson_arr_iter_next(&it))) {
		if (taken.n)
			buf_putc(&c->b, ',');
		json_write_val(v, &c->b);
		*vec_push(&c->kj->arena, &taken) = arena_str(&c->kj->arena, json_str(json_get(v, "name")));
	}
	h->taken = taken.v;
	h->n_taken = taken.n;
}

static bool put_container(struct cutter *c, yyjson_val *container, const struct template_container *tc)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(container);
	yyjson_val *env = json_get(container, "env"), *k;
	struct hole h = { .bare = yyjson_arr_size(env) == 0 };
	bool first = true;

	if (!tc || !kind_wants_env(&c->kj->job->roles[c->role], tc)) {
		json_write_val(container, &c->b);
		return true;
	}
	if (!kind_container_env(c->kj, c->role, tc, &h.own, c->e))
		return false;
	buf_putc(&c->b, '{');
	while ((k = yyjson_obj_iter_next(&it)))
		if (yyjson_obj_iter_get_val(k) != env)
			put_field(&c->b, &first, json_str(k), yyjson_obj_iter_get_val(k));
	if (!h.bare) {
		put_key(&c->b, &first, "env");
		buf_putc(&c->b, '[');
	}
	h.before = take_text(c);
	if (!h.bare) {
		put_user_env(c, env, &h);
		buf_putc(&c->b, ']');
	}
	*vec_push(&c->kj->arena, &c->holes) = h;
	buf_putc(&c->b, '}');
	return true;
}

static bool put_containers(struct cutter *c, yyjson_val *list, bool init)
{
	const struct role *role = &c->kj->job->roles[c->role];
	yyjson_arr_iter it = yyjson_arr_iter_with(list);
	size_t at = 0, n = 0;
	yyjson_val *v;

	buf_putc(&c->b, '[');
	while ((v = yyjson_arr_iter_next(&it))) {
		while (at < role->n_containers && role->containers[at].init != init)
			at++;
		if (n++)
			buf_putc(&c->b, ',');
		if (!put_container(c, v, at < role->n_containers ? &role->containers[at] : NULL))
			return false;
		at++;
	}
	buf_putc(&c->b, ']');
	return true;
}

static struct str value_text(struct cutter *c, yyjson_val *val)
{
	struct buf b = BUF_INIT(POD_MAX);
	struct str s;

	json_write_val(val, &b);
	s = arena_str(&c->kj->arena, buf_str(&b));
	buf_release(&b);
	return s;
}

static bool put_spec_field(struct cutter *c, bool *first, struct str key, yyjson_val *val)
{
	if (yyjson_is_null(val) || str_eq(key, STR("restartPolicy")))
		return true;
	if (str_eq(key, STR("schedulerName"))) {
		c->ret->scheduler = value_text(c, val);
		return true;
	}
	if (str_eq(key, STR("hostname"))) {
		c->ret->hostname = value_text(c, val);
		return true;
	}
	if (str_eq(key, STR("containers")) || str_eq(key, STR("initContainers"))) {
		put_key(&c->b, first, key.p);
		return put_containers(c, val, key.p[0] == 'i');
	}
	put_field(&c->b, first, key, val);
	return true;
}

static bool is_set(yyjson_val *val)
{
	return val && !yyjson_is_null(val);
}

static bool cut_spec(struct cutter *c, yyjson_val *spec)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(spec);
	bool first = true;
	yyjson_val *k;

	buf_put(&c->b, STR(",\"spec\":{"));
	while ((k = yyjson_obj_iter_next(&it)))
		if (!put_spec_field(c, &first, json_str(k), yyjson_obj_iter_get_val(k)))
			return false;
	/* The operator restarts, never the kubelet: limits, scopes and exit codes would not hold. */
	put_key(&c->b, &first, "restartPolicy");
	buf_put(&c->b, STR("\"Never\""));
	if (!is_set(json_get(spec, "enableServiceLinks"))) {
		put_key(&c->b, &first, "enableServiceLinks");
		buf_put(&c->b, STR("false"));
	}
	if (yyjson_is_true(json_get(spec, "hostNetwork")) && !is_set(json_get(spec, "dnsPolicy"))) {
		put_key(&c->b, &first, "dnsPolicy");
		buf_put(&c->b, STR("\"ClusterFirstWithHostNet\""));
	}
	c->ret->rest = take_text(c);
	return true;
}

/* --- the metadata --- */

static bool has_label(const struct fixed_label *v, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i].key, key))
			return true;
	return false;
}

/* Whether this role's pods belong to the gang. */
static bool in_gang(const struct cutter *c, enum gang_kind kind)
{
	return kind_gang(c->kj) == kind && !c->kj->job->roles[c->role].aux;
}

/* Kueue holds back whatever carries its labels. On a job they mean the job; copied to its pods, Kueue would count each
   of them once more, and hold them back one by one. */
static bool is_queueing(struct str key)
{
	static const struct str domain = STR_INIT("kueue.x-k8s.io");
	struct str prefix;

	if (!memchr(key.p, '/', key.n) || !str_next(&key, '/', &prefix) || !str_has_suffix(prefix, domain))
		return false;
	return prefix.n == domain.n || prefix.p[prefix.n - domain.n - 1] == '.';
}

static void cut_labels(struct cutter *c, yyjson_val *template_labels)
{
	yyjson_val *sources[2] = { template_labels, NULL };
	VEC(struct fixed_label) labels = { 0 };
	yyjson_val *k;

	/* The first of a key counts. */
	if (in_gang(c, GANG_PLUGINS)) {
		bool first = true;

		kind_put_label(&c->b, &first, STR(LABEL_POD_GROUP), kind_group_name(c->kj));
		*vec_push(&c->kj->arena, &labels) = (struct fixed_label){ STR(LABEL_POD_GROUP), take_text(c) };
	}
	if (c->kj->file->job_labels)
		sources[1] = json_at(c->kj->object, "metadata", "labels", NULL);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		yyjson_obj_iter it = yyjson_obj_iter_with(sources[i]);

		while ((k = yyjson_obj_iter_next(&it))) {
			bool first = true;

			if (has_label(labels.v, labels.n, json_str(k)) || !yyjson_is_str(yyjson_obj_iter_get_val(k)))
				continue;
			if (sources[i] != template_labels && is_queueing(json_str(k)))
				continue;
			put_field(&c->b, &first, json_str(k), yyjson_obj_iter_get_val(k));
			*vec_push(&c->kj->arena, &labels) = (struct fixed_label){ json_str(k), take_text(c) };
		}
	}
	c->ret->labels = labels.v;
	c->ret->n_labels = labels.n;
}

/* What asks node autoscalers to leave a pod where it is. */
static const struct fixed_annotation {
	const char *key, *value;
} protections[] = {
	{ "cluster-autoscaler.kubernetes.io/safe-to-evict", "false" },
	{ "karpenter.sh/do-not-disrupt", "true" },
};

/* The user's, those of doNotDisrupt that the template does not say, and those by which Volcano knows the gang. */
static void put_annotations(struct cutter *c, yyjson_val *theirs, bool gang, bool protect)
{
	static const struct str ours[] = { STR_INIT(ANNOTATION_GROUP), STR_INIT(ANNOTATION_TASK) };
	yyjson_obj_iter it = yyjson_obj_iter_with(theirs);
	bool first = true;
	yyjson_val *k;

	buf_put(&c->b, STR(",\"annotations\":{"));
	while ((k = yyjson_obj_iter_next(&it)))
		if (!gang || (!str_eq(json_str(k), ours[0]) && !str_eq(json_str(k), ours[1])))
			put_field(&c->b, &first, json_str(k), yyjson_obj_iter_get_val(k));
	for (size_t i = 0; protect && i < ARRAY_LEN(protections); i++)
		if (!json_get(theirs, protections[i].key))
			kind_put_label(&c->b, &first, str_c(protections[i].key), str_c(protections[i].value));
	if (gang) {
		kind_put_label(&c->b, &first, ours[0], kind_group_name(c->kj));
		kind_put_label(&c->b, &first, ours[1], c->kj->job->roles[c->role].name);
	}
	buf_putc(&c->b, '}');
}

static void cut_meta(struct cutter *c, yyjson_val *meta)
{
	yyjson_val *annotations = json_get(meta, "annotations"), *finalizers = json_get(meta, "finalizers");
	bool first = false, gang = in_gang(c, GANG_VOLCANO);
	/* What does not count holds no node for itself. */
	bool protect = c->kj->job->do_not_disrupt && !c->kj->job->roles[c->role].aux;

	if (gang || protect)
		put_annotations(c, annotations, gang, protect);
	else if (is_set(annotations))
		put_field(&c->b, &first, STR("annotations"), annotations);
	if (is_set(finalizers))
		put_field(&c->b, &first, STR("finalizers"), finalizers);
	kind_put_owner(c->kj, &c->b);
	buf_putc(&c->b, '}');
	c->ret->meta = take_text(c);
}

/* The gang's scheduler, where nobody chose another. */
static void choose_scheduler(struct cutter *c)
{
	struct str ours = c->kj->kinds->gang_scheduler, *chosen = &c->ret->scheduler;

	if (!ours.n || c->kj->job->roles[c->role].aux || (chosen->n && !str_eqc(*chosen, "\"\"")))
		return;
	buf_json_str(&c->b, ours);
	*chosen = take_text(c);
}

const struct pod_parts *pod_parts_of(struct kind_job *kj, size_t role, struct err *e)
{
	yyjson_val *template = kj->job->roles[role].template, *spec = json_get(template, "spec");
	CLEANUP(json_docp) yyjson_doc *accelerated = NULL;
	struct cutter c = { .kj = kj, .role = role, .b = BUF_INIT(POD_MAX), .e = e };
	bool ok;

	if (kj->parts[role])
		return kj->parts[role];
	c.ret = arena_new(&kj->arena, struct pod_parts);
	cut_labels(&c, json_at(template, "metadata", "labels", NULL));
	cut_meta(&c, json_get(template, "metadata"));
	if (kj->accelerators)
		accelerated = accelerators_apply(kj->accelerators, spec);
	ok = cut_spec(&c, accelerated ? yyjson_doc_get_root(accelerated) : spec);
	choose_scheduler(&c);
	if (ok && c.b.overflow)
		ok = err_set(e, ERR_LIMIT, "a pod of more than %d bytes", POD_MAX);
	buf_release(&c.b);
	if (!ok)
		return NULL;
	c.ret->holes = c.holes.v;
	c.ret->n_holes = c.holes.n;
	kj->parts[role] = c.ret;
	return c.ret;
}
