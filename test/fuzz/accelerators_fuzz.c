/* A file of accelerators, "\n---\n", and the spec of a template: read, or refused with file and reason. What comes of
   the spec can be written, and stays as it is when it is done again. */
#include "base/yaml.h"
#include "kind/accelerators.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_spec(const struct accelerators *a, yyjson_val *spec)
{
	struct arena arena = ARENA_INIT;
	struct problems p = { .arena = &arena };
	CLEANUP(json_docp) yyjson_doc *once = accelerators_apply(a, spec), *twice = NULL, *back = NULL;
	struct buf out = BUF_INIT(1 << 26);

	accelerators_check(a, spec, STR("spec"), &p);
	if (once) {
		json_write_val(yyjson_doc_get_root(once), &out);
		back = json_parse(buf_str(&out), NULL);
		ASSERT(back && json_eq(yyjson_doc_get_root(back), yyjson_doc_get_root(once)));
		twice = accelerators_apply(a, yyjson_doc_get_root(once));
		ASSERT(!twice || json_eq(yyjson_doc_get_root(twice), yyjson_doc_get_root(once)));
	}
	buf_release(&out);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char mark[] = "\n---\n";
	const char *text = (const char *)data, *cut = n ? memmem(text, n, mark, strlen(mark)) : NULL;
	struct str config = { text, cut ? (size_t)(cut - text) : n };
	struct str spec = cut ? str_sub((struct str){ text, n }, config.n + strlen(mark), n) : STR_NONE;
	struct err e = ERR_INIT;
	CLEANUP(accelerators_freep) struct accelerators *a = accelerators_parse(STR("f"), config, &e);
	CLEANUP(yaml_closep) struct yaml_file *y = yaml_parse(STR("spec"), spec, NULL);

	ASSERT(!a == (e.code != ERR_NONE));
	ASSERT(a || str_has_prefix(str_c(err_msg(&e)), STR("f:")));
	err_release(&e);
	for (size_t i = 0; a && y && i < yaml_count(y); i++)
		check_spec(a, yaml_root(y, i));
	return 0;
}
