#include "job/policy.h"
#include "kind/testing.h"

static struct fixture f = FIXTURE_INIT;

static int teardown(void **state)
{
	(void)state;
	fixture_release(&f);
	return 0;
}

static yyjson_val *crd_of(const struct kind *kind)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *crd = kind_crd(f.kinds, kind, doc, &f.e);

	assert_non_null(crd);
	buf_clear(&f.text);
	json_write(crd, &f.text);
	yyjson_mut_doc_free(doc);
	return fixture_parse(&f);
}

static yyjson_val *version_of(yyjson_val *crd)
{
	return yyjson_arr_get_first(json_at(crd, "spec", "versions", NULL));
}

static yyjson_val *spec_schema(yyjson_val *crd)
{
	return json_at(version_of(crd), "schema", "openAPIV3Schema", "properties", "spec", NULL);
}

/* Every type of field. */
static void test_schema(void **state)
{
	yyjson_val *fields;

	(void)state;
	fixture_release(&f);
	fixture_lua(
		&f,
		"local function x() end\n"
		"return { group = 'example.org', version = 'v1', kind = 'Ring', plural = 'rings', short = { 'rg' },\n"
		"columns = { { name = 'Size', type = 'integer', path = '.spec.size' } },\n"
		"read = x, names = x, pod = x, status = x, spec = { 'object', fields = {\n"
		"  size = { 'int', min = 1, max = 9, required = true, description = 'how many' },\n"
		"  name = { 'string', also = { 'nom' }, required = true, max = 5 },\n"
		"  code = { 'string', numbers = true }, on = { 'bool', default = true },\n"
		"  how = { 'enum', values = { 'A', 'B' } }, way = { 'enum', values = { 'A' }, nocase = true },\n"
		"  many = { 'array', min = 1, items = { 'int' } }, by = { 'map', max = 3, items = { 'bool' } },\n"
		"  free = { 'any' }, pod = { 'template' } } } }");
	fields = json_get(spec_schema(crd_of(kinds_at(f.kinds, 0))), "properties");
	expect_json(
		json_get(fields, "size"),
		"{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":1,\"maximum\":9,\"description\":\"how many\"}");
	expect_json(json_get(fields, "name"), "{\"type\":\"string\",\"maxLength\":5}");
	expect_json(json_get(fields, "nom"), "{\"type\":\"string\",\"maxLength\":5}");
	expect_json(json_get(fields, "code"), "{\"x-kubernetes-int-or-string\":true}");
	/* Defaults are not written into people's objects: what they said and what we say stay apart. */
	expect_json(json_get(fields, "on"), "{\"type\":\"boolean\"}");
	expect_json(json_get(fields, "how"), "{\"type\":\"string\",\"enum\":[\"A\",\"B\"]}");
	expect_json(json_get(fields, "way"), "{\"type\":\"string\"}");
	expect_json(json_get(fields, "many"),
	            "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"format\":\"int64\"},\"minItems\":1}");
	expect_json(json_get(fields, "by"),
	            "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"boolean\"},\"maxProperties\":3}");
	expect_json(json_get(fields, "free"), "{\"x-kubernetes-preserve-unknown-fields\":true}");
	expect_json(json_at(fields, "pod", "x-kubernetes-preserve-unknown-fields", NULL), "true");
	expect_json(json_at(fields, "pod", "properties", "spec", "required", NULL), "[\"containers\"]");
	assert_non_null(json_get(fields, "policy"));
	expect_json(json_get(spec_schema(yyjson_doc_get_root(f.doc)), "required"), "[\"size\"]");
	expect_json(json_get(spec_schema(yyjson_doc_get_root(f.doc)), "allOf"),
	            "[{\"anyOf\":[{\"required\":[\"name\"]},{\"required\":[\"nom\"]}]}]");
}

static void test_names_and_columns(void **state)
{
	yyjson_val *crd = crd_of(kinds_at(f.kinds, 0));

	(void)state;
	expect_json(json_get(crd, "metadata"),
	            "{\"name\":\"rings.example.org\",\"annotations\":{\"dl-operator.mpba.fbk.eu/revision\":\"6\"}}");
	expect_json(json_at(crd, "spec", "names", NULL), "{\"kind\":\"Ring\",\"listKind\":\"RingList\",\"plural\":"
	                                                 "\"rings\",\"singular\":\"ring\",\"shortNames\":[\"rg\"],"
	                                                 "\"categories\":[\"dljobs\"]}");
	expect_json(json_at(crd, "spec", "scope", NULL), "\"Namespaced\"");
	expect_json(json_at(crd, "spec", "preserveUnknownFields", NULL), "false");
	expect_json(json_get(version_of(crd), "subresources"), "{\"status\":{}}");
	expect_json(json_get(version_of(crd), "additionalPrinterColumns"),
	            "[{\"name\":\"State\",\"type\":\"string\",\"jsonPath\":\".status.dlOperator.phase\"},"
	            "{\"name\":\"Reason\",\"type\":\"string\",\"jsonPath\":\".status.dlOperator.reason\"},"
	            "{\"name\":\"Pods\",\"type\":\"string\",\"jsonPath\":\".status.dlOperator.pods\"},"
	            "{\"name\":\"Restarts\",\"type\":\"integer\",\"jsonPath\":\".status.dlOperator.restarts\"},"
	            "{\"name\":\"Size\",\"type\":\"integer\",\"jsonPath\":\".spec.size\"},"
	            "{\"name\":\"Age\",\"type\":\"date\",\"jsonPath\":\".metadata.creationTimestamp\"}]");
}

/* The API server's rules of a structural schema: every node has a type, or says that it has none. */
static void check_structural(yyjson_val *node, const char *where, int depth)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(json_get(node, "properties"));
	yyjson_val *k;

	assert_true(depth < 40);
	if (!json_get(node, "type") && !json_get(node, "x-kubernetes-int-or-string") &&
	    !json_get(node, "x-kubernetes-preserve-unknown-fields"))
		fail_msg("%s has no type", where);
	while ((k = yyjson_obj_iter_next(&it)))
		check_structural(yyjson_obj_iter_get_val(k), yyjson_get_str(k), depth + 1);
	if (json_get(node, "items"))
		check_structural(json_get(node, "items"), where, depth + 1);
	else if (str_eqc(json_str(json_get(node, "type")), "array"))
		fail_msg("%s is an array without items", where);
	if (yyjson_is_obj(json_get(node, "additionalProperties"))) {
		check_structural(json_get(node, "additionalProperties"), where, depth + 1);
		assert_null(json_get(node, "properties"));
	}
}

/* kubectl explain has a line for every field. */
static void check_described(yyjson_val *node, struct str where)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(json_get(node, "properties"));
	yyjson_val *k, *inside[] = { json_get(node, "items"), json_get(node, "additionalProperties") };

	while ((k = yyjson_obj_iter_next(&it))) {
		struct str text = json_str(json_get(yyjson_obj_iter_get_val(k), "description"));

		if (text.n < 5 || text.n > 110)
			fail_msg("%.*s.%s is described as \"%.*s\"", STR_F(where), yyjson_get_str(k), STR_F(text));
		check_described(yyjson_obj_iter_get_val(k), json_str(k));
	}
	for (size_t i = 0; i < ARRAY_LEN(inside); i++)
		if (yyjson_is_obj(inside[i]))
			check_described(inside[i], where);
}

static void test_builtin_kinds(void **state)
{
	yyjson_val *crd;

	(void)state;
	fixture_release(&f);
	fixture_builtin(&f);
	for (size_t i = 0; i < kinds_count(f.kinds); i++) {
		crd = crd_of(kinds_at(f.kinds, i));
		check_structural(json_at(version_of(crd), "schema", "openAPIV3Schema", NULL), "the schema", 0);
		check_described(json_at(version_of(crd), "schema", "openAPIV3Schema", NULL),
		                kinds_at(f.kinds, i)->kind);
		assert_non_null(json_at(version_of(crd), "schema", "openAPIV3Schema", "description", NULL));
		assert_int_equal(json_get(json_get(spec_schema(crd), "properties"), "policy") != NULL,
		                 !kinds_at(f.kinds, i)->spec_is_array);
		assert_true(f.text.n < 20000);
	}
	crd = crd_of(kinds_find(f.kinds, STR("mpba.fbk.eu/v1"), STR("MXJob")));
	expect_json(json_get(spec_schema(crd), "type"), "\"array\"");
	crd = crd_of(kinds_find(f.kinds, STR("mlkube.io/v1beta1"), STR("TfJob")));
	expect_json(json_get(spec_schema(crd), "allOf"),
	            "[{\"anyOf\":[{\"required\":[\"replicaSpecs\"]},{\"required\":[\"replica_specs\"]}]}]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_names_and_columns),
		cmocka_unit_test(test_builtin_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
