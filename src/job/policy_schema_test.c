/* The schema, the reader and the names of values (names.c) say the same. */
#include "job/decode.h"
#include "job/testing.h"

static yyjson_val *at(yyjson_val *schema, const char *path)
{
	struct str rest = str_c(path), part = STR_NONE;

	while (str_next(&rest, '.', &part)) {
		schema = str_eqc(part, "*") ? json_get(schema, "additionalProperties")
		                            : json_get_str(json_get(schema, "properties"), part);
		if (!schema)
			fail_msg("no %.*s of %s in the schema", STR_F(part), path);
	}
	return schema;
}

static void check_enum(yyjson_val *schema, const char *path, const struct decode_names *names)
{
	yyjson_val *list = json_get(at(schema, path), "enum");

	assert_int_equal(yyjson_arr_size(list), names->n);
	for (size_t i = 0; i < names->n; i++)
		assert_true(str_eqc(json_str(yyjson_arr_get(list, i)), names->v[i]));
}

static void test_enums(void **state)
{
	struct bench b = BENCH_INIT;
	yyjson_val *schema = parse(&b, policy_schema);

	(void)state;
	check_enum(schema, "restart.policy", &restart_policy_names);
	check_enum(schema, "restart.scope", &scope_names);
	check_enum(schema, "fail", &job_end_names);
	check_enum(schema, "cleanPods", &clean_names);
	check_enum(schema, "tensorboard.serviceType", &service_type_names);
	check_enum(schema, "roles.*.restart.policy", &restart_policy_names);
	check_enum(schema, "roles.*.restart.scope", &scope_names);
	check_enum(schema, "roles.*.complete", &role_end_names);
	check_enum(schema, "roles.*.fail", &role_end_names);
	bench_release(&b);
}

/* Structural: every node has a type, or keeps what it finds; objects have properties; every field
   has one line of description; int-or-string needs no mention. */
static void check_node(yyjson_val *node, bool described)
{
	yyjson_val *properties = json_get(node, "properties"), *each = json_get(node, "additionalProperties"), *key;
	yyjson_obj_iter iter;

	assert_true(yyjson_is_str(json_get(node, "type")) !=
	            yyjson_is_true(json_get(node, "x-kubernetes-preserve-unknown-fields")));
	assert_int_equal(str_eqc(json_str(json_get(node, "type")), "object"), properties || each);
	/* The API server forbids both on one node. */
	assert_false(properties && each);
	if (described)
		assert_in_range(json_str(json_get(node, "description")).n, 5, 90);
	if (each)
		check_node(each, false);
	yyjson_obj_iter_init(properties, &iter);
	while ((key = yyjson_obj_iter_next(&iter)))
		check_node(yyjson_obj_iter_get_val(key), true);
}

static void test_structural(void **state)
{
	struct bench b = BENCH_INIT;

	(void)state;
	check_node(parse(&b, policy_schema), true);
	bench_release(&b);
}

/* Every field of the schema is one that the reader knows. */
static void check_known(struct bench *b, yyjson_val *schema, const char *before, const char *after)
{
	yyjson_val *key;
	yyjson_obj_iter iter;

	yyjson_obj_iter_init(json_get(schema, "properties"), &iter);
	while ((key = yyjson_obj_iter_next(&iter))) {
		struct str name = json_str(key), policy;
		struct job *job;

		policy = arena_printf(&b->a, "%s{'%.*s':null}%s", before, STR_F(name), after);
		job = read_job(b, "{'roles':[" ROLE("r", 1) "}]}", policy.p);
		assert_string_equal(problems_text(b, &job->problems), "");
	}
}

static void test_known(void **state)
{
	struct bench b = BENCH_INIT;
	yyjson_val *schema = parse(&b, policy_schema);

	(void)state;
	check_known(&b, schema, "", "");
	check_known(&b, at(schema, "restart"), "{'restart':", "}");
	check_known(&b, at(schema, "restart.backoff"), "{'restart':{'backoff':", "}}");
	check_known(&b, at(schema, "roles.*"), "{'roles':{'r':", "}}");
	check_known(&b, at(schema, "schedulingPolicy"), "{'schedulingPolicy':", "}");
	assert_int_equal(yyjson_obj_size(json_get(at(schema, "schedulingPolicy"), "properties")), 5);
	assert_int_equal(yyjson_obj_size(json_get(at(schema, "tensorboard"), "properties")), 6);
	assert_int_equal(yyjson_obj_size(json_get(schema, "properties")), 14);
	assert_int_equal(yyjson_obj_size(json_get(at(schema, "restart"), "properties")), 6);
	assert_int_equal(yyjson_obj_size(json_get(at(schema, "restart.backoff"), "properties")), 2);
	assert_int_equal(yyjson_obj_size(json_get(at(schema, "roles.*"), "properties")), 3);
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enums),
		cmocka_unit_test(test_structural),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
