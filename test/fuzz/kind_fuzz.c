/* Any manifest, for every kind: read, or refused with problems. The kinds' own code never fails; a job
   without errors can be rendered, as JSON, and has a status. */
#include "base/yaml.h"
#include "kind/kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_json(struct buf *b)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(buf_str(b), NULL);

	ASSERT(doc);
	buf_clear(b);
}

static void render(struct kind_job *kj, struct buf *b)
{
	const struct job *job = kind_job(kj);

	for (size_t i = 0; i < job->n_roles; i++) {
		int32_t last = job->roles[i].count - 1;

		if (last < 0)
			continue;
		ASSERT(kind_pod(kj, i, 0, 0, 0, b, NULL));
		check_json(b);
		ASSERT(kind_pod(kj, i, last, 3, 2, b, NULL));
		check_json(b);
		if (job->roles[i].service) {
			ASSERT(kind_service(kj, i, last, b, NULL));
			check_json(b);
		}
	}
}

static void try_kind(struct kinds *k, const struct kind *kind, yyjson_val *object, struct buf *b)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct record r = { .version = RECORD_VERSION, .phase = PHASE_RUNNING };
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct kind_job *kj = kind_read(k, kind, object, STR("11111111-2222"), &e);

	if (!kj) {
		if (e.code == ERR_LUA)
			BUG("%s", err_msg(&e));
		err_release(&e);
		return;
	}
	if (kind_job(kj)->problems.errors == 0)
		render(kj, b);
	ASSERT(kind_status(kj, &r, doc, NULL));
	kind_adopt(kj, json_get(object, "status"), &a, &e);
	if (e.code)
		BUG("%s", err_msg(&e));
	arena_release(&a);
	kind_job_free(kj);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct kinds *k;
	struct yaml_file *y = yaml_parse(STR("fuzz"), (struct str){ (const char *)data, n }, NULL);
	struct buf b = BUF_INIT(1 << 28);

	if (!k) {
		k = kinds_new(NULL);
		ASSERT(kinds_load_builtin(k, NULL));
	}
	for (size_t d = 0; y && d < yaml_count(y); d++)
		for (size_t i = 0; i < kinds_count(k); i++)
			try_kind(k, kinds_at(k, i), yaml_root(y, d), &b);
	yaml_close(y);
	buf_release(&b);
	return 0;
}
