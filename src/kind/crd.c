/* The CustomResourceDefinition of a kind, from its fields. */
#include "job/policy.h"
#include "kind/internal.h"

/* Longer than C99 promises; every compiler of today takes it. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* Raised when the CRD changes in a way that must reach clusters that have an older one. */
#define CRD_REVISION "6"
#define ANNOTATION_REVISION LABEL_DOMAIN "revision"

static const char preserve[] = "x-kubernetes-preserve-unknown-fields";

/* It would break the texts into columns of words. */
/* clang-format off */

#define SAYS(text) "\"description\":\"" text "\""
#define FREE_OBJECT "\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true"
#define TEXT(text) "{\"type\":\"string\"," SAYS(text) "}"
#define NUMBER(text) "{\"type\":\"integer\"," SAYS(text) "}"

/* The pod template is Kubernetes' business; these are the checks that matter most. The template itself is described by
   the kind. */
static const char template_schema[] =
	"{" FREE_OBJECT ",\"required\":[\"spec\"],\"properties\":{"
	"\"metadata\":{" FREE_OBJECT "," SAYS("Labels and annotations of the pods.") "},"
	"\"spec\":{" FREE_OBJECT "," SAYS("What a pod runs: see kubectl explain pod.spec.") ","
	"\"required\":[\"containers\"],\"properties\":{"
	"\"containers\":{\"type\":\"array\"," SAYS("At least one.") ",\"minItems\":1,\"items\":{" FREE_OBJECT ","
	"\"required\":[\"name\"],\"properties\":{"
	"\"name\":" TEXT("Some kinds find by it the container whose exit code counts.") ","
	"\"image\":" TEXT("What it runs.") "}}}}}}}";

static const char status_schema[] =
	"{" FREE_OBJECT "," SAYS("How the job is; only the operator writes it.") ",\"properties\":{"
	"\"conditions\":{\"type\":\"array\","
	SAYS("Running, Suspended, SuccessCriteriaMet, FailureTarget, Complete, Failed, and the kind's own.") ","
	"\"items\":{" FREE_OBJECT ",\"required\":[\"type\",\"status\"],\"properties\":{"
	"\"type\":" TEXT("What kubectl wait --for=condition= names.") ","
	"\"status\":" TEXT("True, False or Unknown.") ","
	"\"reason\":" TEXT("Why, in one word.") ","
	"\"message\":" TEXT("Why, in a line.") ","
	"\"lastTransitionTime\":" TEXT("Since when the status is that.") "}}},"
	"\"dlOperator\":{" FREE_OBJECT ","
	SAYS("The operator's only memory of the job, the same for every kind; a change by hand can do harm.") ","
	"\"properties\":{"
	"\"version\":" NUMBER("Of this record.") ","
	"\"phase\":" TEXT("Where the job is: Pending, Creating, Running, Restarting, Succeeded, Failed ...") ","
	"\"reason\":" TEXT("What it waits for, or why it ended.") ","
	"\"pods\":" TEXT("How many replicas are ready or have completed, of how many.") ","
	"\"restarts\":" NUMBER("How often something of it was started again.") "}}}}";

/* Of a companion. */
static const char address_schema[] = TEXT("Its address, while it answers.");

/* clang-format on */

static const char columns_before[] =
	"[{\"name\":\"State\",\"type\":\"string\",\"jsonPath\":\".status.dlOperator.phase\"},"
	"{\"name\":\"Reason\",\"type\":\"string\",\"jsonPath\":\".status.dlOperator.reason\"},"
	"{\"name\":\"Pods\",\"type\":\"string\",\"jsonPath\":\".status.dlOperator.pods\"},"
	"{\"name\":\"Restarts\",\"type\":\"integer\",\"jsonPath\":\".status.dlOperator.restarts\"}]";

static yyjson_mut_val *literal(const char *text, yyjson_mut_doc *doc)
{
	yyjson_doc *d = yyjson_read(text, strlen(text), 0);
	yyjson_mut_val *val;

	ASSERT(d);
	val = yyjson_val_mut_copy(doc, yyjson_doc_get_root(d));
	yyjson_doc_free(d);
	return val;
}

static void put_member(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, yyjson_mut_val *val)
{
	json_mut_put(doc, obj, str_c(key), val);
}

static void put_str(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, struct str s)
{
	json_mut_put(doc, obj, str_c(key), json_mut_str(doc, s));
}

static yyjson_mut_val *put_obj(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key)
{
	yyjson_mut_val *val = yyjson_mut_obj(doc);

	put_member(doc, obj, key, val);
	return val;
}

static void put_range(const struct schema *s, yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *min,
                      const char *max)
{
	if (s->has_min)
		put_member(doc, obj, min, yyjson_mut_sint(doc, s->min));
	if (s->has_max)
		put_member(doc, obj, max, yyjson_mut_sint(doc, s->max));
}

/* A required field with two spellings: one of them must be there. */
static yyjson_mut_val *one_spelling(const struct schema *f, yyjson_mut_doc *doc)
{
	yyjson_mut_val *all = yyjson_mut_obj(doc), *any = yyjson_mut_arr(doc);

	put_member(doc, all, "anyOf", any);
	for (size_t i = 0; i <= f->n_also; i++) {
		yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, any), *names = yyjson_mut_arr(doc);

		yyjson_mut_arr_append(names, json_mut_str(doc, i ? f->also[i - 1] : f->name));
		put_member(doc, one, "required", names);
	}
	return all;
}

static void object_schema(const struct schema *s, yyjson_mut_doc *doc, yyjson_mut_val *obj)
{
	yyjson_mut_val *properties = put_obj(doc, obj, "properties"), *required = yyjson_mut_arr(doc),
		       *spellings = yyjson_mut_arr(doc);

	for (size_t i = 0; i < s->n_fields; i++) {
		const struct schema *f = &s->fields[i];

		json_mut_put(doc, properties, f->name, schema_openapi(f, doc));
		for (size_t k = 0; k < f->n_also; k++)
			json_mut_put(doc, properties, f->also[k], schema_openapi(f, doc));
		if (f->required && f->n_also == 0)
			yyjson_mut_arr_append(required, json_mut_str(doc, f->name));
		else if (f->required)
			yyjson_mut_arr_append(spellings, one_spelling(f, doc));
	}
	if (yyjson_mut_arr_size(required))
		put_member(doc, obj, "required", required);
	if (yyjson_mut_arr_size(spellings))
		put_member(doc, obj, "allOf", spellings);
}

static void enum_schema(const struct schema *s, yyjson_mut_doc *doc, yyjson_mut_val *obj)
{
	yyjson_mut_val *values = yyjson_mut_arr(doc);

	put_str(doc, obj, "type", STR("string"));
	if (s->nocase)
		return;
	for (size_t i = 0; i < s->n_values; i++)
		yyjson_mut_arr_append(values, json_mut_str(doc, s->values[i]));
	put_member(doc, obj, "enum", values);
}

static void string_schema(const struct schema *s, yyjson_mut_doc *doc, yyjson_mut_val *obj)
{
	if (s->numbers)
		put_member(doc, obj, "x-kubernetes-int-or-string", yyjson_mut_true(doc));
	else
		put_str(doc, obj, "type", STR("string"));
	put_range(s, doc, obj, "minLength", "maxLength");
}

static void int_schema(const struct schema *s, yyjson_mut_doc *doc, yyjson_mut_val *obj)
{
	put_str(doc, obj, "type", STR("integer"));
	put_str(doc, obj, "format", STR("int64"));
	put_range(s, doc, obj, "minimum", "maximum");
}

yyjson_mut_val *schema_openapi(const struct schema *s, yyjson_mut_doc *doc)
{
	yyjson_mut_val *obj = s->type == SCHEMA_TEMPLATE ? literal(template_schema, doc) : yyjson_mut_obj(doc);

	switch (s->type) {
	case SCHEMA_OBJECT:
		put_str(doc, obj, "type", STR("object"));
		object_schema(s, doc, obj);
		break;
	case SCHEMA_ARRAY:
		put_str(doc, obj, "type", STR("array"));
		put_member(doc, obj, "items", schema_openapi(s->items, doc));
		put_range(s, doc, obj, "minItems", "maxItems");
		break;
	case SCHEMA_MAP:
		put_str(doc, obj, "type", STR("object"));
		put_member(doc, obj, "additionalProperties", schema_openapi(s->items, doc));
		put_range(s, doc, obj, "minProperties", "maxProperties");
		break;
	case SCHEMA_STRING:
		string_schema(s, doc, obj);
		break;
	case SCHEMA_INT:
		int_schema(s, doc, obj);
		break;
	case SCHEMA_BOOL:
		put_str(doc, obj, "type", STR("boolean"));
		break;
	case SCHEMA_ENUM:
		enum_schema(s, doc, obj);
		break;
	case SCHEMA_ANY:
		put_member(doc, obj, preserve, yyjson_mut_true(doc));
		break;
	case SCHEMA_TEMPLATE:
		break;
	case SCHEMA_TYPES:
		BUG("schema type %d", (int)s->type);
	}
	if (s->description.n)
		put_str(doc, obj, "description", s->description);
	return obj;
}

static yyjson_mut_val *make_columns(const struct kind_file *f, yyjson_mut_doc *doc)
{
	yyjson_mut_val *list = literal(columns_before, doc), *age;

	for (size_t i = 0; i < f->n_columns; i++) {
		yyjson_mut_val *c = yyjson_mut_arr_add_obj(doc, list);

		put_str(doc, c, "name", f->columns[i].name);
		put_str(doc, c, "type", f->columns[i].type);
		put_str(doc, c, "jsonPath", f->columns[i].path);
	}
	age = yyjson_mut_arr_add_obj(doc, list);
	put_str(doc, age, "name", STR("Age"));
	put_str(doc, age, "type", STR("date"));
	put_str(doc, age, "jsonPath", STR(".metadata.creationTimestamp"));
	return list;
}

/* The companions' addresses among what people may look for. */
static yyjson_mut_val *status_member(yyjson_mut_doc *doc)
{
	yyjson_mut_val *ret = literal(status_schema, doc), *record = yyjson_mut_obj_get(ret, "properties");

	record = yyjson_mut_obj_get(yyjson_mut_obj_get(record, "dlOperator"), "properties");
	for (enum companion_id i = 0; i < COMPANION_COUNT; i++)
		put_member(doc, record, companion_type(i)->name, literal(address_schema, doc));
	return ret;
}

/* What the kind does not say of its spec as a whole. */
static void describe(const struct kind_file *f, struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *root,
                     yyjson_mut_val *spec)
{
	put_str(doc, root, "description",
	        arena_printf(a, "%.*s: a training job that dl-operator runs.", STR_F(f->kind.kind)));
	if (!f->spec.description.n)
		put_str(doc, spec, "description", STR("What the job runs, and when it has ended."));
}

static yyjson_mut_val *make_schema(const struct kind_file *f, struct arena *a, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_obj(doc), *properties, *required = yyjson_mut_arr(doc),
		       *spec = schema_openapi(&f->spec, doc);

	put_str(doc, root, "type", STR("object"));
	describe(f, a, doc, root, spec);
	yyjson_mut_arr_append(required, yyjson_mut_str(doc, "spec"));
	put_member(doc, root, "required", required);
	properties = put_obj(doc, root, "properties");
	if (!f->kind.spec_is_array)
		put_member(doc, yyjson_mut_obj_get(spec, "properties"), "policy", literal(policy_schema, doc));
	put_member(doc, properties, "spec", spec);
	put_member(doc, properties, "status", status_member(doc));
	return root;
}

static void put_names(const struct kind *k, struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
	yyjson_mut_val *names = put_obj(doc, spec, "names"), *categories = yyjson_mut_arr(doc),
		       *shorts = yyjson_mut_arr(doc);

	put_str(doc, names, "kind", k->kind);
	put_str(doc, names, "listKind", arena_printf(a, "%.*sList", STR_F(k->kind)));
	put_str(doc, names, "plural", k->plural);
	put_str(doc, names, "singular", k->singular);
	for (size_t i = 0; i < k->n_short_names; i++)
		yyjson_mut_arr_append(shorts, json_mut_str(doc, k->short_names[i]));
	if (k->n_short_names)
		put_member(doc, names, "shortNames", shorts);
	yyjson_mut_arr_append(categories, yyjson_mut_str(doc, "dljobs"));
	put_member(doc, names, "categories", categories);
}

yyjson_mut_val *kind_crd(struct kinds *k, const struct kind *kind, yyjson_mut_doc *doc, struct err *e)
{
	const struct kind_file *f = kind_file_of(kind);
	yyjson_mut_val *crd = yyjson_mut_obj(doc), *meta, *spec, *version, *versions = yyjson_mut_arr(doc);
	struct arena a = ARENA_INIT;

	(void)k;
	(void)e;
	put_str(doc, crd, "apiVersion", STR("apiextensions.k8s.io/v1"));
	put_str(doc, crd, "kind", STR("CustomResourceDefinition"));
	meta = put_obj(doc, crd, "metadata");
	put_str(doc, meta, "name", arena_printf(&a, "%.*s.%.*s", STR_F(kind->plural), STR_F(kind->group)));
	put_str(doc, put_obj(doc, meta, "annotations"), ANNOTATION_REVISION, STR(CRD_REVISION));
	spec = put_obj(doc, crd, "spec");
	put_str(doc, spec, "group", kind->group);
	put_names(kind, &a, doc, spec);
	put_str(doc, spec, "scope", STR("Namespaced"));
	put_member(doc, spec, "preserveUnknownFields", yyjson_mut_false(doc));
	put_member(doc, spec, "versions", versions);
	version = yyjson_mut_arr_add_obj(doc, versions);
	put_str(doc, version, "name", kind->version);
	put_member(doc, version, "served", yyjson_mut_true(doc));
	put_member(doc, version, "storage", yyjson_mut_true(doc));
	put_obj(doc, put_obj(doc, version, "subresources"), "status");
	put_member(doc, put_obj(doc, version, "schema"), "openAPIV3Schema", make_schema(f, &a, doc));
	put_member(doc, version, "additionalPrinterColumns", make_columns(f, doc));
	arena_release(&a);
	return crd;
}
