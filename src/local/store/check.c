#include "local/store/check.h"

#include "local/store/answer.h"
#include "local/store/meta.h"

enum { ANNOTATIONS_MAX = 256 << 10 };

enum meta_type { M_TEXT, M_NUMBER, M_TEXTS, M_LIST_OF_TEXT, M_OWNERS };
static const struct {
	const char *key;
	enum meta_type type;
} fields[] = {
	{ "name", M_TEXT },
	{ "generateName", M_TEXT },
	{ "namespace", M_TEXT },
	{ "uid", M_TEXT },
	{ "resourceVersion", M_TEXT },
	{ "creationTimestamp", M_TEXT },
	{ "deletionTimestamp", M_TEXT },
	{ "generation", M_NUMBER },
	{ "deletionGracePeriodSeconds", M_NUMBER },
	{ "labels", M_TEXTS },
	{ "annotations", M_TEXTS },
	{ "finalizers", M_LIST_OF_TEXT },
	{ "ownerReferences", M_OWNERS },
};

static bool wrong(struct store_call *c, const char *field, yyjson_val *v, const char *want)
{
	return answer_undecodable(c, "metadata.%s: must be %s, found %s", field, want, json_type_name(v));
}

static bool check_texts(struct store_call *c, const char *field, yyjson_val *v)
{
	yyjson_val *key, *one;
	size_t i, max;

	if (!yyjson_is_obj(v))
		return wrong(c, field, v, "an object");
	yyjson_obj_foreach(v, i, max, key, one)
	{
		if (!yyjson_is_str(one))
			return answer_undecodable(c, "metadata.%s.%.*s: must be a string, found %s", field,
			                          STR_F(json_str(key)), json_type_name(one));
	}
	return true;
}

static bool check_list(struct store_call *c, const char *field, yyjson_val *v)
{
	yyjson_val *one;
	size_t i, max;

	if (!yyjson_is_arr(v))
		return wrong(c, field, v, "a list");
	yyjson_arr_foreach(v, i, max, one)
	{
		if (!yyjson_is_str(one))
			return wrong(c, field, one, "a string");
	}
	return true;
}

static bool check_owners(struct store_call *c, struct str name, yyjson_val *v)
{
	static const char *const keys[] = { "apiVersion", "kind", "name", "uid" };
	yyjson_val *one;
	size_t i, max;

	if (!yyjson_is_arr(v))
		return wrong(c, "ownerReferences", v, "a list");
	yyjson_arr_foreach(v, i, max, one)
	{
		if (!yyjson_is_obj(one))
			return wrong(c, "ownerReferences", one, "an object");
		for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
			yyjson_val *text = json_get(one, keys[k]);

			if (text && !yyjson_is_str(text))
				return wrong(c, "ownerReferences", text, "a string");
			if (str_empty(json_str(text)))
				return answer_invalid(c, name, "metadata.ownerReferences",
				                      "Invalid value: %s must not be empty", keys[k]);
		}
	}
	return true;
}

static bool check_field(struct store_call *c, struct str name, const char *key, enum meta_type type, yyjson_val *v)
{
	switch (type) {
	case M_TEXT:
		return yyjson_is_str(v) || wrong(c, key, v, "a string");
	case M_NUMBER:
		return yyjson_is_num(v) || wrong(c, key, v, "a number");
	case M_TEXTS:
		return check_texts(c, key, v);
	case M_LIST_OF_TEXT:
		return check_list(c, key, v);
	case M_OWNERS:
		return check_owners(c, name, v);
	}
	BUG("no type of a field");
}

/* [-A-Za-z0-9_.], beginning and ending with one of the first three. */
static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];
		bool alnum = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');

		if (!alnum && (i == 0 || i == s.n - 1 || !memchr("-_.", ch, 3)))
			return false;
	}
	return s.n <= 63;
}

/* "name" or "prefix.example/name". */
static bool is_qualified(struct str s, struct arena *a)
{
	const char *slash = s.n ? memchr(s.p, '/', s.n) : NULL;
	struct str name = slash ? str_sub(s, (size_t)(slash - s.p) + 1, s.n) : s;

	if (slash) {
		struct str prefix = arena_str(a, str_sub(s, 0, (size_t)(slash - s.p)));
		char *p = (char *)(uintptr_t)prefix.p;

		for (size_t i = 0; i < prefix.n; i++)
			if (p[i] >= 'A' && p[i] <= 'Z')
				p[i] = (char)(p[i] - 'A' + 'a');
		if (name_problem(NAME_SUBDOMAIN, prefix))
			return false;
	}
	return name.n && is_word(name);
}

static const char qualified[] =
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
	"end with an alphanumeric character";

static bool check_labels(struct store_call *c, struct str name, yyjson_val *meta)
{
	yyjson_val *key, *one, *labels = json_get(meta, "labels"), *annotations = json_get(meta, "annotations");
	size_t i, max, total = 0;

	yyjson_obj_foreach(labels, i, max, key, one)
	{
		struct str k = json_str(key), v = json_str(one);

		if (!is_qualified(k, &c->s->arena))
			return answer_invalid(c, name, "metadata.labels", "Invalid value: \"%.*s\": %s",
			                      STR_F(str_sub(k, 0, 256)), qualified);
		if (v.n && !is_word(v))
			return answer_invalid(
				c, name, "metadata.labels",
				"Invalid value: \"%.*s\": a valid label must be an empty string or consist of "
				"at most 63 alphanumeric characters, '-', '_' or '.', and must start and end "
				"with an alphanumeric character",
				STR_F(str_sub(v, 0, 256)));
	}
	yyjson_obj_foreach(annotations, i, max, key, one)
	{
		total += json_str(key).n + json_str(one).n;
		if (!is_qualified(json_str(key), &c->s->arena))
			return answer_invalid(c, name, "metadata.annotations", "Invalid value: \"%.*s\": %s",
			                      STR_F(str_sub(json_str(key), 0, 256)), qualified);
	}
	return total <= ANNOTATIONS_MAX || answer_invalid(c, name, "metadata.annotations",
	                                                  "Too long: may not be more than %d bytes", ANNOTATIONS_MAX);
}

static bool check_finalizers(struct store_call *c, struct str name, yyjson_val *meta)
{
	yyjson_val *one, *list = json_get(meta, "finalizers");
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		if (!is_qualified(json_str(one), &c->s->arena))
			return answer_invalid(c, name, "metadata.finalizers", "Invalid value: \"%.*s\": %s",
			                      STR_F(str_sub(json_str(one), 0, 256)), qualified);
	}
	return true;
}

static bool check_kind(struct store_call *c, yyjson_val *root)
{
	struct str want = answer_api_version(c->type, &c->s->arena);
	yyjson_val *version = json_get(root, "apiVersion"), *kind = json_get(root, "kind");

	if (version && !str_eq(json_str(version), want))
		return answer_refusal(
			c, HTTP_BAD_REQUEST, "BadRequest",
			"the API version in the data (%.*s) does not match the expected API version (%.*s)",
			STR_F(str_sub(json_str(version), 0, 256)), STR_F(want));
	if (kind && !str_eq(json_str(kind), c->type->pub.kind) && c->type->pub.custom)
		return answer_invalid(c, json_str(json_at(root, "metadata", "name", NULL)), "kind",
		                      "Invalid value: \"%.*s\": must be %.*s", STR_F(str_sub(json_str(kind), 0, 256)),
		                      STR_F(c->type->pub.kind));
	if (kind && !str_eq(json_str(kind), c->type->pub.kind))
		return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest",
		                      "the kind in the data (%.*s) does not match the expected kind (%.*s)",
		                      STR_F(str_sub(json_str(kind), 0, 256)), STR_F(c->type->pub.kind));
	return true;
}

bool store_check_object(struct store_call *c, yyjson_val *root)
{
	yyjson_val *meta = json_get(root, "metadata");
	struct str name = json_str(json_get(meta, "name"));

	if (!yyjson_is_obj(root))
		return answer_undecodable(c, "must be an object, found %s", json_type_name(root));
	if (meta && !yyjson_is_obj(meta))
		return answer_undecodable(c, "metadata: must be an object, found %s", json_type_name(meta));
	if (!check_kind(c, root))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		yyjson_val *v = json_get(meta, fields[i].key);

		if (v && !yyjson_is_null(v) && !check_field(c, name, fields[i].key, fields[i].type, v))
			return false;
	}
	return check_labels(c, name, meta) && check_finalizers(c, name, meta);
}
