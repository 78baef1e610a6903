#include "local/store/crd.h"

#include "local/store/answer.h"
#include "local/store/meta.h"
#include "local/store/types.h"

static bool invalid(struct store_call *c, yyjson_val *root, const char *field, const char *why)
{
	return answer_invalid(c, json_str(json_at(root, "metadata", "name", NULL)), field, "%s", why);
}

static bool check_versions(struct store_call *c, yyjson_val *root)
{
	yyjson_val *versions = json_at(root, "spec", "versions", NULL), *one, *other;
	size_t i, max, k, most, stored = 0;

	if (!yyjson_is_arr(versions) || !yyjson_arr_size(versions))
		return invalid(c, root, "spec.versions", "Required value: must have at least one version");
	yyjson_arr_foreach(versions, i, max, one)
	{
		struct str name = json_str(json_get(one, "name"));

		if (!str_is_dns_label(name, true))
			return invalid(c, root, "spec.versions.name", "Invalid value: must be a DNS label");
		yyjson_arr_foreach(versions, k, most, other)
		{
			if (k != i && str_eq(json_str(json_get(other, "name")), name))
				return invalid(c, root, "spec.versions",
				               "Invalid value: must contain unique version names");
		}
		stored += yyjson_is_true(json_get(one, "storage"));
	}
	return stored == 1 || invalid(c, root, "spec.versions",
	                              "Invalid value: must have exactly one version marked as storage version");
}

static bool is_builtin(const struct store *s, struct str group, struct str plural)
{
	for (const struct stored_type *t = s->types; t; t = t->next)
		if (!t->pub.custom && str_eq(t->pub.group, group) && str_eq(t->pub.plural, plural))
			return true;
	return false;
}

static struct str lower(struct str s, struct arena *a)
{
	struct str ret = arena_str(a, s);

	for (size_t i = 0; i < ret.n; i++)
		if (ret.p[i] >= 'A' && ret.p[i] <= 'Z')
			((char *)(uintptr_t)ret.p)[i] = (char)(ret.p[i] - 'A' + 'a');
	return ret;
}

static bool is_name(struct store_call *c, yyjson_val *v)
{
	return str_is_dns_label(lower(json_str(v), &c->s->arena), true);
}

/* They stand in addresses, and as they are in what is answered. What is missing is filled in. */
static bool check_names(struct store_call *c, yyjson_val *root, yyjson_val *names)
{
	static const struct {
		const char *key, *field;
	} one[] = { { "kind", "spec.names.kind" },
		    { "listKind", "spec.names.listKind" },
		    { "singular", "spec.names.singular" } },
	  lists[] = { { "shortNames", "spec.names.shortNames" }, { "categories", "spec.names.categories" } };
	yyjson_val *v;
	size_t k, max;

	for (size_t i = 0; i < ARRAY_LEN(one); i++) {
		v = json_get(names, one[i].key);
		if (json_str(v).n && !is_name(c, v))
			return invalid(c, root, one[i].field, "Invalid value: must be a DNS label");
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		yyjson_arr_foreach(json_get(names, lists[i].key), k, max, v)
		{
			if (!is_name(c, v))
				return invalid(c, root, lists[i].field, "Invalid value: must be DNS labels");
		}
	}
	return true;
}

static bool check_crd(struct store_call *c, yyjson_val *root, yyjson_val *before)
{
	yyjson_val *spec = json_get(root, "spec"), *names = json_get(spec, "names");
	struct str group = json_str(json_get(spec, "group")), plural = json_str(json_get(names, "plural"));
	struct str kind = json_str(json_get(names, "kind")), scope = json_str(json_get(spec, "scope"));
	struct str name = arena_printf(&c->s->arena, "%.*s.%.*s", STR_F(plural), STR_F(group));

	if (name_problem(NAME_SUBDOMAIN, group) || !memchr(group.p, '.', group.n))
		return invalid(c, root, "spec.group", "Invalid value: should be a domain with at least one dot");
	if (!str_is_dns_label(plural, true))
		return invalid(c, root, "spec.names.plural", "Invalid value: must be a DNS label");
	if (str_empty(kind) || kind.n > 63)
		return invalid(c, root, "spec.names.kind", "Required value");
	if (!check_names(c, root, names))
		return false;
	if (!str_eq(json_str(json_at(root, "metadata", "name", NULL)), name))
		return invalid(c, root, "metadata.name", "Invalid value: must be spec.names.plural+\".\"+spec.group");
	if (!str_eqc(scope, "Namespaced") && !str_eqc(scope, "Cluster"))
		return invalid(c, root, "spec.scope",
		               "Unsupported value: supported values: \"Cluster\", \"Namespaced\"");
	if (before && !str_eq(scope, json_str(json_at(before, "spec", "scope", NULL))))
		return invalid(c, root, "spec.scope", "Invalid value: field is immutable");
	if (is_builtin(c->s, group, plural))
		return invalid(c, root, "metadata.name", "Invalid value: this resource is always there");
	return check_versions(c, root);
}

static void fill_names(struct store_call *c, yyjson_mut_doc *doc, yyjson_mut_val *names)
{
	struct str text = json_mut_text(yyjson_mut_obj_get(names, "kind"));

	if (!yyjson_mut_is_str(yyjson_mut_obj_get(names, "singular")))
		meta_put_str(doc, names, "singular", lower(text, &c->s->arena));
	if (!yyjson_mut_is_str(yyjson_mut_obj_get(names, "listKind")))
		meta_put_str(doc, names, "listKind", arena_printf(&c->s->arena, "%.*sList", STR_F(text)));
}

static void add_condition(struct store_call *c, yyjson_mut_doc *doc, yyjson_mut_val *list, const char *type,
                          const char *reason, const char *message)
{
	yyjson_mut_val *one = yyjson_mut_obj(doc);

	meta_put_time(doc, one, "lastTransitionTime", store_now(c->s));
	meta_put_str(doc, one, "message", str_c(message));
	meta_put_str(doc, one, "reason", str_c(reason));
	meta_put_str(doc, one, "status", STR("True"));
	meta_put_str(doc, one, "type", str_c(type));
	yyjson_mut_arr_append(list, one);
}

/* Everything is accepted at once. */
static void fill_status(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *root)
{
	yyjson_mut_val *status = meta_put_obj(doc, yyjson_mut_doc_get_root(doc), "status");
	yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec");
	yyjson_mut_val *stored = yyjson_mut_arr(doc), *conditions = yyjson_mut_arr(doc);
	yyjson_val *versions = json_at(root, "spec", "versions", NULL), *one;
	size_t i, max;

	yyjson_mut_obj_put(status, yyjson_mut_str(doc, "acceptedNames"),
	                   yyjson_mut_val_mut_copy(doc, yyjson_mut_obj_get(spec, "names")));
	yyjson_arr_foreach(versions, i, max, one)
	{
		if (yyjson_is_true(json_get(one, "storage")))
			yyjson_mut_arr_append(stored, json_mut_str(doc, json_str(json_get(one, "name"))));
	}
	yyjson_mut_obj_put(status, yyjson_mut_str(doc, "storedVersions"), stored);
	if (yyjson_mut_obj_get(status, "conditions"))
		return;
	add_condition(c, doc, conditions, "NamesAccepted", "NoConflicts", "no conflicts found");
	add_condition(c, doc, conditions, "Established", "InitialNamesAccepted",
	              "the initial names have been accepted");
	yyjson_mut_obj_put(status, yyjson_mut_str(doc, "conditions"), conditions);
}

bool crd_prepare(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc)
{
	yyjson_val *root = store_frozen(c->s, doc);
	yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec");

	if (!check_crd(c, root, before))
		return false;
	fill_names(c, doc, yyjson_mut_obj_get(spec, "names"));
	fill_status(c, doc, root);
	return true;
}

/* Types */

static struct str joined(yyjson_val *list, struct arena *a)
{
	struct buf b = BUF_INIT(4096);
	struct str ret;
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		if (!json_str(one).n)
			continue;
		if (b.n)
			buf_putc(&b, ',');
		buf_put(&b, json_str(one));
	}
	ret = arena_str(a, buf_str(&b));
	buf_release(&b);
	return ret;
}

static void load_version(struct store *s, const struct db_row *row, yyjson_val *spec, yyjson_val *version)
{
	yyjson_val *names = json_get(spec, "names");
	struct str group = json_str(json_get(spec, "group")), plural = json_str(json_get(names, "plural"));
	struct stored_type *t = type_find(s, group, json_str(json_get(version, "name")), plural);
	struct arena *a;

	if (t && !t->pub.custom)
		return;
	if (!t)
		t = type_new(s, &(struct store_type){ .custom = true }, row->name, &rules_custom);
	a = &t->arena;
	arena_reset(a);
	t->pub = (struct store_type){ .group = arena_str(a, group),
		                      .version = arena_str(a, json_str(json_get(version, "name"))),
		                      .plural = arena_str(a, plural),
		                      .singular = arena_str(a, json_str(json_get(names, "singular"))),
		                      .kind = arena_str(a, json_str(json_get(names, "kind"))),
		                      .list_kind = arena_str(a, json_str(json_get(names, "listKind"))),
		                      .short_names = joined(json_get(names, "shortNames"), a),
		                      .categories = joined(json_get(names, "categories"), a),
		                      .namespaced = str_eqc(json_str(json_get(spec, "scope")), "Namespaced"),
		                      .status = json_at(version, "subresources", "status", NULL) != NULL,
		                      .custom = true };
	t->gone = !yyjson_is_true(json_get(version, "served"));
	t->terminating = row->deleting;
	t->storage = yyjson_is_true(json_get(version, "storage"));
	t->several = yyjson_arr_size(json_get(spec, "versions")) > 1;
}

static bool load_crd(void *cookie, const struct db_row *row)
{
	struct store *s = cookie;
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(row->text, NULL);
	yyjson_val *spec = json_get(yyjson_doc_get_root(doc), "spec"), *versions = json_get(spec, "versions"), *one;
	size_t i, max;

	yyjson_arr_foreach(versions, i, max, one) load_version(s, row, spec, one);
	return true;
}

void crd_load(struct store *s)
{
	struct db_range all = { .resource = RES_CRDS };

	for (struct stored_type *t = s->types; t; t = t->next)
		t->gone = t->pub.custom;
	db_each(s->db, &all, load_crd, s);
}
