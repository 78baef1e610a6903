/* What a kind calls things for its users ("fields"): in messages, and for `scale`, which changes the number of replicas
   by that name. Whoever runs a job cannot know that the name is wrong. */
#include "kind/internal.h"

struct naming {
	struct kind_job *kj;
	struct str who; /* role "worker": */
	struct str at;  /* where the names begin: spec.replicaSpecs[1] */
	bool of_role;
};

/* The next step of *REST: .name, [3] or ["a.b"]. NULL: there is no such thing in S. */
static const struct schema *schema_step(const struct schema *s, struct str *rest)
{
	bool quoted = str_has_prefix(*rest, STR("[\"")), index = !quoted && rest->p[0] == '[';
	const char *ends = quoted ? "\"" : index ? "]" : ".[";
	struct str key = str_sub(*rest, quoted ? 2 : 1, rest->n);
	size_t end = 0;

	while (end < key.n && !strchr(ends, key.p[end]))
		end++;
	*rest = str_sub(key, end + (quoted ? 2 : index), key.n);
	key = str_sub(key, 0, end);
	if (s->type == SCHEMA_OBJECT && !index)
		return schema_field(s, key);
	return (s->type == SCHEMA_MAP && !index) || (s->type == SCHEMA_ARRAY && index) ? s->items : NULL;
}

static bool is_in_schema(const struct schema *s, struct str path)
{
	struct str rest = str_sub(path, strlen("spec"), path.n);

	/* The policy is no field of a kind's own. */
	if (!str_has_prefix(path, STR("spec")) || str_has_prefix(rest, STR(".policy")))
		return str_has_prefix(path, STR("spec"));
	while (rest.n && s && s->type != SCHEMA_ANY && s->type != SCHEMA_TEMPLATE)
		s = strchr(".[", rest.p[0]) ? schema_step(s, &rest) : NULL;
	return s;
}

/* One that has started went on with it. */
static bool refuse_field_name(const struct naming *n, struct str word, struct err *e, struct str text)
{
	struct kind_job *kj = n->kj;

	if (!kj->started) {
		err_set(e, ERR_LUA, "%.*s%.*s", STR_F(n->who), STR_F(text));
		return kind_blame_word(kj->kinds, kj->file, FN_READ, word, e);
	}
	problems_add(&kj->job->problems, PROBLEM_SPARED, n->at, "%.*s: %.*s%.*s", STR_F(kj->file->kind.file),
	             STR_F(n->who), STR_F(text));
	return true;
}

static bool check_field_name(const struct naming *n, struct str key, yyjson_val *val, struct err *e)
{
	struct arena *a = &n->kj->arena;
	struct str name = json_str(val), near = STR_NONE, path;

	if (!job_fields_have(n->of_role, key, &near))
		return refuse_field_name(n, key, e,
		                         arena_printf(a, "unknown field \"fields.%.*s\"%s%.*s%s", STR_F(key),
		                                      near.n ? "; did you mean \"" : "", STR_F(near),
		                                      near.n ? "\"?" : ""));
	if (!yyjson_is_str(val))
		return refuse_field_name(
			n, key, e,
			arena_printf(a, "\"fields.%.*s\" must be a string, found %s", STR_F(key), json_type_name(val)));
	path = arena_printf(a, "%.*s%s%.*s", STR_F(n->at), name.n ? "." : "", STR_F(name));
	return is_in_schema(&n->kj->file->spec, path) ||
	       refuse_field_name(
		       n, name, e,
		       arena_printf(a, "\"fields.%.*s\": this kind has no field %.*s", STR_F(key), STR_F(path)));
}

static bool check_field_names(const struct naming *n, yyjson_val *fields, struct err *e)
{
	yyjson_val *key, *val;
	size_t i, max;
	bool ok = true;

	yyjson_obj_foreach(fields, i, max, key, val) ok = ok && check_field_name(n, json_str(key), val, e);
	return ok;
}

bool kind_check_field_names(struct kind_job *kj, struct err *e)
{
	yyjson_val *root = yyjson_doc_get_root(kj->doc), *roles = json_get(root, "roles");
	struct naming n = { .kj = kj, .at = STR("spec") };
	bool ok = check_field_names(&n, json_get(root, "fields"), e);

	for (size_t i = 0; ok && i < kj->job->n_roles; i++) {
		const struct role *r = &kj->job->roles[i];

		if (r->companion)
			continue;
		n = (struct naming){ kj, arena_printf(&kj->arena, "role \"%.*s\": ", STR_F(r->name)), r->path, true };
		ok = check_field_names(&n, json_get(yyjson_arr_get(roles, i), "fields"), e);
	}
	return ok;
}
