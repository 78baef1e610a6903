/* The pods and services of a case: what is written down, and what holds for all of them. */
#include "golden.h"

enum { CHILD_MAX = 4 << 20 };

/* Who a child belongs to. */
struct golden_child {
	const struct job *job;
	const struct role *role;
	int32_t index;
	yyjson_val *object; /* the job's */
};

static yyjson_doc *parse_child(struct golden *g, struct str path, bool made, struct buf *text, struct err *e)
{
	yyjson_doc *doc = made ? json_parse(buf_str(text), e) : NULL;

	if (!doc)
		differ(g, path, "cannot be made: %s", err_msg(e));
	err_release(e);
	buf_release(text);
	return doc;
}

static void expect_text(struct golden *g, struct str path, const char *what, struct str want, struct str got)
{
	if (!str_eq(want, got))
		differ(g, path, "%s\n    expected %.*s\n    got      %.*s", what, STR_F(want), STR_F(got));
}

static void expect_owner(struct golden *g, struct str path, const struct golden_child *c, yyjson_val *meta)
{
	yyjson_val *owners = json_get(meta, "ownerReferences"), *o = yyjson_arr_get(owners, 0);

	if (yyjson_arr_size(owners) != 1)
		differ(g, path, "has %zu owners", yyjson_arr_size(owners));
	expect_text(g, path, "owner's apiVersion", json_str(json_get(c->object, "apiVersion")),
	            json_str(json_get(o, "apiVersion")));
	expect_text(g, path, "owner's kind", json_str(json_get(c->object, "kind")), json_str(json_get(o, "kind")));
	expect_text(g, path, "owner's name", c->job->name, json_str(json_get(o, "name")));
	expect_text(g, path, "owner's uid", c->job->uid, json_str(json_get(o, "uid")));
	if (!yyjson_is_true(json_get(o, "controller")) || !yyjson_is_true(json_get(o, "blockOwnerDeletion")))
		differ(g, path, "its owner must be its controller and block deletion");
}

static void expect_own_label(struct golden *g, struct str path, yyjson_val *labels, const char *key, struct str want)
{
	expect_text(g, path, key, want, json_str(json_get(labels, key)));
}

/* Ours are the same for every kind; the kind's own are all written in the case. */
static void expect_labels(struct golden *g, struct str path, const struct golden_child *c, yyjson_val *want,
                          yyjson_val *got)
{
	struct str group = STR_NONE, rest = json_str(json_get(c->object, "apiVersion"));
	yyjson_obj_iter it = yyjson_obj_iter_with(want);
	yyjson_val *k;

	str_next(&rest, '/', &group);
	expect_own_label(g, path, got, LABEL_UID, c->job->uid);
	expect_own_label(g, path, got, LABEL_KIND,
	                 arena_printf(&g->a, "%.*s.%.*s", STR_F(json_str(json_get(c->object, "kind"))), STR_F(group)));
	expect_own_label(g, path, got, LABEL_JOB, c->job->name);
	expect_own_label(g, path, got, LABEL_ROLE, c->role->name);
	expect_own_label(g, path, got, LABEL_INDEX, arena_printf(&g->a, "%d", c->index));
	if (!want) {
		differ(g, path, "its labels must be written down");
		return;
	}
	path = key_path(g, path, STR("labels"));
	while ((k = yyjson_obj_iter_next(&it)))
		compare(g, key_path(g, path, json_str(k)), yyjson_obj_iter_get_val(k), json_get_str(got, json_str(k)),
		        COMPARE_EXACT);
	it = yyjson_obj_iter_with(got);
	while ((k = yyjson_obj_iter_next(&it)))
		if (!json_get_str(want, json_str(k)) && !str_has_prefix(json_str(k), STR(LABEL_DOMAIN)))
			differ(g, path, "unexpected %.*s: \"%.*s\"", STR_F(json_str(k)),
			       STR_F(json_str(yyjson_obj_iter_get_val(k))));
}

static void expect_meta(struct golden *g, struct str path, const struct golden_child *c, yyjson_val *want,
                        yyjson_val *got)
{
	yyjson_val *meta = json_get(got, "metadata");

	compare(g, key_path(g, path, STR("name")), json_get(want, "name"), json_get(meta, "name"), COMPARE_EXACT);
	expect_text(g, path, "replica", json_str(json_get(want, "replica")),
	            arena_printf(&g->a, "%.*s-%d", STR_F(c->role->name), c->index));
	expect_text(g, path, "namespace", c->job->ns, json_str(json_get(meta, "namespace")));
	expect_owner(g, path, c, meta);
	expect_labels(g, path, c, json_get(want, "labels"), json_get(meta, "labels"));
}

/* --- pods --- */

/* The list of variables as one object: NAME → value, or the whole entry if it has none. */
static yyjson_doc *env_object(struct golden *g, struct str path, yyjson_val *env)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *obj = yyjson_mut_obj(doc);
	yyjson_arr_iter it = yyjson_arr_iter_with(env);
	yyjson_val *v, *shown;
	yyjson_doc *copy;

	while ((v = yyjson_arr_iter_next(&it))) {
		struct str name = json_str(json_get(v, "name"));

		shown = json_get(v, "value") ? json_get(v, "value") : json_get(v, "valueFrom");
		if (yyjson_mut_obj_getn(obj, str_text(name), name.n))
			differ(g, path, "%.*s stands there twice", STR_F(name));
		else
			json_mut_put(doc, obj, name, shown ? yyjson_val_mut_copy(doc, shown) : yyjson_mut_null(doc));
	}
	copy = yyjson_mut_val_imut_copy(obj, NULL);
	yyjson_mut_doc_free(doc);
	return copy;
}

/* Every container: one that the case does not name has no variables. */
static void expect_env(struct golden *g, struct str path, yyjson_val *want, yyjson_val *spec)
{
	static const char *const lists[] = { "initContainers", "containers" };
	yyjson_obj_iter names = yyjson_obj_iter_with(want);
	size_t found = 0;
	yyjson_val *k;

	for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
		yyjson_arr_iter it = yyjson_arr_iter_with(json_get(spec, lists[l]));
		yyjson_val *c;

		while ((c = yyjson_arr_iter_next(&it))) {
			struct str name = json_str(json_get(c, "name"));
			struct str at = key_path(g, path, name);
			yyjson_doc *doc = env_object(g, at, json_get(c, "env"));
			yyjson_val *expected = json_get_str(want, name), *got = yyjson_doc_get_root(doc);

			found += expected != NULL;
			if (expected)
				compare(g, at, expected, got, COMPARE_ORDERED);
			else if (yyjson_obj_size(got))
				differ(g, at, "has variables, none are written down");
			yyjson_doc_free(doc);
		}
	}
	if (found == yyjson_obj_size(want))
		return;
	while ((k = yyjson_obj_iter_next(&names)))
		differ(g, key_path(g, path, json_str(k)), "perhaps this container does not exist");
}

/* Fields that the operator may set by itself. */
static bool is_set_by_us(struct str key)
{
	static const char *const ours[] = { "restartPolicy", "enableServiceLinks", "dnsPolicy",
		                            "schedulerName", "hostname",           NULL };

	for (size_t i = 0; ours[i]; i++)
		if (str_eqc(key, ours[i]))
			return true;
	return false;
}

/* A template is kept whole: what differs must be what we may set. Variables have been looked at. */
static void expect_kept(struct golden *g, struct str path, yyjson_val *template, yyjson_val *spec)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(template);
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it))) {
		bool containers = str_has_suffix(json_str(k), STR("ontainers"));

		if (str_eqc(json_str(k), "restartPolicy") || str_eqc(json_str(k), "schedulerName"))
			continue;
		if (!containers)
			compare(g, key_path(g, path, json_str(k)), yyjson_obj_iter_get_val(k),
			        json_get_str(spec, json_str(k)), COMPARE_EXACT);
	}
	it = yyjson_obj_iter_with(spec);
	while ((k = yyjson_obj_iter_next(&it)))
		if (!json_get_str(template, json_str(k)) && !is_set_by_us(json_str(k)))
			differ(g, path, "the template has no %.*s", STR_F(json_str(k)));
}

static void expect_containers_kept(struct golden *g, struct str path, yyjson_val *want, yyjson_val *got)
{
	size_t n = yyjson_arr_size(want);

	if (n != yyjson_arr_size(got))
		differ(g, path, "there are %zu containers, the template has %zu", yyjson_arr_size(got), n);
	for (size_t i = 0; i < n; i++) {
		yyjson_obj_iter it = yyjson_obj_iter_with(yyjson_arr_get(want, i));
		yyjson_val *k;

		while ((k = yyjson_obj_iter_next(&it)))
			if (!str_eqc(json_str(k), "env"))
				compare(g, key_path(g, item_path(g, path, i), json_str(k)), yyjson_obj_iter_get_val(k),
				        json_get_str(yyjson_arr_get(got, i), json_str(k)), COMPARE_EXACT);
	}
}

static void expect_spec(struct golden *g, struct str path, const struct golden_child *c, yyjson_val *want,
                        yyjson_val *spec)
{
	yyjson_val *template = json_get(c->role->template, "spec");

	expect_text(g, path, "restartPolicy", STR("Never"), json_str(json_get(spec, "restartPolicy")));
	if (!json_get(template, "enableServiceLinks") && !yyjson_is_false(json_get(spec, "enableServiceLinks")))
		differ(g, path, "enableServiceLinks must be false");
	expect_kept(g, path, template, spec);
	expect_containers_kept(g, path, json_get(template, "containers"), json_get(spec, "containers"));
	expect_containers_kept(g, path, json_get(template, "initContainers"), json_get(spec, "initContainers"));
	expect_env(g, key_path(g, path, STR("env")), json_get(want, "env"), spec);
	if (json_get(want, "spec"))
		compare(g, key_path(g, path, STR("spec")), json_get(want, "spec"), spec, COMPARE_SUBSET);
}

static void expect_pod(struct golden *g, struct str path, struct kind_job *kj, const struct golden_child *c,
                       yyjson_val *want)
{
	static const char *const known[] = { "name", "replica", "labels", "annotations", "env", "spec", NULL };
	struct buf text = BUF_INIT(CHILD_MAX);
	struct err e = ERR_INIT;
	bool made = kind_pod(kj, (size_t)(c->role - c->job->roles), c->index, 0, 0, &text, &e);
	yyjson_doc *doc = parse_child(g, path, made, &text, &e);
	yyjson_val *pod = yyjson_doc_get_root(doc);

	if (doc && keys_known(g, path, want, known)) {
		expect_text(g, path, "apiVersion", STR("v1"), json_str(json_get(pod, "apiVersion")));
		expect_text(g, path, "kind", STR("Pod"), json_str(json_get(pod, "kind")));
		expect_meta(g, path, c, want, pod);
		expect_own_label(g, path, json_at(pod, "metadata", "labels", NULL), LABEL_GENERATION, STR("0"));
		compare(g, key_path(g, path, STR("annotations")), json_get(want, "annotations"),
		        json_at(pod, "metadata", "annotations", NULL), COMPARE_EXACT);
		compare(g, path, json_at(c->role->template, "metadata", "finalizers", NULL),
		        json_at(pod, "metadata", "finalizers", NULL), COMPARE_EXACT);
		expect_spec(g, path, c, want, json_get(pod, "spec"));
	}
	yyjson_doc_free(doc);
}

/* --- services --- */

/* Headless, but for a service of a type of its own. */
static void expect_service_spec(struct golden *g, struct str path, const struct golden_child *c, yyjson_val *want,
                                yyjson_val *spec)
{
	yyjson_val *selector = json_get(spec, "selector");

	compare(g, key_path(g, path, STR("type")), json_get(want, "type"), json_get(spec, "type"), COMPARE_EXACT);
	expect_text(g, path, "clusterIP", json_get(want, "type") ? STR_NONE : STR("None"),
	            json_str(json_get(spec, "clusterIP")));
	/* One with an address of its own is for people: they are led only to what answers. */
	if (yyjson_is_true(json_get(spec, "publishNotReadyAddresses")) == (json_get(want, "type") != NULL))
		differ(g, path, "publishNotReadyAddresses must be true, unless it has a type");
	if (yyjson_obj_size(selector) != 3)
		differ(g, path, "the selector must be uid, role and index");
	expect_own_label(g, path, selector, LABEL_UID, c->job->uid);
	expect_own_label(g, path, selector, LABEL_ROLE, c->role->name);
	expect_own_label(g, path, selector, LABEL_INDEX, arena_printf(&g->a, "%d", c->index));
	compare(g, key_path(g, path, STR("ports")), json_get(want, "ports"), json_get(spec, "ports"), COMPARE_EXACT);
}

static void expect_service(struct golden *g, struct str path, struct kind_job *kj, const struct golden_child *c,
                           yyjson_val *want)
{
	static const char *const known[] = { "name", "replica", "labels", "ports", "type", NULL };
	struct buf text = BUF_INIT(CHILD_MAX);
	struct err e = ERR_INIT;
	bool made = kind_service(kj, (size_t)(c->role - c->job->roles), c->index, &text, &e);
	yyjson_doc *doc = parse_child(g, path, made, &text, &e);
	yyjson_val *service = yyjson_doc_get_root(doc);

	if (doc && keys_known(g, path, want, known)) {
		expect_text(g, path, "apiVersion", STR("v1"), json_str(json_get(service, "apiVersion")));
		expect_text(g, path, "kind", STR("Service"), json_str(json_get(service, "kind")));
		expect_meta(g, path, c, want, service);
		expect_service_spec(g, path, c, want, json_get(service, "spec"));
	}
	yyjson_doc_free(doc);
}

/* --- both --- */

typedef void expect_child(struct golden *, struct str, struct kind_job *, const struct golden_child *, yyjson_val *);

static void expect_list(struct golden *g, struct str path, struct kind_job *kj, yyjson_val *object, yyjson_val *list,
                        bool services, expect_child *expect)
{
	const struct job *job = kind_job(kj);
	size_t n = 0;

	for (size_t r = 0; r < job->n_roles; r++) {
		for (int32_t i = 0; i < job->roles[r].count; i++) {
			struct golden_child c = { job, &job->roles[r], i, object };
			yyjson_val *want = yyjson_arr_get(list, n);

			if (services && !job->roles[r].service)
				continue;
			if (want)
				expect(g, item_path(g, path, n), kj, &c, want);
			else
				differ(g, path, "unexpected: %.*s-%d", STR_F(c.role->name), i);
			n++;
		}
	}
	for (; n < yyjson_arr_size(list); n++)
		differ(g, item_path(g, path, n), "is not there");
}

void expect_children(struct golden *g, struct kind_job *kj, yyjson_val *object, yyjson_val *pods, yyjson_val *services)
{
	if (pods)
		expect_list(g, STR("pods"), kj, object, pods, false, expect_pod);
	if (services)
		expect_list(g, STR("services"), kj, object, services, true, expect_service);
}
