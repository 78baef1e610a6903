#include "operator/crds.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#define PATH "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ONE PATH "/tfjobs.mlkube.io"

static const struct crd_options usual = { .install = true, .look = true };

struct bench {
	struct kinds *kinds;
	struct crd *crd;
	msec now;
	char *path, *body; /* of the last call */
};

static void begin(struct bench *b, struct crd_options o)
{
	struct err e = ERR_INIT;

	*b = (struct bench){ .kinds = kinds_new(NULL), .now = 1000 };
	if (!kinds_load_builtin(b->kinds, &e))
		fail_msg("%s", err_msg(&e));
	b->crd = crd_new(b->kinds, kinds_by_id(b->kinds, STR("TfJob.mlkube.io")), &o);
}

static void end(struct bench *b, bool served, const char *says)
{
	assert_int_equal(crd_next(b->crd, b->now).type, CRD_DONE);
	if (crd_served(b->crd) != served || !strstr(crd_text(b->crd), says))
		fail_msg("served %d: %s", (int)crd_served(b->crd), crd_text(b->crd));
	assert_null(strchr(crd_text(b->crd), '\n'));
	crd_free(b->crd);
	kinds_free(b->kinds);
	free(b->path);
	free(b->body);
}

static void sends(struct bench *b, enum verb verb, const char *path)
{
	struct crd_wish w = crd_next(b->crd, b->now);

	assert_int_equal(w.type, CRD_SEND);
	assert_int_equal(w.call.verb, verb);
	free(b->path);
	free(b->body);
	b->path = xstrndup(str_text(w.call.path), w.call.path.n);
	b->body = xstrndup(str_text(w.call.body), w.call.body.n);
	assert_string_equal(b->path, path);
	assert_int_equal(crd_next(b->crd, b->now).type, CRD_BUSY);
}

static void gets(struct bench *b, int code, const char *answer)
{
	yyjson_doc *doc = answer ? json_parse(str_c(answer), NULL) : NULL;

	assert_true(doc || !answer);
	b->now += 10;
	crd_answer(b->crd, b->now, code, code >= 300 ? STR("because") : STR_NONE, yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
}

#define NOW "6" /* the revision of our own */

/* The CRD as a server has it, in TEXT. STATUS: of its condition Established. */
static const char *stored(struct bench *b, const char *revision, const char *established, const char *without)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *crd = kind_crd(b->kinds, kinds_by_id(b->kinds, STR("TfJob.mlkube.io")), doc, NULL);
	yyjson_mut_val *meta = yyjson_mut_obj_get(crd, "metadata"), *conditions;
	yyjson_mut_val *version =
		yyjson_mut_arr_get_first(yyjson_mut_obj_get(yyjson_mut_obj_get(crd, "spec"), "versions"));
	static char text[1 << 17];
	struct buf out = BUF_INIT(sizeof(text) - 1);

	yyjson_mut_doc_set_root(doc, crd);
	yyjson_mut_obj_add_str(doc, meta, "resourceVersion", "77");
	yyjson_mut_obj_add_str(doc, meta, "uid", "u-1");
	yyjson_mut_obj_remove_key(meta, "annotations");
	if (revision)
		yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "annotations"), LABEL_DOMAIN "revision",
		                       revision);
	if (without)
		yyjson_mut_obj_remove_key(version, without);
	conditions = yyjson_mut_obj_add_arr(doc, yyjson_mut_obj_add_obj(doc, crd, "status"), "conditions");
	meta = yyjson_mut_arr_add_obj(doc, conditions);
	yyjson_mut_obj_add_str(doc, meta, "type", "Established");
	yyjson_mut_obj_add_str(doc, meta, "status", established);
	json_write(crd, &out);
	assert_false(out.overflow);
	memcpy(text, out.p, out.n + 1);
	buf_release(&out);
	yyjson_mut_doc_free(doc);
	return text;
}

static void test_makes_one_and_waits_for_it(void **state)
{
	struct bench b;
	struct api_call undo;
	struct crd_wish w;

	(void)state;
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 404, NULL);
	sends(&b, VERB_CREATE, PATH);
	assert_non_null(strstr(b.body, "\"CustomResourceDefinition\""));
	gets(&b, 201, stored(&b, NOW, "False", NULL));
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "False", NULL));
	w = crd_next(b.crd, b.now);
	assert_int_equal(w.type, CRD_SLEEP);
	b.now = w.at;
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "True", NULL));
	assert_true(crd_undo(b.crd, &undo));
	assert_int_equal(undo.verb, VERB_DELETE);
	assert_true(str_eqc(undo.path, ONE));
	assert_true(str_has_suffix(undo.body, STR(",\"preconditions\":{\"uid\":\"u-1\"}}")));
	end(&b, true, "created its CRD");
}

static void test_leaves_what_is_up_to_date(void **state)
{
	static const char *const revisions[] = { NOW, "7", "1000000" };
	struct bench b;
	struct api_call undo;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++) {
		begin(&b, usual);
		sends(&b, VERB_GET, ONE);
		gets(&b, 200, stored(&b, revisions[i], "True", NULL));
		assert_false(crd_undo(b.crd, &undo));
		end(&b, true, "");
	}
}

static void test_somebody_elses(void **state)
{
	static const char *const not_ours[] = { NULL, "", "0", "-3", "one" };
	struct bench b;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(not_ours); i++) {
		begin(&b, usual);
		sends(&b, VERB_GET, ONE);
		gets(&b, 200, stored(&b, not_ours[i], "True", NULL));
		end(&b, true, "was not created by dl-operator");
	}
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NULL, "True", "subresources"));
	end(&b, false, "no status subresource (--adopt-crds replaces it)");
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NULL, "True", "schema"));
	end(&b, false, "does not preserve status.dlOperator");
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "True", "served"));
	end(&b, false, "does not serve this version");
}

/* A field that an older CRD does not know would be dropped by the server. */
static void test_brings_up_to_date(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, "1", "True", NULL));
	sends(&b, VERB_PATCH, ONE);
	assert_non_null(strstr(b.body, "\"schedulingPolicy\""));
	gets(&b, 200, stored(&b, NOW, "True", NULL));
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "True", NULL));
	end(&b, true, "");
}

static void test_adopts_when_told(void **state)
{
	struct crd_options adopt = usual;
	struct api_call undo;
	struct bench b;

	(void)state;
	adopt.adopt = true;
	begin(&b, adopt);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NULL, "True", "subresources"));
	sends(&b, VERB_PATCH, ONE);
	assert_ptr_equal(strstr(b.body, "{\"metadata\":{\"resourceVersion\":\"77\",\"annotations\":{\"" LABEL_DOMAIN
	                                "revision\":"),
	                 b.body);
	assert_non_null(strstr(b.body, "\"subresources\":{\"status\":{}}"));
	gets(&b, 200, stored(&b, NOW, "True", NULL));
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "True", NULL));
	/* It was not made by us: it stays. */
	assert_false(crd_undo(b.crd, &undo));
	end(&b, true, "upgraded its CRD");
}

static void test_installs_nothing_when_told_so(void **state)
{
	struct crd_options none = { .look = true, .adopt = true };
	struct bench b;

	(void)state;
	begin(&b, none);
	sends(&b, VERB_GET, ONE);
	gets(&b, 404, NULL);
	end(&b, false, "there is no CRD tfjobs.mlkube.io, and --install-crds is false");
	begin(&b, none);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NULL, "True", NULL));
	end(&b, true, "unchanged");
}

static void test_somebody_was_faster(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 404, NULL);
	sends(&b, VERB_CREATE, PATH);
	gets(&b, 409, NULL);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "True", NULL));
	end(&b, true, "");
}

static void test_waits_for_a_server(void **state)
{
	static const int codes[] = { 0, 500, 429, 503 };
	struct bench b;

	(void)state;
	begin(&b, usual);
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		sends(&b, VERB_GET, ONE);
		gets(&b, codes[i], NULL);
		assert_true(strlen(crd_text(b.crd)) > 0);
		assert_int_equal(crd_next(b.crd, b.now).type, CRD_SLEEP);
		b.now += 1000;
	}
	sends(&b, VERB_GET, ONE);
	gets(&b, 404, NULL);
	/* Perhaps it was done, and the answer lost. */
	sends(&b, VERB_CREATE, PATH);
	gets(&b, 0, NULL);
	b.now += 1000;
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "True", NULL));
	end(&b, true, "");
}

static void test_refused(void **state)
{
	struct bench b;

	(void)state;
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 404, NULL);
	sends(&b, VERB_CREATE, PATH);
	gets(&b, 403, NULL);
	end(&b, false, "tfjobs.mlkube.io cannot be created: because");
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200,
	     "{\"metadata\":{\"annotations\":{\"" LABEL_DOMAIN "revision\":\"" NOW "\"}},\"status\":{\"conditions\":["
	     "{\"type\":\"NamesAccepted\",\"status\":\"False\",\"message\":\"taken\"}]}}");
	end(&b, false, "is not accepted: taken");
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "False", NULL));
	b.now += MINUTES(2);
	sends(&b, VERB_GET, ONE);
	gets(&b, 200, stored(&b, NOW, "False", NULL));
	end(&b, false, "is not Established");
}

/* One who serves a namespace, or may not look, finds out by listing. */
static void test_only_tries(void **state)
{
	struct crd_options o = { .install = true, .ns = STR("team") };
	struct bench b;

	(void)state;
	begin(&b, o);
	sends(&b, VERB_GET, "/apis/mlkube.io/v1beta1/namespaces/team/tfjobs?limit=1");
	gets(&b, 200, "{}");
	end(&b, true, "unchanged");
	begin(&b, usual);
	sends(&b, VERB_GET, ONE);
	gets(&b, 403, NULL);
	sends(&b, VERB_GET, "/apis/mlkube.io/v1beta1/tfjobs?limit=1");
	gets(&b, 404, NULL);
	end(&b, false, "there is no CRD tfjobs.mlkube.io");
	begin(&b, o);
	sends(&b, VERB_GET, "/apis/mlkube.io/v1beta1/namespaces/team/tfjobs?limit=1");
	gets(&b, 403, NULL);
	end(&b, false, "listing its jobs is forbidden: because");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_makes_one_and_waits_for_it),
		cmocka_unit_test(test_leaves_what_is_up_to_date),
		cmocka_unit_test(test_somebody_elses),
		cmocka_unit_test(test_brings_up_to_date),
		cmocka_unit_test(test_adopts_when_told),
		cmocka_unit_test(test_installs_nothing_when_told_so),
		cmocka_unit_test(test_somebody_was_faster),
		cmocka_unit_test(test_waits_for_a_server),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_only_tries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
