#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/random_json.h"

/* RFC 7386, section 2. */
static yyjson_mut_val *apply(yyjson_mut_doc *doc, yyjson_mut_val *target, yyjson_mut_val *patch)
{
	yyjson_mut_val *key, *val;
	size_t i, max;

	if (!yyjson_mut_is_obj(patch))
		return patch;
	if (!yyjson_mut_is_obj(target))
		target = yyjson_mut_obj(doc);
	yyjson_mut_obj_foreach(patch, i, max, key, val)
	{
		struct str k = json_mut_text(key);
		yyjson_mut_val *now = yyjson_mut_obj_getn(target, k.p, k.n);

		if (yyjson_mut_is_null(val))
			yyjson_mut_obj_remove_keyn(target, k.p, k.n);
		else
			json_mut_put(doc, target, k, yyjson_mut_val_mut_copy(doc, apply(doc, now, val)));
	}
	return target;
}

static void test_apply_gives_after(void **state)
{
	struct rng r = rng_seed(7);

	(void)state;
	for (int i = 0; i < 3000; i++) {
		CLEANUP(json_docp) yyjson_doc *a = random_doc(&r, 4, false);
		CLEANUP(json_docp) yyjson_doc *b = random_doc(&r, 4, false);
		CLEANUP(json_docp) yyjson_doc *got = NULL;
		CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
		yyjson_val *before = yyjson_doc_get_root(a), *after = yyjson_doc_get_root(b);
		yyjson_mut_val *patch = json_merge_diff(doc, before, after, NULL);
		yyjson_mut_val *result = yyjson_val_mut_copy(doc, before);

		assert_int_equal(patch == NULL, json_eq(before, after));
		yyjson_mut_doc_set_root(doc, patch ? apply(doc, result, patch) : result);
		got = yyjson_mut_doc_imut_copy(doc, NULL);
		if (!json_eq(yyjson_doc_get_root(got), after))
			fail_msg("round %d", i);
	}
}

static bool keep_roles(struct str path)
{
	return str_eqc(path, "") || str_eqc(path, "dl.roles");
}

static bool keep_all(struct str path)
{
	(void)path;
	return true;
}

static void check(const char *before, const char *after, bool (*keep)(struct str path), const char *want)
{
	CLEANUP(json_docp) yyjson_doc *a = json_parse(str_c(before), NULL);
	CLEANUP(json_docp) yyjson_doc *b = json_parse(str_c(after), NULL);
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *patch = json_merge_diff(doc, yyjson_doc_get_root(a), yyjson_doc_get_root(b), keep);
	struct buf out = BUF_INIT(1000);

	if (patch)
		json_write(patch, &out);
	assert_string_equal(patch ? out.p : "nothing", want);
	buf_release(&out);
}

static void test_patches(void **state)
{
	(void)state;
	check("{\"a\":1}", "{\"a\":1}", NULL, "nothing");
	check("{\"a\":1,\"b\":2}", "{\"b\":2.0}", NULL, "{\"a\":null}");
	check("{\"a\":{\"x\":1,\"y\":[1]}}", "{\"a\":{\"x\":1,\"y\":[1,2]}}", NULL, "{\"a\":{\"y\":[1,2]}}");
	check("{\"a\":{\"x\":1}}", "{\"a\":{}}", NULL, "{\"a\":{\"x\":null}}");
	check("{\"a\":1}", "{\"a\":{}}", NULL, "{\"a\":{}}");
	check("{\"a\":{\"x\":1}}", "{\"a\":[1]}", NULL, "{\"a\":[1]}");
	check("[1]", "{\"a\":1}", NULL, "{\"a\":1}");
	check("{\"a\":1}", "[2]", NULL, "[2]");
	check("{\"a\":1,\"b\":null}", "{\"a\":null}", NULL, "{\"a\":null}");
	check("{\"a\":{\"b\":null}}", "{\"a\":{}}", NULL, "nothing");
	check("{\"a\":null}", "{}", NULL, "nothing");
}

static void test_keep(void **state)
{
	(void)state;
	check("{\"x\":1,\"dl\":{\"y\":1,\"roles\":{\"z\":{\"q\":1},\"w\":{\"n\":1,\"m\":2}}}}",
	      "{\"dl\":{\"roles\":{\"w\":{\"n\":2}}}}", keep_roles,
	      "{\"dl\":{\"roles\":{\"w\":{\"n\":2,\"m\":null}},\"y\":null}}");
	check("{\"x\":1}", "{}", keep_roles, "nothing");
	check("{\"dl\":{\"roles\":{\"w\":{\"n\":1,\"m\":2}}}}", "{\"dl\":{\"roles\":{\"w\":{\"n\":1,\"m\":null}}}}",
	      keep_all, "{\"dl\":{\"roles\":{\"w\":{\"m\":null}}}}");
}

static void test_patch_owns_its_text(void **state)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_doc *a = json_parse(STR("{}"), NULL),
		   *b = json_parse(STR("{\"key\":[\"some text that is long\"]}"), NULL);
	yyjson_mut_val *patch = json_merge_diff(doc, yyjson_doc_get_root(a), yyjson_doc_get_root(b), NULL);
	struct buf out = BUF_INIT(1000);

	(void)state;
	yyjson_doc_free(a);
	yyjson_doc_free(b);
	json_write(patch, &out);
	assert_string_equal(out.p, "{\"key\":[\"some text that is long\"]}");
	buf_release(&out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apply_gives_after),
		cmocka_unit_test(test_patches),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_patch_owns_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
