#include "client/manifest.h"

static struct str group_of(struct str api_version)
{
	struct str rest = api_version, group = STR_NONE;

	return memchr(api_version.p, '/', api_version.n) && str_next(&rest, '/', &group) ? group : STR_NONE;
}

/* The kind that was perhaps meant: of the same group if there is one, else any whose group is nearly so. */
static const struct kind *nearest(const struct kinds *kinds, struct str group, struct str name, bool *ours)
{
	const struct kind *found = NULL;
	unsigned least = 1000;

	*ours = false;
	for (size_t i = 0; i < kinds_count(kinds); i++) {
		const struct kind *k = kinds_at(kinds, i);
		unsigned g = str_distance(group, k->group, 2), d = str_distance(name, k->kind, 3);

		*ours = *ours || g == 0;
		if (g <= 2 && d <= 3 && 10 * g + d < least) {
			least = 10 * g + d;
			found = k;
		}
	}
	return found;
}

static void wrong(struct manifest_object *o, const char *field, struct str message)
{
	o->class = OBJECT_WRONG;
	o->field = str_c(field);
	o->message = message;
}

static void remember_other(struct manifest *m, struct str version, struct str name)
{
	bool is_job = str_has_suffix(name, STR("Job"));

	if (m->other.n && (m->other_is_job || !is_job))
		return;
	m->other = arena_printf(m->arena, "%.*s of %.*s", STR_F(name), STR_F(version));
	m->other_kind = name;
	m->other_is_job = is_job;
}

/* "A of g/v1 or B of h/v1": all kinds, or those whose name is nearly NAME. */
static struct str kinds_like(const struct manifest *m, struct str name)
{
	struct str ret = STR_NONE;

	for (size_t i = 0; i < kinds_count(m->kinds); i++) {
		const struct kind *k = kinds_at(m->kinds, i);

		if (!name.n || str_distance(name, k->kind, 2) <= 2)
			ret = arena_printf(m->arena, "%.*s%s%.*s of %.*s/%.*s", STR_F(ret), ret.n ? " or " : "",
			                   STR_F(k->kind), STR_F(k->group), STR_F(k->version));
	}
	return ret;
}

struct str manifest_without_job(const struct manifest *m)
{
	struct str like = m->other_is_job ? kinds_like(m, m->other_kind) : STR_NONE;

	if (!m->other.n)
		return STR("it is empty");
	if (like.n)
		return arena_printf(m->arena, "%.*s is not a known API; did you mean %.*s?", STR_F(m->other),
		                    STR_F(like));
	return arena_printf(m->arena, "%.*s is %s; a job is %.*s", STR_F(m->other),
	                    m->other_is_job ? "not a known API" : "not a job", STR_F(kinds_like(m, STR_NONE)));
}

/* An object whose kind is not known: a mistake in one of ours, or somebody else's? */
static void classify_unknown(struct manifest *m, struct manifest_object *o, struct str version, struct str name)
{
	struct str group = group_of(version);
	bool ours;
	const struct kind *k = nearest(m->kinds, group, name, &ours);

	if (k && str_eq(k->group, group) && str_eq(k->kind, name))
		wrong(o, "apiVersion",
		      arena_printf(m->arena, "version %.*s of %.*s is unknown; did you mean %.*s/%.*s?", STR_F(version),
		                   STR_F(name), STR_F(k->group), STR_F(k->version)));
	else if (k)
		wrong(o, str_eq(k->group, group) ? "kind" : "apiVersion",
		      arena_printf(m->arena, "kind %.*s of %.*s is unknown; did you mean %.*s of %.*s/%.*s?",
		                   STR_F(name), STR_F(version), STR_F(k->kind), STR_F(k->group), STR_F(k->version)));
	else if (ours)
		wrong(o, "kind",
		      arena_printf(m->arena, "kind %.*s of %.*s is unknown; see 'dljob kinds'", STR_F(name),
		                   STR_F(version)));
	else {
		o->message = arena_printf(m->arena, "%.*s of %.*s is not a job: skipped", STR_F(name), STR_F(version));
		remember_other(m, version, name);
	}
}

static void classify(struct manifest *m, struct manifest_object *o)
{
	struct str version = json_str(json_get(o->root, "apiVersion")), name = json_str(json_get(o->root, "kind"));

	o->class = OBJECT_FOREIGN;
	if (!yyjson_is_obj(o->root)) {
		wrong(o, "", arena_printf(m->arena, "a manifest must be an object, found %s", json_type_name(o->root)));
	} else if (str_empty(version)) {
		wrong(o, "apiVersion", STR("is missing"));
	} else if (str_empty(name)) {
		wrong(o, "kind", STR("is missing"));
	} else {
		o->kind = kinds_find(m->kinds, version, name);
		m->jobs += o->kind != NULL;
		if (o->kind)
			o->class = OBJECT_JOB;
		else
			classify_unknown(m, o, version, name);
	}
}

static bool is_list(yyjson_val *root)
{
	return str_eqc(json_str(json_get(root, "apiVersion")), "v1") &&
	       str_eqc(json_str(json_get(root, "kind")), "List") && yyjson_is_arr(json_get(root, "items"));
}

bool manifest_next(struct manifest *m, struct manifest_object *ret)
{
	for (; m->doc < yaml_count(m->yaml); m->doc++, m->item = 0) {
		yyjson_val *root = yaml_root(m->yaml, m->doc);

		*ret = (struct manifest_object){ .root = root, .doc = m->doc };
		if (!is_list(root)) {
			classify(m, ret);
			m->doc++;
			return true;
		}
		ret->root = yyjson_arr_get(json_get(root, "items"), m->item);
		if (ret->root) {
			ret->prefix = arena_printf(m->arena, "items[%zu]", m->item++);
			classify(m, ret);
			return true;
		}
	}
	return false;
}

struct str manifest_path(struct arena *a, const struct manifest_object *o, struct str path)
{
	if (str_empty(o->prefix) || str_empty(path))
		return str_empty(path) ? o->prefix : path;
	return arena_printf(a, "%.*s.%.*s", STR_F(o->prefix), STR_F(path));
}
