/* Manifests in which anything may be anything: a kind's own code never fails, a job without errors can
   be made, and the same manifest always gives the same. */
#include "kind/testing.h"

#include "base/random_json.h"

enum { ROUNDS = 3000 };

static const char *const files[] = { "aitrainingjob.yaml", "fioravanzo-mxjob.yaml", "mlkube-tfjob.yaml",
	                             "mpba-mxjob.yaml", "mpba-tfjob.yaml" };

static yyjson_mut_val *odd_value(struct rng *r, yyjson_mut_doc *doc)
{
	char room[64];

	switch (rng_below(r, 12)) {
	case 0:
		return yyjson_mut_null(doc);
	case 1:
		return yyjson_mut_bool(doc, rng_one_in(r, 2));
	case 2:
		return yyjson_mut_sint(doc, rng_between(r, -2, 4));
	case 3:
		return yyjson_mut_sint(doc, rng_one_in(r, 2) ? INT64_MAX : INT64_MIN);
	case 4:
		return yyjson_mut_uint(doc, UINT64_MAX);
	case 5:
		return yyjson_mut_real(doc, rng_one_in(r, 2) ? 1e300 : 0.5);
	case 6:
		return yyjson_mut_obj(doc);
	case 7:
		return yyjson_mut_arr(doc);
	case 8:
		return json_mut_str(doc, STR("WORKER"));
	case 9:
		return json_mut_str(
			doc,
			STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	case 10:
		return yyjson_mut_sint(doc, rng_between(r, 0, 100000));
	default:
		return json_mut_str(doc, random_text(r, room));
	}
}

/* Changes one thing somewhere below VAL. */
static void spoil(struct rng *r, yyjson_mut_doc *doc, yyjson_mut_val *val)
{
	bool is_obj = yyjson_mut_is_obj(val);
	size_t n = is_obj ? yyjson_mut_obj_size(val) : yyjson_mut_arr_size(val);
	yyjson_mut_val *key = NULL, *child, *text = NULL;
	char room[64];

	if (n == 0)
		return;
	if (is_obj) {
		yyjson_mut_obj_iter it = yyjson_mut_obj_iter_with(val);

		for (uint64_t i = rng_below(r, n) + 1; i; i--)
			key = yyjson_mut_obj_iter_next(&it);
		child = yyjson_mut_obj_iter_get_val(key);
	} else {
		child = yyjson_mut_arr_get(val, rng_below(r, n));
	}
	if ((yyjson_mut_is_obj(child) || yyjson_mut_is_arr(child)) && !rng_one_in(r, 4)) {
		spoil(r, doc, child);
		return;
	}
	if (!is_obj) {
		yyjson_mut_arr_append(val, rng_one_in(r, 2) ? odd_value(r, doc) : yyjson_mut_val_mut_copy(doc, child));
		return;
	}
	text = json_mut_str(doc, json_mut_text(key));
	if (rng_one_in(r, 4)) {
		yyjson_mut_obj_remove(val, text);
		if (rng_one_in(r, 2))
			yyjson_mut_obj_put(val, json_mut_str(doc, random_text(r, room)),
			                   yyjson_mut_val_mut_copy(doc, child));
	} else {
		yyjson_mut_obj_put(val, text, odd_value(r, doc));
	}
}

/* Everything that comes of the job, as one text. */
static void all_of(struct kinds *k, const struct kind *kind, yyjson_val *object, struct buf *out)
{
	struct record r = { .version = RECORD_VERSION, .phase = PHASE_PENDING };
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct kind_job *kj = kind_read(k, kind, object, STR("11111111-2222"), &e);
	const struct job *job;

	if (!kj) {
		fail_msg("%s", err_msg(&e));
		return;
	}
	job = kind_job(kj);
	buf_put(out, problems_line(&job->problems, &a));
	for (size_t i = 0; job->problems.errors == 0 && i < job->n_roles; i++) {
		if (job->roles[i].count == 0)
			continue;
		if (!kind_pod(kj, i, job->roles[i].count - 1, 1, 1, out, &e) ||
		    (job->roles[i].service && !kind_service(kj, i, 0, out, &e)))
			fail_msg("%s", err_msg(&e));
	}
	assert_non_null(kind_status(kj, &r, doc, &e));
	json_write(kind_status(kj, &r, doc, &e), out);
	kind_adopt(kj, json_get(object, "status"), &a, &e);
	if (e.code)
		fail_msg("%s", err_msg(&e));
	kind_job_free(kj);
	yyjson_mut_doc_free(doc);
	arena_release(&a);
}

static void one_round(struct kinds *k, struct rng *r, yyjson_val *manifest, size_t *valid)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct buf first = BUF_INIT(64 << 20), second = BUF_INIT(64 << 20);
	const struct kind *kind =
		kinds_find(k, json_str(json_get(manifest, "apiVersion")), json_str(json_get(manifest, "kind")));
	yyjson_doc *copy;

	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, manifest));
	for (uint64_t i = rng_below(r, 4) + 1; i; i--)
		spoil(r, doc, yyjson_mut_doc_get_root(doc));
	copy = yyjson_mut_doc_imut_copy(doc, NULL);
	if (rng_one_in(r, 10))
		kind = kinds_at(k, rng_below(r, kinds_count(k)));
	all_of(k, kind, yyjson_doc_get_root(copy), &first);
	all_of(k, kind, yyjson_doc_get_root(copy), &second);
	assert_true(str_eq(buf_str(&first), buf_str(&second)));
	*valid += str_has_prefix(buf_str(&first), STR("{\"apiVersion\""));
	yyjson_doc_free(copy);
	yyjson_mut_doc_free(doc);
	buf_release(&first);
	buf_release(&second);
}

static void test_spoilt_manifests(void **state)
{
	struct kinds *k = kinds_new(NULL);
	struct rng r = rng_seed(7);
	size_t valid = 0;

	(void)state;
	assert_true(kinds_load_builtin(k, NULL));
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char path[1024];
		struct yaml_file *y;

		snprintf(path, sizeof(path), "%s/%s", CORPUS, files[i]);
		y = yaml_read(path, NULL);
		assert_non_null(y);
		for (int n = 0; n < ROUNDS / (int)ARRAY_LEN(files); n++)
			one_round(k, &r, yaml_root(y, 0), &valid);
		yaml_close(y);
	}
	/* Neither all nor none of them are worth running. */
	assert_in_range(valid, ROUNDS / 20, ROUNDS / 2);
	kinds_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_spoilt_manifests) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
