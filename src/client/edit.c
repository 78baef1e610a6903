#include "client/edit.h"

#include "base/yaml.h"

/* One step of a path. */
struct step {
	struct str key;
	bool index;
	size_t at; /* of an index */
};

/* Where the path's "=" stands: not one inside of ["…"]. */
static size_t equals_at(struct str s)
{
	bool quoted = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"')
			quoted = !quoted;
		else if (quoted && s.p[i] == '\\')
			i++;
		else if (!quoted && s.p[i] == '=')
			return i;
	}
	return s.n;
}

static struct str unquoted(struct arena *a, struct str s)
{
	char *p = arena_raw(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
		p[n++] = s.p[i];
	}
	return (struct str){ p, n };
}

/* What stands between brackets, *REST being behind the first. */
static bool bracket_step(struct str *rest, struct step *ret, struct arena *a)
{
	bool quoted = rest->n && rest->p[0] == '"';
	size_t end = quoted;
	int64_t index;

	while (end < rest->n && rest->p[end] != (quoted ? '"' : ']'))
		end += quoted && rest->p[end] == '\\' ? 2 : 1;
	if (end >= rest->n || (quoted && (end + 1 >= rest->n || rest->p[end + 1] != ']')))
		return false;
	if (quoted) {
		*ret = (struct step){ .key = unquoted(a, str_sub(*rest, 1, end - 1)) };
		*rest = str_sub(*rest, end + 2, rest->n);
		return true;
	}
	if (!str_int(str_sub(*rest, 0, end), &index) || index < 0)
		return false;
	*ret = (struct step){ .index = true, .at = (size_t)index };
	*rest = str_sub(*rest, end + 1, rest->n);
	return true;
}

/* The next step of *REST; false if it is none. */
static bool next_step(struct str *rest, bool first, struct step *ret, struct arena *a)
{
	size_t end = 0;

	if (rest->p[0] == '[') {
		*rest = str_sub(*rest, 1, rest->n);
		return bracket_step(rest, ret, a);
	}
	if (!first) {
		if (rest->p[0] != '.')
			return false;
		*rest = str_sub(*rest, 1, rest->n);
	}
	while (end < rest->n && rest->p[end] != '.' && rest->p[end] != '[')
		end++;
	*ret = (struct step){ .key = str_sub(*rest, 0, end) };
	*rest = str_sub(*rest, end, rest->n);
	return end > 0;
}

static const char *type_of(yyjson_mut_val *v)
{
	return yyjson_mut_is_obj(v)    ? "an object"
	       : yyjson_mut_is_arr(v)  ? "a list"
	       : yyjson_mut_is_str(v)  ? "a string"
	       : yyjson_mut_is_num(v)  ? "a number"
	       : yyjson_mut_is_bool(v) ? "a boolean"
	                               : "null";
}

/* Can STEP be taken at V, whose path is SO_FAR? */
static bool check_step(yyjson_mut_val *v, const struct step *step, struct str so_far, struct err *e)
{
	size_t n = yyjson_mut_arr_size(v);

	if (step->index && !yyjson_mut_is_arr(v))
		return err_set(e, ERR_INVALID, "%.*s is %s, not a list", STR_F(so_far), type_of(v));
	if (step->index && step->at > n)
		return err_set(e, ERR_INVALID, "%.*s has %zu item%s, starting at [0]: there is no [%zu]", STR_F(so_far),
		               n, n == 1 ? "" : "s", step->at);
	if (!step->index && yyjson_mut_is_arr(v))
		return err_set(e, ERR_INVALID, "%.*s is a list: write %.*s[0] for its first item", STR_F(so_far),
		               STR_F(so_far));
	if (!step->index && !yyjson_mut_is_obj(v))
		return err_set(e, ERR_INVALID, "%.*s is %s and cannot contain %.*s", STR_F(so_far), type_of(v),
		               STR_F(step->key));
	return true;
}

static yyjson_mut_val *child(yyjson_mut_val *v, const struct step *step)
{
	return step->index ? yyjson_mut_arr_get(v, step->at) : yyjson_mut_obj_getn(v, step->key.p, step->key.n);
}

static void put_at_step(yyjson_mut_doc *doc, yyjson_mut_val *v, const struct step *step, yyjson_mut_val *value)
{
	bool none = yyjson_mut_is_null(value);

	if (!step->index && none)
		yyjson_mut_obj_remove_keyn(v, step->key.p, step->key.n);
	else if (!step->index)
		yyjson_mut_obj_put(v, json_mut_str(doc, step->key), value);
	else if (step->at == yyjson_mut_arr_size(v) && !none)
		yyjson_mut_arr_append(v, value);
	else if (step->at < yyjson_mut_arr_size(v) && none)
		yyjson_mut_arr_remove(v, step->at);
	else if (!none)
		yyjson_mut_arr_replace(v, step->at, value);
}

static bool put_at(yyjson_mut_doc *doc, yyjson_mut_val *v, struct str path, yyjson_mut_val *value, struct arena *a,
                   struct err *e)
{
	struct str rest = path;
	struct step step;

	for (bool first = true;; first = false) {
		struct str so_far = str_sub(path, 0, path.n - rest.n);
		yyjson_mut_val *next;

		if (!rest.n || !next_step(&rest, first, &step, a))
			return err_set(e, ERR_INVALID, "'%.*s' is not a path such as spec.replicaSpecs[0].replicas",
			               STR_F(path));
		if (!check_step(v, &step, so_far, e))
			return false;
		if (!rest.n)
			break;
		next = child(v, &step);
		if (!next || yyjson_mut_is_null(next)) {
			/* A list that is not there begins with [0]. */
			next = rest.p[0] == '[' && !(rest.n > 1 && rest.p[1] == '"') ? yyjson_mut_arr(doc)
			                                                             : yyjson_mut_obj(doc);
			put_at_step(doc, v, &step, next);
		}
		v = next;
	}
	put_at_step(doc, v, &step, value);
	return true;
}

bool edit_set(yyjson_mut_doc *doc, yyjson_mut_val *root, struct str assignment, struct err *e)
{
	size_t equals = equals_at(assignment);
	struct str path = str_sub(assignment, 0, equals);
	CLEANUP(yaml_closep) struct yaml_file *yaml = NULL;
	struct arena a = ARENA_INIT;
	yyjson_mut_val *value;
	bool ok;

	if (equals == assignment.n)
		return err_set(e, ERR_INVALID, "'%.*s' is not PATH=VALUE", STR_F(assignment));
	yaml = yaml_parse(path, str_sub(assignment, equals + 1, assignment.n), e);
	if (!yaml)
		return false;
	if (yaml_count(yaml) > 1)
		return err_set(e, ERR_INVALID, "%.*s: the value has more than one YAML document", STR_F(path));
	value = yaml_count(yaml) ? yyjson_val_mut_copy(doc, yaml_root(yaml, 0)) : yyjson_mut_null(doc);
	ok = put_at(doc, root, path, value, &a, e);
	arena_release(&a);
	return ok;
}

static void set_variable(yyjson_mut_doc *doc, yyjson_mut_val *container, struct str name, struct str value)
{
	yyjson_mut_val *env = yyjson_mut_obj_get(container, "env"), *one;
	yyjson_mut_arr_iter it;

	if (!yyjson_mut_is_arr(env)) {
		env = yyjson_mut_arr(doc);
		yyjson_mut_obj_put(container, yyjson_mut_str(doc, "env"), env);
	}
	yyjson_mut_arr_iter_init(env, &it);
	while ((one = yyjson_mut_arr_iter_next(&it))) {
		if (yyjson_mut_equals_strn(yyjson_mut_obj_get(one, "name"), str_text(name), name.n))
			yyjson_mut_arr_iter_remove(&it);
	}
	one = yyjson_mut_arr_add_obj(doc, env);
	json_mut_put(doc, one, STR("name"), json_mut_str(doc, name));
	json_mut_put(doc, one, STR("value"), json_mut_str(doc, value));
}

static size_t set_in_containers(yyjson_mut_doc *doc, yyjson_mut_val *list, struct str name, struct str value)
{
	yyjson_mut_val *c;
	size_t i, n, found = 0;

	if (!yyjson_mut_is_arr(list))
		return 0;
	yyjson_mut_arr_foreach(list, i, n, c)
	{
		if (!yyjson_mut_is_obj(c))
			continue;
		set_variable(doc, c, name, value);
		found++;
	}
	return found;
}

/* In every "template" below V, however a kind calls what is around it. */
static size_t set_in_templates(yyjson_mut_doc *doc, yyjson_mut_val *v, struct str name, struct str value)
{
	yyjson_mut_val *key, *inner;
	size_t i, n, found = 0;

	if (yyjson_mut_is_arr(v)) {
		yyjson_mut_arr_foreach(v, i, n, inner)
		{
			found += set_in_templates(doc, inner, name, value);
		}
	} else if (yyjson_mut_is_obj(v)) {
		yyjson_mut_obj_foreach(v, i, n, key, inner)
		{
			yyjson_mut_val *spec = yyjson_mut_obj_get(inner, "spec");

			if (!yyjson_mut_equals_str(key, "template")) {
				found += set_in_templates(doc, inner, name, value);
				continue;
			}
			found += set_in_containers(doc, yyjson_mut_obj_get(spec, "initContainers"), name, value);
			found += set_in_containers(doc, yyjson_mut_obj_get(spec, "containers"), name, value);
		}
	}
	return found;
}

bool edit_env(yyjson_mut_doc *doc, yyjson_mut_val *root, struct str name, struct str value, struct err *e)
{
	if (str_empty(name) || memchr(name.p, '=', name.n))
		return err_set(e, ERR_INVALID, "'%.*s' is not the name of a variable", STR_F(name));
	if (!set_in_templates(doc, yyjson_mut_obj_get(root, "spec"), name, value))
		return err_set(e, ERR_INVALID, "the job has no container to set %.*s in", STR_F(name));
	return true;
}

/* NAME=VALUE, or NAME: what it is here. */
static bool apply_env(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *text, struct err *e)
{
	const char *equals = strchr(text, '='), *here;

	if (equals)
		return edit_env(doc, root, str_sub(str_c(text), 0, (size_t)(equals - text)), str_c(equals + 1), e);
	here = getenv(text);
	if (!here)
		return err_set(e, ERR_INVALID, "%s is not set here; write %s=VALUE", text, text);
	return edit_env(doc, root, str_c(text), str_c(here), e);
}

static bool apply_name(const struct job_edits *e, yyjson_mut_doc *doc, yyjson_mut_val *root, struct err *err)
{
	yyjson_mut_val *meta = yyjson_mut_obj_get(root, "metadata"), *have;
	struct buf name = BUF_INIT(4096);

	if (!e->name && !e->suffix && !e->ns)
		return true;
	if (!meta) {
		meta = yyjson_mut_obj(doc);
		yyjson_mut_obj_put(root, yyjson_mut_str(doc, "metadata"), meta);
	}
	if (!yyjson_mut_is_obj(meta))
		return err_set(err, ERR_INVALID, "metadata is %s, not an object", type_of(meta));
	have = yyjson_mut_obj_get(meta, "name");
	buf_put(&name, e->name ? str_c(e->name) : json_mut_text(have));
	if (e->suffix)
		buf_printf(&name, "-%s", e->suffix);
	if (e->name || (e->suffix && yyjson_mut_is_str(have)))
		yyjson_mut_obj_put(meta, yyjson_mut_str(doc, "name"), json_mut_str(doc, buf_str(&name)));
	buf_release(&name);
	have = yyjson_mut_obj_get(meta, "namespace");
	if (e->ns && !json_mut_text(have).n)
		yyjson_mut_obj_put(meta, yyjson_mut_str(doc, "namespace"), json_mut_str(doc, str_c(e->ns)));
	return true;
}

bool edits_any(const struct job_edits *e)
{
	return e->set.n || e->env.n || e->name || e->suffix || e->ns;
}

yyjson_doc *edits_apply(const struct job_edits *e, yyjson_val *object, struct err *err)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *root = yyjson_val_mut_copy(doc, object);

	yyjson_mut_doc_set_root(doc, root);
	for (size_t i = 0; i < e->set.n; i++) {
		if (!edit_set(doc, root, str_c(e->set.v[i]), err)) {
			err_wrap(err, "--set %s", e->set.v[i]);
			return NULL;
		}
	}
	for (size_t i = 0; i < e->env.n; i++) {
		if (!apply_env(doc, root, e->env.v[i], err)) {
			err_wrap(err, "--env %s", e->env.v[i]);
			return NULL;
		}
	}
	if (!apply_name(e, doc, root, err))
		return NULL;
	return yyjson_mut_doc_imut_copy(doc, NULL);
}

/* Is INNER the path OUTER, or that of something in it? */
static bool is_within(struct str inner, struct str outer)
{
	return str_has_prefix(inner, outer) &&
	       (inner.n == outer.n || inner.p[outer.n] == '.' || inner.p[outer.n] == '[');
}

const char *edits_blamed(const struct job_edits *e, struct str path, bool unknown)
{
	for (size_t i = e->set.n; i > 0 && path.n; i--) {
		struct str set = str_c(e->set.v[i - 1]);

		set = str_sub(set, 0, equals_at(set));
		if (is_within(path, set) || (unknown && is_within(set, path)))
			return e->set.v[i - 1];
	}
	return NULL;
}

void edits_release(struct job_edits *e)
{
	opt_list_release(&e->set);
	opt_list_release(&e->env);
}
