/* What containers that ask for an accelerator get. Nothing of the user's is changed but the name of a resource. */
#include "kind/accelerator_file.h"
#include "kind/path.h"
#include "object/quantity.h"

static const char *const container_lists[] = { "initContainers", "containers" };
static const char *const resource_lists[] = { "limits", "requests" };

/* --- what a container asks for --- */

static yyjson_val *amount(yyjson_val *container, size_t list, struct str name)
{
	yyjson_val *val = json_get_str(json_at(container, "resources", resource_lists[list], NULL), name);

	return yyjson_is_null(val) ? NULL : val;
}

static bool is_some(yyjson_val *val)
{
	int64_t milli;

	return quantity_read(val, &milli) && milli > 0;
}

static bool asks_for(yyjson_val *container, struct str name)
{
	return is_some(amount(container, 0, name)) || is_some(amount(container, 1, name));
}

static bool mentions(yyjson_val *container, struct str name)
{
	return amount(container, 0, name) || amount(container, 1, name);
}

/* 1 and "1" are the same. */
static bool same_amount(yyjson_val *a, yyjson_val *b)
{
	int64_t x, y;

	return quantity_read(a, &x) && quantity_read(b, &y) ? x == y : json_eq(a, b);
}

/* --- what cannot be done --- */

static void check_renamed(const struct accelerator *one, yyjson_val *container, struct str path, struct problems *p)
{
	for (size_t i = 0; i < ARRAY_LEN(resource_lists); i++)
		for (size_t k = 0; k < ARRAY_LEN(resource_lists); k++) {
			yyjson_val *old = amount(container, i, one->name), *new = amount(container, k, one->resource);

			if (!old || !new || same_amount(old, new))
				continue;
			path = arena_printf(p->arena, "%.*s.resources.%s", STR_F(path), resource_lists[i]);
			problem_error(p, path_key(p->arena, path, one->name),
			              "is replaced by %.*s, but the container requests a different number of that: "
			              "remove one of the two",
			              STR_F(one->resource));
			return;
		}
}

void accelerators_check(const struct accelerators *a, yyjson_val *spec, struct str path, struct problems *p)
{
	for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
		struct str list = arena_printf(p->arena, "%.*s.%s", STR_F(path), container_lists[l]);
		yyjson_arr_iter it = yyjson_arr_iter_with(json_get(spec, container_lists[l]));
		yyjson_val *c;

		while ((c = yyjson_arr_iter_next(&it)))
			for (size_t i = 0; i < a->list.n; i++)
				if (a->list.v[i].resource.n)
					check_renamed(&a->list.v[i], c, path_index(p->arena, list, it.idx - 1), p);
	}
}

/* --- what is put in --- */

struct work {
	const struct accelerators *a;
	yyjson_mut_doc *doc;
	yyjson_mut_val *spec;
};

static struct str field_str(yyjson_mut_val *obj, const char *key)
{
	return json_mut_text(yyjson_mut_obj_get(obj, key));
}

/* Can something be put into obj[key]? */
static bool is_open(yyjson_mut_val *obj, const char *key)
{
	yyjson_mut_val *list = yyjson_mut_obj_get(obj, key);

	return !list || yyjson_mut_is_null(list) || yyjson_mut_is_arr(list);
}

/* The list obj[key], which is open; made if there is none. */
static yyjson_mut_val *list_of(struct work *w, yyjson_mut_val *obj, const char *key)
{
	yyjson_mut_val *list = yyjson_mut_obj_get(obj, key);

	if (yyjson_mut_is_arr(list))
		return list;
	list = yyjson_mut_arr(w->doc);
	yyjson_mut_obj_put(obj, yyjson_mut_str(w->doc, key), list);
	return list;
}

static yyjson_mut_val *find_element(yyjson_mut_val *list, const char *key, struct str value)
{
	yyjson_mut_arr_iter it = yyjson_mut_arr_iter_with(list);
	yyjson_mut_val *v;

	while ((v = yyjson_mut_arr_iter_next(&it)))
		if (str_eq(field_str(v, key), value))
			return v;
	return NULL;
}

static struct str without_slash(struct str path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

static bool is_mounted(yyjson_mut_val *mounts, const struct accelerator_volume *v)
{
	yyjson_mut_arr_iter it = yyjson_mut_arr_iter_with(mounts);
	yyjson_mut_val *m;

	while ((m = yyjson_mut_arr_iter_next(&it)))
		if (str_eq(field_str(m, "name"), v->name) ||
		    str_eq(without_slash(field_str(m, "mountPath")), without_slash(v->mount_path)))
			return true;
	return false;
}

/* The pod's volume; false if the user has another one of that name. */
static bool put_volume(struct work *w, const struct accelerator_volume *v)
{
	yyjson_mut_val *there = find_element(yyjson_mut_obj_get(w->spec, "volumes"), "name", v->name), *host;

	if (there)
		return str_eq(without_slash(field_str(yyjson_mut_obj_get(there, "hostPath"), "path")),
		              without_slash(v->host_path));
	if (!is_open(w->spec, "volumes"))
		return false;
	there = yyjson_mut_arr_add_obj(w->doc, list_of(w, w->spec, "volumes"));
	json_mut_put(w->doc, there, STR("name"), json_mut_str(w->doc, v->name));
	host = yyjson_mut_obj_add_obj(w->doc, there, "hostPath");
	json_mut_put(w->doc, host, STR("path"), json_mut_str(w->doc, v->host_path));
	return true;
}

static void put_mount(struct work *w, yyjson_mut_val *container, const struct accelerator_volume *v)
{
	yyjson_mut_val *mount;

	if (!is_open(container, "volumeMounts") || is_mounted(yyjson_mut_obj_get(container, "volumeMounts"), v) ||
	    !put_volume(w, v))
		return;
	mount = yyjson_mut_arr_add_obj(w->doc, list_of(w, container, "volumeMounts"));
	json_mut_put(w->doc, mount, STR("name"), json_mut_str(w->doc, v->name));
	json_mut_put(w->doc, mount, STR("mountPath"), json_mut_str(w->doc, v->mount_path));
}

static void put_variable(struct work *w, yyjson_mut_val *container, const struct accelerator_variable *v)
{
	yyjson_mut_val *var;

	if (!is_open(container, "env") || find_element(yyjson_mut_obj_get(container, "env"), "name", v->name))
		return;
	var = yyjson_mut_arr_add_obj(w->doc, list_of(w, container, "env"));
	json_mut_put(w->doc, var, STR("name"), json_mut_str(w->doc, v->name));
	json_mut_put(w->doc, var, STR("value"), json_mut_str(w->doc, v->value));
}

static void rename_resource(struct work *w, yyjson_mut_val *container, const struct accelerator *one)
{
	yyjson_mut_val *resources = yyjson_mut_obj_get(container, "resources"), *list;

	for (size_t i = 0; i < ARRAY_LEN(resource_lists); i++) {
		list = yyjson_mut_obj_get(resources, resource_lists[i]);
		if (!yyjson_mut_obj_getn(list, one->name.p, one->name.n))
			continue;
		if (yyjson_mut_obj_getn(list, one->resource.p, one->resource.n))
			yyjson_mut_obj_remove_keyn(list, one->name.p, one->name.n);
		else
			yyjson_mut_obj_rename_keyn(w->doc, list, one->name.p, one->name.n, one->resource.p,
			                           one->resource.n);
	}
}

static void put_all(struct work *w, yyjson_mut_val *container, const struct accelerator *one)
{
	for (size_t i = 0; i < one->volumes.n; i++)
		put_mount(w, container, &one->volumes.v[i]);
	for (size_t i = 0; i < one->variables.n; i++)
		put_variable(w, container, &one->variables.v[i]);
}

/* Does CONTAINER ask for ONE, by its name or by one that stands for it? */
static bool wants(const struct work *w, yyjson_val *container, const struct accelerator *one)
{
	if (asks_for(container, one->name))
		return true;
	for (size_t i = 0; i < w->a->list.n; i++)
		if (str_eq(w->a->list.v[i].resource, one->name) && asks_for(container, w->a->list.v[i].name))
			return true;
	return false;
}

static void accelerate(struct work *w, yyjson_val *was, yyjson_mut_val *container)
{
	for (size_t i = 0; i < w->a->list.n; i++) {
		const struct accelerator *one = &w->a->list.v[i];

		if (wants(w, was, one))
			put_all(w, container, one);
		if (one->resource.n)
			rename_resource(w, container, one);
	}
}

struct needs accelerators_rename(const struct accelerators *a, const struct needs *n, struct arena *arena)
{
	struct needs ret = { 0 };

	for (size_t i = 0; i < n->n; i++) {
		struct need one = n->v[i];

		for (size_t k = 0; k < a->list.n; k++)
			if (a->list.v[k].resource.n && str_eq(a->list.v[k].name, n->v[i].name))
				one.name = a->list.v[k].resource;
		needs_raise(&ret, &(struct needs){ &one, 1, 1 }, arena);
	}
	return ret;
}

static bool any_mentions(const struct accelerators *a, yyjson_val *spec)
{
	for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
		yyjson_arr_iter it = yyjson_arr_iter_with(json_get(spec, container_lists[l]));
		yyjson_val *c;

		while ((c = yyjson_arr_iter_next(&it)))
			for (size_t i = 0; i < a->list.n; i++)
				if (mentions(c, a->list.v[i].name))
					return true;
	}
	return false;
}

yyjson_doc *accelerators_apply(const struct accelerators *a, yyjson_val *spec)
{
	struct work w = { .a = a };
	yyjson_doc *ret;

	if (!any_mentions(a, spec))
		return NULL;
	w.doc = yyjson_mut_doc_new(NULL);
	w.spec = yyjson_val_mut_copy(w.doc, spec);
	for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
		yyjson_arr_iter was = yyjson_arr_iter_with(json_get(spec, container_lists[l]));
		yyjson_mut_arr_iter is = yyjson_mut_arr_iter_with(yyjson_mut_obj_get(w.spec, container_lists[l]));
		yyjson_val *c;

		while ((c = yyjson_arr_iter_next(&was)))
			accelerate(&w, c, yyjson_mut_arr_iter_next(&is));
	}
	ret = yyjson_mut_val_imut_copy(w.spec, NULL);
	yyjson_mut_doc_free(w.doc);
	return ret;
}
