/* Manifests as people's commands and the local API check them: every field of every template. */
#include "kind/internal.h"
#include "kind/path.h"

/* No role has a longer name, which was said where names are checked; and each path below would repeat it. */
enum { KEY_MAX = 253 };

/* What is no template was checked by its schema. */
static void check_value(const struct pod_fields_check *c, const struct schema *s, yyjson_val *val, struct str path)
{
	struct arena *a = c->problems->arena;
	const struct schema *f;
	yyjson_val *key, *v;
	size_t i, max;

	if (s->type == SCHEMA_TEMPLATE && yyjson_is_obj(val))
		pod_fields_check(c, val, path);
	else if (s->type == SCHEMA_ARRAY && yyjson_is_arr(val)) {
		yyjson_arr_foreach(val, i, max, v) check_value(c, s->items, v, path_index(a, path, i));
	} else if ((s->type == SCHEMA_OBJECT || s->type == SCHEMA_MAP) && yyjson_is_obj(val)) {
		yyjson_obj_foreach(val, i, max, key, v)
		{
			f = s->type == SCHEMA_MAP ? s->items : schema_field(s, json_str(key));
			if (f && json_str(key).n <= KEY_MAX)
				check_value(c, f, v, path_key(a, path, json_str(key)));
		}
	}
}

void kind_check_body(const struct kind *kind, yyjson_val *object, const struct pod_fields_check *c)
{
	pod_fields_check_metadata(c, json_get(object, "metadata"), STR("metadata"));
	check_value(c, &kind_file_of(kind)->spec, json_get(object, "spec"), STR("spec"));
}

static bool is_same_or_inside(struct str path, struct str of)
{
	return str_has_prefix(path, of) && (path.n == of.n || path.p[of.n] == '.' || path.p[of.n] == '[');
}

/* Does PATH lead into a template, and not only to one? */
static bool is_in_template(const struct job *job, struct str path)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		struct str template = job->roles[i].path;

		if (is_same_or_inside(path, template) &&
		    str_has_prefix(str_sub(path, template.n, path.n), STR(".template.")))
			return true;
	}
	return str_has_prefix(path, STR("metadata."));
}

/* Was it said only because of one of the errors in BY: that a container needs an image, whose image is a number? */
static bool is_explained(const struct job *job, const struct problem *p, const struct problems *by)
{
	for (size_t i = 0; is_in_template(job, p->path) && i < by->list.n; i++)
		if (by->list.v[i].severity == PROBLEM_ERROR && is_same_or_inside(by->list.v[i].path, p->path))
			return true;
	return false;
}

void kind_check_fields(struct kind_job *kj, enum unknown_fields unknown)
{
	struct problems *all = &kj->job->problems;
	struct problems found = { .arena = &kj->arena };
	const struct pod_fields_check c = { .problems = &found, .unknown = unknown };
	size_t kept = 0;

	kind_check_body(&kj->file->kind, kj->object, &c);
	for (size_t i = 0; i < all->list.n; i++) {
		if (is_explained(kj->job, &all->list.v[i], &found))
			all->errors -= all->list.v[i].severity == PROBLEM_ERROR;
		else
			all->list.v[kept++] = all->list.v[i];
	}
	all->list.n = kept;
	for (size_t i = 0; i < found.list.n; i++)
		problems_add(all, found.list.v[i].severity, found.list.v[i].path, "%.*s",
		             STR_F(found.list.v[i].message));
	all->dropped += found.dropped;
}
